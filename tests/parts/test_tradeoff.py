"""The adaptive trade-off model in its three situations, by hand."""

from __future__ import annotations

import numpy as np
import pytest
from handmade import LOST, points

from ppsde.parts.rules import accepts, gain, ranking
from ppsde.parts.tradeoff import AdaptiveTradeOff, TradeOff
from ppsde.population import Population
from ppsde.streams import NumpyStream


def keys(population: Population, *pairs: tuple[float, float]) -> list[float]:
    """The second keys, the first being 0 for all."""
    first, second = TradeOff.of(population).keys(points(*pairs) if pairs else population)
    assert (first == 0.0).all()
    return [float(value) for value in second]


NONE = points((1, 5), (2, 3), (3, 4), (2, 6))
SOME = points((0, 3), (0, 7), (1, 1), (2, 9), (4, 2))
ALL = points((0, 3), (0, 7))


def test_without_feasible_members_the_dominated_come_later_and_ties_go_by_violation() -> None:
    # (3, 4) is dominated by (2, 3); (2, 6) by (1, 5) and (2, 3). Violation v counts as v / (v + 3).
    assert keys(NONE) == [pytest.approx(k) for k in (0 + 1 / 4, 0 + 2 / 5, 1 + 3 / 6, 2 + 2 / 5)]
    assert ranking(TradeOff.of(NONE), NONE).tolist() == [0, 1, 2, 3]
    assert keys(NONE, (0, 1e9)) == [0.0], "a feasible trial is best, whatever its objective"
    assert keys(NONE, (9, 0)) == [0.75], "not dominated, for its objective; but by violation it comes last of these"
    assert keys(NONE, (9, 9)) == [4.75]


def test_with_some_feasible_members_objective_and_violation_are_added() -> None:
    # Two of five are feasible: infeasible objectives are raised to 0.4 * 3 + 0.6 * 7 = 5.4; then f is 3 to 9.
    # The infeasible violations are 1 to 4.
    expected = (0, 4 / 6, 2.4 / 6 + 0, 6 / 6 + 1 / 3, 2.4 / 6 + 1)
    assert keys(SOME) == [pytest.approx(k) for k in expected]
    assert ranking(TradeOff.of(SOME), SOME).tolist() == [0, 2, 1, 3, 4]


def test_trials_beyond_the_range_of_the_members() -> None:
    values = keys(SOME, (0, -3), (0.5, -100), (0.5, 9), (7, 1))
    assert values == [pytest.approx(k) for k in (-1.0, 0.4, 1.0, 0.4 + 2.0)]


def test_with_feasible_members_only_the_objective_decides_and_infeasible_trials_lose() -> None:
    rule = TradeOff.of(ALL)
    trials, parents = points((0, 2), (0, 8), (1e-9, -50)), points((0, 3), (0, 7), (0, 7))
    assert accepts(rule, trials, parents).tolist() == [True, False, False]
    assert gain(rule, trials, parents).tolist() == [1.0, 0.0, 0.0]


def test_the_three_situations_follow_the_population() -> None:
    for population, share in ((NONE, 0.0), (SOME, 0.4), (ALL, 1.0)):
        assert AdaptiveTradeOff().rule(population, np.asarray(0.5), NumpyStream(1)).share == share


def test_members_without_values_are_not_counted() -> None:
    with np.errstate(all="ignore"):
        for population in (NONE, SOME, ALL):
            lost = points(*zip(population.violation, population.f, strict=True), LOST)
            ours, theirs = TradeOff.of(population).keys(population), TradeOff.of(lost).keys(lost)
            for a, b in zip(ours, theirs, strict=True):
                assert a.tolist() == b[:-1].tolist()
            assert theirs[0][-1] == np.inf
