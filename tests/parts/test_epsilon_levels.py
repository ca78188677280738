"""Epsilon levels by hand: where each starts, how it closes, and what it makes of failures."""

from __future__ import annotations

import numpy as np
import pytest
from handmade import LOST, points

from ppsde.arrays import HUGE
from ppsde.parts.epsilon import Adaptive, Closing, Quantile
from ppsde.parts.rules import ranking
from ppsde.population import Population
from ppsde.streams import NumpyStream

TEN = points(*[(float(k), 0.0) for k in (3, 0, 9, 1, 2, 8, 7, 5, 6, 4)])
LESS = points(*[(k / 10, 0.0) for k in range(10)])
NOBODY = points(LOST, LOST)


def level(technique: Closing | Adaptive | Quantile, population: Population, elapsed: float) -> float:
    return float(technique.rule(population, np.asarray(elapsed), NumpyStream(1)).epsilon)


def test_the_closing_level_starts_at_a_fifth_of_the_first_population_and_is_zero_after_a_fifth_of_the_budget() -> None:
    first = Closing.fresh()
    assert level(first, TEN, 0.0) == 2.0  # 0 1 | 2 3 4 ..: place floor(0.2 * 10)
    later = first.after(TEN, np.asarray(0.05)).after(LESS, np.asarray(0.1))
    assert level(later, LESS, 0.1) == 2.0 * 0.5**5, "the start is that of the first population seen"
    assert level(later, LESS, 0.2) == level(later, LESS, 0.9) == 0.0


def test_the_closing_level_waits_for_a_population_with_values() -> None:
    waiting = Closing.fresh().after(NOBODY, np.asarray(0.01))
    assert level(waiting, NOBODY, 0.0) == HUGE, "finite, so that a point without values is never within"
    assert level(waiting.after(TEN, np.asarray(0.02)), LESS, 0.0) == 2.0


def test_the_adaptive_level_shrinks_while_few_are_feasible_and_opens_when_nearly_all_are() -> None:
    wide = points(*[(float(k), 0.0) for k in range(40)])  # 5 % of 40 is place 2
    first = Adaptive.fresh()
    assert level(first, wide, 0.0) == 2.0
    second = first.after(wide, np.asarray(0.01))
    assert level(second, wide, 0.01) == 2.0
    third = second.after(wide, np.asarray(0.02))
    assert level(third, wide, 0.02) == pytest.approx(1.8, rel=1e-15)  # (1 - 0.1) * 2
    feasible = points(*[(0.0, 0.0)] * 19, (7.0, 0.0))  # 95 %
    opened = third.after(feasible, np.asarray(0.45))
    assert level(opened, feasible, 0.45) == 39 * 0.25  # the largest violation so far, (1 - 0.45 / 0.9)^2
    assert level(opened, feasible, 0.9) == 0.0


def test_the_adaptive_level_waits_for_a_population_with_values() -> None:
    waiting = Adaptive.fresh().after(NOBODY, np.asarray(0.01)).after(NOBODY, np.asarray(0.02))
    assert level(waiting, NOBODY, 0.0) == HUGE
    assert level(waiting.after(points((3, 1), LOST), np.asarray(0.03)), TEN, 0.0) == 3.0


def test_the_quantile_follows_the_population() -> None:
    assert level(Quantile(), TEN, 0.0) == 8.0  # place floor(0.8 * 10)
    assert level(Quantile(), LESS, 0.0) == 0.8
    assert level(Quantile(), TEN, 0.5) == 2.0  # place floor(0.8 * 10 * 0.25)
    assert level(Quantile(), TEN, 0.79) == 0.0  # place 0
    positive = points((3, 1), (4, 1), (5, 1))
    assert [level(Quantile(), positive, elapsed) for elapsed in (0.79, 0.8)] == [3.0, 0.0]
    assert level(Quantile(), points((3, 1), LOST, (1, 1), LOST), 0.0) == 3.0  # place floor(0.8 * 2) of two


def test_ranks_are_by_the_rule() -> None:
    table = points((9, 1), (0, 5), (1, 3), (2, 2), (0.5, 4))
    rule = Closing.fresh().rule(table, np.asarray(0.0), NumpyStream(1))
    assert float(rule.epsilon) == 0.5
    rows = Closing.fresh().rank(rule, table, NumpyStream(1))
    assert rows.tolist() == ranking(rule, table).tolist() == [4, 1, 2, 3, 0]
