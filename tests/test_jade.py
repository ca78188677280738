"""JADE beside its literal version, and what is its own: two means that follow what succeeds."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from reference.jade import ReferenceJADE
from reference.small_problems import LOWER, PROBLEMS, SEED, UPPER, assert_same_points, listed, states_of

from ppsde.algorithms.jade import JADE, State
from ppsde.streams import NumpyStream
from ppsde.violation import TOLERANCE

CLOSE: dict[str, Any] = {"rtol": 1e-9, "atol": 1e-9}

SMALL: dict[str, Any] = {"population_size": 20}
BUDGET = 40 * 20 + 7  # the last generation is cut

ALTERNATIVES: list[dict[str, Any]] = [
    {"population_size": 4},
    {"population_size": 33},
    {"pbest": 0.0},
    {"pbest": 0.4},
    {"c": 0.0},
    {"c": 1.0},
    {"archive_rate": 0.0},
    {"archive_rate": 3.0},
]


def named(options: dict[str, Any]) -> str:
    return "{}={}".format(*next(iter(options.items())))


def assert_same(fast: State, slow: ReferenceJADE) -> None:
    where = f"generation {slow.G}"
    assert int(fast.generation) == slow.G
    assert_same_points(fast.population, slow.population, where, **CLOSE)
    np.testing.assert_allclose([fast.means.F, fast.means.CR], [slow.mu_F, slow.mu_CR], **CLOSE, err_msg=where)
    assert int(fast.archive.size) == len(slow.A), where
    if slow.A:
        np.testing.assert_allclose(fast.archive.x[: len(slow.A)], slow.A, **CLOSE, err_msg=where)


def follow(slow: ReferenceJADE, fast: State) -> None:
    """Set the literal version to exactly where the fast one stands, so that rounding does not add up over a run."""
    slow.population = listed(fast.population)
    slow.A = fast.archive.x[: int(fast.archive.size)].tolist()
    slow.mu_F, slow.mu_CR = float(fast.means.F), float(fast.means.CR)


def walk_together(settings: JADE, problem: str, following: bool = True) -> list[State]:
    slow = ReferenceJADE(settings, PROBLEMS[problem], LOWER.tolist(), UPPER.tolist(), BUDGET, TOLERANCE)
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
    states = walk_together(JADE(**SMALL), problem, following=False)
    assert len(states) == 41


@pytest.mark.parametrize("problem", ["equalities", "failing"])
@pytest.mark.parametrize("options", ALTERNATIVES, ids=named)
def test_both_take_every_step_alike_whatever_the_setting(options: dict[str, Any], problem: str) -> None:
    walk_together(JADE(**{**SMALL, **options}), problem)


@pytest.mark.parametrize("options", [options for options in ALTERNATIVES if options != {"pbest": 0.0}], ids=named)
def test_every_setting_makes_a_difference(options: dict[str, Any]) -> None:
    usual, other = (states_of(JADE(**{**SMALL, **more}), "equalities", BUDGET)[1][-1] for more in ({}, options))
    assert usual.population.x.shape != other.population.x.shape or (usual.population.x != other.population.x).any()


def test_pbest_is_one_of_two_at_least() -> None:
    ends = [states_of(JADE(**SMALL, pbest=share), "equalities", BUDGET)[1][-1] for share in (0.0, 0.1)]
    assert (ends[0].population.x == ends[1].population.x).all()


def test_no_setting_is_forgotten() -> None:
    tried = {name for options in ALTERNATIVES for name in options} | {"rule"}
    assert tried == {field.name for field in dataclasses.fields(JADE)}


def test_the_rule_makes_a_difference_where_there_are_constraints() -> None:
    ends = [states_of(JADE(**SMALL, rule=rule), "equalities", BUDGET)[1][-1] for rule in ("feasibility", "epsilon")]
    assert (ends[0].population.x != ends[1].population.x).any()


def test_the_means_move_and_the_archive_keeps_to_its_limit() -> None:
    _, states = states_of(JADE(**SMALL), "equalities", BUDGET)
    assert len({float(state.means.F) for state in states}) > 20
    assert len({float(state.means.CR) for state in states}) > 20
    sizes = [int(state.archive.size) for state in states]
    assert sizes[0] == 0 and max(sizes) == sizes[-1] == 20


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"population_size": 3}, "population_size must be an int >= 4; got 3"),
        ({"pbest": 1.5}, "pbest must be a number from 0 to 1; got 1.5"),
        ({"c": -0.5}, "c must be a number from 0 to 1; got -0.5"),
        ({"archive_rate": -1}, "archive_rate must be a number from 0 to 100; got -1"),
        ({"rule": "deb"}, "rule must be one of 'feasibility', "),
    ],
)
def test_wrong_settings_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        JADE(**options)
