"""Evaluated points: their violation, raw or normalised, their order from best to worst, and populations of them.

A point is feasible when every `g <= 0` and every `|h| <= tolerance`. Two measures of violation are 0 exactly then: the
sum that drives the search, and the mean that competition tables report. The best point has the least violation, and
of those with the same the smallest objective.

A point that failed, was cut off by the budget, or gave NaN or a forbidden infinity has f = violation = inf. It is never
feasible and sorts behind every point that has values; it is called not `valid`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from .arrays import HUGE, Array, gather, mended, namespace, order, smallest
from .checks import number, shortened

Keys = tuple[Array, Array]  # (n,) each: points are compared by the first, and by the second where the first are equal
TOLERANCE = 1e-4  # how far an equality may be missed, in the CEC suites and by default


def search_violation(g: Array, h: Array, tolerance: float = TOLERANCE) -> Array:
    """The measure that drives the search: sum max(g, 0) + sum max(|h| - tolerance, 0); shape (n,).

    Examples
    --------
    >>> import numpy as np
    >>> search_violation(np.array([[-1.0, 2.0]]), np.array([[0.5]]), tolerance=0.1)
    array([2.4])
    """
    xp = namespace(g)
    if not h.shape[-1]:
        return xp.maximum(g, 0.0).sum(axis=-1)
    missed = xp.maximum(xp.abs(h) - tolerance, 0.0).sum(axis=-1)
    return missed + xp.maximum(g, 0.0).sum(axis=-1) if g.shape[-1] else missed


def competition_violation(g: Array, h: Array, tolerance: float = TOLERANCE) -> Array:
    """The measure that CEC tables report: (sum max(g, 0) + sum |h| where |h| > tolerance) / m; shape (n,).

    It jumps at the tolerance and is a mean over the m = p + q constraints; 0 where a problem has none.

    Examples
    --------
    >>> import numpy as np
    >>> competition_violation(np.array([[-1.0, 2.0]]), np.array([[0.4]]), tolerance=0.1)
    array([0.8])
    """
    xp = namespace(g)
    missed = xp.abs(h)
    total = xp.sum(xp.maximum(g, 0.0), axis=-1) + xp.sum(xp.where(missed > tolerance, missed, 0.0), axis=-1)
    return total / max(1, g.shape[-1] + h.shape[-1])


def checked_tolerance(tolerance: Any, name: str = "tolerance") -> float:
    """Return a tolerance as a float if it is a finite number >= 0; else raise ValueError."""
    value = number(tolerance)
    if value is None or not 0 <= value < np.inf:
        raise ValueError(f"{name} must be a finite number >= 0; got {shortened(tolerance)}")
    return value


class Scores(NamedTuple):
    """Objective and violation of points: all that most rules need to compare them."""

    f: Array  # (n,)
    violation: Array  # (n,)

    @property
    def valid(self) -> Array:
        return self.violation < np.inf

    def take(self, rows: Array | slice) -> Scores:
        """Objective and violation of these rows."""
        return Scores(self.f[rows], self.violation[rows])


@dataclass(frozen=True)
class Population:
    """Evaluated points, a row each."""

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

    @property
    def feasible_share(self) -> Array:
        """The share of feasible points among those that have values; 0 if none has."""
        if type(self.f) is np.ndarray:  # NumPy counts faster than it adds
            return int(np.count_nonzero(self.feasible)) / max(1, int(np.count_nonzero(self.valid)))
        xp = namespace(self.f)
        return xp.sum(self.feasible) / xp.maximum(xp.sum(self.valid), 1)

    @property
    def largest_violation(self) -> Array:
        """The largest violation of the points that have values; 0 if none has."""
        return namespace(self.violation).where(self.valid, self.violation, 0.0).max()

    def scores(self, rows: Array) -> Scores:
        """Objective and violation of some rows."""
        return Scores(self.f[rows], self.violation[rows])

    def take(self, rows: Array | slice) -> Population:
        """The points of these rows: indices, a slice, or a mask (n,)."""
        if isinstance(rows, slice):
            return Population(self.x[rows], self.f[rows], self.violation[rows], self.g[rows], self.h[rows])
        if type(rows) is np.ndarray and rows.dtype.kind == "b":
            rows = np.flatnonzero(rows)
        x, g, h = gather(self.x, rows), gather(self.g, rows), gather(self.h, rows)
        return Population(x, self.f[rows], self.violation[rows], g, h)

    def sorted(self) -> Population:
        """The population sorted best first."""
        return self.take(order(self.violation, self.f))

    def best(self) -> Array:
        """The row of the best point."""
        xp = namespace(self.f)
        least = self.violation == smallest(self.violation)
        return xp.where(least, xp.minimum(self.f, HUGE), np.inf).argmin()  # +inf is an objective too, as bad as HUGE


def evaluated(x: Array, f: Array, g: Array, h: Array, tolerance: float) -> Population:
    """The population of the points x (n, d) with the values f (n,), g (n, p), h (n, q).

    +inf is the worst objective, yet a value. Failures are -inf, NaN, infinite constraints, and violations whose sum is.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        return quietly_evaluated(x, f, g, h, tolerance)


def quietly_evaluated(x: Array, f: Array, g: Array, h: Array, tolerance: float) -> Population:
    """The same, called where NumPy gives no warnings: a sum that overflows is infinite, and no violation."""
    xp = namespace(x)
    violation = search_violation(g, h, tolerance)
    summed = (f > -np.inf) & (violation < np.inf)  # both false for NaN
    bottomless = g == -np.inf  # the only non-finite constraint that the sum does not show
    sound = mended(bottomless, lambda: summed & ~bottomless.any(axis=1), summed)
    known_f, known_violation = mended(
        ~sound, lambda: (xp.where(sound, f, np.inf), xp.where(sound, violation, np.inf)), (f, violation)
    )
    return Population(x, known_f, known_violation, g, h)


def constraint_values(points: Population) -> Any:
    """All constraints (n, m), g then h."""
    return namespace(points.f).concatenate([points.g, points.h], axis=1)


def constraint_sizes(points: Population) -> Array:
    """The size of each constraint (m,): the median of its absolute values at points that have values; 1 if it is 0.

    Examples
    --------
    >>> import numpy as np
    >>> g = np.array([[1.0, 0.0], [-200.0, 0.0], [30.0, 0.0]])
    >>> constraint_sizes(evaluated(np.zeros((3, 1)), np.zeros(3), g, np.zeros((3, 0)), 0.0))
    array([30.,  1.])
    """
    xp = namespace(points.f)
    values = xp.abs(constraint_values(points))
    if not values.shape[1]:
        return xp.ones(0)
    ordered = xp.sort(xp.where(points.valid[:, None], values, np.inf), axis=0)
    count = xp.maximum(points.valid.sum(), 1)
    middle = 0.5 * (ordered[(count - 1) // 2] + ordered[count // 2])
    return xp.where((middle > 0.0) & (middle < np.inf), middle, 1.0)


def normalised(points: Population, sizes: Array, tolerance: Array | float) -> Population:
    """The points with violations of constraints divided by their sizes (m,), which makes them independent of units.

    They are 0 exactly where raw ones are; which of two infeasible points is better may differ.
    """
    xp = namespace(points.f)
    p = points.g.shape[1]
    missed = xp.maximum(xp.abs(points.h) - tolerance, 0.0)
    violation = (xp.maximum(points.g, 0.0) / sizes[:p]).sum(axis=1) + (missed / sizes[p:]).sum(axis=1)
    return replace(points, violation=xp.where(points.valid, violation, np.inf))


def raw(points: Population, tolerance: Array | float) -> Population:
    """The points with the violations of their constraints as they are."""
    xp = namespace(points.f)
    violation = search_violation(points.g, points.h, tolerance)
    return replace(points, violation=xp.where(points.valid, violation, np.inf))


def forgotten(points: Population) -> Population:
    """The same points without their values."""
    return replace(points, f=points.f + np.inf, violation=points.violation + np.inf)


def reseeded(population: Population, seeds: Population) -> Population:
    """A population with its last points replaced by the seeds."""
    return join(population.take(slice(0, population.size - seeds.size)), seeds)


def better(first: Keys, second: Keys) -> Array:
    """Where the keys of the first points are strictly less than those of the second, in lexicographic order."""
    return (first[0] < second[0]) | ((first[0] == second[0]) & (first[1] < second[1]))


def better_rows(first: Population, second: Population) -> Population:
    """Row by row the better of two populations, the first where they tie."""
    return choose(better((second.violation, second.f), (first.violation, first.f)), second, first)


def best_of_two(best: Population, points: Population) -> Population:
    """The better of `best`, one row, and the best of `points`; `best` where they tie."""
    return better_rows(best, points.take(points.best()[None]))


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


def join_scores(first: Population, second: Population) -> Scores:
    """Objective and violation of the rows of one, then of the other."""
    xp = namespace(first.f)
    return Scores(xp.concatenate([first.f, second.f]), xp.concatenate([first.violation, second.violation]))
