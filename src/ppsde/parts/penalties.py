"""Penalties whose weight changes with the violation, the generations, the best points found or the population.

`LevelPenalty`: Homaifar, Lai, Qi, "Constrained optimization via genetic algorithms", Simulation 62 (1994).
`Dynamic`: Joines, Houck, "On the use of non-stationary penalty functions to solve nonlinear constrained optimization
    problems with GA's", ICEC 1994.
`NearFeasible`: Coit, Smith, Tate, "Adaptive penalty methods for genetic optimization of constrained combinatorial
    problems", INFORMS Journal on Computing 8 (1996).
`AdaptivePenalty`: Hadj-Alouane, Bean, "A genetic algorithm for the multiple-choice integer program", Operations
    Research 45 (1997).
`SelfAdaptive`: Tessema, Yen, "An adaptive penalty formulation for constrained evolutionary optimization", IEEE
    Transactions on Systems, Man, and Cybernetics A 39 (2009); also CEC 2006.

Deviations (the publication says / we do / because)
  Homaifar et al.           levels and weights for each problem by hand / three limits and four weights for every
                            constraint unless given / it gives no others
  Joines and Houck, beta    1 or 2, a power of each violation / 1 / one measure of violation for most rules
  Coit et al., thresholds   for each problem by hand / the mean violation of the members that violate a constraint, from
                            the first population in which some do / unknown problems
  Coit et al., the gap      between two points found / until a feasible one is, the range of f in the population / it
                            speaks of problems where feasible points are easily had
  Hadj-Alouane and Bean     any beta1, beta2 > 1, not equal / 2 and 1.5, over 10 generations / it gives no numbers
  the weight                any / from 1e-10 to 1e10 / a weight of 0 could never grow again
  range to normalise by     all points to be compared / the population / trials and parents must have one measure
  f outside that range      cannot be / below 0 counts for feasible points, not for infeasible ones / or a lower f would
                            be a larger distance
The texts of Homaifar, Coit and Tessema and their colleagues were not in reach: their formulas are read from surveys and
later publications. A search of public repositories found no program of the first two; of the third one by others
(cal_SP of MTO-Platform), whose formula is this one with the sum of the violations in place of each constraint's.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..arrays import HUGE, Array, namespace, setting
from ..population import TOLERANCE, Keys, Population
from ..streams import Stream
from .rules import Penalty, by_keys, constraint_count, largest_violations, ranking, unchanged, violations

LIGHTEST, HEAVIEST = 1e-10, 1e10


@dataclass(frozen=True)
class LevelPenalty:
    """The rule f + sum R c^2 over the violations c of single constraints; R is the weight of the level that c is in.

    `limits` divide violations into levels, the first up to the first limit; there is one more of `weights`. Each may
    also be a tuple for every constraint, inequalities first.
    """

    tolerance: Array | float = TOLERANCE  # of equalities
    limits: tuple[Any, ...] = setting((0.01, 0.1, 1.0))
    weights: tuple[Any, ...] = setting((1e3, 1e4, 1e5, 1e6))

    needs_constraint_values = True

    def __post_init__(self) -> None:
        limits, weights = np.asarray(self.limits, float), np.asarray(self.weights, float)
        if limits.shape[-1:] != (weights.shape[-1] - 1,) or not (np.diff(limits) > 0).all() or not (weights > 0).all():
            raise ValueError(
                "level-penalty needs rising limits and one more of weights > 0; "
                f"got limits={self.limits!r}, weights={self.weights!r}"
            )

    def keys(self, points: Population) -> Keys:
        xp = namespace(points.f)
        missed = violations(points, self.tolerance)
        limits, weights = xp.asarray(self.limits, dtype=float), xp.asarray(self.weights, dtype=float)
        level = (missed[:, :, None] > limits).sum(axis=2)
        if weights.ndim == 1:
            weights = xp.broadcast_to(weights, (missed.shape[1], *weights.shape))
        weight = weights[xp.arange(missed.shape[1]), level]
        return xp.where(points.valid, 0.0, np.inf), points.f + (weight * missed**2).sum(axis=1)


@dataclass(frozen=True)
class Dynamic:
    """f + (C t)^alpha violation in generation t = 1, 2, .."""

    generation: Array  # how many were made
    C: float = setting(0.5)
    alpha: float = setting(2.0)

    @classmethod
    def fresh(cls, xp: Any = np, **settings: float) -> Dynamic:
        return cls(xp.asarray(0), **settings)

    def rule(self, population: Population, elapsed: Array, rng: Stream) -> Penalty:
        return Penalty((self.C * (self.generation + 1)) ** self.alpha)

    rank = by_keys

    def after(self, population: Population, elapsed: Array) -> Dynamic:
        return replace(self, generation=self.generation + 1)


@dataclass(frozen=True)
class Thresholds:
    """The rule f + gap sum (c / threshold)^kappa over the violations c of single constraints."""

    gap: Array
    thresholds: Array  # (constraints,)
    kappa: float
    tolerance: Array | float

    def keys(self, points: Population) -> Keys:
        xp = namespace(points.f)
        share = violations(points, self.tolerance) / self.thresholds
        total = xp.minimum((share**self.kappa).sum(axis=1), HUGE)
        return xp.where(points.valid, 0.0, np.inf), points.f + self.gap * total


@dataclass(frozen=True)
class NearFeasible:
    """Coit, Smith and Tate's penalty: a violation as large as its threshold costs the gap between the best f found and
    the best feasible f found.

    In generation t = 1, 2, .. a threshold is its first value / (1 + shrinking t).
    """

    thresholds: Array  # (constraints,), at the start; 0 while a constraint was not yet violated
    generation: Array  # how many were made
    best: Array  # the least f found; inf before
    best_feasible: Array  # the least f of a feasible point; inf before
    tolerance: Array | float
    kappa: float = setting(2.0)
    shrinking: float = setting(0.04)  # lambda

    needs_constraint_values = True

    @classmethod
    def fresh(cls, xp: Any = np, tolerance: Array | float = TOLERANCE, **settings: float) -> NearFeasible:
        inf = xp.asarray(np.inf)
        return cls(xp.zeros(0), xp.asarray(0), inf, inf, xp.asarray(tolerance), **settings)

    def rule(self, population: Population, elapsed: Array, rng: Stream) -> Thresholds:
        xp = namespace(population.f)
        now = self._seen(population)
        low, high = extent(population.f, population.valid)
        reach = xp.where(high > low, high / 2 - low / 2, 0.5)
        gap = 2 * xp.where(now.best_feasible < np.inf, now.best_feasible / 2 - now.best / 2, reach)
        thresholds = xp.where(now.thresholds > 0, now.thresholds, 1.0) / (1 + self.shrinking * (self.generation + 1))
        return Thresholds(xp.clip(gap, 0.0, HUGE), thresholds, self.kappa, self.tolerance)

    rank = by_keys

    def after(self, population: Population, elapsed: Array) -> NearFeasible:
        return replace(self._seen(population), generation=self.generation + 1)

    def _seen(self, population: Population) -> NearFeasible:
        """The same with the best and the thresholds of a population taken into account."""
        xp = namespace(population.f)
        missed = violations(population, self.tolerance)
        count = xp.maximum((missed > 0.0).sum(axis=0), 1)
        mean = (missed / count).sum(axis=0)
        known = self.thresholds if self.thresholds.shape == mean.shape else xp.zeros(mean.shape[0])
        return replace(
            self,
            thresholds=xp.where(known > 0, known, mean),
            best=xp.minimum(self.best, xp.where(population.valid, population.f, np.inf).min()),
            best_feasible=xp.minimum(self.best_feasible, xp.where(population.feasible, population.f, np.inf).min()),
        )


@dataclass(frozen=True)
class AdaptivePenalty:
    """f + weight violation; the weight falls after generations with a feasible best point, else it grows."""

    weight: Array
    generation: Array  # how many were made
    feasible: Array  # (window,), whether the best of each of the last generations was
    lighter: float = setting(2.0)  # beta1
    heavier: float = setting(1.5)  # beta2

    @classmethod
    def fresh(cls, xp: Any = np, start: float = 1.0, window: int = 10, **settings: float) -> AdaptivePenalty:
        return cls(xp.asarray(float(start)), xp.asarray(0), xp.zeros(window, dtype=bool), **settings)

    def rule(self, population: Population, elapsed: Array, rng: Stream) -> Penalty:
        return Penalty(self.weight)

    rank = by_keys

    def after(self, population: Population, elapsed: Array) -> AdaptivePenalty:
        xp = namespace(population.f)
        best = ranking(Penalty(self.weight), population)[0]
        window = self.feasible.shape[0]
        now = xp.arange(window) == self.generation % window
        feasible = xp.where(now, population.feasible[best], self.feasible)
        known = self.generation + 1 >= window
        factor = xp.where(feasible.all(), 1 / self.lighter, xp.where(feasible.any(), 1.0, self.heavier))
        weight = xp.clip(self.weight * xp.where(known, factor, 1.0), LIGHTEST, HEAVIEST)
        return replace(self, weight=weight, generation=self.generation + 1, feasible=feasible)


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


@dataclass(frozen=True)
class Distance:
    """Tessema and Yen's modified fitness, distance plus penalty, with both f and violation v normalised.

    v is the mean over constraints of the violation in units of the largest in the population. Feasible points by f.
    Infeasible ones by sqrt(f^2 + v^2) + (1 - share) v + share f, where `share` is that of the feasible points: while
    they are few, violation counts for more. Without any, all by v.
    """

    share: Array
    low: Array  # the range of f
    high: Array
    largest: Array  # (constraints,), the largest violation of each
    count: Array  # of constraints
    tolerance: Array | float

    @classmethod
    def of(cls, population: Population, tolerance: Array | float) -> Distance:
        low, high = extent(population.f, population.valid)
        largest, count = largest_violations(population, tolerance), constraint_count(population)
        return cls(population.feasible_share, low, high, largest, count, tolerance)

    def keys(self, points: Population) -> Keys:
        xp = namespace(points.f)
        missed = violations(points, self.tolerance)
        unit = xp.where(self.largest > 0, self.largest, xp.where(missed > 0, missed, 1.0))
        v = xp.minimum((missed / unit / self.count).sum(axis=1), HUGE)
        f = scaled(points.f, self.low, self.high)
        above = xp.clip(f, 0.0, HUGE)
        distance = xp.hypot(above, v) + (1.0 - self.share) * v + self.share * above
        fitness = xp.where(self.share > 0, xp.where(points.violation > 0, distance, f), v)
        return xp.where(points.valid, 0.0, np.inf), fitness


@dataclass(frozen=True)
class SelfAdaptive:
    """Tessema and Yen's fitness, normalised by the current population."""

    tolerance: Array | float = TOLERANCE  # of equalities

    needs_constraint_values = True

    def rule(self, population: Population, elapsed: Array, rng: Stream) -> Distance:
        return Distance.of(population, self.tolerance)

    rank = by_keys
    after = unchanged
