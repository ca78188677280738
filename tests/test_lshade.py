"""L-SHADE beside its literal version, and what is its own: a shrinking population, cells of CR that close."""

from __future__ import annotations

import dataclasses
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from reference.lshade import TERMINAL, ReferenceLSHADE
from reference.small_problems import LOWER, PROBLEMS, SEED, UPPER, D, assert_same_points, by_rows, listed, states_of

from ppsde.algorithm import Task
from ppsde.algorithms.lshade import LSHADE, State
from ppsde.parts.memory import CLOSED
from ppsde.population import evaluated
from ppsde.streams import NumpyStream
from ppsde.violation import TOLERANCE

# Gains, differences of nearly equal numbers, enlarge rounding before they weigh what the memory learns.
CLOSE: dict[str, Any] = {"rtol": 1e-9, "atol": 1e-9}

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


def named(options: dict[str, Any]) -> str:
    return "{}={}".format(*next(iter(options.items())))


def assert_same(fast: State, slow: ReferenceLSHADE) -> None:
    where = f"generation {slow.G}"
    N = len(slow.population)
    assert [int(v) for v in (fast.generation, fast.size, fast.evaluations)] == [slow.G, N, slow.FES], where
    assert_same_points(fast.population.take(slice(0, N)), slow.population, where, **CLOSE)
    assert not fast.population.valid[N:].any(), where
    np.testing.assert_allclose(fast.memory.F[0], slow.M_F, **CLOSE, err_msg=where)
    closing = [CLOSED if CR == TERMINAL else CR for CR in slow.M_CR]
    np.testing.assert_allclose(fast.memory.CR[0], closing, **CLOSE, err_msg=where)
    assert int(fast.memory.next[0]) == slow.k, where
    assert int(fast.archive.size) == len(slow.A), where
    if slow.A:
        np.testing.assert_allclose(fast.archive.x[: len(slow.A)], slow.A, **CLOSE, err_msg=where)


def follow(slow: ReferenceLSHADE, fast: State) -> None:
    """Set the literal version to exactly where the fast one stands, so that rounding does not add up over a run."""
    slow.population = listed(fast.population.take(slice(0, int(fast.size))))
    slow.A = fast.archive.x[: int(fast.archive.size)].tolist()
    slow.M_F = fast.memory.F[0].tolist()
    slow.M_CR = np.where(fast.memory.CR[0] == CLOSED, TERMINAL, fast.memory.CR[0]).tolist()


def walk_together(settings: LSHADE, problem: str, budget: int = BUDGET, following: bool = True) -> list[State]:
    slow = ReferenceLSHADE(settings, PROBLEMS[problem], LOWER.tolist(), UPPER.tolist(), budget, TOLERANCE)
    slow.start(NumpyStream(SEED, 0, 0))
    run, states = states_of(settings, problem, budget)
    for state in states:
        if state.generation > 0:
            slow.generation(NumpyStream(SEED, 0, int(state.generation)))
        assert_same(state, slow)
        if following:
            follow(slow, state)
    assert run.evaluations == slow.judge.evaluations == budget
    return states


@pytest.mark.parametrize("problem", PROBLEMS)
def test_both_walk_the_same_way_from_start_to_end(problem: str) -> None:
    states = walk_together(LSHADE(**SMALL), problem, following=False)
    assert len(states) > 60


@pytest.mark.parametrize("problem", ["equalities", "failing"])
@pytest.mark.parametrize("options", ALTERNATIVES, ids=named)
def test_both_take_every_step_alike_whatever_the_setting(options: dict[str, Any], problem: str) -> None:
    walk_together(LSHADE(**{**SMALL, **options}), problem)


@pytest.mark.parametrize("options", ALTERNATIVES, ids=named)
def test_every_setting_makes_a_difference(options: dict[str, Any]) -> None:
    usual, other = (states_of(LSHADE(**{**SMALL, **more}), "equalities", BUDGET)[1][-1] for more in ({}, options))
    assert usual.population.x.shape != other.population.x.shape or (usual.population.x != other.population.x).any()


def test_no_setting_is_forgotten() -> None:
    tried = {name for options in ALTERNATIVES for name in options} | {"rule"}
    assert tried == {field.name for field in dataclasses.fields(LSHADE)}


def test_the_rule_makes_a_difference_where_there_are_constraints() -> None:
    ends = [states_of(LSHADE(**SMALL, rule=rule), "equalities", BUDGET)[1][-1] for rule in ("feasibility", "epsilon")]
    assert (ends[0].population.x != ends[1].population.x).any()


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
        coroutine.send(evaluated(request.x, *by_rows(PROBLEMS["equalities"], request.x), TOLERANCE))
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
        ({"rule": "deb"}, "rule must be one of 'feasibility', "),
    ],
)
def test_wrong_settings_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LSHADE(**options)
