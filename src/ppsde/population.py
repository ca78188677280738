"""Evaluated points, and the one total order of "best": less violation first, then the smaller objective.

A point that failed, was cut off by the budget, or gave NaN or a forbidden infinity has f = violation = inf. So it
is never feasible and sorts behind every point that has values. Such a point is called not `valid`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .arrays import Array, namespace, order
from .violation import search_violation


@dataclass(frozen=True)
class Population:
    """Points and what is known of them, a row each."""

    x: Array  # (n, d)
    f: Array  # (n,)
    violation: Array  # (n,), the search's measure
    g: Array  # (n, p)
    h: Array  # (n, q)

    @property
    def size(self) -> int:
        return int(self.x.shape[0])

    @property
    def valid(self) -> Array:
        return self.violation < np.inf

    @property
    def feasible(self) -> Array:
        return self.violation == 0.0

    def take(self, rows: Array) -> Population:
        return Population(self.x[rows], self.f[rows], self.violation[rows], self.g[rows], self.h[rows])

    def sorted(self) -> Population:
        """Best first."""
        return self.take(order(self.violation, self.f))

    def best_rows(self, count: int) -> Population:
        """The best `count` rows, best first."""
        return self.take(order(self.violation, self.f)[:count])

    def best(self) -> Array:
        """The row of the best point."""
        xp = namespace(self.f)
        least = self.violation == xp.min(self.violation)
        f = xp.where(least, self.f, np.inf)
        row = xp.argmin(f)
        return xp.where(f[row] < np.inf, row, xp.argmax(least))  # +inf is an objective too


def evaluated(x: Array, f: Array, g: Array, h: Array, tolerance: float) -> Population:
    """The population that the values f (n,), g (n, p), h (n, q) make of the rows of x (n, d).

    +inf is the worst objective, yet a value; -inf, NaN and infinite constraints are failures.
    """
    xp = namespace(x)
    violation = search_violation(g, h, tolerance)
    failed = xp.isnan(f) | (f == -np.inf) | ~xp.isfinite(violation)
    if g.shape[1]:
        failed = failed | xp.any(g == -np.inf, axis=1)  # the only non-finite constraint that the sum does not show
    return Population(x, xp.where(failed, np.inf, f), xp.where(failed, np.inf, violation), g, h)


def choose(mask: Array, first: Population, second: Population) -> Population:
    """Row by row: `first` where the mask (n,) holds, `second` elsewhere."""
    xp = namespace(mask)
    column = mask[:, None]
    return Population(
        xp.where(column, first.x, second.x),
        xp.where(mask, first.f, second.f),
        xp.where(mask, first.violation, second.violation),
        xp.where(column, first.g, second.g),
        xp.where(column, first.h, second.h),
    )


def join(first: Population, second: Population) -> Population:
    """The rows of one after the rows of the other."""
    xp = namespace(first.f)
    return Population(
        xp.concatenate([first.x, second.x]),
        xp.concatenate([first.f, second.f]),
        xp.concatenate([first.violation, second.violation]),
        xp.concatenate([first.g, second.g]),
        xp.concatenate([first.h, second.h]),
    )
