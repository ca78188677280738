"""Cycles: what counts as progress and what as idleness, worked by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ppsde.algorithms.pps_de import Cycle
from ppsde.population import Population

inf = math.inf


def best(violation: float, f: float) -> Population:
    """A population whose best point has these values; the second row is worse, whatever its objective."""
    empty = np.zeros((2, 0))
    return Population(np.zeros((2, 1)), np.array([f, -1e9]), np.array([violation, inf]), empty, empty)


def idle_after(*points: tuple[float, float], counts: bool = True) -> list[int]:
    cycle, idle = Cycle.fresh(), []
    for violation, f in points:
        cycle = cycle.older(best(violation, f), np.asarray(counts))
        idle.append(int(cycle.idle))
    return idle


def test_a_fresh_cycle_has_seen_nothing() -> None:
    cycle = Cycle.fresh(4)
    assert [int(cycle.number), int(cycle.age), int(cycle.idle)] == [4, 0, 0]
    assert [float(cycle.violation), float(cycle.f)] == [inf, inf]


def test_a_cycle_counts_its_generations_and_keeps_its_number() -> None:
    cycle = Cycle.fresh(4)
    for _ in range(3):
        cycle = cycle.older(best(0.0, 1.0), np.asarray(True))
    assert [int(cycle.number), int(cycle.age), int(cycle.idle)] == [4, 3, 2]


def test_generations_without_progress_are_idle_until_there_is_some() -> None:
    assert idle_after((0, 9), (0, 9), (0, 9), (0, 8), (0, 8), (0, 8), (0, 8)) == [0, 1, 2, 0, 1, 2, 3]


def test_only_generations_that_count_can_be_idle() -> None:
    assert idle_after((0, 9), (0, 9), (0, 9), counts=False) == [0, 0, 0]
    cycle = Cycle.fresh()
    for counts in (True, True, True, False, True):
        cycle = cycle.older(best(0.0, 9.0), np.asarray(counts))
    assert cycle.idle == 1, "one that does not count begins the counting anew"


@pytest.mark.parametrize(
    ("old", "new", "progress"),
    [
        # (violation, f) at the last progress, and now
        ((0, 2.0), (0, 2.0 - 4.1e-9), True),  # by more than a billionth of |f|
        ((0, 2.0), (0, 2.0 - 0.9 * 2e-9), False),
        ((0, -2.0), (0, -2.0 - 4.1e-9), True),  # of |f|, so downwards for negative f too
        ((0, -2.0), (0, -2.0 - 0.9 * 2e-9), False),
        ((0, 0.0), (0, -1e-300), True),  # any fall from 0
        ((0, 2.0), (0, 3.0), False),
        ((1.0, 2.0), (1.0 - 2e-6, 9.0), True),  # by more than a millionth of the violation, whatever f
        ((1.0, 2.0), (1.0 - 0.5e-6, 9.0), False),
        ((1.0, 2.0), (1.0 - 0.5e-6, 1.0), True),  # not more violation and a lower f
        ((1.0, 2.0), (1.0, 1.0), True),
        ((1.0, 2.0), (1.1, 1.0), False),  # more violation
        ((1e-9, 2.0), (0.0, 9.0), True),  # feasible at last
        ((0.0, inf), (0.0, 9.0), True),  # an infinite objective is a value
        ((0.0, inf), (0.0, inf), False),
        ((inf, inf), (5.0, 9.0), True),  # the first point that has values
        ((inf, inf), (inf, inf), False),
    ],
)
def test_what_counts_as_progress(old: tuple[float, float], new: tuple[float, float], progress: bool) -> None:
    before = Cycle(np.asarray(0), np.asarray(7), np.asarray(3), np.asarray(old[0], float), np.asarray(old[1], float))
    after = before.older(best(*new), np.asarray(True))
    assert int(after.idle) == (0 if progress else 4)
    assert (float(after.violation), float(after.f)) == (new if progress else old)


def test_falls_too_small_to_count_add_up() -> None:
    """The measure is the last progress, not the last generation."""
    falls = [(0.0, 2.0 - k * 0.4 * 2e-9) for k in range(6)]
    assert idle_after(*falls) == [0, 1, 2, 0, 1, 2]
