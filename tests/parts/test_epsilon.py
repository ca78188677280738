"""Epsilon: its formulas by hand, and the techniques made of them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from handmade import LOST, points

from ppsde.arrays import HUGE
from ppsde.engines.compiled import float64
from ppsde.parts.epsilon import (
    AdaptiveEpsilon,
    Closing,
    ClosingEpsilon,
    Quantile,
    closing,
    improved,
    quantile,
    violation_at,
)
from ppsde.parts.rules import ranking
from ppsde.population import Population
from ppsde.streams import NumpyStream

# How epsilon closes, by hand.


def test_the_polynomial_by_hand() -> None:
    start = np.asarray(8.0)
    assert closing(start, np.asarray(0.0), 2.0) == 8.0
    assert closing(start, np.asarray(0.5), 2.0) == 2.0  # 8 * 0.5^2
    assert closing(start, np.asarray(0.5), 3.0) == 1.0  # 8 * 0.5^3
    assert closing(start, np.asarray(1.0), 2.0) == 0.0
    assert closing(start, np.asarray(1.5), 2.0) == 0.0, "not (-0.5)^2"


def test_the_improved_epsilon_shrinks_below_alpha_and_follows_the_polynomial_from_alpha_on() -> None:
    def value(share: float) -> float:
        return float(improved(np.asarray(1.0), np.asarray(8.0), np.asarray(0.5), np.asarray(share), 0.1, 0.95, 2.0))

    assert value(0.0) == value(0.94) == pytest.approx(0.9, rel=1e-15)  # (1 - 0.1) * 1
    assert value(0.95) == value(1.0) == 2.0  # 8 * 0.5^2, above the current 1: opened again


def test_the_quantile_by_hand() -> None:
    violation = np.array([0.0, 0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, np.inf])

    def value(elapsed: float, theta: float, cp: float = 2.0) -> float:
        return float(quantile(violation, np.asarray(elapsed), theta, cp))

    assert value(0.0, 0.8) == 32.0  # place floor(0.8 * 10)
    assert value(0.5, 0.8) == 0.5  # place floor(0.8 * 10 * 0.25) = 2
    assert value(0.5, 0.8, cp=1.0) == 2.0  # place floor(0.8 * 10 * 0.5) = 4
    assert value(0.25, 0.8) == 2.0  # place floor(8 * 0.5625 = 4.5)
    assert value(0.9, 0.8) == 0.0  # place floor(8 * 0.01) = 0
    assert value(0.0, 0.0) == 0.0  # place 0


def test_the_quantile_is_zero_from_the_end_on_even_if_all_violate() -> None:
    violation = np.array([3.0, 4.0])
    assert [float(quantile(violation, np.asarray(e), 0.5, 2.0)) for e in (0.99, 1.0, 1.5)] == [3.0, 0.0, 0.0]
    assert float(quantile(violation, np.asarray(1.0), 0.5, 0.0)) == 0.0, "though 0^0 is 1"


def test_the_quantile_stays_inside_the_population_and_finite() -> None:
    # theta 1 is place n, of which there is none: the last one is taken; a failed point's violation is no epsilon.
    assert float(quantile(np.array([1.0, 2.0, 3.0]), np.asarray(0.0), 1.0, 2.0)) == 3.0
    assert float(quantile(np.array([1.0, 2.0, np.inf]), np.asarray(0.0), 1.0, 2.0)) == HUGE


def test_the_quantile_of_the_first_rows_alone() -> None:
    violation = np.array([0.0, 1.0, 2.0, 3.0, np.inf, np.inf])
    assert float(quantile(violation, np.asarray(0.0), 0.5, 2.0, np.asarray(4))) == 2.0  # place floor(0.5 * 4)
    assert float(quantile(violation, np.asarray(0.0), 1.0, 2.0, np.asarray(4))) == 3.0  # the last of them
    assert float(quantile(np.full(2, np.inf), np.asarray(0.0), 1.0, 2.0, np.asarray(0))) == HUGE


# Epsilon levels by hand: where each starts, how it closes, and what it makes of failures.


TEN = points(*[(float(k), 0.0) for k in (3, 0, 9, 1, 2, 8, 7, 5, 6, 4)])
LESS = points(*[(k / 10, 0.0) for k in range(10)])
NOBODY = points(LOST, LOST)


def level(technique: Closing | AdaptiveEpsilon | Quantile, population: Population, elapsed: float) -> float:
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
    first = AdaptiveEpsilon.fresh()
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
    waiting = AdaptiveEpsilon.fresh().after(NOBODY, np.asarray(0.01)).after(NOBODY, np.asarray(0.02))
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


# The epsilon of C2oDE and IUDE, by hand.


def of_violations(*violation: float) -> ClosingEpsilon:
    n = len(violation)
    none = np.empty((n, 0))
    return ClosingEpsilon.of(Population(np.zeros((n, 1)), np.array(violation), np.array(violation), none, none))


def value(closing: ClosingEpsilon, elapsed: float, closes: float) -> float:
    return float(closing.at(np.asarray(elapsed)).epsilon(closes))


def test_it_starts_at_the_largest_violation_of_the_points_that_have_values() -> None:
    closing = of_violations(2.0, 7.0, 0.0, math.inf)
    assert value(closing, 0.0, 0.5) == 7.0
    assert float(closing.elapsed) == 0.0


def test_it_comes_down_to_exp_minus_6_at_its_end_and_is_0_after() -> None:
    closing = of_violations(7.0)
    for closes in (0.2, 0.5, 0.8):
        assert value(closing, closes, closes) == pytest.approx(math.exp(-6.0), rel=1e-12)
        assert value(closing, closes + 1e-9, closes) == 0.0
        assert value(closing, 1.0, closes) == 0.0


def test_on_its_way_by_hand() -> None:
    # start e^2, from there to e^-6 at half time: the power is 8 / ln 2, so a quarter is e^2 (3/4)^(8 / ln 2).
    closing = of_violations(math.exp(2.0))
    assert value(closing, 0.25, 0.5) == pytest.approx(math.exp(2.0) * 0.75 ** (8.0 / math.log(2.0)), rel=1e-12)
    # start 1, to e^-6 at 1 - 1/e: the power is 6.
    assert value(of_violations(1.0), 0.5, 1.0 - math.exp(-1.0)) == pytest.approx(0.5**6, rel=1e-12)


def test_one_that_starts_low_stays_and_one_that_starts_at_0_is_0() -> None:
    low = of_violations(1e-3)
    assert [value(low, elapsed, 0.5) for elapsed in (0.0, 0.3, 0.5, 0.51)] == [1e-3, 1e-3, 1e-3, 0.0]
    assert [value(of_violations(0.0, 0.0), elapsed, 0.5) for elapsed in (0.0, 0.3, 0.5, 1.0)] == [0.0] * 4
    assert value(of_violations(math.inf), 0.0, 0.5) == 0.0, "no point has values"


def test_jax_gives_the_same_numbers() -> None:
    pytest.importorskip("jax")
    import jax.numpy as jnp

    with float64():
        for start in (0.0, 1e-3, 7.0):
            ours = of_violations(start, 0.0)
            theirs = ClosingEpsilon(jnp.asarray(start), jnp.asarray(0.0))
            for elapsed in (0.0, 0.3, 0.5, 0.8):
                later = theirs.at(jnp.asarray(elapsed)).epsilon(0.5)
                np.testing.assert_allclose(later, value(ours, elapsed, 0.5), rtol=1e-13)


TABLE = points((3, 1), LOST, (0, 2), (1, 3), LOST, (0, 9), (2, 4))
NOBODY = points(LOST, LOST)


def test_a_violation_quantile_is_of_the_points_with_values() -> None:
    # Sorted: 0 0 1 2 3.
    assert [float(violation_at(TABLE, theta)) for theta in (0.0, 0.4, 0.6, 0.99, 1.0)] == [0, 1, 2, 3, 3]
    assert float(violation_at(TABLE, 0.8, np.asarray(0.5), 2.0)) == 0.0  # 0.8 * 5 * 0.25 = 1: the second zero
    assert float(violation_at(TABLE, 0.8, np.asarray(1.0), 2.0)) == 0.0
    assert float(violation_at(NOBODY, 0.2)) == HUGE
