"""The adaptive trade-off model in its three situations, by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from handmade import LOST, points

from ppsde.parts.rules import accepts, gain, ranking
from ppsde.parts.tradeoff import AdaptiveTradeOff, Hierarchy, TradeOff
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


def test_without_feasible_members_the_better_half_of_those_not_dominated_comes_first_and_so_on() -> None:
    # (3, 4) is dominated by (2, 3); (2, 6) by (1, 5) and (2, 3). Round 1: of (1, 5) and (2, 3) the less violating.
    # Round 2: (2, 3) alone is not dominated. Round 3: of (3, 4) and (2, 6) the second. Round 4: the first.
    # Violation v counts as v / (v + 3).
    assert keys(NONE) == [pytest.approx(k) for k in (1 + 1 / 4, 2 + 2 / 5, 4 + 3 / 6, 3 + 2 / 5)]
    assert ranking(TradeOff.of(NONE), NONE).tolist() == [0, 1, 3, 2]
    assert keys(NONE, (0, 1e9)) == [1.0], "a feasible trial is best, whatever its objective"
    # Not dominated, for its objective; but the better half of every round violates less.
    assert keys(NONE, (9, 0)) == [pytest.approx(5 + 9 / 12)]
    assert keys(NONE, (9, 9)) == [pytest.approx(5 + 9 / 12)], "after all members, which dominate it"
    assert keys(NONE, (1.5, 4.5)) == [pytest.approx(2 + 1.5 / 4.5)]


def literal_rounds(pairs: list[tuple[float, float]]) -> list[int]:
    """The rounds in which points of different violation are taken, as the publication tells them, a point at a time."""
    rounds, left, number = {}, set(range(len(pairs))), 0
    while left:
        number += 1
        front = [
            i for i in left if not any(pairs[j][0] < pairs[i][0] and pairs[j][1] <= pairs[i][1] for j in left - {i})
        ]
        front.sort(key=lambda i: pairs[i][0])
        for i in front[: math.ceil(len(front) / 2)]:
            rounds[i] = number
            left.remove(i)
    return [rounds[i] for i in range(len(pairs))]


@pytest.mark.parametrize("seed", range(20))
def test_the_rounds_are_those_of_a_literal_version(seed: int) -> None:
    f, violation = np.random.default_rng(seed).uniform(1, 2, (2, 17))
    pairs = list(zip(violation.tolist(), f.tolist(), strict=True))
    assert Hierarchy.of(points(*pairs)).taken.tolist() == literal_rounds(pairs)
    assert np.floor(keys(points(*pairs))).tolist() == literal_rounds(pairs)
    # A trial belongs to a round as it is; joined to the members, it could make the better half larger by one.
    trial = (1.5, 1.5)
    found, joined = np.floor(keys(points(*pairs), trial))[0], literal_rounds([*pairs, trial])[-1]
    assert abs(found - joined) <= 1


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
