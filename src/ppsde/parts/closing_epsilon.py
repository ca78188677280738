"""The epsilon of C2oDE and IUDE: a polynomial from the largest violation at first to exp(-6), then 0."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Array, namespace
from ..population import Population
from .census import largest_violation
from .epsilon import closing

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
