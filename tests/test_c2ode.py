"""C2oDE and its literal version, fed the same draws, must go the same way; and what is special to C2oDE."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from reference.c2ode import ReferenceC2oDE
from reference.options import named, settings_of, tried
from reference.small_problems import LOWER, PROBLEMS, SEED, UPPER, Problem, Values, end_of, states_of
from reference.walking import (
    Walk,
    assert_answers_the_best_of,
    assert_close,
    assert_same_points,
    driven,
    follow_population,
    walk_together,
)

from ppsde.algorithm import Task
from ppsde.algorithms.c2ode import C2oDE, State
from ppsde.arrays import Array, namespace
from ppsde.engines.compiled import float64
from ppsde.engines.tracing import as_tree
from ppsde.parts.epsilon import ClosingEpsilon
from ppsde.population import TOLERANCE, Population, evaluated
from ppsde.streams import NumpyStream, Tape

SMALL: dict[str, Any] = {"population_size": 12}
GENERATIONS = 30
VARIED = ("inequalities", "equalities")  # on which every setting is tried
ALTERNATIVES: list[dict[str, Any]] = [
    {"population_size": None},
    {"population_size": 6},
    {"closes": 0.9},
    {"least_spread": 1.0},
    {"feasible_guide": "best"},
    {"repair": "mirror"},
]


def never_feasible(x: Sequence[float]) -> Values:
    """Every point violates by the same amount, save near the lower bounds: the spread of the violation is soon 0."""
    return sum(v * v for v in x), [max(1.0, -1.0 - x[0])], []


def budget_of(settings: C2oDE) -> int:
    """For so many generations and a part of one more, which is cut off."""
    n = settings.population_size or 40
    return n + GENERATIONS * 3 * n + 7


def assert_same(fast: State, slow: ReferenceC2oDE, where: str) -> None:
    assert_same_points(fast.population, slow.population, where)
    assert_close(fast.closing.elapsed, slow.t, where)
    assert_close(fast.closing.epsilon(slow.settings.closes), slow.epsilon(), where)


def follow(slow: ReferenceC2oDE, fast: State) -> None:
    follow_population(slow, fast)
    slow.t = float(fast.closing.elapsed)


def walk(settings: C2oDE, problem: str | Problem, following: bool) -> Walk:
    budget = budget_of(settings)
    return walk_together(ReferenceC2oDE, settings, problem, budget, assert_same, follow if following else None)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_both_walk_the_same_way_from_start_to_end(problem: str) -> None:
    walk(C2oDE(**SMALL), problem, following=False)


@pytest.mark.parametrize("problem", VARIED)
@pytest.mark.parametrize("options", ALTERNATIVES, ids=named)
def test_both_take_every_step_alike_whatever_the_setting(options: dict[str, Any], problem: str) -> None:
    walk(C2oDE(**{**SMALL, **options}), problem, following=True)


def end(options: dict[str, Any], problem: str) -> list[list[float]]:
    settings = C2oDE(**{**SMALL, **options})
    return end_of(settings, problem, budget_of(settings))


@pytest.mark.parametrize("options", ALTERNATIVES, ids=named)
def test_every_setting_makes_a_difference(options: dict[str, Any]) -> None:
    assert any(end(options, problem) != end({}, problem) for problem in VARIED)


def test_no_setting_is_forgotten() -> None:
    assert tried(ALTERNATIVES) == settings_of(C2oDE)


def test_a_population_that_is_infeasible_and_without_spread_is_drawn_anew() -> None:
    run, states, slow = walk(C2oDE(**SMALL), never_feasible, following=False)
    assert slow.restarts > 3
    stood = [old.closing.elapsed == new.closing.elapsed for old, new in pairwise(states)]
    assert sum(stood) == slow.restarts, "and epsilon waits for it"
    old, new = next((old, new) for old, new in pairwise(states) if old.closing.elapsed == new.closing.elapsed)
    assert not (old.population.x == new.population.x).all(axis=1).any()
    assert run.history["evaluations"][int(new.generation)] - run.history["evaluations"][int(old.generation)] == 12


def test_a_restart_that_the_budget_cuts_keeps_the_members_that_it_does_not_reach() -> None:
    settings = C2oDE(**SMALL)
    states = walk(settings, never_feasible, following=False).states
    restart = next(int(new.generation) for old, new in pairwise(states) if old.closing.elapsed == new.closing.elapsed)
    used = states_of(settings, never_feasible, budget_of(settings))[0].history["evaluations"][restart - 1]
    # Epsilon is 0 in neither, and as all violate alike it does not matter: the same way up to the restart.
    _, cut = states_of(settings, never_feasible, int(used) + 5)
    before, after = cut[-2].population, cut[-1].population
    kept = (before.x == after.x).all(axis=1)
    assert kept.tolist() == [False] * 5 + [True] * 7
    assert after.valid.all()


def test_epsilon_closes_half_way() -> None:
    settings = C2oDE(**SMALL)
    run, _ = states_of(settings, "equalities", budget_of(settings))
    epsilon = run.history["epsilon"]
    assert all(later <= earlier for earlier, later in pairwise(epsilon))
    assert epsilon[GENERATIONS // 2 - 1] > 0 and epsilon[GENERATIONS // 2 + 2] == 0


def test_the_answer_is_the_best_of_the_last_population() -> None:
    settings = C2oDE(**SMALL)
    run, states = states_of(settings, "equalities", budget_of(settings))
    assert_answers_the_best_of(run, states[-1].population)


@pytest.mark.parametrize(
    "options",
    [
        {"population_size": 5},
        {"closes": 1.0},
        {"least_spread": -1.0},
        {"feasible_guide": "none"},
        {"repair": "clamp"},
    ],
    ids=named,
)
def test_a_wrong_setting_is_named(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(options))):
        C2oDE(**options)


def test_restarts_in_jax_are_those_of_numpy() -> None:
    pytest.importorskip("jax")
    import jax
    import jax.numpy as jnp

    settings, budget = C2oDE(**SMALL), 2000
    task = Task(LOWER, UPPER, budget)

    @jax.jit
    def generation(state: State, draws: list[Array]) -> State:
        there = Task(jnp.asarray(LOWER), jnp.asarray(UPPER), budget)
        after: State = driven(settings.generation(state, there, Tape(draws, jnp.asarray)), all_violating)
        return as_tree(after)

    state = driven(settings.start(task, NumpyStream(SEED, 0, 0)), all_violating)
    restarts = 0
    for G in range(1, 6):
        tape = Tape.record(NumpyStream(SEED, 0, G))
        after = driven(settings.generation(state, task, tape), all_violating)
        with float64():
            p, closing = state.population, state.closing
            population = Population(*map(jnp.asarray, (p.x, p.f, p.violation, p.g, p.h)))
            traced = State(
                population, jnp.asarray(G - 1), ClosingEpsilon(*map(jnp.asarray, (closing.start, closing.elapsed)))
            )
            traced = generation(as_tree(traced), tape.draws)
        np.testing.assert_allclose(traced.population.x, after.population.x, rtol=1e-12, atol=1e-12)
        assert float(traced.closing.elapsed) == float(after.closing.elapsed)
        restarts += float(after.closing.elapsed) == float(state.closing.elapsed)
        state = after
    assert 0 < restarts < 5


def all_violating(x: Array) -> Population:
    """On a problem that no point of is feasible, all violating alike in half of the box."""
    xp = namespace(x)
    return evaluated(x, (x * x).sum(axis=1), xp.maximum(1.0, 1.0 - x[:, :1]), x[:, :0], TOLERANCE)
