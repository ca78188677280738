"""Slopes of constraints measured by differences, and the shortest step that meets linear equations.

Probes are the points to evaluate, and their values give the Jacobian. `shortest_solutions` is what a pseudo-inverse
gives, for many matrices at once, by the one-sided Jacobi method of Hestenes: equations are rotated against each
other, two by two, until the rows of the matrix are orthogonal; then each can be solved alone. It is array code, not a
decomposition of a library: those block one another where several compiled runs call them at once, and handle one matrix
after another on a GPU.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ..algorithm import Task
from ..arrays import Array, namespace, repeated
from ..population import Population, constraint_values

LEAST_SINGULAR_VALUE = 1e-12  # smaller ones count as 0, and so do those lost in the rounding of the largest
LEAST_PRODUCT = 1e-30  # of two rows, the largest entry being 1; below, one of them is lost in rounding
SWEEPS = 8  # rotations of every two rows; each sweep squares the remaining error


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
    change = constraint_values(measured).reshape(n, d, -1) - constraint_values(points)[:, None, :]
    distance = xp.diagonal(measured.x.reshape(n, d, d), axis1=1, axis2=2) - points.x
    sound = known[:, None, None] & (distance != 0.0)[:, :, None]
    quotient = xp.where(sound, change, 0.0) / xp.where(sound, distance[:, :, None], 1.0)
    return xp.swapaxes(xp.where(xp.isfinite(quotient), quotient, 0.0), 1, 2)  # it may overflow


def residual(points: Population) -> Array:
    """The residual of each constraint (n, constraints): max(g, 0), and h itself, without tolerance."""
    xp = namespace(points.f)
    return xp.concatenate([xp.maximum(points.g, 0.0), points.h], axis=1)


def shortest_solutions(A: Array, b: Array, needed: Array | bool = True) -> Array:
    """For each matrix of A (n, m, d) and row of b (n, m) the x (n, d) of least norm that minimises |A x - b|.

    All must be finite. If no solution is `needed`, anything may come back, at little cost.

    Examples
    --------
    >>> import numpy as np
    >>> shortest_solutions(np.array([[[3.0, 4.0]]]), np.array([[50.0]]))
    array([[6., 8.]])
    """
    xp = namespace(A)
    m, d = A.shape[1:]
    scale = xp.abs(A).max(axis=(1, 2))
    scale = xp.where(scale > 0, scale, 1.0)  # so that no square can overflow
    rows = xp.concatenate([A / scale[:, None, None], b[:, :, None]], axis=2)
    rows = _orthogonal(rows, d, needed)
    A, b = rows[:, :, :d], rows[:, :, d]
    squares = (A**2).sum(axis=2)  # of the singular values, over the scale
    rounding = (max(m, d) * np.finfo(float).eps) ** 2 * squares.max(axis=1)
    counts = squares > xp.maximum((LEAST_SINGULAR_VALUE / scale) ** 2, rounding)[:, None]
    weights = xp.where(counts, b / xp.where(counts, squares, 1.0), 0.0)
    return (weights[:, :, None] * A).sum(axis=1) / scale[:, None]


def _orthogonal(rows: Array, d: int, needed: Array | bool) -> Array:
    """The rows (n, m, d + 1) rotated until their first d components are orthogonal."""
    xp = namespace(rows)
    m = rows.shape[1]
    if m == 1:
        return rows
    if m % 2:  # a row of zeros, so that none is left without a partner
        rows = xp.concatenate([rows, xp.zeros_like(rows[:, :1])], axis=1)
    first, second, back = (xp.asarray(table) for table in _tournament(rows.shape[1]))
    rounds = first.shape[0]

    def turn(k: Array | int, rows: Array) -> Array:
        p, q = rows[:, first[k % rounds]], rows[:, second[k % rounds]]
        c, s = _rotation(p[:, :, :d], q[:, :, :d])
        turned = xp.concatenate([c * p - s * q, s * p + c * q], axis=1)
        return turned[:, back[k % rounds]]

    return repeated(SWEEPS * rounds * xp.where(needed, 1, 0), turn, rows)[:, :m]


def _rotation(p: Array, q: Array) -> tuple[Array, Array]:
    """Cosine and sine (.., 1) of the smaller angle that makes c p - s q and s p + c q orthogonal."""
    xp = namespace(p)
    together = (p * q).sum(axis=2, keepdims=True)
    met = xp.abs(together) > LEAST_PRODUCT
    half = ((q * q).sum(axis=2, keepdims=True) - (p * p).sum(axis=2, keepdims=True)) / xp.where(met, 2 * together, 1.0)
    tangent = xp.where(half < 0, -1.0, 1.0) / (xp.abs(half) + xp.sqrt(1.0 + half * half))
    c = xp.where(met, 1.0 / xp.sqrt(1.0 + tangent * tangent), 1.0)
    return c, xp.where(met, c * tangent, 0.0)


@lru_cache(maxsize=64)
def _tournament(m: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pairs of rows, (rounds, m / 2) twice: every two of m once in m - 1 rounds; and the inverse order (rounds, m)."""
    ring = np.arange(1, m)
    turns = np.array([np.concatenate([[0], np.roll(ring, k)]) for k in range(m - 1)])
    first, second = turns[:, : m // 2], turns[:, : m // 2 - 1 : -1]
    return first, second, np.argsort(np.concatenate([first, second], axis=1), axis=1)
