"""Penalties whose weight moves, by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from handmade import LOST, constrained, points

from ppsde.arrays import HUGE
from ppsde.parts.handling import handling_of
from ppsde.parts.penalties import AdaptivePenalty, Distance, Dynamic, LevelPenalty, SelfAdaptive, extent, scaled
from ppsde.parts.rules import Fixed, accepts, gain, ranking
from ppsde.population import Population
from ppsde.streams import NumpyStream

EARLY = np.asarray(0.01)


def weight(technique: Dynamic | AdaptivePenalty, population: Population) -> float:
    return float(technique.rule(population, EARLY, NumpyStream(1)).weight)


def test_the_dynamic_weight_grows_with_the_square_of_the_generation() -> None:
    table = points((1, 0), (0, 5))
    technique, weights = Dynamic.fresh(), []
    for _ in range(4):
        weights.append(weight(technique, table))
        technique = technique.after(table, EARLY)
    assert weights == [0.25, 1.0, 2.25, 4.0]  # (0.5 t)^2
    assert ranking(technique.rule(table, EARLY, NumpyStream(1)), table).tolist() == [1, 0]  # 0 + 6.25 above 5


def run(technique: AdaptivePenalty, population: Population, generations: int) -> AdaptivePenalty:
    for _ in range(generations):
        technique = technique.after(population, EARLY)
    return technique


BEST_FEASIBLE = points((0, 1), (9, 5))
BEST_INFEASIBLE = points((1e-12, 1), (0, 5))


def test_the_adaptive_weight_grows_while_the_best_is_infeasible_for_ten_generations() -> None:
    technique = run(AdaptivePenalty.fresh(), BEST_INFEASIBLE, 9)
    assert weight(technique, BEST_INFEASIBLE) == 1.0
    technique = run(technique, BEST_INFEASIBLE, 1)
    assert weight(technique, BEST_INFEASIBLE) == 1.5
    assert weight(run(technique, BEST_INFEASIBLE, 2), BEST_INFEASIBLE) == 1.5**3


def test_the_adaptive_weight_falls_while_the_best_is_feasible_for_ten_generations() -> None:
    technique = run(AdaptivePenalty.fresh(), BEST_FEASIBLE, 9)
    assert weight(technique, BEST_FEASIBLE) == 1.0
    assert weight(run(technique, BEST_FEASIBLE, 3), BEST_FEASIBLE) == 0.5**3


def test_the_adaptive_weight_stays_while_the_best_is_now_feasible_and_now_not() -> None:
    technique = run(AdaptivePenalty.fresh(), BEST_FEASIBLE, 10)
    mixed = run(technique, BEST_INFEASIBLE, 9)
    assert weight(mixed, BEST_FEASIBLE) == weight(technique, BEST_FEASIBLE) == 0.5
    assert weight(run(mixed, BEST_INFEASIBLE, 1), BEST_FEASIBLE) == 0.75


def test_the_best_is_the_one_under_the_present_weight() -> None:
    # The infeasible one, 4 + weight, is the best of both only while the weight is below 0.6.
    table = points((1, 4), (0, 4.6))
    technique = run(AdaptivePenalty.fresh(), table, 10)
    assert weight(technique, table) == 0.5 and technique.feasible.all()
    technique = run(technique, table, 9)
    assert weight(technique, table) == 0.5 and technique.feasible.sum() == 1
    assert weight(run(technique, table, 1), table) == 0.75


def test_the_adaptive_weight_stays_in_its_limits() -> None:
    assert weight(run(AdaptivePenalty.fresh(), BEST_FEASIBLE, 60), BEST_FEASIBLE) == 1e-10
    assert weight(run(AdaptivePenalty.fresh(), BEST_INFEASIBLE, 90), BEST_INFEASIBLE) == 1e10


def test_a_population_without_values_has_no_feasible_best() -> None:
    assert weight(run(AdaptivePenalty.fresh(), points(LOST, LOST), 10), BEST_FEASIBLE) == 1.5


# Tessema and Yen's fitness

TABLE = points((0, 3), (1, 1), (2, 5), LOST, (4, 2))  # one of four feasible; f from 1 to 5; violation up to 4


def fitness(population: Population, *pairs: tuple[float, float]) -> list[float]:
    first, second = Distance.of(population, 0.0).keys(points(*pairs) if pairs else population)
    assert first[second < np.inf].tolist() == [0.0] * int((second < np.inf).sum())
    return [float(value) for value in second]


def test_the_fitness_of_tessema_and_yen_by_hand() -> None:
    with np.errstate(all="ignore"):
        values = fitness(TABLE)
    assert values[0] == 0.5  # feasible: (3 - 1) / 4
    assert values[1] == pytest.approx(0.25 + 0.75 * 0.25)  # f = 0, v = 1 / 4
    assert values[2] == pytest.approx(1.25**0.5 + 0.75 * 0.5 + 0.25 * 1.0)  # f = 1, v = 1 / 2
    assert values[4] == pytest.approx(1.0625**0.5 + 0.75 * 1.0 + 0.25 * 0.25)  # f = 1 / 4, v = 1


def test_a_slightly_violating_point_of_low_objective_can_be_better_than_a_feasible_one() -> None:
    with np.errstate(all="ignore"):
        assert ranking(SelfAdaptive().rule(TABLE, EARLY, NumpyStream(1)), TABLE).tolist() == [1, 0, 2, 4, 3]


def test_without_feasible_members_only_violation_counts() -> None:
    table = points((1, 7), (4, 1))
    assert fitness(table) == [0.25, 1.0]
    assert fitness(table, (0, 99), (2, -9)) == [0.0, 0.5]


def test_with_feasible_members_only_any_violation_counts_in_full() -> None:
    table = points((0, 1), (0, 3))
    # Feasible trials by f, below the range too; infeasible ones 1 + f, never below f = 0.
    assert fitness(table, (0, -1), (0, 2), (0.001, -9), (50, -9), (0.001, 3)) == [-1.0, 0.5, 1.0, 1.0, 2**0.5 + 1.0]


def test_lower_is_better_for_trials_beyond_the_range_of_the_members() -> None:
    with np.errstate(all="ignore"):
        feasible = fitness(TABLE, (0, 3), (0, 1), (0, -1), (0, -100))
        infeasible = fitness(TABLE, (1, 9), (1, 5), (1, 1), (1, -100))
    assert feasible == sorted(feasible, reverse=True) and len(set(feasible)) == 4
    assert infeasible == sorted(infeasible, reverse=True)
    assert infeasible[2] == infeasible[3], "an infeasible point is not better than the best f at the same violation"


def test_the_gain_is_the_fall_of_the_fitness() -> None:
    rule = Distance.of(TABLE, 0.0)
    trials, parents = points((1, 1), (0, 3)), points((0, 3), (1, 1))
    assert accepts(rule, trials, parents).tolist() == [True, False]
    assert gain(rule, trials, parents).tolist() == [pytest.approx(0.5 - 0.4375), 0.0]


def test_infinite_objectives_and_violations_near_the_largest_number_have_a_fitness() -> None:
    table = points((0, np.inf), (1e308, 1e308), (1e-308, -1e308), (0, 0))
    with np.errstate(all="ignore"):
        values = np.array(fitness(table))
        last = ranking(Distance.of(table, 0.0), table)[-1]
    assert not np.isnan(values).any()
    assert last == 0


def test_the_extent_leaves_out_rows_and_infinities() -> None:
    f = np.array([5.0, np.inf, -2.0, 7.0])
    assert [float(end) for end in extent(f, np.array([True, True, True, False]))] == [-2.0, 5.0]
    assert [float(end) for end in extent(f, np.array([False, True, False, False]))] == [0.0, 0.0]


def test_scaling_by_an_extent() -> None:
    values = np.array([-1.0, 1.0, 2.0, 5.0, 9.0, np.inf])
    assert scaled(values, np.asarray(1.0), np.asarray(5.0)).tolist() == [-0.5, 0.0, 0.25, 1.0, 2.0, np.inf]
    assert scaled(values, np.asarray(2.0), np.asarray(2.0)).tolist() == [-3.0, -1.0, 0.0, 3.0, 7.0, np.inf]
    assert scaled(np.array([-HUGE, 0.0, HUGE]), np.asarray(-HUGE), np.asarray(HUGE)).tolist() == [0.0, 0.5, 1.0]


# Violations of single constraints


def test_tessema_and_yen_divide_each_constraint_by_its_own_largest_violation() -> None:
    table = constrained((1, 2, 30), (3, 4, -1), (2, -1, 60))
    assert fitness(table) == [0.5, 0.5, 0.5], "2 / 4 and 30 / 60; 4 / 4 and 0; 0 and 60 / 60; the mean of two"
    rule = SelfAdaptive(0.0).rule(table, EARLY, NumpyStream(1))
    assert rule.keys(constrained((9, 1, 15)))[1].tolist() == [0.25]
    widened = replace(table, h=np.zeros((3, 2)))  # as where problems are compiled together
    assert Distance.of(widened, 0.0).keys(widened)[1].tolist() == [0.5, 0.5, 0.5]


LEVELS = {"limits": (0.1, 1.0), "weights": (10.0, 100.0, 1000.0)}


def test_the_weight_of_a_violation_is_that_of_its_level() -> None:
    table = constrained((5, -1, -1), (5, 0.1, 0), (5, 0.5, 2), (np.nan, 1, 1))
    first, second = LevelPenalty(0.0, **LEVELS).keys(table)
    assert first.tolist() == [0, 0, 0, np.inf]
    np.testing.assert_allclose(second[:3], [5, 5 + 10 * 0.01, 5 + 100 * 0.25 + 1000 * 4])


def test_every_constraint_can_have_its_own_levels() -> None:
    table = constrained((5, 0.5, 2.1), h=1, tolerance=0.1)
    own = LevelPenalty(0.1, limits=((1.0,), (1.5,)), weights=((3.0, 7.0), (20.0, 200.0)))
    np.testing.assert_allclose(own.keys(table)[1], [5 + 3 * 0.25 + 200 * 4])
    text = "level-penalty(tolerance=0.1, limits=((1.0,), (1.5,)), weights=((3.0, 7.0), (20.0, 200.0)))"
    assert handling_of(text) == Fixed(own)


@pytest.mark.parametrize(
    "wrong", [{"limits": (1.0, 2.0)}, {"limits": (3.0, 2.0, 1.0)}, {"weights": (1.0, 2.0, 0.0, 4.0)}, {"weights": (1,)}]
)
def test_levels_that_do_not_fit_are_an_error(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="level-penalty needs rising limits and one more of weights > 0"):
        LevelPenalty(**wrong)


def test_a_violation_as_large_as_its_threshold_costs_the_gap() -> None:
    # The first population: thresholds are the means of the violating members, 3 and 8. No feasible point: the gap is
    # the range of f, 6. In generation 1 thresholds are divided by 1.5.
    first = constrained((1, 2, -1), (7, 4, 8))
    fresh = handling_of("near-feasible-penalty(shrinking=0.5, tolerance=0)")
    rule = fresh.rule(first, EARLY, NumpyStream(1))
    np.testing.assert_allclose(rule.keys(first)[1], [1 + 6 * (2 / 2) ** 2, 7 + 6 * ((4 / 2) ** 2 + (8 * 1.5 / 8) ** 2)])
    # Then feasible points are found, the best of f = 5; the best of all is still 1: the gap is 4. Thresholds / 2.
    later = fresh.after(first, EARLY).after(constrained((5, -1, -1), (6, 0, 0)), EARLY)
    rule = later.rule(constrained((5, -1, -1), (6, 0, 0)), EARLY, NumpyStream(1))
    np.testing.assert_allclose(rule.keys(constrained((2, 1.2, 0), (0, 0, -1)))[1], [2 + 4 * (1.2 * 2.5 / 3) ** 2, 0])
    assert [float(later.best), float(later.best_feasible), int(later.generation)] == [1, 5, 2]


def test_a_constraint_that_nobody_violates_at_first_has_its_threshold_later() -> None:
    later = handling_of("near-feasible-penalty").after(constrained((1, 2, -1)), EARLY)
    assert later.thresholds.tolist() == [2, 0]
    assert later.after(constrained((1, 8, 3), (1, 8, 5)), EARLY).thresholds.tolist() == [2, 4]
    rule = later.rule(constrained((1, 2, -1)), EARLY, NumpyStream(1))
    assert np.isfinite(rule.keys(constrained((1, 0, 1)))[1]).all()


def test_kappa_is_the_power_of_violations() -> None:
    table = constrained((0, 2), (2, 4))
    rule = handling_of("near-feasible-penalty(kappa=1, shrinking=0)").rule(table, EARLY, NumpyStream(1))
    np.testing.assert_allclose(rule.keys(table)[1], [0 + 2 * 2 / 3, 2 + 2 * 4 / 3])
