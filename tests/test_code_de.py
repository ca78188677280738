"""CoDE and its literal version, fed the same draws, must go the same way; and what is special to CoDE."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from reference.code_de import ReferenceCoDE
from reference.small_problems import LOWER, PROBLEMS, SEED, UPPER, assert_same_points, listed, states_of

from ppsde.algorithms.code_de import CoDE
from ppsde.parts.handling import TECHNIQUES
from ppsde.streams import NumpyStream
from ppsde.violation import TOLERANCE

CLOSE: dict[str, Any] = {"rtol": 1e-9, "atol": 1e-9}  # sums in another order
GENERATIONS = 30
VARIED = ("inequalities", "equalities")  # on which every rule is tried


def budget_of(settings: CoDE) -> int:
    """For so many generations and a part of one more, which is cut off."""
    return settings.population_size * (1 + 3 * GENERATIONS) + 7


def walk_together(settings: CoDE, problem: str, following: bool) -> None:
    budget = budget_of(settings)
    slow = ReferenceCoDE(settings, PROBLEMS[problem], LOWER.tolist(), UPPER.tolist(), budget, TOLERANCE)
    slow.start(NumpyStream(SEED, 0, 0))
    run, states = states_of(settings, problem, budget)
    for state in states:
        G = int(state.generation)
        if G > 0:
            slow.generation(NumpyStream(SEED, 0, G))
        assert_same_points(state.population, slow.population, f"generation {G}", **CLOSE)
        assert state.wins.tolist() == slow.wins, f"generation {G}"
        if following:  # from exactly where the fast one stands, so that rounding does not add up over a run
            slow.population = listed(state.population)
    assert run.evaluations == slow.judge.evaluations == budget
    assert min(slow.wins) > 10, "every strategy has its say"


@pytest.mark.parametrize("problem", PROBLEMS)
def test_both_walk_the_same_way_from_start_to_end(problem: str) -> None:
    walk_together(CoDE(population_size=12), problem, following=False)


@pytest.mark.parametrize("size", [6, 30])
def test_both_take_every_step_alike_whatever_the_size(size: int) -> None:
    walk_together(CoDE(population_size=size), "inequalities", following=True)


def test_the_members_of_a_population_never_get_worse_by_the_feasibility_rule() -> None:
    settings = CoDE(population_size=12)
    states = states_of(settings, "inequalities", budget_of(settings))[1]
    for old, new in pairwise(states):
        before = list(zip(old.population.violation, old.population.f, strict=True))
        after = list(zip(new.population.violation, new.population.f, strict=True))
        assert all(later <= earlier for earlier, later in zip(before, after, strict=True))


@pytest.mark.parametrize("rule", [name for name in TECHNIQUES if name != "feasibility"])
def test_every_rule_can_be_set_and_leads_another_way(rule: str) -> None:
    assert any((end_of(rule, problem) != end_of("feasibility", problem)).any() for problem in VARIED)


@cache
def end_of(rule: str, problem: str) -> np.ndarray:
    budget = 5000  # until violations are so small that a static epsilon can forgive them
    run, states = states_of(CoDE(population_size=12, rule=rule), problem, budget)
    assert run.evaluations == budget
    x: np.ndarray = states[-1].population.x
    return x


def test_the_answer_is_the_best_of_the_last_population() -> None:
    settings = CoDE(population_size=12, rule="stochastic-ranking")
    run, states = states_of(settings, "inequalities", budget_of(settings))
    last = states[-1].population
    assert run.answer is not None
    assert (run.answer.violation[0], run.answer.f[0]) == min(zip(last.violation, last.f, strict=True))


def test_a_wrong_setting_is_named() -> None:
    with pytest.raises(ValueError, match="population_size"):
        CoDE(population_size=5)
    with pytest.raises(ValueError, match="rule"):
        CoDE(rule="hope")
