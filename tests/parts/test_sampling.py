"""The first population: uniform in the box, after the user's points."""

from __future__ import annotations

import numpy as np
import pytest
from statistics_of_draws import EXTREMES, LEVEL, p_of_law

from ppsde.algorithm import Task
from ppsde.parts.sizing import first_points, inside
from ppsde.streams import NumpyStream, Tape

LOWER, UPPER = np.array([-3.0, 10.0, 0.5]), np.array([1.0, 12.0, 0.5])


def test_points_are_uniform_in_every_variable_and_uncorrelated() -> None:
    x = first_points(Task(LOWER, UPPER, 1), 20_000, NumpyStream(1))
    assert x.shape == (20_000, 3)
    assert p_of_law((x[:, 0] + 3.0) / 4.0, lambda q: q) > LEVEL
    assert p_of_law((x[:, 1] - 10.0) / 2.0, lambda q: q) > LEVEL
    assert (x[:, 2] == 0.5).all(), "a variable without width has one value"
    assert abs(np.corrcoef(x[:, 0], x[:, 1])[0, 1]) < 0.03


def test_points_by_hand() -> None:
    tape = Tape([np.array([[0.0, 0.5, 0.3], [0.25, 0.75, 0.9]])])
    # -3 + 0 * 4, 10 + 0.5 * 2, 0.5; -3 + 0.25 * 4, 10 + 0.75 * 2, 0.5
    assert first_points(Task(LOWER, UPPER, 1), 2, tape).tolist() == [[-3.0, 11.0, 0.5], [-2.0, 11.5, 0.5]]


def test_uniform_numbers_become_points_of_the_box_by_hand() -> None:
    u = np.array([[0.5, 0.0, 0.7], [0.75, 0.25, 0.0]])
    # -3 + 0.5 * 4, 10 + 0 * 2, 0.5; -3 + 0.75 * 4, 10 + 0.25 * 2, 0.5
    assert inside(Task(LOWER, UPPER, 1), u).tolist() == [[-1.0, 10.0, 0.5], [0.0, 10.5, 0.5]]


def test_rounding_never_leaves_the_box() -> None:
    rng = np.random.default_rng(2)
    lower = rng.uniform(-1, 1, 500) * 10.0 ** rng.integers(-5, 6, 500)
    upper = lower + rng.random(500) * 10.0 ** rng.integers(-8, 6, 500)
    tape = Tape([np.full((2, 500), EXTREMES[1])])
    x = first_points(Task(lower, upper, 1), 2, tape)
    assert (x >= lower).all() and (x <= upper).all()


def test_the_users_points_come_first_and_leave_the_others_as_they_were() -> None:
    x0 = np.array([[0.0, 11.0, 0.5], [1.0, 12.0, 0.5]])
    without = first_points(Task(LOWER, UPPER, 1), 5, NumpyStream(3))
    having = first_points(Task(LOWER, UPPER, 1, x0), 5, NumpyStream(3))
    assert having[:2].tolist() == x0.tolist()
    assert having[2:].tolist() == without[2:].tolist()


def test_more_points_than_the_population_holds_are_refused() -> None:
    with pytest.raises(ValueError, match="x0 holds 3 points; the population takes at most 2"):
        first_points(Task(LOWER, UPPER, 1, np.zeros((3, 3))), 2, NumpyStream(1))
