"""The elastic quadratic program: a quadratic model, an L1 penalty on linearised constraints, and a box.

    minimise over d    1/2 d'B d + c'd + penalty sum_i max(0, (A d + b)_i)    subject to    lower <= d <= upper

With a slack for each term of the penalty it is a smooth convex program that always has a solution. It is solved by a
primal-dual interior-point method with Mehrotra's predictor and corrector (SIAM Journal on Optimization 2, 1992). All
of its conditions but stationarity are linear and hold at the start, so they hold throughout. The parts of slacks
and of the box are diagonal and are eliminated, so that a round solves n x n equations only, however many constraints
there are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array, at_least, at_most, namespace, repeated_while, smallest, when

ROUNDS = 25  # at most; a dozen is usual
GAP = 1e-12  # mean of the products y z at which the program counts as solved
ROUNDING = 1e-19  # what rounding leaves of these products, as a share of the penalty
RESIDUAL = 1e-6  # of stationarity, for the same; rounding in large weights leaves about 1e-8
SMALL = 1e-9  # mean of the products from which on a round that halves nothing shows that rounding allows no more
SHARE = 0.995  # of the way to the nearest zero that a round may go
RIDGE = 1e-13  # relative size of the diagonal that keeps the equations regular


@dataclass(frozen=True)
class ElasticProgram:
    """The program: n variables, m constraints."""

    B: Array  # (n, n), positive definite
    c: Array  # (n,)
    A: Array  # (m, n)
    b: Array  # (m,)
    penalty: Array  # > 0
    lower: Array  # (n,)
    upper: Array  # (n,), above `lower`

    def value(self, d: Array) -> Array:
        """The objective at d (n,)."""
        return 0.5 * (d @ (self.B @ d)) + self.c @ d + self.penalty * self.missed(d)

    def missed(self, d: Array) -> Array:
        """The sum by which linearised constraints are missed at d (n,)."""
        return namespace(d).maximum(self.A @ d + self.b, 0.0).sum()

    def solve(self, needed: Array | bool = True) -> tuple[Array, Array]:
        """The solution (n,) and the multipliers (m,) of the constraints; anything if it is not `needed`.

        Examples
        --------
        >>> import numpy as np
        >>> nearest = ElasticProgram(  # to the origin, where the first variable is at least 1
        ...     np.eye(2), np.zeros(2), np.array([[-1.0, 0.0]]), np.ones(1), 10.0, np.full(2, -5.0), np.full(2, 5.0)
        ... )
        >>> d, multipliers = nearest.solve()
        >>> print(abs(d.round(6)), multipliers.round(6))
        [1. 0.] [1.]
        """
        xp = namespace(self.c)
        d = 0.5 * (self.lower + self.upper)
        left = self.A @ d + self.b
        slack = xp.maximum(left, 0.0) + 1.0
        half = xp.zeros_like(self.b) + 0.5 * self.penalty
        box = xp.zeros_like(d) + xp.maximum(1.0, 0.5 * self.penalty)
        # y: the slacks, the room that each constraint leaves, the distances to the box; z: their multipliers.
        y = xp.concatenate([slack, slack - left, d - self.lower, self.upper - d])
        z = xp.concatenate([half, half, box, box])
        size = 1.0 + xp.abs(self.c).max()
        narrow, flat = GAP * size + ROUNDING * self.penalty, RESIDUAL * at_least(size, 0.2 * self.penalty)

        def unsolved(at: tuple[Any, ...]) -> Array:
            _, _, _, _, (gap, slope), (last_gap, last_slope), rounds = at
            closed = gap < narrow
            solved = closed & (slope < flat)
            # The products can fall further, without end, where rounding in large multipliers leaves the residual.
            stalls = (gap < SMALL * size) & ((gap > 0.5 * last_gap) | (closed & (slope > 0.5 * last_slope)))
            return needed & (rounds < ROUNDS) & ~solved & ~stalls

        residual = self._residual(d, z)
        start = (d, y, z, residual, self._errors(y, z, residual), (np.inf, np.inf), 0)
        d, _, z, *_ = repeated_while(unsolved, self._round, start)
        return xp.clip(d, self.lower, self.upper), self._parts(z)[1]

    def _residual(self, d: Array, z: Array) -> Array:
        """How far the iterate is from stationary (n,)."""
        _, of_room, of_down, of_up = self._parts(z)
        return self.B @ d + self.c + self.A.T @ of_room - of_down + of_up

    def _errors(self, y: Array, z: Array, residual: Array) -> tuple[Array, Array]:
        """The mean of the products y z, and the largest part of the residual."""
        return (y @ z) / y.shape[0], namespace(residual).abs(residual).max()

    def _round(self, at: tuple[Any, ...]) -> tuple[Any, ...]:
        xp = namespace(self.c)
        d, y, z, residual, errors, _, rounds = at
        slack, room, down, up = self._parts(y)
        of_slack, of_room, of_down, of_up = self._parts(z)
        stiffness = room + of_room * slack / of_slack
        weight = of_room / stiffness
        K = self.B + (self.A.T * weight) @ self.A
        K = K + xp.diag(of_down / down + of_up / up + RIDGE * (1.0 + xp.abs(xp.diagonal(K))))
        solve = solver(K)

        def direction(products: Array) -> tuple[Array, Array, Array]:
            """The step in d, y and z by which Newton's method takes so much off the products y z."""
            p_slack, p_room, p_down, p_up = self._parts(products)
            shift = (of_room * p_slack / of_slack - p_room) / stiffness
            step = solve(p_up / up - p_down / down - residual - self.A.T @ shift)
            along = self.A @ step
            change = weight * along + shift  # of the multipliers
            widening = (slack * change - p_slack) / of_slack
            return (
                step,
                xp.concatenate([widening, widening - along, step, -step]),
                xp.concatenate([-change, change, (-p_down - of_down * step) / down, (-p_up + of_up * step) / up]),
            )

        products, gap = y * z, y @ z
        _, dy, dz = direction(products)
        part = at_most(longest(y, dy), longest(z, dz))
        predicted = (y + part * dy) @ (z + part * dz)
        centre = (predicted / gap) ** 3 * gap / y.shape[0]
        step, dy, dz = direction(products + dy * dz - centre)
        part = SHARE * at_most(longest(y, dy), longest(z, dz))
        sound = dz @ dz < np.inf  # each part of the step is in dz

        def moved(values: Array, change: Array) -> Array:
            return values + when(sound, lambda: part * change, 0.0)

        d, y, z = moved(d, step), moved(y, dy), moved(z, dz)
        residual = self._residual(d, z)
        return d, y, z, residual, self._errors(y, z, residual), errors, when(sound, lambda: rounds + 1, ROUNDS)

    def _parts(self, values: Array) -> tuple[Array, Array, Array, Array]:
        """The parts of y, of z or of their changes: slacks (m,), room (m,), distances to both bounds (n,)."""
        m, n = self.A.shape
        return values[:m], values[m : 2 * m], values[2 * m : 2 * m + n], values[2 * m + n :]


def longest(values: Array, steps: Array) -> Array:
    """The longest part, at most all, of the steps that leaves positive values positive."""
    xp = namespace(values)
    falls = steps < 0.0
    if xp is np:  # half the time of selecting and `min`
        parts = values[falls] / -steps[falls]
        return min(1.0, smallest(parts)) if len(parts) else 1.0
    return xp.where(falls, values / xp.where(falls, -steps, 1.0), 1.0).min(initial=1.0)


def solver(K: Array) -> Callable[[Array], Array]:
    """The function that solves K x = b for b; K is positive definite. NaN where it is not."""
    if namespace(K) is not np:
        from jax.numpy.linalg import cholesky
        from jax.scipy.linalg import solve_triangular

        # A GPU multiplies by a small matrix much faster than it substitutes.
        inverse = solve_triangular(cholesky(K), namespace(K).eye(K.shape[0]), lower=True)
        return lambda b: inverse.T @ (inverse @ b)

    from scipy.linalg.lapack import dpotrf, dpotrs

    factor, failed = dpotrf(K, lower=1)
    return lambda b: dpotrs(factor, b, lower=1)[0] if not failed else b * np.nan
