"""The store of feasible points, by hand, and that its choice is a fair one."""

from __future__ import annotations

import numpy as np
from handmade import LOST, points

from ppsde.algorithms.lshade44_ide import some_feasible, without_values


def test_feasible_points_come_first_by_their_numbers_and_the_rest_has_no_values() -> None:
    found, more = points((0, 7), LOST), points((2, 1), (0, 5), (0, 6))
    chosen = some_feasible(4, found, more, np.array([0.5, 0.0, 0.0, 0.9, 0.1]))
    assert chosen.f.tolist() == [6.0, 7.0, 5.0, np.inf]
    assert chosen.violation.tolist() == [0.0, 0.0, 0.0, np.inf]
    assert chosen.valid.tolist() == [True, True, True, False]


def test_of_more_feasible_points_than_there_is_room_for_each_is_as_likely() -> None:
    found, more = points((0, 0), (0, 1)), points((0, 2), (1, 3), (0, 4))
    rng, counts, times = np.random.default_rng(5), np.zeros(5), 4000
    for _ in range(times):
        chosen = some_feasible(2, found, more, rng.uniform(size=5))
        counts[chosen.f.astype(int)] += 1
    assert counts[3] == 0
    deviation = np.sqrt(times * 0.5 * 0.5)
    assert (abs(counts[[0, 1, 2, 4]] - times / 2) < 5 * deviation).all()


def test_points_without_values_have_as_many_constraints_as_others() -> None:
    like = points((0, 1)).take(np.array([0, 0]))
    blank = without_values(np.array([[1.0], [2.0], [3.0]]), like)
    assert blank.x.tolist() == [[1.0], [2.0], [3.0]] and not blank.valid.any()
    assert blank.g.shape == (3, like.g.shape[1]) and blank.h.shape == (3, like.h.shape[1])
