"""Slopes of constraints measured by differences: the points to evaluate, and the Jacobian from their values."""

from __future__ import annotations

from typing import Any

from ..algorithm import Task
from ..arrays import Array, namespace
from ..population import Population


def probes(x: Array, task: Task, difference: Array | float) -> Array:
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
    """The residual of each constraint (n, constraints): max(g, 0), and h itself, without tolerance."""
    xp = namespace(points.f)
    return xp.concatenate([xp.maximum(points.g, 0.0), points.h], axis=1)


def _constraints(points: Population) -> Any:
    return namespace(points.f).concatenate([points.g, points.h], axis=1)
