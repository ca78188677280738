"""How epsilon closes: formulas from the start of the pull to zero."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..arrays import HUGE, Array, namespace
from ..population import Population


def closing(start: Array, elapsed: Array, power: Array | float) -> Array:
    """start (1 - elapsed)^power, and 0^power from elapsed = 1 on: Takahama's polynomial."""
    return start * namespace(start).maximum(1.0 - elapsed, 0.0) ** power


@dataclass(frozen=True)
class ClosingEpsilon:
    """The polynomial from the largest violation of the first population to exp(-6) at a share of the run, then 0.

    C2oDE and IUDE have it. An epsilon that starts no higher than exp(-6) stays where it starts.
    """

    start: Array
    elapsed: Array  # share of the run

    @classmethod
    def of(cls, points: Population) -> ClosingEpsilon:
        xp = namespace(points.f)
        return cls(xp.where(points.valid, points.violation, 0.0).max(), xp.asarray(0.0))

    def at(self, elapsed: Array) -> ClosingEpsilon:
        return replace(self, elapsed=elapsed)

    def epsilon(self, closes: float) -> Array:
        """Its value now, if `closes` is the share of the run up to which it is open."""
        xp = namespace(self.start)
        level = np.exp(-6.0)
        power = xp.log(xp.maximum(self.start, level) / level) / -np.log1p(-closes)
        return xp.where(self.elapsed <= closes, closing(self.start, self.elapsed, power), 0.0)


def improved(epsilon: Array, start: Array, elapsed: Array, share: Array, tau: float, alpha: float, cp: float) -> Array:
    """The improved epsilon (Fan et al.): shrink by tau while the feasible share is below alpha, else the polynomial.

    The polynomial can lie above the current epsilon: a population that is all but feasible is let out again.
    """
    return namespace(share).where(share < alpha, (1.0 - tau) * epsilon, closing(start, elapsed, cp))


def quantile(violation: Array, elapsed: Array, theta: float, cp: float, count: Array | None = None) -> Array:
    """The violation (n,) sorted, at place floor(theta n (1 - elapsed)^cp); 0 from elapsed = 1 on (CL-SRDE).

    It follows the population, so it does not depend on the scale of the constraints. Only the first `count` rows are
    looked at, where that is given.
    """
    xp = namespace(violation)
    n = violation.shape[0] if count is None else xp.maximum(count, 1)
    place = xp.minimum((theta * n * xp.maximum(1.0 - elapsed, 0.0) ** cp).astype(int), n - 1)
    return xp.where(elapsed < 1.0, xp.minimum(violation[place], HUGE), 0.0)
