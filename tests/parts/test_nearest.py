"""The least violating point of a run, and the points around it, by hand."""

from __future__ import annotations

import numpy as np
from handmade import LOST, points

from ppsde.algorithm import Task
from ppsde.parts.nearest import Nearest

TASK = Task(np.array([-1.0, 0.0]), np.array([1.0, 10.0]), 100)


def nearest(violation: float) -> Nearest:
    return Nearest(np.array([0.5, 9.9999]), np.asarray(violation))


def test_the_least_violating_point_of_all_is_found_and_one_that_is_no_closer_changes_nothing() -> None:
    some, more = points((3, 1), LOST, (2, 5)), points((2, 9), (1, 4), (1, 8))
    found = nearest(2.5).among(some, more)
    assert float(found.violation) == 1 and found.x.tolist() == more.x[1].tolist()
    same = nearest(1.0)
    assert same.among(some, more) is same


def test_a_feasible_point_is_the_last_one_looked_for() -> None:
    feasible = nearest(2.5).among(points((3, 1), (0, 7)), points((0, 2)))
    assert float(feasible.violation) == 0 and not feasible.is_infeasible
    assert feasible.among(points((0, 1))) is feasible


def test_nothing_is_known_of_a_run_in_which_everything_failed() -> None:
    unknown = Nearest.of(points(LOST, LOST))
    assert not unknown.is_infeasible
    assert nearest(2.5).is_infeasible


def test_points_around_it_lie_in_the_box_each_closer_than_the_last() -> None:
    # Four points: 10^-1, 10^-2.75, 10^-4.5 and 10^-6.25 of the width of the box, 2 and 10.
    u = np.array([[1.0, 1.0], [0.0, 0.0], [0.5, 0.5], [1.0, 0.0]])
    x = nearest(1.0).around(u, TASK)
    expected = [[0.7, 10.0], [0.5 - 2 * 10**-2.75, 9.9999 - 10**-1.75], [0.5, 9.9999]]
    expected.append([0.5 + 2 * 10**-6.25, 9.9999 - 10**-5.25])
    np.testing.assert_allclose(x, expected, rtol=0, atol=1e-14)


def test_every_distance_has_its_turn() -> None:
    x = nearest(1.0).around(np.random.default_rng(1).random((7000, 2)), TASK)
    decades = np.floor(-np.log10(np.abs(x[:, 0] - 0.5) / 2.0)).astype(int)
    # |2 u - 1| is above a tenth in nine cases of ten, so most of each thousand lie within a decade of their step.
    for k in range(7):
        of_this_step = decades[1000 * k : 1000 * (k + 1)]
        assert 0.85 < np.isin(of_this_step, [k + 1, k + 2]).mean() <= 1.0
