"""Epsilon levels: which violation counts as none in a generation, as techniques with a state.

`Closing` follows a polynomial from the first population to zero, `Adaptive` minds the share of feasible points on the
way, `Quantile` follows the population. The formulas stand in `epsilon.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import HUGE, Array, namespace
from ..population import Population
from ..streams import Stream
from .epsilon import closing, improved, quantile
from .fixed import by_keys, unchanged
from .rules import Epsilon

THETA, CP, CLOSES = 0.2, 5.0, 0.2  # Takahama and Sakai (2006)
ADAPTIVE_THETA, TAU, ALPHA, ADAPTIVE_CP, ADAPTIVE_CLOSES = 0.05, 0.1, 0.95, 2.0, 0.9  # Fan et al. (2019)
QUANTILE_THETA, QUANTILE_CP, QUANTILE_CLOSES = 0.8, 2.0, 0.8  # CL-SRDE, Stanovov and Semenkin (2024)


def violation_at(population: Population, theta: float, elapsed: Array | float = 0.0, cp: float = 1.0) -> Array:
    """The violation that a share theta (1 - elapsed)^cp of the points with values stays below; HUGE without any."""
    xp = namespace(population.violation)
    count = population.valid.sum()
    return quantile(xp.sort(population.violation), elapsed, theta, cp, count)


def feasible_share(population: Population) -> Array:
    """How many of the points with values are feasible, as a share."""
    xp = namespace(population.violation)
    return population.feasible.sum() / xp.maximum(population.valid.sum(), 1)


@dataclass(frozen=True)
class Closing:
    """start (1 - elapsed / Tc)^cp, 0 from Tc on; the start is a quantile of the first population."""

    start: Array  # inf until a population with values was seen

    @classmethod
    def fresh(cls, xp: Any = np) -> Closing:
        return cls(xp.asarray(np.inf))

    def rule(self, population: Population, elapsed: Array, rng: Stream) -> Epsilon:
        xp = namespace(population.f)
        return Epsilon(closing(xp.minimum(self._start(population), HUGE), elapsed / CLOSES, CP))

    rank = by_keys

    def after(self, population: Population, elapsed: Array) -> Closing:
        return Closing(self._start(population))

    def _start(self, population: Population) -> Array:
        xp = namespace(population.f)
        first = xp.where(population.valid.any(), violation_at(population, THETA), np.inf)
        return xp.where(self.start < np.inf, self.start, first)


@dataclass(frozen=True)
class Quantile:
    """The violation that a shrinking share of the population stays below."""

    def rule(self, population: Population, elapsed: Array, rng: Stream) -> Epsilon:
        xp = namespace(population.f)
        level = violation_at(population, QUANTILE_THETA, elapsed, QUANTILE_CP)
        return Epsilon(xp.where(elapsed < QUANTILE_CLOSES, level, 0.0))

    rank = by_keys
    after = unchanged
