"""L-SHADE beside its literal version, and what is its own: a shrinking population, cells of CR that close."""

from __future__ import annotations

import dataclasses
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from reference.lshade import ReferenceLSHADE
from reference.options import named, settings_of, tried
from reference.small_problems import LOWER, PROBLEMS, SEED, UPPER, D, end_of, points_of, states_of
from reference.walking import (
    Walk,
    archived,
    assert_same_archive,
    assert_same_members,
    assert_same_memory,
    listed,
    members_of,
    remembered,
    walk_together,
)

from ppsde.algorithm import Task
from ppsde.algorithms.lshade import LSHADE, State
from ppsde.parts.memory import CLOSED
from ppsde.streams import NumpyStream

SMALL: dict[str, Any] = {"population_size": 24}
BUDGET = 800

ALTERNATIVES: list[dict[str, Any]] = [
    {"population_size": None},
    {"population_size": 9},
    {"final_size": 10},
    {"final_size": 24},
    {"memory_size": 1},
    {"memory_size": 20},
    {"pbest": 0.0},
    {"pbest": 0.5},
    {"archive_rate": 0.0},
    {"archive_rate": 1.0},
]


def assert_same(fast: State, slow: ReferenceLSHADE, where: str) -> None:
    assert_same_members(fast, slow, where)
    assert_same_memory(fast.memory, [slow.M_F], [slow.M_CR], [slow.k], where)
    assert_same_archive(fast.archive, slow.A, where)


def follow(slow: ReferenceLSHADE, fast: State) -> None:
    slow.population = listed(members_of(fast))
    slow.A = archived(fast.archive)
    (slow.M_F,), (slow.M_CR,) = remembered(fast.memory)


def walk(settings: LSHADE, problem: str, following: bool = True) -> Walk:
    return walk_together(ReferenceLSHADE, settings, problem, BUDGET, assert_same, follow if following else None)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_both_walk_the_same_way_from_start_to_end(problem: str) -> None:
    assert len(walk(LSHADE(**SMALL), problem, following=False).states) > 60


@pytest.mark.parametrize("problem", ["equalities", "failing"])
@pytest.mark.parametrize("options", ALTERNATIVES, ids=named)
def test_both_take_every_step_alike_whatever_the_setting(options: dict[str, Any], problem: str) -> None:
    walk(LSHADE(**{**SMALL, **options}), problem)


@pytest.mark.parametrize("options", ALTERNATIVES, ids=named)
def test_every_setting_makes_a_difference(options: dict[str, Any]) -> None:
    usual, other = (end_of(LSHADE(**{**SMALL, **more}), "equalities", BUDGET) for more in ({}, options))
    assert usual != other


def test_no_setting_is_forgotten() -> None:
    assert tried(ALTERNATIVES) | {"rule"} == settings_of(LSHADE)


def test_the_rule_makes_a_difference_where_there_are_constraints() -> None:
    ends = [end_of(LSHADE(**SMALL, rule=rule), "equalities", BUDGET) for rule in ("feasibility", "epsilon")]
    assert ends[0] != ends[1]


def test_the_population_falls_along_a_line_and_the_archive_with_it() -> None:
    run, states = states_of(LSHADE(), "equalities", 3000)
    assert states[0].size == 18 * D and states[-1].size == 4
    for before, state in pairwise(states):
        expected = 72 - 68 * min(int(state.evaluations) / 3000, 1.0)
        assert abs(int(state.size) - expected) <= 0.5
        assert state.evaluations == before.evaluations + before.size
        assert state.archive.size <= np.floor(2.6 * state.size + 0.5)
    assert max(int(state.archive.size) for state in states) > 60, "and it was larger before"
    assert states[-1].archive.size == 10
    assert run.evaluations == 3000


def test_the_dead_are_never_evaluated_again() -> None:
    _, states = states_of(LSHADE(**SMALL), "equalities", BUDGET)
    for state in states:
        assert state.population.valid.sum() == state.size


def test_closed_cells_change_one_component_and_stay_closed() -> None:
    _, states = states_of(LSHADE(**SMALL), "equalities", BUDGET)
    middle = states[20]
    closed = dataclasses.replace(middle.memory, CR=np.full_like(middle.memory.CR, CLOSED))
    state = dataclasses.replace(middle, memory=closed)
    coroutine = LSHADE(**SMALL).generation(state, Task(LOWER, UPPER, BUDGET), NumpyStream(SEED, 0, 21))
    request = next(coroutine)
    alive = slice(0, int(state.size))
    changed = (request.x[alive] != state.population.x[alive]).sum(axis=1)
    assert (changed <= 1).all() and changed.mean() > 0.8, "by chance the mutant's component is its parent's"
    with pytest.raises(StopIteration) as end:
        coroutine.send(points_of("equalities", request.x))
    after = end.value.value.memory
    assert (after.F != closed.F).any() and (after.CR == CLOSED).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"final_size": 3}, "final_size must be an int >= 4; got 3"),
        ({"population_size": 8, "final_size": 9}, "population_size must be an int >= 9; got 8"),
        ({"memory_size": 0}, "memory_size must be an int >= 1; got 0"),
        ({"pbest": 2}, "pbest must be a number from 0 to 1; got 2"),
        ({"archive_rate": -0.1}, "archive_rate must be a number from 0 to 100; got -0.1"),
        ({"rule": "deb"}, "unknown rule 'deb'; expected one of feasibility"),
    ],
)
def test_wrong_settings_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LSHADE(**options)
