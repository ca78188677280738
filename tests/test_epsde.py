"""EPSDE beside its literal version, and what is its own: combinations that are kept, remembered and exchanged."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from reference.epsde import ALL, ReferenceEPSDE
from reference.options import settings_of, tried
from reference.small_problems import PROBLEMS, end_of, feasible_best_of, states_of
from reference.walking import Walk, assert_same_points, follow_population, walk_together
from statistics_of_draws import EXTREMES, LEVEL, p_of_counts

from ppsde.algorithms.epsde import COMBINATIONS, CR_POOL, EPSDE, F_POOL, State, Winners
from ppsde.parts.handling import RULES

SMALL: dict[str, Any] = {"population_size": 10}
BUDGET = 10 * 60 + 3  # the last generation is cut

ALTERNATIVES: list[dict[str, Any]] = [
    {"population_size": 5},
    {"population_size": 23},
    {"window": 1},
    {"window": 30},
    {"F_deviation": 0.0},
    {"F_deviation": 0.2},
]


def assert_same(fast: State, slow: ReferenceEPSDE, where: str) -> None:
    assert_same_points(fast.population, slow.population, where)
    assert [ALL[number] for number in fast.combination] == slow.combination, where
    winners = [c for c, count in zip(ALL, fast.winners.counts, strict=True) for _ in range(count)]
    assert winners == slow.winners, where


def walk(settings: EPSDE, problem: str) -> Walk:
    return walk_together(ReferenceEPSDE, settings, problem, BUDGET, assert_same, follow_population)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_both_take_every_step_alike(problem: str) -> None:
    walk(EPSDE(**SMALL), problem)


@pytest.mark.parametrize("options", ALTERNATIVES, ids=str)
def test_both_take_every_step_alike_whatever_the_setting(options: dict[str, Any]) -> None:
    other = walk(EPSDE(**{**SMALL, **options}), "failing").states[-1].population.x.tolist()
    assert other != end_of(EPSDE(**SMALL), "failing", BUDGET), "the setting has no effect here"


def test_no_setting_is_forgotten() -> None:
    assert tried(ALTERNATIVES) | {"rule"} == settings_of(EPSDE)


@pytest.mark.parametrize("rule", RULES)
def test_every_technique_of_constraint_handling_can_serve(rule: str) -> None:
    feasible_best_of(EPSDE(**SMALL, rule=rule), "inequalities", 1500)


def test_the_technique_makes_a_difference() -> None:
    both = EPSDE(**SMALL, rule="epsilon-quantile"), EPSDE(**SMALL)
    by_epsilon, usual = (states_of(settings, "inequalities", 500)[1] for settings in both)
    assert (by_epsilon[20].population.x != usual[20].population.x).any()


def test_the_pools_are_those_of_the_publication() -> None:
    np.testing.assert_allclose(CR_POOL, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9])
    np.testing.assert_allclose(F_POOL, [0.4, 0.5, 0.6, 0.7, 0.8, 0.9])
    assert COMBINATIONS == len(ALL) == 162


def test_a_combination_that_succeeds_stays_and_is_counted() -> None:
    _, states = states_of(EPSDE(**SMALL), "inequalities", BUDGET)
    exchanged = 0
    for old, new in pairwise(states[:-1]):
        won = (old.population.x != new.population.x).any(axis=1)
        assert (old.combination[won] == new.combination[won]).all()
        expected = np.bincount(old.combination[won], minlength=COMBINATIONS)
        assert (new.winners.counts - old.winners.counts == expected).all()
        exchanged += int((old.combination[~won] != new.combination[~won]).sum())
    assert exchanged > 50


def test_the_failure_rate_by_hand() -> None:
    winners = Winners(np.zeros(COMBINATIONS, int), np.zeros(2))
    combination = np.array([3, 3, 5, 7])
    rates = []
    for G, success in enumerate([[1, 1, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0]]):
        winners = winners.record(np.asarray(G), combination, np.array(success, bool))
        rates.append(float(winners.failure_rate(np.asarray(G + 1))))
    assert rates == [0.25, 0.5, 0.875]  # 1/4; (1/4 + 3/4) / 2; (3/4 + 1) / 2
    assert winners.counts[[3, 5, 7]].tolist() == [2, 1, 1] and winners.counts.sum() == 4


def test_remembered_combinations_come_as_often_as_they_won() -> None:
    counts = np.zeros(COMBINATIONS, int)
    counts[[0, 40, 161]] = [1, 5, 2]
    winners = Winners(counts, np.zeros(1))
    drawn = winners.draw(np.random.default_rng(1).random(20_000))
    assert p_of_counts(drawn, counts) > LEVEL
    assert winners.draw(np.array(EXTREMES)).tolist() == [0, 161]


def test_before_anything_won_combinations_are_new() -> None:
    winners = Winners(np.zeros(COMBINATIONS, int), np.zeros(1))
    assert ((winners.draw(np.array(EXTREMES)) >= 0) & (winners.draw(np.array(EXTREMES)) < COMBINATIONS)).all()
    _, states = states_of(EPSDE(population_size=2000), "inequalities", 2000)
    assert p_of_counts(states[0].combination, np.ones(COMBINATIONS)) > LEVEL


def test_it_solves_a_problem_with_inequalities() -> None:
    best = feasible_best_of(EPSDE(population_size=30), "inequalities", 15_000)
    np.testing.assert_allclose(best.x[0], 1.5, atol=1e-2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"population_size": 4}, "population_size must be an int >= 5; got 4"),
        ({"window": 0}, "window must be an int >= 1; got 0"),
        ({"F_deviation": -1}, "F_deviation must be a number from 0 to 1; got -1"),
        ({"rule": "luck"}, "unknown rule 'luck'; expected one of feasibility"),
    ],
)
def test_wrong_settings_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        EPSDE(**options)
