"""The least violating point of a run, and the points around it, by hand."""

from __future__ import annotations

import numpy as np
from handmade import LOST, points

from ppsde.algorithm import Task
from ppsde.algorithms.pps_de import around, is_near_miss, nearer
from ppsde.population import Population

TASK = Task(np.array([-1.0, 0.0]), np.array([1.0, 10.0]), 100)
NONE = np.zeros((1, 0))
POINT = Population(np.array([[0.5, 9.9999]]), np.array([3.0]), np.array([1.0]), NONE, NONE)


def test_the_least_violating_point_of_all_is_found_the_lower_one_of_two() -> None:
    some, more = points((3, 1), LOST, (2, 5)), points((2, 9), (1, 8), (1, 4))
    found = nearer(points((2.5, 0)), some, more)
    assert [found.violation.tolist(), found.f.tolist(), found.x.tolist()] == [[1], [4], [[2]]]


def test_points_that_are_no_better_change_nothing() -> None:
    found = nearer(POINT, points((3, 1), LOST), points((1, 3), (1, 4)))
    assert found.x.tolist() == POINT.x.tolist() and float(found.violation[0]) == 1


def test_a_feasible_point_is_the_last_one_looked_for() -> None:
    feasible = nearer(points((2.5, 0)), points((3, 1), (0, 7)), points((0, 2)))
    assert [feasible.violation.tolist(), feasible.f.tolist()] == [[0], [7]] and not is_near_miss(feasible)
    assert nearer(feasible, points((0, 1))) is feasible


def test_nothing_is_known_of_a_run_in_which_everything_failed() -> None:
    assert not is_near_miss(points(LOST))
    assert is_near_miss(points((2.5, 0)))


def test_points_around_it_lie_in_the_box_each_closer_than_the_last_and_so_again() -> None:
    # Four distances: 10^-1, 10^-2.75, 10^-4.5 and 10^-6.25 of the width of the box, 2 and 10.
    u = np.array([[1.0, 1.0], [0.0, 0.0], [0.5, 0.5], [1.0, 0.0], [0.0, 1.0]])
    x = around(POINT, u, 4, TASK)
    expected = [[0.7, 10.0], [0.5 - 2 * 10**-2.75, 9.9999 - 10**-1.75], [0.5, 9.9999]]
    expected += [[0.5 + 2 * 10**-6.25, 9.9999 - 10**-5.25], [0.3, 10.0]]
    np.testing.assert_allclose(x, expected, rtol=0, atol=1e-14)


def test_every_distance_has_its_turn() -> None:
    x = around(POINT, np.random.default_rng(1).random((7000, 2)), 7000, TASK)
    decades = np.floor(-np.log10(np.abs(x[:, 0] - 0.5) / 2.0)).astype(int)
    # |2 u - 1| is above a tenth in nine cases of ten, so most of each thousand lie within a decade of their step.
    for k in range(7):
        of_this_step = decades[1000 * k : 1000 * (k + 1)]
        assert 0.85 < np.isin(of_this_step, [k + 1, k + 2]).mean() <= 1.0
