"""Epsilon, the violation that counts as none: formulas for its value along a run, and techniques made of them.

Formulas
  closing     start (1 - elapsed)^power: Takahama, Sakai, "Constrained optimization by the epsilon constrained
              differential evolution with gradient-based mutation and feasible elites", CEC 2006
  improved    shrinks while few points are feasible, else the above: Fan, Li, Cai, Huang, Fang, You, Mo, Wei, Goodman,
              "An improved epsilon constraint-handling method in MOEA/D for CMOPs with large infeasible regions", Soft
              Computing 23 (2019)
  quantile    a quantile of the population's violations, so that it does not depend on the scale of the constraints:
              Stanovov, Semenkin, CL-SRDE, an entry of the CEC 2024 competition

The techniques `Closing`, `AdaptiveEpsilon` and `Quantile` follow these in this order. `ClosingEpsilon` is the epsilon
of C2oDE and IUDE. A technique starts from the first population that has values.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..arrays import HUGE, Array, at_least, at_most, namespace, setting, when
from ..population import Population
from ..streams import Stream
from .rules import Epsilon, by_keys, unchanged


def closing(start: Array, elapsed: Array, power: Array | float) -> Array:
    """start (1 - elapsed)^power, and 0^power from elapsed = 1 on: Takahama's polynomial."""
    return start * at_least(1.0 - elapsed, 0.0) ** power


def improved(epsilon: Array, start: Array, elapsed: Array, share: Array, tau: float, alpha: float, cp: float) -> Array:
    """(1 - tau) epsilon while the feasible share is below alpha, else Takahama's polynomial (Fan et al.).

    The polynomial can lie above the current epsilon, so that a population that is nearly all feasible may leave again.
    """
    return namespace(share).where(share < alpha, (1.0 - tau) * epsilon, closing(start, elapsed, cp))


def quantile(violation: Array, elapsed: Array, theta: float, cp: float, count: Array | None = None) -> Array:
    """The sorted violation (n,) at place floor(theta n (1 - elapsed)^cp); 0 from elapsed = 1 on (CL-SRDE).

    With `count`, n is that, and only the first `count` rows are used.
    """
    xp = namespace(violation)
    n = violation.shape[0] if count is None else xp.maximum(count, 1)
    place = at_most(closing(xp.float64(theta * n), elapsed, cp).astype(int), n - 1)
    return when(elapsed < 1.0, lambda: at_most(violation[place], HUGE), 0.0)


def mean_of_best(points: Population, share: float) -> Array:
    """The mean violation of the best share of the points, which are sorted best first (eMAg-ES, SASS)."""
    xp = namespace(points.f)
    best = points.take(slice(0, math.ceil(share * points.size)))
    return xp.where(best.valid, best.violation, 0.0).sum() / xp.maximum(best.valid.sum(), 1)


def slow_power(start: Array, least: float) -> Array:
    """The power by which epsilon falls from `start` to exp(-5) when 95 % have elapsed, but at least `least`."""
    xp = namespace(start)
    return xp.maximum((5.0 + xp.log(xp.where(start > 0, start, 1.0))) / -math.log(0.05), least)


@dataclass(frozen=True)
class Level:
    """Epsilon, start (1 - elapsed)^power (eMAg-ES, SASS)."""

    start: Array
    power: Array
    elapsed: Array  # of the horizon

    @property
    def epsilon(self) -> Array:
        return closing(self.start, self.elapsed, self.power)


def violation_at(population: Population, theta: float, elapsed: Array | float = 0.0, cp: float = 1.0) -> Array:
    """The violation that a share theta (1 - elapsed)^cp of the valid points stays below; HUGE if there are none."""
    xp = namespace(population.violation)
    return quantile(xp.sort(population.violation), elapsed, theta, cp, population.valid.sum())


LEVEL = float(np.exp(-6.0))  # the value of epsilon just before it is set to 0


@dataclass(frozen=True)
class ClosingEpsilon:
    """The epsilon of C2oDE and IUDE: from the largest first violation along a polynomial to exp(-6), then 0.

    An epsilon that starts at exp(-6) or below stays there until it is set to 0.
    """

    start: Array
    elapsed: Array  # share of the run

    @classmethod
    def of(cls, points: Population) -> ClosingEpsilon:
        """The epsilon of a run with these first points."""
        return cls(points.largest_violation, namespace(points.f).asarray(0.0))

    def at(self, elapsed: Array) -> ClosingEpsilon:
        return replace(self, elapsed=elapsed)

    def epsilon(self, closes: float, most: float = np.inf) -> Array:
        """The value of epsilon, which is 0 after a share `closes` of the run; `most` is the largest power (UDE-III)."""
        xp = namespace(self.start)
        power = xp.minimum(xp.log(xp.maximum(self.start, LEVEL) / LEVEL) / -np.log1p(-closes), most)
        return xp.where(self.elapsed <= closes, closing(self.start, self.elapsed, power), 0.0)


def first_level(known: Array, population: Population, theta: float) -> Array:
    """`known` if it is finite; else the violation at share theta of the population, inf if that has no values."""
    xp = namespace(population.f)
    now = xp.where(population.valid.any(), violation_at(population, theta), np.inf)
    return xp.where(known < np.inf, known, now)


@dataclass(frozen=True)
class Closing:
    """Epsilon is start (1 - elapsed / Tc)^cp, and 0 from Tc on. Defaults: Takahama and Sakai."""

    start: Array  # inf until known
    theta: float = setting(0.2)  # the share of the first population that counts as feasible at the start
    cp: float = setting(5.0)
    closes: float = setting(0.2)  # Tc

    @classmethod
    def fresh(cls, xp: Any = np, **settings: float) -> Closing:
        return cls(xp.asarray(np.inf), **settings)

    def rule(self, population: Population, elapsed: Array, rng: Stream) -> Epsilon:
        start = namespace(population.f).minimum(first_level(self.start, population, self.theta), HUGE)
        return Epsilon(closing(start, elapsed / self.closes, self.cp))

    rank = by_keys

    def after(self, population: Population, elapsed: Array) -> Closing:
        return replace(self, start=first_level(self.start, population, self.theta))


@dataclass(frozen=True)
class AdaptiveEpsilon:
    """Epsilon shrinks by tau while few points are feasible, else is largest (1 - elapsed / Tc)^cp; 0 from Tc on.

    Defaults: Fan et al.
    """

    epsilon: Array  # inf until known
    largest: Array  # the largest violation so far
    theta: float = setting(0.05)  # the share of the first population that counts as feasible at the start
    tau: float = setting(0.1)
    alpha: float = setting(0.95)  # the share of feasible points below which epsilon shrinks by tau
    cp: float = setting(2.0)
    closes: float = setting(0.9)  # Tc

    @classmethod
    def fresh(cls, xp: Any = np, **settings: float) -> AdaptiveEpsilon:
        return cls(xp.asarray(np.inf), xp.asarray(0.0), **settings)

    def rule(self, population: Population, elapsed: Array, rng: Stream) -> Epsilon:
        xp = namespace(population.f)
        level = xp.minimum(first_level(self.epsilon, population, self.theta), HUGE)
        return Epsilon(xp.where(elapsed < self.closes, level, 0.0))

    rank = by_keys

    def after(self, population: Population, elapsed: Array) -> AdaptiveEpsilon:
        xp = namespace(population.f)
        largest = xp.maximum(self.largest, population.largest_violation)
        share = population.feasible_share
        known = self.epsilon < np.inf
        then = improved(
            xp.where(known, self.epsilon, 0.0), largest, elapsed / self.closes, share, self.tau, self.alpha, self.cp
        )
        level = xp.where(known, then, first_level(self.epsilon, population, self.theta))
        return replace(self, epsilon=level, largest=largest)


@dataclass(frozen=True)
class Quantile:
    """Epsilon is the violation that a share theta (1 - elapsed)^cp of the population stays below; 0 from Tc on.

    Defaults: CL-SRDE.
    """

    theta: float = setting(0.8)
    cp: float = setting(2.0)
    closes: float = setting(0.8)  # Tc

    def rule(self, population: Population, elapsed: Array, rng: Stream) -> Epsilon:
        xp = namespace(population.f)
        level = violation_at(population, self.theta, elapsed, self.cp)
        return Epsilon(xp.where(elapsed < self.closes, level, 0.0))

    rank = by_keys
    after = unchanged
