"""What a population is like: shares, quantiles and extents, in which only points with values are counted.

So a failed point, or a dead row of a shrinking population, moves none of them.
"""

from __future__ import annotations

import numpy as np

from ..arrays import HUGE, Array, namespace, order
from ..population import Population

SAME = 1e-9  # share by which violations may differ and still be taken for the same


def feasible_share(population: Population) -> Array:
    """How many of the points are feasible, as a share; 0 if there are none."""
    xp = namespace(population.violation)
    return population.feasible.sum() / xp.maximum(population.valid.sum(), 1)


def quantile(violation: Array, elapsed: Array, theta: float, cp: float, count: Array | None = None) -> Array:
    """The violation (n,) sorted, at place floor(theta n (1 - elapsed)^cp); 0 from elapsed = 1 on (CL-SRDE).

    It follows the population, so it does not depend on the scale of the constraints. Only the first `count` rows are
    looked at, where that is given.
    """
    xp = namespace(violation)
    n = violation.shape[0] if count is None else xp.maximum(count, 1)
    place = xp.minimum((theta * n * xp.maximum(1.0 - elapsed, 0.0) ** cp).astype(int), n - 1)
    return xp.where(elapsed < 1.0, xp.minimum(violation[place], HUGE), 0.0)


def violation_at(population: Population, theta: float, elapsed: Array | float = 0.0, cp: float = 1.0) -> Array:
    """The violation that a share theta (1 - elapsed)^cp of the points stays below; HUGE if there are none."""
    xp = namespace(population.violation)
    return quantile(xp.sort(population.violation), elapsed, theta, cp, population.valid.sum())


def largest_violation(population: Population) -> Array:
    """0 if there are no points."""
    return namespace(population.violation).where(population.valid, population.violation, 0.0).max()


def violate_alike(population: Population) -> Array:
    """Whether all points, sorted best first, are infeasible by the same amount, so that no epsilon tells them apart."""
    least = population.violation[0]
    return (least > 0.0) & (least < np.inf) & (largest_violation(population) <= least * (1.0 + SAME))


def extent(values: Array, among: Array) -> tuple[Array, Array]:
    """The smallest and the largest finite value of some rows; 0 and 0 if there are none."""
    xp = namespace(values)
    known = among & xp.isfinite(values)
    some = known.any()
    low, high = xp.where(known, values, np.inf).min(), xp.where(known, values, -np.inf).max()
    return xp.where(some, low, 0.0), xp.where(some, high, 0.0)


def scaled(values: Array, low: Array, high: Array) -> Array:
    """(values - low) / (high - low), or only moved by low where that would divide by 0."""
    half = high / 2 - low / 2  # halves, so that nothing overflows
    return (values / 2 - low / 2) / namespace(values).where(half > 0, half, 0.5)


def filled(population: Population) -> Population:
    """A population of the same size without the rows that have no values: the others fill it, evenly repeated."""
    xp = namespace(population.violation)
    n = population.size
    places = xp.arange(n)
    rows = order(~population.valid, places)
    return population.take(rows[places * population.valid.sum() // n])
