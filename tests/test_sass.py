"""SASS beside its literal version, and what is its own: repair by damped least squares, restarts, epsilon."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from reference.options import named, settings_of, tried
from reference.sass import ReferenceSASS
from reference.small_problems import ON_A_GRID, end_of, points_of, states_of
from reference.walking import (
    archived,
    assert_close,
    assert_same_archive,
    assert_same_memory,
    assert_same_points,
    driven,
    listed,
    remembered,
    walk_together,
)

import ppsde
from ppsde.algorithm import Task
from ppsde.algorithms.sass import SASS, State
from ppsde.population import evaluated
from ppsde.streams import NumpyStream

SMALL: dict[str, Any] = {"population_size": 12, "memory_size": 3, "horizon": 15, "difference": 0.01}
BUDGET = 600
ALTERNATIVES: list[dict[str, Any]] = [
    {"population_size": 9},
    {"memory_size": 1},
    {"pbest": 0.9},
    {"archive_rate": 0.5},
    {"horizon": 4},
    {"share": 0.2},
    {"least_power": 0.5},
    {"repair_probability": 1.0},
    {"repair_steps": 1},
    {"damping": 10.0},
    {"difference": 0.1},
    {"least_spread": 1.0},
]


def assert_same(fast: State, slow: ReferenceSASS, where: str) -> None:
    assert_same_points(fast.population, slow.population, where)
    assert_same_memory(fast.memory, [slow.M_F], [slow.M_CR], [slow.k], where)
    assert_same_archive(fast.archive, slow.A, where)
    assert_close(fast.level.start, slow.eps_0, where)
    assert_close(fast.incumbent.violation[0], slow.incumbent.phi, where)


def follow(slow: ReferenceSASS, fast: State) -> None:
    slow.population, slow.A = listed(fast.population), archived(fast.archive)
    (slow.M_F,), (slow.M_CR,) = remembered(fast.memory)


@pytest.mark.parametrize("problem", ON_A_GRID)
def test_both_take_every_step_alike(problem: str) -> None:
    walk_together(ReferenceSASS, SASS(**SMALL), ON_A_GRID[problem], BUDGET, assert_same, follow)


@pytest.mark.parametrize("options", ALTERNATIVES, ids=named)
def test_both_take_every_step_alike_whatever_the_setting_and_it_makes_a_difference(options: dict[str, Any]) -> None:
    settings = SASS(**{**SMALL, **options})
    walk_together(ReferenceSASS, settings, ON_A_GRID["failing"], BUDGET, assert_same, follow)
    ends = [
        (end_of(settings, ON_A_GRID[p], BUDGET), end_of(SASS(**SMALL), ON_A_GRID[p], BUDGET))
        for p in ("failing", "equalities", "inequalities")
    ]
    assert any(one != other for one, other in ends)


def test_no_setting_is_forgotten() -> None:
    assert tried(ALTERNATIVES) == settings_of(SASS)


def test_a_repair_finds_the_equalities_and_the_best_point_of_many_variables_is_repaired_too() -> None:
    x = np.array([[4.0, 1.0, 3.0, 2.0], [-4.0, 0.0, 1.0, 1.0]])
    points = points_of("equalities", x)
    task = Task(np.full(4, -5.0), np.full(4, 5.0), 1000)
    steps = SASS(repair_steps=8)._repaired(points, np.array([True, False]), task)
    moved = driven(steps, lambda at: points_of("equalities", at))
    assert moved.feasible[0] and (moved.x[1] == x[1]).all()

    def sphere(x: np.ndarray) -> Any:
        return evaluated(x, (x**2).sum(axis=1), x[:, :0], x.sum(axis=1, keepdims=True) - 10.0, 1e-4)

    task = Task(np.full(20, -5.0), np.full(20, 5.0), 10_000)
    settings = SASS(population_size=8, repair_probability=0.0)
    state = driven(settings.start(task, NumpyStream(1, 0, 0)), sphere)
    assert not state.incumbent.feasible[0]
    state = driven(settings.generation(state, task, NumpyStream(1, 0, 1)), sphere)
    assert state.incumbent.feasible[0]


def test_a_repair_goes_along_bounds_as_the_program_does() -> None:
    """38 equalities in 48 variables, many at a bound: steps that were only clamped ended far from feasible."""
    problem = ppsde.suites.get("cec2020rw").problem("RC07")
    assert ppsde.minimize(problem, method="sass", max_evaluations=40_000, rng=1).success


def test_a_repair_of_many_constraints_ends() -> None:
    """Rotating 302 constraints with all variables and slacks had not ended after ten minutes."""

    def fun(x: np.ndarray) -> Any:
        u = x - 0.3
        return float(u @ u), np.full(300, u[0]), np.zeros(2)

    result = ppsde.minimize(fun, [(-3.7, 12.1)] * 5, method="sass", max_evaluations=200, rng=1)
    assert result.success and result.nfev == 200


def test_these_runs_restart() -> None:
    """Otherwise the agreement above would say little."""
    _, states = states_of(SASS(**SMALL, least_spread=1.0), ON_A_GRID["inequalities"], BUDGET)
    spreads = [float(np.std(state.population.f)) for state in states]
    assert any(later > 10 * earlier for earlier, later in pairwise(spreads))


@pytest.mark.parametrize(
    "options",
    [{"population_size": 3}, {"memory_size": 0}, {"repair_steps": -1}, {"difference": 0.0}, {"damping": 0}],
    ids=named,
)
def test_a_wrong_setting_is_named(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(options))):
        SASS(**options)
