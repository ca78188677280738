"""F and CR of each individual without a history: around two running means (JADE), or by rank (IDE)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array, namespace
from .memory import SPREAD, TINY, clipped_normal, positive_cauchy


@dataclass(frozen=True)
class Means:
    """JADE's mu_F and mu_CR, which follow what succeeds."""

    F: Array
    CR: Array

    @classmethod
    def fresh(cls, xp: Any = np, F: float = 0.5, CR: float = 0.5) -> Means:
        return cls(xp.asarray(F), xp.asarray(CR))

    def draw(self, u_F: Array, z_CR: Array) -> tuple[Array, Array]:
        """F and CR (m,) around the means."""
        return positive_cauchy(self.F, u_F), clipped_normal(self.CR, z_CR)

    def learn(self, F: Array, CR: Array, success: Array, c: float) -> Means:
        """A share c of the way to the means over the successes (m,): Lehmer's of F, the arithmetic one of CR."""
        xp = namespace(F)
        count = success.sum()
        some = count > 0
        sum_F, sum_FF, sum_CR = (xp.where(success, values, 0.0).sum() for values in (F, F * F, CR))
        return Means(
            F=xp.where(some, (1 - c) * self.F + c * sum_FF / (sum_F + ~some), self.F),  # + 1 without success: no 0 / 0
            CR=xp.where(some, (1 - c) * self.CR + c * sum_CR / (count + ~some), self.CR),
        )


def by_rank(rank: Array, n: Array | int, u: Array) -> Array:
    """A factor per rank 0 .. n - 1, the better the smaller: normal around (rank + 1) / n, redrawn until in (0, 1].

    By inverse distribution from uniform numbers u, each in the place of a redrawing.
    """
    xp = namespace(u)
    special = _special_functions(xp)
    location = (rank + 1) / n
    low, high = special.ndtr((0.0 - location) / SPREAD), special.ndtr((1.0 - location) / SPREAD)
    z = special.ndtri(high - u * (high - low))
    return xp.clip(location + SPREAD * z, TINY, 1.0)


def _special_functions(xp: Any) -> Any:
    if xp is np:
        from scipy import special
    else:
        from jax.scipy import special
    return special
