"""CoDE and its literal version, fed the same draws, must go the same way; and what is special to CoDE."""

from __future__ import annotations

from itertools import pairwise

import pytest
from reference.code_de import ReferenceCoDE
from reference.small_problems import PROBLEMS, end_of, states_of
from reference.walking import assert_answers_the_best_of, assert_same_points, follow_population, walk_together

from ppsde.algorithms.code_de import CoDE, State
from ppsde.parts.handling import RULES

GENERATIONS = 30
VARIED = ("inequalities", "equalities")  # on which every rule is tried


def budget_of(settings: CoDE) -> int:
    """For so many generations and a part of one more, which is cut off."""
    return settings.population_size * (1 + 3 * GENERATIONS) + 7


def assert_same(fast: State, slow: ReferenceCoDE, where: str) -> None:
    assert_same_points(fast.population, slow.population, where)
    assert fast.wins.tolist() == slow.wins, where


def walk(settings: CoDE, problem: str, following: bool) -> None:
    follow = follow_population if following else None
    way = walk_together(ReferenceCoDE, settings, problem, budget_of(settings), assert_same, follow)
    assert min(way.slow.wins) > 10, "every strategy has its say"


@pytest.mark.parametrize("problem", PROBLEMS)
def test_both_walk_the_same_way_from_start_to_end(problem: str) -> None:
    walk(CoDE(population_size=12), problem, following=False)


@pytest.mark.parametrize("size", [6, 30])
def test_both_take_every_step_alike_whatever_the_size(size: int) -> None:
    walk(CoDE(population_size=size), "inequalities", following=True)


def test_the_members_of_a_population_never_get_worse_by_the_feasibility_rule() -> None:
    settings = CoDE(population_size=12)
    states = states_of(settings, "inequalities", budget_of(settings))[1]
    for old, new in pairwise(states):
        before = list(zip(old.population.violation, old.population.f, strict=True))
        after = list(zip(new.population.violation, new.population.f, strict=True))
        assert all(later <= earlier for earlier, later in zip(before, after, strict=True))


@pytest.mark.parametrize("rule", [name for name in RULES if name != "feasibility"])
def test_every_rule_can_be_set_and_leads_another_way(rule: str) -> None:
    assert any(end(rule, problem) != end("feasibility", problem) for problem in VARIED)


def end(rule: str, problem: str) -> list[list[float]]:
    # 5000: until violations are so small that a static epsilon can forgive them
    return end_of(CoDE(population_size=12, rule=rule), problem, 5000)


def test_the_answer_is_the_best_of_the_last_population() -> None:
    settings = CoDE(population_size=12, rule="stochastic-ranking")
    run, states = states_of(settings, "inequalities", budget_of(settings))
    assert_answers_the_best_of(run, states[-1].population)


def test_a_wrong_setting_is_named() -> None:
    with pytest.raises(ValueError, match="population_size"):
        CoDE(population_size=5)
    with pytest.raises(ValueError, match="rule"):
        CoDE(rule="hope")
