"""LSHADE44 beside its literal version, and what is its own: four competing strategies in a shrinking population."""

from __future__ import annotations

import dataclasses
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from reference.lshade44 import TERMINAL, ReferenceLSHADE44
from reference.small_problems import LOWER, PROBLEMS, SEED, UPPER, D, assert_same_points, listed, states_of

from ppsde.algorithms.lshade44 import LSHADE44, State
from ppsde.parts.memory import CLOSED
from ppsde.streams import NumpyStream
from ppsde.violation import TOLERANCE

# Gains, differences of nearly equal numbers, enlarge rounding before they weigh what the memories learn.
CLOSE: dict[str, Any] = {"rtol": 1e-9, "atol": 1e-9}

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


def named(options: dict[str, Any]) -> str:
    return "{}={}".format(*next(iter(options.items())))


def assert_same(fast: State, slow: ReferenceLSHADE44) -> None:
    where = f"generation {slow.G}"
    N, learned = len(slow.population), fast.strategies
    assert [int(v) for v in (fast.generation, fast.size, fast.evaluations)] == [slow.G, N, slow.FES], where
    assert_same_points(fast.population.take(slice(0, N)), slow.population, where, **CLOSE)
    assert not fast.population.valid[N:].any(), where
    assert learned.successes.tolist() == slow.n, where
    assert learned.memory.next.tolist() == slow.pos, where
    np.testing.assert_allclose(learned.memory.F, slow.M_F, **CLOSE, err_msg=where)
    closing = [[CLOSED if CR == TERMINAL else CR for CR in cells] for cells in slow.M_CR]
    np.testing.assert_allclose(learned.memory.CR, closing, **CLOSE, err_msg=where)
    assert int(learned.archive.size) == len(slow.A), where
    if slow.A:
        np.testing.assert_allclose(learned.archive.x[: len(slow.A)], slow.A, **CLOSE, err_msg=where)


def follow(slow: ReferenceLSHADE44, fast: State) -> None:
    """Set the literal version to exactly where the fast one stands, so that rounding does not add up over a run."""
    learned = fast.strategies
    slow.population = listed(fast.population.take(slice(0, int(fast.size))))
    slow.A = learned.archive.x[: int(learned.archive.size)].tolist()
    slow.M_F = learned.memory.F.tolist()
    slow.M_CR = np.where(learned.memory.CR == CLOSED, TERMINAL, learned.memory.CR).tolist()


def walk_together(settings: LSHADE44, problem: str, following: bool = True) -> list[State]:
    slow = ReferenceLSHADE44(settings, PROBLEMS[problem], LOWER.tolist(), UPPER.tolist(), BUDGET, TOLERANCE)
    slow.start(NumpyStream(SEED, 0, 0))
    run, states = states_of(settings, problem, BUDGET)
    for state in states:
        if state.generation > 0:
            slow.generation(NumpyStream(SEED, 0, int(state.generation)))
        assert_same(state, slow)
        if following:
            follow(slow, state)
    assert run.evaluations == slow.judge.evaluations == BUDGET
    assert run.answer is not None
    best = min(slow.population, key=lambda p: (p.phi, p.f))
    np.testing.assert_allclose(run.answer.x[0], best.x, **CLOSE)
    return states


@pytest.mark.parametrize("problem", PROBLEMS)
def test_both_walk_the_same_way_from_start_to_end(problem: str) -> None:
    states = walk_together(LSHADE44(**SMALL), problem, following=False)
    assert len(states) > 60


@pytest.mark.parametrize("problem", ["equalities", "failing"])
@pytest.mark.parametrize("options", ALTERNATIVES, ids=named)
def test_both_take_every_step_alike_whatever_the_setting(options: dict[str, Any], problem: str) -> None:
    walk_together(LSHADE44(**{**SMALL, **options}), problem)


# In so short a run no strategy's share falls below the usual 0.05.
SEEN = [options for options in ALTERNATIVES if options != {"least_share": 0.0}]


@pytest.mark.parametrize("options", SEEN, ids=named)
def test_every_setting_makes_a_difference(options: dict[str, Any]) -> None:
    usual, other = (states_of(LSHADE44(**{**SMALL, **more}), "failing", BUDGET)[1][-1] for more in ({}, options))
    assert usual.population.x.shape != other.population.x.shape or (usual.population.x != other.population.x).any()


def test_no_setting_is_forgotten() -> None:
    tried = {name for options in ALTERNATIVES for name in options} | {"rule"}
    assert tried == {field.name for field in dataclasses.fields(LSHADE44)}


@pytest.mark.parametrize("rule", ["epsilon", "static-penalty"])
def test_the_rule_decides_where_there_are_constraints_and_nothing_where_there_are_none(rule: str) -> None:
    def end(rule: str, problem: str) -> np.ndarray:
        x: np.ndarray = states_of(LSHADE44(**SMALL, rule=rule), problem, BUDGET)[1][-1].population.x
        return x

    assert (end(rule, "unconstrained") == end("feasibility", "unconstrained")).all()
    assert (end(rule, "equalities") != end("feasibility", "equalities")).any()


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
    rows = sorted(zip(states[-1].population.violation.tolist(), states[-1].population.f.tolist(), strict=True))
    assert run.answer is not None
    assert rows[0] == (run.answer.violation[0], run.answer.f[0])


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
        ({"rule": "deb"}, "rule must be one of 'feasibility', "),
    ],
)
def test_wrong_settings_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LSHADE44(**options)
