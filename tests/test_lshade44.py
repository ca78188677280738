"""LSHADE44 beside its literal version, and what is its own: four competing strategies in a shrinking population."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from reference.lshade44 import ReferenceLSHADE44
from reference.options import named, settings_of, tried
from reference.small_problems import PROBLEMS, D, end_of, states_of
from reference.walking import (
    Walk,
    archived,
    assert_answers_about_the_best_of,
    assert_answers_the_best_of,
    assert_same_archive,
    assert_same_members,
    assert_same_memory,
    listed,
    members_of,
    remembered,
    walk_together,
)

from ppsde.algorithms.lshade44 import LSHADE44, State

SMALL: dict[str, Any] = {"population_size": 30, "memory_size": 3}
BUDGET = 900

ALTERNATIVES: list[dict[str, Any]] = [
    {"population_size": None},
    {"population_size": 9},
    {"final_size": 10},
    {"final_size": 30},
    {"memory_size": 1},
    {"memory_size": 20},
    {"pbest": 0.0},
    {"pbest": 0.5},
    {"archive_rate": 0.0},
    {"archive_rate": 1.0},
    {"prior": 1},
    {"prior": 20},
    {"least_share": 0.0},
    {"least_share": 0.2},
    {"CR_deviation": 0.0},
    {"CR_deviation": 0.1},
    {"randrl": "random"},
]


def assert_same(fast: State, slow: ReferenceLSHADE44, where: str) -> None:
    learned = fast.strategies
    assert_same_members(fast, slow, where)
    assert learned.successes.tolist() == slow.n, where
    assert_same_memory(learned.memory, slow.M_F, slow.M_CR, slow.pos, where)
    assert_same_archive(learned.archive, slow.A, where)


def follow(slow: ReferenceLSHADE44, fast: State) -> None:
    slow.population = listed(members_of(fast))
    slow.A = archived(fast.strategies.archive)
    slow.M_F, slow.M_CR = remembered(fast.strategies.memory)


def walk(settings: LSHADE44, problem: str, following: bool = True) -> Walk:
    way = walk_together(ReferenceLSHADE44, settings, problem, BUDGET, assert_same, follow if following else None)
    assert_answers_about_the_best_of(way.run, way.slow.population)
    return way


@pytest.mark.parametrize("problem", PROBLEMS)
def test_both_walk_the_same_way_from_start_to_end(problem: str) -> None:
    assert len(walk(LSHADE44(**SMALL), problem, following=False).states) > 60


@pytest.mark.parametrize("problem", ["equalities", "failing"])
@pytest.mark.parametrize("options", ALTERNATIVES, ids=named)
def test_both_take_every_step_alike_whatever_the_setting(options: dict[str, Any], problem: str) -> None:
    walk(LSHADE44(**{**SMALL, **options}), problem)


# In so short a run no strategy's share falls below the usual 0.05.
SEEN = [options for options in ALTERNATIVES if options != {"least_share": 0.0}]


@pytest.mark.parametrize("options", SEEN, ids=named)
def test_every_setting_makes_a_difference(options: dict[str, Any]) -> None:
    usual, other = (end_of(LSHADE44(**{**SMALL, **more}), "failing", BUDGET) for more in ({}, options))
    assert usual != other


def test_no_setting_is_forgotten() -> None:
    assert tried(ALTERNATIVES) | {"rule"} == settings_of(LSHADE44)


@pytest.mark.parametrize("rule", ["epsilon", "static-penalty"])
def test_the_rule_decides_where_there_are_constraints_and_nothing_where_there_are_none(rule: str) -> None:
    other, usual = LSHADE44(**SMALL, rule=rule), LSHADE44(**SMALL, rule="feasibility")
    assert end_of(other, "unconstrained", BUDGET) == end_of(usual, "unconstrained", BUDGET)
    assert end_of(other, "equalities", BUDGET) != end_of(usual, "equalities", BUDGET)


def counts_of(settings: LSHADE44) -> list[np.ndarray]:
    return [state.strategies.successes for state in states_of(settings, "equalities", BUDGET)[1]]


def test_every_strategy_succeeds_in_these_runs() -> None:
    """Otherwise the agreement above would say little."""
    assert (np.max(np.diff(counts_of(LSHADE44(**SMALL)), axis=0), axis=0) > 0).all()


def test_the_counts_begin_again_when_a_strategy_has_become_rare_and_only_then() -> None:
    again = []
    for old, new in pairwise(counts_of(LSHADE44(**SMALL, least_share=0.2))):
        rare = old.min() / old.sum() < 0.2
        again.append(rare)
        assert (new >= (2 if rare else old)).all()
        assert new.sum() <= (8 if rare else old.sum()) + SMALL["population_size"]
    assert any(again) and not all(again)


def test_the_memories_learn_apart_and_the_population_and_the_archive_shrink() -> None:
    _, states = states_of(LSHADE44(), "equalities", 4000)
    last = states[-1]
    assert (last.strategies.memory.F != 0.5).all()
    assert len({tuple(cells) for cells in last.strategies.memory.F.tolist()}) == 4
    assert states[0].size == 18 * D and last.size == 4
    assert (np.diff([int(state.size) for state in states]) <= 0).all()
    archived = [int(state.strategies.archive.size) for state in states]
    assert archived[0] == 0 and max(archived) > 100 and archived[-1] == 10


def test_the_answer_is_the_best_of_the_last_population() -> None:
    run, states = states_of(LSHADE44(**SMALL), "equalities", BUDGET)
    assert_answers_the_best_of(run, states[-1].population)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"final_size": 3}, "final_size must be an int >= 4; got 3"),
        ({"population_size": 8, "final_size": 9}, "population_size must be an int >= 9; got 8"),
        ({"memory_size": 0}, "memory_size must be an int >= 1; got 0"),
        ({"prior": 0}, "prior must be an int >= 1; got 0"),
        ({"pbest": 2}, "pbest must be a number from 0 to 1; got 2"),
        ({"least_share": 0.5}, "least_share must be a number from 0 to 0.25; got 0.5"),
        ({"CR_deviation": -1.0}, "CR_deviation must be a number from 0 to 1; got -1.0"),
        ({"archive_rate": -0.1}, "archive_rate must be a number from 0 to 100; got -0.1"),
        ({"randrl": "swapped"}, "randrl must be one of 'ranked', 'random'; got 'swapped'"),
        ({"rule": "deb"}, "unknown rule 'deb'; expected one of feasibility"),
    ],
)
def test_wrong_settings_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LSHADE44(**options)
