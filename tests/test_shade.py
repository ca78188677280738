"""SHADE beside its literal version, and what is its own: memory, archive, a share for pbest."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from reference.shade import ReferenceSHADE
from reference.small_problems import LOWER, PROBLEMS, SEED, UPPER, assert_same_points, listed, states_of

from ppsde.algorithms.shade import SHADE, State
from ppsde.streams import NumpyStream
from ppsde.violation import TOLERANCE

# Gains, differences of nearly equal numbers, enlarge rounding before they weigh what the memory learns.
CLOSE: dict[str, Any] = {"rtol": 1e-9, "atol": 1e-9}

SMALL: dict[str, Any] = {"population_size": 20, "memory_size": 5}
BUDGET = 40 * 20 + 7  # the last generation is cut

ALTERNATIVES: list[dict[str, Any]] = [
    {"population_size": 4},
    {"population_size": 33},
    {"memory_size": 1},
    {"memory_size": 50},
    {"largest_pbest": 0.0},
    {"largest_pbest": 1.0},
    {"archive_rate": 0.0},
    {"archive_rate": 3.0},
]


def named(options: dict[str, Any]) -> str:
    return "{}={}".format(*next(iter(options.items())))


def assert_same(fast: State, slow: ReferenceSHADE) -> None:
    where = f"generation {slow.G}"
    assert_same_points(fast.population, slow.population, where, **CLOSE)
    np.testing.assert_allclose(fast.memory.F[0], slow.M_F, **CLOSE, err_msg=where)
    np.testing.assert_allclose(fast.memory.CR[0], slow.M_CR, **CLOSE, err_msg=where)
    assert [int(fast.generation), int(fast.memory.next[0])] == [slow.G, slow.k], where
    assert int(fast.archive.size) == len(slow.A), where
    if slow.A:
        np.testing.assert_allclose(fast.archive.x[: len(slow.A)], slow.A, **CLOSE, err_msg=where)


def follow(slow: ReferenceSHADE, fast: State) -> None:
    """Set the literal version to exactly where the fast one stands, so that rounding does not add up over a run."""
    slow.population = listed(fast.population)
    slow.A = fast.archive.x[: int(fast.archive.size)].tolist()
    slow.M_F, slow.M_CR = fast.memory.F[0].tolist(), fast.memory.CR[0].tolist()


def walk_together(settings: SHADE, problem: str, following: bool = True) -> list[State]:
    slow = ReferenceSHADE(settings, PROBLEMS[problem], LOWER.tolist(), UPPER.tolist(), BUDGET, TOLERANCE)
    slow.start(NumpyStream(SEED, 0, 0))
    run, states = states_of(settings, problem, BUDGET)
    for state in states:
        if state.generation > 0:
            slow.generation(NumpyStream(SEED, 0, int(state.generation)))
        assert_same(state, slow)
        if following:
            follow(slow, state)
    assert run.evaluations == slow.judge.evaluations == BUDGET
    return states


@pytest.mark.parametrize("problem", PROBLEMS)
def test_both_walk_the_same_way_from_start_to_end(problem: str) -> None:
    states = walk_together(SHADE(**SMALL), problem, following=False)
    assert len(states) == 41


@pytest.mark.parametrize("problem", ["equalities", "failing"])
@pytest.mark.parametrize("options", ALTERNATIVES, ids=named)
def test_both_take_every_step_alike_whatever_the_setting(options: dict[str, Any], problem: str) -> None:
    walk_together(SHADE(**{**SMALL, **options}), problem)


@pytest.mark.parametrize("options", ALTERNATIVES, ids=named)
def test_every_setting_makes_a_difference(options: dict[str, Any]) -> None:
    usual, other = (states_of(SHADE(**{**SMALL, **more}), "equalities", BUDGET)[1][-1] for more in ({}, options))
    assert usual.population.x.shape != other.population.x.shape or (usual.population.x != other.population.x).any()


@pytest.mark.parametrize("rule", ["epsilon", "static-penalty"])
def test_the_rule_decides_where_there_are_constraints_and_nothing_where_there_are_none(rule: str) -> None:
    def end(rule: str, problem: str) -> np.ndarray:
        x: np.ndarray = states_of(SHADE(**SMALL, rule=rule), problem, BUDGET)[1][-1].population.x
        return x

    assert (end(rule, "unconstrained") == end("feasibility", "unconstrained")).all()
    assert (end(rule, "equalities") != end("feasibility", "equalities")).any()


def test_no_setting_is_forgotten() -> None:
    tried = {name for options in ALTERNATIVES for name in options} | {"rule"}
    assert tried == {field.name for field in dataclasses.fields(SHADE)}


def test_the_memory_learns_and_the_archive_fills_and_stays_full() -> None:
    states = states_of(SHADE(**SMALL), "equalities", BUDGET)[1]
    assert (states[-1].memory.F != 0.5).all() and (states[-1].memory.CR != 0.5).all()
    sizes = [int(state.archive.size) for state in states]
    assert sizes[0] == 0 and sizes == sorted(sizes) and sizes[-1] == 20
    assert (states[3].archive.x != states[2].archive.x).any(), "a full archive still takes parents in"
    archived = {tuple(row) for row in states[1].archive.x[: sizes[1]].tolist()}
    assert archived <= {tuple(row) for row in states[0].population.x.tolist()}, "all are parents of that generation"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"population_size": 3}, "population_size must be an int >= 4; got 3"),
        ({"memory_size": 0}, "memory_size must be an int >= 1; got 0"),
        ({"largest_pbest": 1.5}, "largest_pbest must be a number from 0 to 1; got 1.5"),
        ({"archive_rate": -1}, "archive_rate must be a number from 0 to 100; got -1"),
        ({"rule": "deb"}, "rule must be one of 'feasibility', "),
    ],
)
def test_wrong_settings_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SHADE(**options)
