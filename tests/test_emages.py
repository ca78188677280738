"""eMAg-ES beside its literal version, and what is its own: repair, back-calculation, the level, the answer."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from reference.emages import ReferenceEMAgES
from reference.options import named, settings_of, tried
from reference.single_points import Point
from reference.small_problems import (
    LOWER,
    ON_A_GRID,
    SEED,
    UPPER,
    D,
    Values,
    end_of,
    feasible_best_of,
    inequalities,
    points_of,
    states_of,
)
from reference.walking import (
    Walk,
    assert_close,
    assert_same_draws,
    assert_same_points,
    driven,
    listed,
    literal,
    walk_together,
)

from ppsde.algorithm import Task
from ppsde.algorithms.emages import EMAgES, State
from ppsde.population import forgotten
from ppsde.streams import NumpyStream

# A difference quotient enlarges the rounding of two values by one over its distance; where constraints nearly depend on
# one another, a step enlarges that again before it gets into a point and the law.
CLOSE: dict[str, Any] = {"rtol": 1e-8, "atol": 1e-8}

# Over the usual distance of 1e-4 rounding alone would reach 4e-8.
SMALL: dict[str, Any] = {"horizon": 12, "difference": 0.01}
BUDGET = 1500

ALTERNATIVES: list[dict[str, Any]] = [
    {"population_size": 3},
    {"population_size": 7},
    {"population_size": 30},
    {"sigma": 0.1},
    {"sigma": 20.0},
    {"largest_sigma": 0.5},
    {"epsilon": False},
    {"horizon": 1},
    {"horizon": 3},
    {"horizon": 1000},
    {"share": 0.0},
    {"share": 1.0},
    {"least_power": 0.5},
    {"repair_probability": 0.0},
    {"repair_probability": 1.0},
    {"repair_steps": 0},
    {"repair_steps": 1},
    {"difference": 1e-4},
    {"back_calculation": False},
    {"adapt_matrix": False},
]


def assert_same(fast: State, slow: ReferenceEMAgES, where: str) -> None:
    assert int(fast.generation) == slow.g, where
    assert_same_points(fast.population, slow.population, where, CLOSE)
    assert_same_points(fast.incumbent, [slow.incumbent], where, CLOSE)
    law = fast.mutation
    for ours, theirs in ((law.mean, slow.m), (law.M, slow.M), (law.path, slow.p_sigma), (law.sigma, slow.sigma)):
        assert_close(ours, theirs, where, CLOSE)
    assert_close(fast.level.epsilon, slow.eps, where, CLOSE)


def follow(slow: ReferenceEMAgES, fast: State) -> None:
    law = fast.mutation
    slow.m, slow.M, slow.p_sigma, slow.sigma = law.mean.tolist(), law.M.tolist(), law.path.tolist(), float(law.sigma)
    slow.population, slow.incumbent = listed(fast.population), listed(fast.incumbent)[0]
    slow.eps_0, slow.gamma = float(fast.level.start), float(fast.level.power)


def walk(settings: EMAgES, problem: str, budget: int = BUDGET) -> Walk:
    return walk_together(ReferenceEMAgES, settings, ON_A_GRID[problem], budget, assert_same, follow, CLOSE)


@pytest.mark.parametrize("problem", ON_A_GRID)
def test_both_take_every_step_alike(problem: str) -> None:
    states = walk(EMAgES(**SMALL), problem).states
    assert len(states) > 30
    if problem != "unconstrained":
        levels = [float(state.level.epsilon) for state in states]
        assert levels[0] > levels[5] > 0 == levels[-1], "the level falls to zero on the way"


@pytest.mark.parametrize("problem", ["equalities", "failing"])
@pytest.mark.parametrize("options", ALTERNATIVES, ids=named)
def test_both_take_every_step_alike_whatever_the_setting(options: dict[str, Any], problem: str) -> None:
    walk(EMAgES(**{**SMALL, **options}), problem, budget=500)


@pytest.mark.parametrize("options", ALTERNATIVES, ids=named)
def test_every_setting_makes_a_difference(options: dict[str, Any]) -> None:
    usual, other = (end_of(EMAgES(**{**SMALL, **more}), "equalities", 700) for more in ({}, options))
    assert usual != other


def test_no_setting_is_forgotten() -> None:
    assert tried(ALTERNATIVES) == settings_of(EMAgES)


def test_both_ask_for_the_same_draws() -> None:
    assert_same_draws(ReferenceEMAgES, EMAgES(**SMALL), inequalities, BUDGET, assert_same)


def evaluations_by_generation(settings: EMAgES, problem: str, budget: int = BUDGET) -> np.ndarray:
    used: np.ndarray = states_of(settings, problem, budget)[0].history["evaluations"]
    return np.diff(used)[:-1]  # the last generation is cut


def test_repair_happens_in_every_dth_generation_and_each_step_costs_d_plus_one() -> None:
    settings = EMAgES(**SMALL, repair_probability=0.7)
    spent = evaluations_by_generation(settings, "equalities") - 4 * D
    assert (spent % (D + 1) == 0).all()
    repairing = np.arange(len(spent)) % D == 0
    assert (spent[~repairing] == 0).all()
    assert spent[repairing][0] > 0
    assert (spent <= 4 * D * 3 * (D + 1)).all()


def test_feasible_points_are_not_repaired() -> None:
    assert (evaluations_by_generation(EMAgES(repair_probability=1.0), "unconstrained") == 4 * D).all()


def test_repair_makes_linear_equalities_hold_at_once() -> None:
    def linear(x: Sequence[float]) -> Values:
        return sum(x), [], [x[0] + 2 * x[1] - 1.0, x[2] - x[3]]

    settings = EMAgES(repair_probability=1.0, sigma=0.3)
    run, _ = states_of(settings, linear, 16 + 16 * (D + 2))
    assert run.completed == 1 and run.state is not None
    assert run.state.population.feasible.all()


def test_with_back_calculation_the_mean_is_that_of_the_points_themselves() -> None:
    settings = EMAgES(**SMALL, sigma=4.0, repair_probability=0.5)
    _, states = states_of(settings, "equalities", BUDGET)
    _, without = states_of(dataclasses.replace(settings, back_calculation=False), "equalities", 300)

    def of_points(state: State) -> np.ndarray:
        raw = np.log(16 // 3 + 0.5) - np.log(np.arange(1, 16 // 3 + 1))
        mean: np.ndarray = (raw / raw.sum()) @ state.population.x[: 16 // 3]
        return mean

    for state in states[1:-1]:
        np.testing.assert_allclose(state.mutation.mean, of_points(state), rtol=1e-10, atol=1e-10)
    assert not np.allclose(without[1].mutation.mean, of_points(without[1]))


def test_epsilon_starts_from_the_mean_violation_of_the_best_nine_tenths() -> None:
    _, states = states_of(EMAgES(), "equalities", BUDGET)
    violations = np.sort(states[0].population.violation)
    start = violations[: math.ceil(0.9 * 16)].mean()
    assert states[0].level.epsilon == pytest.approx(start, rel=1e-12)
    assert states[1].level.epsilon == pytest.approx(start, rel=1e-12), "the first generation leaves it"
    power = max(3.0, (-5 - math.log(start)) / math.log(0.05))
    horizon = BUDGET // 16 // 2  # of 93 generations without repairs
    assert states[2].level.epsilon == pytest.approx(start * (1 - 2 / horizon) ** power, rel=1e-12)
    assert states[horizon - 2].level.epsilon > 0 == states[horizon - 1].level.epsilon


def test_with_budget_enough_the_horizon_is_a_thousand_generations() -> None:
    settings = EMAgES(repair_probability=0.0)
    state = dataclasses.replace(states_of(settings, "equalities", 400)[1][-1], generation=np.asarray(499))
    level = settings._next_level(state, Task(LOWER, UPPER, 10**6), 16)
    assert level.elapsed == 0.5
    late = dataclasses.replace(state, generation=np.asarray(998))
    assert settings._next_level(late, Task(LOWER, UPPER, 10**6), 16).epsilon == 0.0


def test_the_answer_is_the_best_of_those_that_came_first_in_their_generation() -> None:
    run, states = states_of(EMAgES(horizon=40), "equalities", BUDGET)
    firsts = [listed(state.population)[0] for state in states]
    best = min(firsts, key=lambda p: (p.phi, p.f))
    answer = run.answer
    assert answer is not None and run.best is not None and run.best_member is not None
    assert (answer.f[0], answer.violation[0]) == (best.f, best.phi)
    assert (run.best.violation[0], run.best.f[0]) <= (answer.violation[0], answer.f[0])


def test_an_answer_may_overlook_a_feasible_point_that_epsilon_ranked_lower() -> None:
    state = states_of(EMAgES(population_size=60), "inequalities", 60, seed=21)[1][0]
    feasible = np.flatnonzero(state.population.feasible)
    assert len(feasible) and state.population.violation[0] > 0
    kept = state.population.take(feasible[:1])
    assert EMAgES().answer(state, kept).f[0] == state.population.f[0] != kept.f[0]


def test_the_step_size_stays_below_its_limit() -> None:
    limit = 0.25
    sigmas = [float(s.mutation.sigma) for s in states_of(EMAgES(largest_sigma=limit), "equalities", BUDGET)[1][1:]]
    assert max(sigmas) == limit and min(sigmas) < limit


def test_nothing_is_learned_from_a_generation_without_values() -> None:
    settings = EMAgES()
    before = states_of(settings, "inequalities", 100)[1][0]
    task = Task(LOWER, UPPER, BUDGET)
    coroutine = settings.generation(before, task, NumpyStream(SEED, 0, 1))
    with np.errstate(all="ignore"):
        after = driven(coroutine, lambda x: forgotten(points_of(inequalities, x)))
    for name in ("mean", "M", "path", "sigma"):
        assert np.array_equal(getattr(after.mutation, name), getattr(before.mutation, name)), name
    assert after.incumbent.f[0] == before.incumbent.f[0]


@pytest.mark.parametrize("seed", [20, 21, 22])
def test_it_solves_a_problem_with_inequalities(seed: int) -> None:
    best = feasible_best_of(EMAgES(), "inequalities", 8000, seed)
    np.testing.assert_allclose(best.x[0], 1.5, atol=1e-3)  # by symmetry: 6.05 - 6 - 0.05 = 0
    assert best.f[0] == pytest.approx(1.01, abs=1e-6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"population_size": 2}, "population_size must be an int >= 3; got 2"),
        ({"repair_probability": 1.5}, "repair_probability must be a number from 0 to 1; got 1.5"),
        ({"sigma": 0.0}, "sigma must be a number from 1e-100 to 1e\\+300; got 0.0"),
        ({"epsilon": 1}, "epsilon must be True or False; got 1"),
    ],
)
def test_wrong_settings_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        EMAgES(**options)


def test_the_literal_version_is_not_led_by_points_without_values() -> None:
    """Otherwise agreement with it would say nothing about them."""
    slow = literal(ReferenceEMAgES, EMAgES(), "failing", 200)
    slow.start(NumpyStream(SEED, 0, 0))
    assert any(p.failed for p in slow.population) and not slow.population[0].failed
    assert slow.population[-1] == Point(slow.population[-1].x)
