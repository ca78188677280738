"""Push and pull told of the share of the budget: the switch, the pull, its end."""

from __future__ import annotations

import numpy as np
import pytest
from handmade import LOST, points

from ppsde.arrays import HUGE
from ppsde.parts.push_pull import PushAndPull
from ppsde.parts.rules import accepts
from ppsde.population import Population
from ppsde.streams import NumpyStream


def level(technique: PushAndPull, elapsed: float = 0.1) -> float:
    return float(technique.rule(points((0, 0)), np.asarray(elapsed), NumpyStream(1)).epsilon)


def after(technique: PushAndPull, population: Population, elapsed: float) -> PushAndPull:
    return technique.after(population, np.asarray(elapsed))


def test_it_starts_by_ignoring_the_constraints() -> None:
    rule = PushAndPull.fresh().rule(points((0, 3)), np.asarray(0.0), NumpyStream(1))
    assert accepts(rule, points((1e300, 1), LOST), points((0, 3), (0, 3))).tolist() == [True, False]


def test_it_pulls_when_the_minimum_has_not_fallen_for_a_window() -> None:
    table = points((4, 1), (0, 5), LOST)
    technique = PushAndPull.fresh()
    for generation in range(1, 26):
        technique = after(technique, table, 0.001 * generation)
        assert level(technique) == HUGE
    technique = after(technique, table, 0.026)
    assert level(technique) == pytest.approx(3.6)  # the largest violation, 4, and at once (1 - 0.1) of it
    assert level(after(technique, table, 0.027)) == pytest.approx(3.24)


def falling(generation: int) -> Population:
    return points((2, 100.0 - generation), (0, 500.0))


def test_a_push_that_goes_on_ends_after_a_part_of_the_budget() -> None:
    technique = PushAndPull.fresh()
    for generation in range(1, 31):
        technique = after(technique, falling(generation), generation / 100)
        assert level(technique) == HUGE
    assert level(after(technique, falling(31), 0.31)) == pytest.approx(1.8)


def test_epsilon_is_zero_towards_the_end_of_the_budget() -> None:
    technique = PushAndPull.fresh()
    for generation in range(1, 90):
        technique = after(technique, falling(generation), generation / 100)
    assert 0 < level(technique) < 2
    assert level(after(technique, falling(90), 0.9)) == 0.0


def test_it_reopens_when_nearly_all_are_feasible_and_dead_rows_are_not_counted() -> None:
    technique = PushAndPull.fresh()
    for generation in range(1, 32):
        technique = after(technique, falling(generation), generation / 100)
    half_dead = points(*[(0.0, 1.0)] * 20, *[LOST] * 20)
    reopened = after(technique, half_dead, 32 / 100)
    assert level(reopened) == pytest.approx(2 * (1 - 0.32 / 0.9) ** 2)
