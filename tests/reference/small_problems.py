"""Small problems of four variables in plain Python, and runs of the host engine on them, state by state."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache, lru_cache, partial
from typing import Any

import numpy as np

from ppsde.algorithm import Task
from ppsde.engines.run import Run
from ppsde.population import TOLERANCE, Population, evaluated

D = 4
SEED = 23
DIGITS = 7  # of constraints on a grid
LOWER, UPPER = np.full(D, -5.0), np.array([5.0, 5.0, 6.0, 2.5])

Values = tuple[float, list[float], list[float]]
Problem = Callable[[Sequence[float]], Values]


def unconstrained(x: Sequence[float]) -> Values:
    return sum((v - 0.3 * j) ** 2 for j, v in enumerate(x)), [], []


def inequalities(x: Sequence[float]) -> Values:
    """Curved: a Newton step on a linear one would end at its very bound, where rounding decides what is feasible."""
    square = sum((v - 1.0) ** 2 for v in x)
    return 0.01 + square, [6.05 - sum(x) - 0.05 * square, x[0] * x[1] - 3.0], []


def equalities(x: Sequence[float]) -> Values:
    f = -7.0 + sum((j + 1) * (v - 0.5) ** 2 for j, v in enumerate(x))
    return f, [x[3] - 2.0 - 0.02 * (x[3] - 2.0) ** 2], [x[0] + x[1] - 3.0, x[2] * x[3] - 2.0]


def failing(x: Sequence[float]) -> Values:
    return failing_beyond(3.5, 3.2, x, inequalities)


def failing_beyond(x_0: float, x_1: float, x: Sequence[float], inequalities: Problem) -> Values:
    """Without values in parts of the box, in each of the ways there are, and infinite in another part."""
    f, g, _ = inequalities(x)
    h = [2.0 * x[0] - 0.7 * x[1] ** 2]
    if x[0] > x_0:
        f = math.nan
    elif x[1] > x_1:
        g = [math.nan, g[1]]
    elif x[2] < -3.0:
        g = [g[0], -math.inf]
    elif x[2] > 5.0:
        h = [math.inf]
    elif x[3] < -4.0:
        f = -math.inf
    elif x[1] < -4.0:
        f = math.inf  # a value, the worst
    return f, g, h


PROBLEMS: dict[str, Problem] = {
    "unconstrained": unconstrained,
    "inequalities": inequalities,
    "equalities": equalities,
    "failing": failing,
}


def on_a_grid(problem: str | Problem, x: Sequence[float]) -> Values:
    """A problem whose constraints have few digits.

    A repair leads onto the bounds of constraints. There the last bit of a value, which depends on the processor, would
    decide what is feasible; on the grid it is the same 0 for all points that near.
    """
    f, g, h = function_of(problem)(x)
    return f, [round(v, DIGITS) for v in g], [round(v, DIGITS) for v in h]


ON_A_GRID: dict[str, Problem] = {name: partial(on_a_grid, name) for name in PROBLEMS}


def function_of(problem: str | Problem) -> Problem:
    """Of one of the problems above by its name, or of another one."""
    return PROBLEMS[problem] if isinstance(problem, str) else problem


def by_rows(problem: str | Problem, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    function = function_of(problem)
    f, g, h = zip(*map(function, x.tolist()), strict=True)
    return np.array(f), np.array(g).reshape(len(x), -1), np.array(h).reshape(len(x), -1)


def points_of(problem: str | Problem, x: np.ndarray) -> Population:
    return evaluated(x, *by_rows(problem, x), TOLERANCE)


@lru_cache(maxsize=2)  # of settings whose steps are compared, the end is compared next
def states_of(settings: Any, problem: str | Problem, budget: int, seed: int = SEED) -> tuple[Run, list[Any]]:
    """A run to its end, and its states at the start and after each generation."""
    run = Run(settings, Task(LOWER, UPPER, budget), seed=seed, tolerance=TOLERANCE)
    states: list[Any] = []
    while run.wanted is not None:
        run.supply(*by_rows(problem, run.wanted))
        if run.state is not None and int(run.state.generation) == len(states):
            states.append(run.state)
    return run, states


@cache
def end_of(settings: Any, problem: str | Problem, budget: int) -> list[list[float]]:
    """The last population of a run: where two settings differ in nothing else, their ends tell them apart."""
    run, states = states_of(settings, problem, budget)
    assert run.evaluations == budget, run.evaluations
    x: list[list[float]] = states[-1].population.x.tolist()
    return x


def feasible_best_of(settings: Any, problem: str | Problem, budget: int, seed: int = SEED) -> Population:
    """The best point of a run, which must be feasible."""
    best = states_of(settings, problem, budget, seed)[0].best
    assert best is not None and best.feasible[0], best
    return best
