"""UDE and its literal version, fed the same draws, must go the same way; and what is special to UDE."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from reference.options import named, settings_of, tried
from reference.small_problems import PROBLEMS, end_of, states_of
from reference.ude import ReferenceUDE
from reference.walking import assert_close, assert_same_points, follow_population, walk_together

from ppsde.algorithms.ude import UDE, State
from ppsde.parts.handling import TECHNIQUES

SMALL: dict[str, Any] = {"population_size": 14, "strategy_window": 4}
GENERATIONS = 30
VARIED = ("inequalities", "failing")  # on which every setting is tried
ALTERNATIVES: list[dict[str, Any]] = [
    {"population_size": None},
    {"population_size": 13},
    {"pbest": 2},
    {"strategy_window": 20},
    *({"parents": parents} for parents in ("ranked-top", "best-of-three", "uniform")),
    *({"repair": repair} for repair in ("reflect", "midpoint", "resample")),
    {"local_steps": 0},
    {"local_steps": 3},
    {"penalty_weight": 1.0},
]


def budget_of(settings: UDE) -> int:
    """For so many generations and a part of one more, which is cut off in its first request."""
    n = settings.population_size or 12
    return n + GENERATIONS * (n + 2 * ((n + 1) // 2) + settings.local_steps) + 7


def walk(settings: UDE, problem: str, following: bool) -> None:
    def assert_same(fast: State, slow: ReferenceUDE, where: str) -> None:
        assert_same_points(fast.population, slow.population, where)
        seen = settings.watch(fast)
        rates = [float(seen[f"rate_{name}"]) for name in ("rand", "current_to_rand", "current_to_pbest")]
        assert_close(rates, slow.strategy_rates(), where)

    budget, follow = budget_of(settings), follow_population if following else None
    way = walk_together(ReferenceUDE, settings, problem, budget, assert_same, follow)
    assert way.slow.G == GENERATIONS + 1


@pytest.mark.parametrize("problem", PROBLEMS)
def test_both_walk_the_same_way_from_start_to_end(problem: str) -> None:
    walk(UDE(**SMALL), problem, following=False)


def test_both_take_every_step_alike_with_nothing_set() -> None:
    walk(UDE(), "equalities", following=True)


@pytest.mark.parametrize("problem", VARIED)
@pytest.mark.parametrize("options", ALTERNATIVES, ids=named)
def test_both_take_every_step_alike_whatever_the_setting(options: dict[str, Any], problem: str) -> None:
    walk(UDE(**{**SMALL, **options}), problem, following=True)


def end(options: dict[str, Any], problem: str) -> list[list[float]]:
    settings = UDE(**{**SMALL, **options})
    return end_of(settings, problem, budget_of(settings))


@pytest.mark.parametrize("options", ALTERNATIVES, ids=named)
def test_every_setting_makes_a_difference(options: dict[str, Any]) -> None:
    assert any(end(options, problem) != end({}, problem) for problem in VARIED)


@pytest.mark.parametrize("rule", [name for name in TECHNIQUES if name != "static-penalty"])
def test_every_rule_can_be_set_and_leads_another_way(rule: str) -> None:
    assert end({"rule": rule}, "inequalities") != end({}, "inequalities")


def test_no_setting_is_forgotten() -> None:
    assert tried(ALTERNATIVES) | {"rule"} == settings_of(UDE)


def test_the_strategies_rates_follow_their_wins() -> None:
    settings = UDE(**SMALL)
    run, _ = states_of(settings, "equalities", budget_of(settings))
    rates = run.history["rate_current_to_rand"]
    assert rates[: settings.strategy_window].tolist() == [1 / 3] * settings.strategy_window
    assert len(set(rates)) > 5


def test_the_answer_is_the_first_by_penalised_fitness_be_it_feasible_or_not() -> None:
    settings = UDE(**SMALL)
    run, states = states_of(settings, "equalities", budget_of(settings))
    last = states[-1].population
    row = int(np.argmin(last.f + settings.penalty_weight * last.violation))
    assert run.answer is not None
    assert run.answer.x[0].tolist() == last.x[row].tolist()


@pytest.mark.parametrize(
    "options",
    [
        {"population_size": 7},
        {"pbest": 1},
        {"strategy_window": 0},
        {"local_steps": -1},
        {"parents": "anyone"},
        {"repair": "none"},
        {"rule": "hope"},
        {"penalty_weight": -1.0},
    ],
    ids=named,
)
def test_a_wrong_setting_is_named(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(options))):
        UDE(**options)
