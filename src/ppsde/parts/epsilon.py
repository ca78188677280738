"""How epsilon closes: formulas from the start of the pull to zero."""

from __future__ import annotations

from ..arrays import HUGE, Array, namespace


def closing(start: Array, elapsed: Array, power: Array | float) -> Array:
    """start (1 - elapsed)^power, and 0^power from elapsed = 1 on: Takahama's polynomial."""
    return start * namespace(start).maximum(1.0 - elapsed, 0.0) ** power


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
