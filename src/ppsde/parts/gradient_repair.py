"""Gradient-based repair: Newton-like steps towards the feasible set, by a measured Jacobian.

Chootinan and Chen, "Constraint handling in genetic algorithms using a gradient-based repair method", Computers &
Operations Research 33 (2006), as Takahama and Sakai use it. The probes of the differences are evaluations like others.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import numpy as np

from ..algorithm import Ask, Task
from ..arrays import Array, namespace
from ..population import Population, choose
from .fold import fold
from .least_squares import shortest_solutions


def gradient_repair(
    points: Population, wanted: Array, task: Task, *, steps: int, difference: float
) -> Generator[Ask, Population, Population]:
    """The points with those that are `wanted` (n,) and violate constraints repaired, up to `steps` times.

    A sub-coroutine: `points = yield from gradient_repair(..)`. Each step of a point costs d + 1 evaluations. A step is
    kept even if it leads to more violation, but not to a point without values.
    """
    xp = namespace(wanted)
    n, d = points.x.shape
    for _ in range(steps if points.g.shape[1] + points.h.shape[1] else 0):
        needy = wanted & points.valid & ~points.feasible
        if xp is np and not needy.any():
            break  # NumPy can see that all is done; JAX never can, and asks for no rows
        x = probes(points.x, task, difference)
        measured = yield Ask(x.reshape(n * d, d), xp.repeat(needy, d))
        known = needy & measured.valid.reshape(n, d).all(axis=1)
        left = xp.where(known[:, None], residual(points), 0.0)
        step = -shortest_solutions(jacobian(points, measured, known), left, known.any())
        step = xp.nan_to_num(step)  # of numbers so large that their products are not
        moved = yield Ask(fold(points.x + step, task.lower, task.upper), known)
        points = choose(moved.valid & known, moved, points)
    return points


def probes(x: Array, task: Task, difference: float) -> Array:
    """For each row of x (n, d) the d points (n, d, d) that differ from it in one component, by `difference` or so.

    Forward where the box allows it, else backward; in a box narrower than that, to its bound.
    """
    xp = namespace(x)
    forward = x + difference
    moved = xp.where(forward <= task.upper, forward, xp.maximum(x - difference, task.lower))
    return xp.where(xp.eye(x.shape[1], dtype=bool), moved[:, None, :], x[:, None, :])


def jacobian(points: Population, measured: Population, known: Array) -> Array:
    """Difference quotients (n, constraints, d) of all constraints, g then h, from the n d probes; 0 where not known."""
    xp = namespace(points.f)
    n, d = points.x.shape
    change = _constraints(measured).reshape(n, d, -1) - _constraints(points)[:, None, :]
    distance = xp.diagonal(measured.x.reshape(n, d, d), axis1=1, axis2=2) - points.x
    sound = known[:, None, None] & (distance != 0.0)[:, :, None]
    quotient = xp.where(sound, change, 0.0) / xp.where(sound, distance[:, :, None], 1.0)
    return xp.swapaxes(xp.where(xp.isfinite(quotient), quotient, 0.0), 1, 2)  # it may overflow


def residual(points: Population) -> Array:
    """What is left of each constraint (n, constraints): max(g, 0), and h in full, with no tolerance taken off."""
    xp = namespace(points.f)
    return xp.concatenate([xp.maximum(points.g, 0.0), points.h], axis=1)


def _constraints(points: Population) -> Any:
    return namespace(points.f).concatenate([points.g, points.h], axis=1)
