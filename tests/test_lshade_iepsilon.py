"""LSHADE-IEpsilon beside its literal version, and what is its own: memories that begin empty, an epsilon that opens."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from reference.lshade_iepsilon import ReferenceLSHADEIEpsilon
from reference.options import named, settings_of, tried
from reference.small_problems import PROBLEMS, end_of, states_of
from reference.walking import assert_close, assert_same_members, listed, members_of, walk_together

from ppsde.algorithms.lshade_iepsilon import LSHADEIEpsilon, State

SMALL: dict[str, Any] = {"population_size": 16, "memory_size": 3}
BUDGET = 400
ALTERNATIVES: list[dict[str, Any]] = [
    {"population_size": None},
    {"final_size": 10},
    {"memory_size": 1},
    {"most_pbest": 0.9},
    {"prior": 20},
    {"least_share": 0.2},
    {"theta": 0.9},
    {"alpha": 0.1},
    {"cp": 0.1},
    {"closes": 0.2},
]


def assert_same(fast: State, slow: ReferenceLSHADEIEpsilon, where: str) -> None:
    assert_same_members(fast, slow, where)
    assert fast.counts.tolist() == slow.n and fast.memory.next.tolist() == slow.pos, where
    assert fast.filled.tolist() == [len(pairs) for pairs in slow.M], where
    for k, pairs in enumerate(slow.M):
        assert_close(fast.memory.F[k][: len(pairs)], [F for F, _ in pairs], where)
        assert_close(fast.memory.CR[k][: len(pairs)], [CR for _, CR in pairs], where)
    assert_close([fast.level.epsilon, fast.level.largest], [slow.eps, slow.phi_max], where)


def follow(slow: ReferenceLSHADEIEpsilon, fast: State) -> None:
    slow.population = listed(members_of(fast))
    slow.M = [
        list(zip(F[:filled], CR[:filled], strict=True))
        for F, CR, filled in zip(fast.memory.F.tolist(), fast.memory.CR.tolist(), fast.filled.tolist(), strict=True)
    ]


@pytest.mark.parametrize("problem", PROBLEMS)
def test_both_take_every_step_alike(problem: str) -> None:
    walk_together(ReferenceLSHADEIEpsilon, LSHADEIEpsilon(**SMALL), problem, BUDGET, assert_same, follow)


@pytest.mark.parametrize("options", ALTERNATIVES, ids=named)
def test_both_take_every_step_alike_whatever_the_setting_and_it_makes_a_difference(options: dict[str, Any]) -> None:
    settings, usual = LSHADEIEpsilon(**{**SMALL, **options}), LSHADEIEpsilon(**SMALL)
    walk_together(ReferenceLSHADEIEpsilon, settings, "failing", BUDGET, assert_same, follow)
    problems = ("failing", "inequalities", "equalities")
    assert any(end_of(settings, p, BUDGET) != end_of(usual, p, BUDGET) for p in problems)


def test_no_setting_is_forgotten() -> None:
    assert tried(ALTERNATIVES) == settings_of(LSHADEIEpsilon)


def test_epsilon_shrinks_opens_again_and_closes() -> None:
    """Otherwise the agreement above would say little."""
    _, states = states_of(LSHADEIEpsilon(), "inequalities", 4000)
    epsilons = [float(state.level.epsilon) for state in states]
    ups = sum(later > earlier for earlier, later in pairwise(epsilons))
    assert 0 < ups < len(epsilons) - 2 and epsilons[-1] == 0


@pytest.mark.parametrize("options", [{"final_size": 3}, {"memory_size": 0}, {"alpha": 2}, {"closes": 0}], ids=named)
def test_a_wrong_setting_is_named(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(options))):
        LSHADEIEpsilon(**options)
