"""A store of feasible points of fixed length, filled up with points that have no values."""

from __future__ import annotations

import numpy as np

from ..arrays import Array, namespace, order
from ..population import Population, choose, forgotten, join


def without_values(x: Array, points: Population) -> Population:
    """Points x (k, d) without values, with as many constraints as `points` have."""
    xp = namespace(x)
    infinite = xp.full(x.shape[0], np.inf)
    g, h = (xp.full((x.shape[0], values.shape[1]), np.nan) for values in (points.g, points.h))
    return Population(x, infinite, infinite, g, h)


def some_feasible(count: int, found: Population, points: Population, u: Array) -> Population:
    """The feasible points of both, a random choice of `count` where there are more; then as many without values."""
    together = join(found, points)
    feasible = together.feasible
    known = choose(feasible, together, forgotten(together))
    xp = namespace(u)
    return known.take(order(~feasible, xp.where(feasible, u, xp.arange(u.shape[0])))[:count])
