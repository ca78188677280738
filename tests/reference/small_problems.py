"""Small problems of four variables in plain Python, and runs of the host engine on them, state by state."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ppsde.algorithm import Task
from ppsde.engines.host import Run
from ppsde.population import Population
from ppsde.violation import TOLERANCE

from .single_points import Point

D = 4
SEED = 23
LOWER, UPPER = np.full(D, -5.0), np.array([5.0, 5.0, 6.0, 2.5])

Values = tuple[float, list[float], list[float]]


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
    """Without values in parts of the box, in each of the ways there are, and infinite in another part."""
    f, g, _ = inequalities(x)
    h = [2.0 * x[0] - 0.7 * x[1] ** 2]
    if x[0] > 3.5:
        f = math.nan
    elif x[1] > 3.2:
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


PROBLEMS: dict[str, Callable[[Sequence[float]], Values]] = {
    "unconstrained": unconstrained,
    "inequalities": inequalities,
    "equalities": equalities,
    "failing": failing,
}


def by_rows(function: Callable[[Sequence[float]], Values], x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    f, g, h = zip(*(function([float(v) for v in row]) for row in x), strict=True)
    return np.array(f), np.array(g).reshape(len(x), -1), np.array(h).reshape(len(x), -1)


def states_of(settings: Any, problem: str, budget: int, seed: int = SEED) -> tuple[Run, list[Any]]:
    """A run to its end, and its states at the start and after each generation."""
    run = Run(settings, Task(LOWER, UPPER, budget), seed=seed, tolerance=TOLERANCE)
    states: list[Any] = []
    while run.wanted is not None:
        run.supply(*by_rows(PROBLEMS[problem], run.wanted))
        if run.state is not None and int(run.state.generation) == len(states):
            states.append(run.state)
    return run, states


def listed(points: Population) -> list[Point]:
    """A population as single points."""
    columns = (points.x, points.f, points.violation, points.g, points.h)
    return [Point(*row) for row in zip(*(column.tolist() for column in columns), strict=True)]


def assert_same_points(fast: Population, slow: Sequence[Point], where: str, **close: float) -> None:
    np.testing.assert_allclose(fast.x, [p.x for p in slow], **close, err_msg=where)
    np.testing.assert_allclose(fast.f, [p.f for p in slow], **close, err_msg=where)
    np.testing.assert_allclose(fast.violation, [p.phi for p in slow], **close, err_msg=where)
