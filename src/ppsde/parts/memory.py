"""Success-history memory (SHADE): what values of F and CR did well lately, for each strategy.

Normal numbers drawn again until they lie in [0, 1], by inverse distribution.

F and CR of each individual without a history: around two running means (JADE), or by rank (IDE).

Pools: a few values of F and CR, of which each trial takes any.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array, namespace
from .indices import place

TINY = float(np.finfo(float).tiny)  # the smallest F, where rounding would give 0
SPREAD = 0.1  # scale of the Cauchy law of F and standard deviation of the normal law of CR around a memory cell
CLOSED = -np.inf  # a cell of CR that gives 0 for ever: what is added to it changes nothing (L-SHADE's terminal value)


def positive_cauchy(location: Array, u: Array) -> Array:
    """F from a Cauchy law around `location`, redrawn until positive and capped at 1, by inverse distribution."""
    xp = namespace(u)
    not_positive = 0.5 - xp.arctan(location / SPREAD) / np.pi
    p = 1.0 - u * (1.0 - not_positive)  # uniform over what the redrawing leaves
    F = location + SPREAD * xp.tan(np.pi * (p - 0.5))
    return xp.minimum(xp.maximum(F, TINY), 1.0)


def clipped_normal(location: Array, z: Array, deviation: float = SPREAD) -> Array:
    """CR from a normal law around `location`, brought into [0, 1]; z standard normal."""
    xp = namespace(z)
    return xp.minimum(xp.maximum(location + deviation * z, 0.0), 1.0)


@dataclass(frozen=True)
class Memory:
    """H cells for F and for CR per strategy, written in turn."""

    F: Array  # (strategies, H)
    CR: Array  # (strategies, H)
    next: Array  # (strategies,), the cell to write

    @classmethod
    def fresh(cls, strategies: int, size: int, xp: object = np, F: float = 0.5, CR: float = 0.5) -> Memory:
        blank = xp.ones((strategies, size))  # type: ignore[attr-defined]
        return cls(F * blank, CR * blank, xp.zeros(strategies, dtype=int))  # type: ignore[attr-defined]

    def draw(
        self, strategy: Array, u_cell: Array, u_F: Array, z_CR: Array, deviation: float = SPREAD
    ) -> tuple[Array, Array]:
        """F and CR (m,) for rows of the given strategies, both around one cell drawn uniformly."""
        cell = place(u_cell, self.F.shape[1])
        CR = clipped_normal(self.CR[strategy, cell], z_CR, deviation)
        return positive_cauchy(self.F[strategy, cell], u_F), CR

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
    ) -> Memory:
        """Write the means over the successes, weighted by their gains (m,), 0 for no success.

        The mean of F is Lehmer's, sum w F^2 / sum w F; that of CR arithmetic. A strategy without gain keeps its cells.

        ties       rows (m,) that succeed without gain; where a strategy has only such successes, they weigh alike
        lehmer_CR  the mean of CR is Lehmer's too (L-SHADE)
        closing    a cell of CR closes for ever when every success of its strategy had CR = 0 (L-SHADE)
        """
        xp = namespace(gain)
        strategies, size = self.F.shape
        mine = strategy == xp.arange(strategies)[:, None]
        w = xp.where(mine, gain, 0.0)
        if ties is not None:
            w = xp.where((w.max(axis=1) == 0)[:, None], mine & ties, w)
        largest = w.max(axis=1)
        learned = largest > 0
        w = w / xp.where(learned, largest, 1.0)[:, None]  # so that no sum can overflow
        total, wF, wFF, wCR = w.sum(axis=1), w @ F, w @ (F * F), w @ CR
        cell = (xp.arange(size) == self.next[:, None]) & learned[:, None]
        mean_CR = wCR / (total + ~learned)  # + 1 where nothing was learned: no 0 / 0
        if lehmer_CR:
            mean_CR = (w @ (CR * CR)) / (wCR + (wCR == 0))
        if closing:
            success = gain > 0 if ties is None else (gain > 0) | ties
            none = ~(mine & success & (CR > 0)).any(axis=1)
            closed = self.CR[xp.arange(strategies), self.next] == CLOSED
            mean_CR = xp.where(none | closed, CLOSED, mean_CR)
        return Memory(
            F=xp.where(cell, (wFF / (wF + ~learned))[:, None], self.F),
            CR=xp.where(cell, mean_CR[:, None], self.CR),
            next=xp.where(learned, (self.next + 1) % size, self.next),
        )


def truncated_normal(location: Array, u: Array, deviation: float) -> Array:
    """Numbers of [0, 1] from a normal law around `location`, itself in [0, 1]; u uniform."""
    xp = namespace(u)
    ndtr, ndtri = _normal_distribution(xp)
    below, above = ndtr((0.0 - location) / deviation), ndtr((1.0 - location) / deviation)
    return xp.clip(location + deviation * ndtri(below + u * (above - below)), 0.0, 1.0)


def _normal_distribution(xp: Any) -> tuple[Any, Any]:
    """The normal distribution function and its inverse, for arrays of the namespace."""
    if xp is np:
        from scipy.special import ndtr, ndtri

        return ndtr, ndtri
    from jax.scipy import special

    return special.ndtr, special.ndtri


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


def any_of(values: Sequence[float], u: Array) -> Array:
    """One of the values per uniform number (m,)."""
    return namespace(u).asarray(values)[place(u, len(values))]


def any_pair(pairs: Sequence[tuple[float, float]], u: Array) -> tuple[Array, Array]:
    """One of the pairs per uniform number (m,), as F and CR."""
    F, CR = zip(*pairs, strict=True)
    return any_of(F, u), any_of(CR, u)


@dataclass(frozen=True)
class ParameterPool:
    """Pairs of F and CR in the place of a memory: nothing is learned."""

    pairs: tuple[tuple[float, float], ...]

    def draw(self, strategy: Array, u_cell: Array, u_F: Array, z_CR: Array) -> tuple[Array, Array]:
        """F and CR (m,), a pair drawn with the number that would draw a cell of a memory."""
        return any_pair(self.pairs, u_cell)
