"""How epsilon closes: formulas from the start of the pull to zero.

The epsilon of C2oDE and IUDE: a polynomial from the largest violation at first to exp(-6), then 0.

Epsilon levels: which violation counts as none in a generation. Techniques with a state, formulas in `epsilon.py`.

`Closing` follows a polynomial from a quantile of the first population to zero:
    Takahama, Sakai, "Constrained optimization by the epsilon constrained differential evolution with gradient-based
    mutation and feasible elites", CEC 2006.
`Adaptive` shrinks while few points are feasible, and opens again when nearly all are:
    Fan, Li, Cai, Huang, Fang, You, Mo, Wei, Goodman, "An improved epsilon constraint-handling method in MOEA/D for
    CMOPs with large infeasible regions", Soft Computing 23 (2019).
`Quantile` follows the population, whatever the scale of the constraints:
    Stanovov, Semenkin, CL-SRDE, an entry of the CEC 2024 competition.

The start is that of the first population with values that a technique is told of; before, a rule takes the present one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..arrays import HUGE, Array, namespace
from ..population import Population
from ..streams import Stream
from .census import feasible_share, largest_violation, violation_at
from .rules import Epsilon, by_keys, unchanged


def closing(start: Array, elapsed: Array, power: Array | float) -> Array:
    """start (1 - elapsed)^power, and 0^power from elapsed = 1 on: Takahama's polynomial."""
    return start * namespace(start).maximum(1.0 - elapsed, 0.0) ** power


def improved(epsilon: Array, start: Array, elapsed: Array, share: Array, tau: float, alpha: float, cp: float) -> Array:
    """The improved epsilon (Fan et al.): shrink by tau while the feasible share is below alpha, else the polynomial.

    The polynomial can lie above the current epsilon: a population that is all but feasible is let out again.
    """
    return namespace(share).where(share < alpha, (1.0 - tau) * epsilon, closing(start, elapsed, cp))


LEVEL = float(np.exp(-6.0))  # that epsilon has come down to when it closes


@dataclass(frozen=True)
class ClosingEpsilon:
    """Where it started, and how much of the run is over. An epsilon that starts no higher than exp(-6) stays there."""

    start: Array
    elapsed: Array  # share of the run

    @classmethod
    def of(cls, points: Population) -> ClosingEpsilon:
        """As it is when the first population is known."""
        return cls(largest_violation(points), namespace(points.f).asarray(0.0))

    def at(self, elapsed: Array) -> ClosingEpsilon:
        return replace(self, elapsed=elapsed)

    def epsilon(self, closes: float) -> Array:
        """Its value, if `closes` is the share of the run until which it is open."""
        xp = namespace(self.start)
        power = xp.log(xp.maximum(self.start, LEVEL) / LEVEL) / -np.log1p(-closes)
        return xp.where(self.elapsed <= closes, closing(self.start, self.elapsed, power), 0.0)


THETA, CP, CLOSES = 0.2, 5.0, 0.2  # Takahama and Sakai: theta = 0.2 N, Tc = 0.2 Tmax
ADAPTIVE_THETA, TAU, ALPHA, ADAPTIVE_CP, ADAPTIVE_CLOSES = 0.05, 0.1, 0.95, 2.0, 0.9  # Fan et al.
QUANTILE_THETA, QUANTILE_CP, QUANTILE_CLOSES = 0.8, 2.0, 0.8  # CL-SRDE


def first_level(known: Array, population: Population, theta: float) -> Array:
    """The level known, or if it is inf that of this population, or inf as before if it has no values."""
    xp = namespace(population.f)
    now = xp.where(population.valid.any(), violation_at(population, theta), np.inf)
    return xp.where(known < np.inf, known, now)


@dataclass(frozen=True)
class Closing:
    """start (1 - elapsed / Tc)^cp, and 0 from Tc on."""

    start: Array  # inf until known

    @classmethod
    def fresh(cls, xp: Any = np) -> Closing:
        return cls(xp.asarray(np.inf))

    def rule(self, population: Population, elapsed: Array, rng: Stream) -> Epsilon:
        start = namespace(population.f).minimum(first_level(self.start, population, THETA), HUGE)
        return Epsilon(closing(start, elapsed / CLOSES, CP))

    rank = by_keys

    def after(self, population: Population, elapsed: Array) -> Closing:
        return Closing(first_level(self.start, population, THETA))


@dataclass(frozen=True)
class Adaptive:
    """Smaller by tau while the feasible share is below alpha, else largest (1 - elapsed / Tc)^cp; 0 from Tc on."""

    epsilon: Array  # inf until known
    largest: Array  # the largest violation so far

    @classmethod
    def fresh(cls, xp: Any = np) -> Adaptive:
        return cls(xp.asarray(np.inf), xp.asarray(0.0))

    def rule(self, population: Population, elapsed: Array, rng: Stream) -> Epsilon:
        xp = namespace(population.f)
        level = xp.minimum(first_level(self.epsilon, population, ADAPTIVE_THETA), HUGE)
        return Epsilon(xp.where(elapsed < ADAPTIVE_CLOSES, level, 0.0))

    rank = by_keys

    def after(self, population: Population, elapsed: Array) -> Adaptive:
        xp = namespace(population.f)
        largest = xp.maximum(self.largest, largest_violation(population))
        share = feasible_share(population)
        known = self.epsilon < np.inf
        then = improved(
            xp.where(known, self.epsilon, 0.0), largest, elapsed / ADAPTIVE_CLOSES, share, TAU, ALPHA, ADAPTIVE_CP
        )
        return Adaptive(xp.where(known, then, first_level(self.epsilon, population, ADAPTIVE_THETA)), largest)


@dataclass(frozen=True)
class Quantile:
    """The violation that a share theta (1 - elapsed)^cp of the population stays below; 0 from Tc on."""

    def rule(self, population: Population, elapsed: Array, rng: Stream) -> Epsilon:
        xp = namespace(population.f)
        level = violation_at(population, QUANTILE_THETA, elapsed, QUANTILE_CP)
        return Epsilon(xp.where(elapsed < QUANTILE_CLOSES, level, 0.0))

    rank = by_keys
    after = unchanged
