"""The size of a population, its first points, and how it shrinks."""

from __future__ import annotations

import numpy as np
import pytest
from statistics_of_draws import EXTREMES, LEVEL, p_of_law

from ppsde.algorithm import Task
from ppsde.parts.sizing import alive, elapsed_share, first_points, inside, linear_size, rounded, shrunk, size_or_default
from ppsde.population import Population
from ppsde.streams import NumpyStream, Tape

# Sizes by hand, and what is left of a population that shrinks.


def population(n: int) -> Population:
    k = np.arange(n, dtype=float)
    return Population(np.stack([k, -k], axis=1), k, k / 10, k[:, None] / 10, np.empty((n, 0)))


def test_halves_are_rounded_up() -> None:
    assert [int(rounded(v)) for v in (0.0, 0.49, 0.5, 1.5, 2.5, 7.49)] == [0, 0, 1, 2, 3, 7]


def test_the_elapsed_share_never_exceeds_one() -> None:
    task = Task(np.zeros(2), np.ones(2), 200)
    assert [float(elapsed_share(k, task)) for k in (0, 50, 200, 260)] == [0.0, 0.25, 1.0, 1.0]


def test_the_size_falls_along_a_line() -> None:
    # 180 - 176 e: 180, 136, 92, 90.24 -> 90, 4.
    sizes = linear_size(180, 4, np.array([0.0, 0.25, 0.5, 0.51, 1.0]))
    assert sizes.tolist() == [180, 136, 92, 90, 4]
    assert linear_size(7, 7, np.array([0.3])).tolist() == [7]


def test_the_first_rows_are_alive() -> None:
    assert alive(5, np.asarray(3)).tolist() == [True, True, True, False, False]


def test_dead_rows_have_no_values_and_sort_last() -> None:
    before = population(6)
    after = shrunk(before, np.asarray(4))
    assert after.f.tolist() == [0.0, 1.0, 2.0, 3.0, np.inf, np.inf]
    assert after.violation[:4].tolist() == before.violation[:4].tolist()
    assert not after.valid[4:].any() and not after.feasible[4:].any()
    assert after.sorted().f.tolist() == after.f.tolist()


def test_a_population_as_large_as_its_size_is_left_alone() -> None:
    before = population(3)
    after = shrunk(before, np.asarray(3))
    assert after.f.tolist() == before.f.tolist() and after.violation.tolist() == before.violation.tolist()


def test_jax_gives_the_same_numbers() -> None:
    jnp = pytest.importorskip("jax.numpy")
    elapsed = np.linspace(0.0, 1.0, 41)
    assert linear_size(90, 4, jnp.asarray(elapsed)).tolist() == linear_size(90, 4, elapsed).tolist()
    assert alive(5, jnp.asarray(2)).tolist() == [True, True, False, False, False]


# How many points a population has.


def task(d: int) -> Task:
    return Task(np.zeros(d), np.ones(d), 1)


def test_what_is_given_counts_and_otherwise_five_per_variable_but_at_least_forty() -> None:
    assert size_or_default(12, task(30)) == 12
    assert [size_or_default(None, task(d)) for d in (1, 8, 9, 30)] == [40, 40, 45, 150]


def test_how_many_per_variable_can_be_said() -> None:
    assert [size_or_default(None, task(d), 1, 12) for d in (1, 12, 13, 30)] == [12, 12, 13, 30]
    assert size_or_default(8, task(30), 1, 12) == 8


# The first population: uniform in the box, after the user's points.


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
