"""SaDE beside its literal version, and what is its own: strategies by success, CR by medians."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from reference.options import settings_of, tried
from reference.sade import ReferenceSaDE
from reference.small_problems import PROBLEMS, end_of, feasible_best_of, states_of
from reference.walking import Walk, assert_close, assert_same_points, follow_population, walk_together

from ppsde.algorithms.sade import History, SaDE, State
from ppsde.parts.handling import RULES

# SaDE beside its literal version, and what is its own: strategies by success, CR by medians.


CLOSE: dict[str, Any] = {"rtol": 1e-8, "atol": 1e-8}
SMALL: dict[str, Any] = {"population_size": 10, "window": 4}
BUDGET = 10 * 40 + 3  # the last generation is cut

ALTERNATIVES: list[dict[str, Any]] = [
    {"population_size": 6},
    {"population_size": 23},
    {"window": 1},
    {"window": 15},
    {"least_share": 0.5},
    {"F_mean": 0.9},
    {"F_deviation": 0.0},
    {"CR_deviation": 0.5},
]


def assert_same(fast: State, slow: ReferenceSaDE, where: str) -> None:
    S, G = slow.settings, int(fast.generation)
    if G > 0:
        last = (G - 1) % S.window
        assert fast.history.strategy[last].tolist() == slow.strategy, where
        assert_close(fast.history.CR[last], slow.CR, where, CLOSE)
    assert_same_points(fast.population, slow.population, where, CLOSE)
    assert_close(fast.history.rates(fast.generation, S.least_share), slow.p, where, CLOSE)


def walk(settings: SaDE, problem: str) -> Walk:
    return walk_together(ReferenceSaDE, settings, problem, BUDGET, assert_same, follow_population, CLOSE)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_both_take_every_step_alike(problem: str) -> None:
    states = walk(SaDE(**SMALL), problem).states
    used = {int(k) for state in states[1:] for k in state.history.strategy.ravel()}
    assert used == {-1, 0, 1, 2, 3}, "all strategies take part, and none before the window is full"


@pytest.mark.parametrize("options", ALTERNATIVES, ids=str)
def test_both_take_every_step_alike_whatever_the_setting(options: dict[str, Any]) -> None:
    other = walk(SaDE(**{**SMALL, **options}), "failing").states[-1].population.x.tolist()
    assert other != end_of(SaDE(**SMALL), "failing", BUDGET), "the setting has no effect here"


def test_no_setting_is_forgotten() -> None:
    assert tried(ALTERNATIVES) | {"rule"} == settings_of(SaDE)


@pytest.mark.parametrize("rule", RULES)
def test_every_technique_of_constraint_handling_can_serve(rule: str) -> None:
    feasible_best_of(SaDE(**SMALL, rule=rule), "inequalities", 1500)


def test_the_technique_makes_a_difference() -> None:
    both = SaDE(**SMALL, rule="epsilon-quantile"), SaDE(**SMALL)
    by_epsilon, usual = (states_of(settings, "inequalities", 500)[1] for settings in both)
    assert (by_epsilon[20].population.x != usual[20].population.x).any()


def test_rates_move_towards_what_succeeds() -> None:
    _, states = states_of(SaDE(population_size=20, window=10), "inequalities", 4000)
    rates = np.array([state.history.rates(state.generation, 0.01) for state in states])
    assert (rates[9] == 0.25).all() and (rates[10] != 0.25).all()
    np.testing.assert_allclose(rates.sum(axis=1), 1.0)
    assert rates.min() > 0


def test_strategies_come_as_often_as_their_rates_to_one_trial() -> None:
    """Stochastic universal sampling: the numbers of trials never differ from n times the rate by one or more."""
    settings = SaDE(population_size=20, window=5)
    _, states = states_of(settings, "inequalities", 3000)
    orders = set()
    for old, new in pairwise(states[:-1]):
        rates = old.history.rates(old.generation, settings.least_share)
        used = new.history.strategy[int(old.generation) % 5]
        orders.add(tuple(used))
        assert (abs(np.bincount(used, minlength=4) - 20 * rates) < 1 + 1e-9).all()
    assert len(orders) > len(states) // 2, "in random order"


def test_it_solves_a_problem_with_inequalities() -> None:
    best = feasible_best_of(SaDE(population_size=30), "inequalities", 15_000)
    np.testing.assert_allclose(best.x[0], 1.5, atol=1e-2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"population_size": 5}, "population_size must be an int >= 6; got 5"),
        ({"window": 0}, "window must be an int >= 1; got 0"),
        ({"least_share": 0.0}, "least_share must be a number from 1e-09 to 1; got 0.0"),
        ({"rule": "luck"}, "unknown rule 'luck'; expected one of feasibility"),
    ],
)
def test_wrong_settings_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SaDE(**options)


# Rates and medians of strategies over a window of generations, by hand.


def history_of(generations: list[tuple[list[int], list[float], list[bool]]], window: int) -> History:
    history = History.fresh(window, len(generations[0][0]))
    for G, (strategy, CR, success) in enumerate(generations):
        history = history.record(np.asarray(G), np.array(strategy), np.array(CR), np.array(success))
    return history


GENERATIONS: list[tuple[list[int], list[float], list[bool]]] = [
    ([0, 0, 1, 2], [0.9, 0.9, 0.9, 0.9], [True, True, True, True]),  # falls out of a window of two
    ([0, 0, 1, 1], [0.1, 0.2, 0.3, 0.4], [True, False, True, True]),
    ([0, 2, 1, 0], [0.5, 0.6, 0.7, 0.8], [True, False, True, True]),
]


def test_rates_by_hand() -> None:
    # Over the last two: strategy 0 won 3 of 4, 1 won 3 of 3, 2 won 0 of 1, 3 was not used; 0.01 more for each.
    history = history_of(GENERATIONS, 2)
    expected = np.array([0.76, 1.01, 0.01, 0.01])
    np.testing.assert_allclose(history.rates(np.asarray(3), 0.01), expected / 1.79, rtol=1e-14)
    assert history.rates(np.asarray(1), 0.01).tolist() == [0.25] * 4, "until the window is full"


def test_medians_by_hand() -> None:
    # Strategy 0: of 0.1, 0.5, 0.8 the middle. Strategy 1: of 0.3, 0.4, 0.7 the middle. 2 and 3: no success.
    history = history_of(GENERATIONS, 2)
    otherwise = np.array([0.91, 0.92, 0.93, 0.94])
    np.testing.assert_allclose(history.medians(np.asarray(3), otherwise), [0.5, 0.4, 0.93, 0.94], rtol=1e-14)
    assert history.medians(np.asarray(1), otherwise).tolist() == [0.5] * 4, "until the window is full"
    # Over all three: 0 has 0.9, 0.9, 0.1, 0.5, 0.8; 1 has an even number, 0.9, 0.3, 0.4, 0.7; 2 has 0.9 alone.
    whole = history_of(GENERATIONS, 3).medians(np.asarray(3), otherwise)
    np.testing.assert_allclose(whole, [0.8, 0.55, 0.9, 0.94], rtol=1e-14)


def test_a_window_full_of_successes_of_one_strategy_has_a_median_too() -> None:
    history = history_of([([0, 0], [0.2, 0.4], [True, True])], 1)
    assert history.medians(np.asarray(1), np.zeros(4))[0] == pytest.approx(0.3)
