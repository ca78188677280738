"""The least violating point of a run that has found none that is feasible, and trials close to it."""

from __future__ import annotations

from functools import partial

import numpy as np

from ..algorithm import Task
from ..arrays import Array, namespace, when
from ..population import Population, better_rows

WIDEST, NARROWEST = 1, 8  # decades below the width of the box


def nearer(nearest: Population, *populations: Population) -> Population:
    """The best point (one row) of it and the populations; once it is feasible, others are no more looked at."""
    for points in populations:
        nearest = when(nearest.violation[0] > 0.0, partial(_better, nearest, points), nearest)
    return nearest


def _better(nearest: Population, points: Population) -> Population:
    return better_rows(nearest, points.take(points.best()[None]))


def is_near_miss(nearest: Population) -> Array:
    """Whether it is infeasible, and known at all."""
    violation = nearest.violation[0]
    return (violation > 0.0) & (violation < np.inf)


def around(nearest: Population, u: Array, distances: int, task: Task) -> Array:
    """Points (n, d) around it, made of uniform numbers: one far, each of the next closer, and so again.

    How far is enough depends on how steep the constraints are, which nobody knows: so every distance has its turn.
    """
    turn = np.arange(u.shape[0]) % distances / distances
    shares = 10.0 ** -(WIDEST + (NARROWEST - WIDEST) * turn)  # NumPy's own: a constant of compiled programs
    step = (task.upper - task.lower) * shares[:, None]
    return namespace(u).clip(nearest.x + step * (2.0 * u - 1.0), task.lower, task.upper)
