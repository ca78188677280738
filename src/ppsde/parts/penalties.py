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

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import HUGE, Array, namespace
from ..population import Keys, Population
from ..streams import Stream
from .rules import Penalty, Points, by_keys, ranking, unchanged

C, ALPHA = 0.5, 2.0  # Joines and Houck
START, WINDOW, LIGHTER, HEAVIER = 1.0, 10, 2.0, 1.5  # Hadj-Alouane and Bean: lambda(1), k, beta1, beta2
LIGHTEST, HEAVIEST = 1e-10, 1e10


@dataclass(frozen=True)
class Dynamic:
    """f + (C t)^alpha violation in generation t = 1, 2, .."""

    generation: Array  # how many were made

    @classmethod
    def fresh(cls, xp: Any = np) -> Dynamic:
        return cls(xp.asarray(0))

    def rule(self, population: Population, elapsed: Array, rng: Stream) -> Penalty:
        return Penalty((C * (self.generation + 1)) ** ALPHA)

    rank = by_keys

    def after(self, population: Population, elapsed: Array) -> Dynamic:
        return Dynamic(self.generation + 1)


@dataclass(frozen=True)
class AdaptivePenalty:
    """f + weight violation; the weight falls after generations with a feasible best point, else it grows."""

    weight: Array
    generation: Array  # how many were made
    feasible: Array  # (window,), whether the best of each of the last generations was

    @classmethod
    def fresh(cls, xp: Any = np) -> AdaptivePenalty:
        return cls(xp.asarray(START), xp.asarray(0), xp.zeros(WINDOW, dtype=bool))

    def rule(self, population: Population, elapsed: Array, rng: Stream) -> Penalty:
        return Penalty(self.weight)

    rank = by_keys

    def after(self, population: Population, elapsed: Array) -> AdaptivePenalty:
        xp = namespace(population.f)
        best = ranking(Penalty(self.weight), population)[0]
        now = xp.arange(WINDOW) == self.generation % WINDOW
        feasible = xp.where(now, population.feasible[best], self.feasible)
        known = self.generation + 1 >= WINDOW
        factor = xp.where(feasible.all(), 1 / LIGHTER, xp.where(feasible.any(), 1.0, HEAVIER))
        weight = xp.clip(self.weight * xp.where(known, factor, 1.0), LIGHTEST, HEAVIEST)
        return AdaptivePenalty(weight, self.generation + 1, feasible)


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
