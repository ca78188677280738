"""Penalties whose weight changes: with the generations, with the feasibility of the best, or with the whole population.

`Dynamic`: Joines, Houck, "On the use of non-stationary penalty functions to solve nonlinear constrained optimization
    problems with GA's", ICEC 1994.
`AdaptivePenalty`: Hadj-Alouane, Bean, "A genetic algorithm for the multiple-choice integer program", Operations
    Research 45 (1997).
`SelfAdaptive`: Tessema, Yen, "A self adaptive penalty function based algorithm for constrained optimization",
    CEC 2006.

Deviations (the publication says / we do / because)
  Joines and Houck, beta    1 or 2, a power of each violation / 1 / a rule knows the sum of the violations alone
  Hadj-Alouane and Bean     any beta1, beta2 > 1, not equal / 2 and 1.5, over 10 generations / it gives no numbers
  the weight                any / from 1e-10 to 1e10 / a weight of 0 could never grow again
  Tessema and Yen           each constraint by its own largest violation, mean / the sum by its largest / as above
  range to normalise by     all points to be compared / the population / trials and parents must have one measure
  f outside that range      cannot be / below 0 counts for feasible points, not for infeasible ones / or a lower f would
                            be a larger distance
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..arrays import HUGE, Array, namespace, setting
from ..population import Keys, Population
from ..streams import Stream
from .rules import Penalty, Points, by_keys, ranking, unchanged

LIGHTEST, HEAVIEST = 1e-10, 1e10


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

    Feasible points by f. Infeasible ones by sqrt(f^2 + v^2) + (1 - share) v + share f, where `share` is that of the
    feasible points: while they are few, violation counts for more. Without any, all by v.
    """

    share: Array
    low: Array  # the range of f
    high: Array
    largest: Array  # the largest violation

    @classmethod
    def of(cls, population: Population) -> Distance:
        low, high = extent(population.f, population.valid)
        return cls(population.feasible_share, low, high, population.largest_violation)

    def keys(self, points: Points) -> Keys:
        xp = namespace(points.f)
        violation = xp.where(points.valid, points.violation, 0.0)
        unit = xp.where(self.largest > 0, self.largest, xp.where(violation > 0, violation, 1.0))
        v = xp.minimum(violation / unit, HUGE)
        f = scaled(points.f, self.low, self.high)
        above = xp.clip(f, 0.0, HUGE)
        distance = xp.hypot(above, v) + (1.0 - self.share) * v + self.share * above
        fitness = xp.where(self.share > 0, xp.where(violation > 0, distance, f), v)
        return xp.where(points.valid, 0.0, np.inf), fitness


@dataclass(frozen=True)
class SelfAdaptive:
    """Tessema and Yen's fitness, normalised by the current population."""

    def rule(self, population: Population, elapsed: Array, rng: Stream) -> Distance:
        return Distance.of(population)

    rank = by_keys
    after = unchanged
