"""IUDE and its literal version, fed the same draws, must go the same way; and what is special to IUDE."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from reference.iude import ReferenceIUDE
from reference.options import named, settings_of, tried
from reference.small_problems import PROBLEMS, end_of, states_of
from reference.walking import (
    assert_close,
    assert_same_memory,
    assert_same_points,
    follow_population,
    remembered,
    walk_together,
)

from ppsde.algorithms.iude import IUDE, State

SMALL: dict[str, Any] = {"population_size": 12, "memory_size": 4, "strategy_window": 4, "equal_generations": 9}
GENERATIONS = 30
VARIED = ("inequalities", "failing")  # on which every setting is tried
ALTERNATIVES: list[dict[str, Any]] = [
    {"population_size": None},
    {"population_size": 13},
    {"memory_size": 1},
    {"memory_size": 100},
    {"pbest_least": 2},
    {"pbest_most": 5},
    {"strategy_window": 20},
    {"equal_generations": 0},
    {"closes": 0.9},
    {"certain_component": True},
    *({"parents": parents} for parents in ("ranked-rand", "best-of-three", "uniform")),
    *({"repair": repair} for repair in ("reflect", "midpoint", "resample")),
]


def budget_of(settings: IUDE, generations: int = GENERATIONS) -> int:
    """For so many generations and a part of one more, which is cut off in its first request."""
    n = settings.population_size or 40
    return n + generations * (n + 2 * ((n + 1) // 2)) + 7


def assert_same(fast: State, slow: ReferenceIUDE, where: str) -> None:
    S = slow.settings
    assert_same_points(fast.population, slow.population, where)
    assert_same_memory(fast.memory, slow.M_F, slow.M_CR, slow.k, where)
    assert_close(fast.closing.epsilon(S.closes), slow.eps, where)
    for g in range(max(1, slow.G - S.strategy_window + 1), slow.G + 1):
        assert fast.competition.wins[g % S.strategy_window].tolist() == slow.NW[g - 1], where


def follow(slow: ReferenceIUDE, fast: State) -> None:
    follow_population(slow, fast)
    slow.M_F, slow.M_CR = remembered(fast.memory)


def walk(settings: IUDE, problem: str, following: bool) -> None:
    budget = budget_of(settings)
    way = walk_together(ReferenceIUDE, settings, problem, budget, assert_same, follow if following else None)
    assert way.slow.G == GENERATIONS + 1


@pytest.mark.parametrize("problem", PROBLEMS)
def test_both_walk_the_same_way_from_start_to_end(problem: str) -> None:
    walk(IUDE(**SMALL), problem, following=False)


def test_both_take_every_step_alike_with_nothing_set() -> None:
    walk(IUDE(), "equalities", following=True)


@pytest.mark.parametrize("problem", VARIED)
@pytest.mark.parametrize("options", ALTERNATIVES, ids=named)
def test_both_take_every_step_alike_whatever_the_setting(options: dict[str, Any], problem: str) -> None:
    walk(IUDE(**{**SMALL, **options}), problem, following=True)


def end(options: dict[str, Any], problem: str) -> list[list[float]]:
    settings = IUDE(**{**SMALL, **options})
    return end_of(settings, problem, budget_of(settings))


@pytest.mark.parametrize("options", ALTERNATIVES, ids=named)
def test_every_setting_makes_a_difference(options: dict[str, Any]) -> None:
    assert any(end(options, problem) != end({}, problem) for problem in VARIED)


def test_no_setting_is_forgotten() -> None:
    assert tried(ALTERNATIVES) == settings_of(IUDE)


def test_these_runs_see_epsilon_open_and_closed_rates_that_move_and_memories_that_learn() -> None:
    """Otherwise the agreement above would say little."""
    settings = IUDE(**SMALL)
    states = states_of(settings, "inequalities", budget_of(settings))[1][:-1]  # the budget cuts the last generation
    seen = [{name: float(value) for name, value in settings.watch(state).items()} for state in states]
    epsilons = [row["epsilon"] for row in seen]
    assert all(later <= earlier for earlier, later in pairwise(epsilons))
    assert epsilons[1] > 0 and epsilons[GENERATIONS // 2 + 2] == 0
    rates = [row["rate_current_to_rand"] for row in seen]
    assert rates[: settings.equal_generations] == [1 / 3] * settings.equal_generations
    assert len(set(rates)) > 5
    assert len({state.memory.F.tobytes() for state in states}) > GENERATIONS // 2
    assert len({int(state.memory.next[0]) for state in states}) == settings.memory_size


def test_the_answer_is_the_best_point_that_ever_was_in_a_population() -> None:
    settings = IUDE(**SMALL)
    run, states = states_of(settings, "inequalities", budget_of(settings))
    scores = [(float(s.population.violation[0]), float(s.population.f[0])) for s in states]
    assert run.answer is not None
    assert (float(run.answer.violation[0]), float(run.answer.f[0])) == min(scores)


@pytest.mark.parametrize(
    "options",
    [
        {"population_size": 7},
        {"memory_size": 0},
        {"strategy_window": 0},
        {"equal_generations": -1},
        {"pbest_least": 1},
        {"pbest_most": 4},
        {"closes": 1.0},
        {"closes": 0.0},
        {"certain_component": 1},
        {"parents": "anyone"},
        {"repair": "none"},
    ],
    ids=named,
)
def test_a_wrong_setting_is_named(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(options))):
        IUDE(**options)
