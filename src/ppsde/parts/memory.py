"""F and CR of trials: success-history memories (SHADE), the laws they are drawn from, and choices of a few values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array, namespace, special_functions
from .indices import place

TINY = float(np.finfo(float).tiny)  # the smallest F, where rounding would give 0
SPREAD = 0.1  # scale of the Cauchy law of F and standard deviation of the normal law of CR around a memory cell
CLOSED = -np.inf  # a cell of CR that always gives 0, whatever is added to it (L-SHADE's terminal value)


def positive_cauchy(location: Array, u: Array) -> Array:
    """F from a Cauchy law around `location`, redrawn until positive and capped at 1, by inverse distribution."""
    xp = namespace(u)
    not_positive = 0.5 - xp.arctan(location / SPREAD) / np.pi
    p = 1.0 - u * (1.0 - not_positive)  # uniform over what the redrawing leaves
    F = location + SPREAD * xp.tan(np.pi * (p - 0.5))
    return xp.minimum(xp.maximum(F, TINY), 1.0)


def cauchy_above(location: Array, u: Array, least: Array) -> Array:
    """F from a Cauchy law around `location`, redrawn until above `least` and capped at 1, by inverse distribution."""
    xp = namespace(u)
    below = xp.arctan((least - location) / SPREAD)
    F = location + SPREAD * xp.tan(np.pi / 2 - u * (np.pi / 2 - below))
    return xp.minimum(xp.maximum(F, least), 1.0)


def truncated_cauchy(location: Array, u: Array, scale: float = SPREAD) -> Array:
    """F from a Cauchy law around `location`, redrawn until in [0, 1], by inverse distribution; u uniform."""
    xp = namespace(u)
    below, above = (xp.arctan((end - location) / scale) for end in (0.0, 1.0))
    return xp.clip(location + scale * xp.tan(below + u * (above - below)), TINY, 1.0)


def clipped_normal(location: Array, z: Array, deviation: float = SPREAD) -> Array:
    """CR from a normal law around `location`, brought into [0, 1]; z standard normal."""
    xp = namespace(z)
    return xp.minimum(xp.maximum(location + deviation * z, 0.0), 1.0)


@dataclass(frozen=True)
class Memory:
    """H cells for F and for CR per strategy, written in turn with means of successful values."""

    F: Array  # (strategies, H)
    CR: Array  # (strategies, H)
    next: Array  # (strategies,), the cell to write

    @classmethod
    def fresh(cls, strategies: int, size: int, xp: Any = np, F: float = 0.5, CR: float = 0.5) -> Memory:
        blank = xp.ones((strategies, size))
        return cls(F * blank, CR * blank, xp.zeros(strategies, dtype=int))

    def draw(
        self, strategy: Array, u_cell: Array, u_F: Array, z_CR: Array, deviation: float = SPREAD
    ) -> tuple[Array, Array]:
        """F and CR (m,) for rows of the given strategies, both around one cell drawn uniformly."""
        size = self.F.shape[1]
        cell = strategy * size + place(u_cell, size)
        CR = clipped_normal(self.CR.ravel()[cell], z_CR, deviation)
        return positive_cauchy(self.F.ravel()[cell], u_F), CR

    def learn(
        self,
        strategy: Array,
        F: Array,
        CR: Array,
        gain: Array,
        *,
        ties: Array | None = None,
        lehmer_CR: bool = False,
        closing: bool = False,
        rate: float = 1.0,
    ) -> Memory:
        """The memory with the means over the successes written into the next cell of each strategy that has gains.

        Means are weighted by the gains (m,), 0 for no success. That of F is Lehmer's, sum w F^2 / sum w F; that of CR
        is arithmetic.

        ties       rows (m,) that succeed without gain; where a strategy has only such successes, they weigh alike
        lehmer_CR  the mean of CR is Lehmer's too (L-SHADE)
        closing    a cell of CR closes for ever when every success of its strategy had CR = 0 (L-SHADE)
        rate       the share of the mean in the cell's new content; the rest is its old content (CL-SRDE, RDEx)
        """
        xp = namespace(gain)
        strategies, size = self.F.shape
        mine = strategy == xp.arange(strategies)[:, None]
        w = xp.where(mine, gain, 0.0)
        if ties is not None:
            w = xp.where((w.max(axis=1) == 0)[:, None], mine & ties, w)
        largest = w.max(axis=1)
        learned = largest > 0
        nothing = ~learned  # added to sums as 1, so that nothing is divided by 0
        w = w / (largest + nothing)[:, None]  # so that no sum can overflow
        total, wF, wFF, wCR = w.sum(axis=1), w @ F, w @ (F * F), w @ CR
        cell = (xp.arange(size) == self.next[:, None]) & learned[:, None]
        mean_CR = wCR / (total + nothing)
        if lehmer_CR:
            mean_CR = (w @ (CR * CR)) / (wCR + (wCR == 0))
        if closing:
            success = gain > 0 if ties is None else (gain > 0) | ties
            none = ~(mine & success & (CR > 0)).any(axis=1)
            closed = self.CR[xp.arange(strategies), self.next] == CLOSED
            mean_CR = xp.where(none | closed, CLOSED, mean_CR)
        mean_F = wFF / (wF + nothing)
        if rate < 1:
            here = xp.arange(strategies), self.next
            mean_F = rate * mean_F + (1 - rate) * self.F[here]
            mean_CR = rate * mean_CR + (1 - rate) * self.CR[here]
        return Memory(
            F=xp.where(cell, mean_F[:, None], self.F),
            CR=xp.where(cell, mean_CR[:, None], self.CR),
            next=(self.next + learned) % size,
        )


def truncated_normal(
    location: Array, u: Array, deviation: float, *, least: float = 0.0, falling: bool = False
) -> Array:
    """Numbers from a normal law around `location`, in [0, 1] itself, truncated to [least, 1]; u uniform.

    By inverse distribution: the same law as redrawing until a number fits. The numbers rise with u, or fall if
    `falling`, which is the same law with other rounding.
    """
    xp = namespace(u)
    special = special_functions(xp)
    below, above = special.ndtr((0.0 - location) / deviation), special.ndtr((1.0 - location) / deviation)
    p = above - u * (above - below) if falling else below + u * (above - below)
    return xp.clip(location + deviation * special.ndtri(p), least, 1.0)


def any_of(values: Sequence[float], u: Array) -> Array:
    """One of the values per uniform number (m,)."""
    return namespace(u).asarray(values)[place(u, len(values))]


def any_pair(pairs: Sequence[tuple[float, float]], u: Array) -> tuple[Array, Array]:
    """One of the pairs per uniform number (m,), as F and CR."""
    F, CR = zip(*pairs, strict=True)
    return any_of(F, u), any_of(CR, u)
