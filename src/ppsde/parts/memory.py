"""Success-history memory (SHADE): what values of F and CR did well lately, for each strategy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Array, namespace
from .indices import place

TINY = float(np.finfo(float).tiny)  # the smallest F, where rounding would give 0
SPREAD = 0.1  # scale of the Cauchy law of F and standard deviation of the normal law of CR around a memory cell


def positive_cauchy(location: Array, u: Array) -> Array:
    """F from a Cauchy law around `location`, redrawn until positive and capped at 1, by inverse distribution."""
    xp = namespace(u)
    not_positive = 0.5 - xp.arctan(location / SPREAD) / np.pi
    p = 1.0 - u * (1.0 - not_positive)  # uniform over what the redrawing leaves
    F = location + SPREAD * xp.tan(np.pi * (p - 0.5))
    return xp.minimum(xp.maximum(F, TINY), 1.0)


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

    def draw(self, strategy: Array, u_cell: Array, u_F: Array, z_CR: Array) -> tuple[Array, Array]:
        """F and CR (m,) for rows of the given strategies, both around one cell drawn uniformly."""
        xp = namespace(u_cell)
        cell = place(u_cell, self.F.shape[1])
        CR = xp.minimum(xp.maximum(self.CR[strategy, cell] + SPREAD * z_CR, 0.0), 1.0)
        return positive_cauchy(self.F[strategy, cell], u_F), CR

    def learn(self, strategy: Array, F: Array, CR: Array, gain: Array) -> Memory:
        """Write the means over the successes, weighted by their gains (m,), 0 for no success.

        The mean of F is Lehmer's, sum w F^2 / sum w F; that of CR arithmetic. A strategy without gain keeps its cells.
        """
        xp = namespace(gain)
        strategies, size = self.F.shape
        w = xp.where(strategy == xp.arange(strategies)[:, None], gain, 0.0)
        largest = w.max(axis=1)
        learned = largest > 0
        w = w / xp.where(learned, largest, 1.0)[:, None]  # so that no sum can overflow
        total, wF, wFF, wCR = w.sum(axis=1), w @ F, w @ (F * F), w @ CR
        cell = (xp.arange(size) == self.next[:, None]) & learned[:, None]
        return Memory(
            F=xp.where(cell, (wFF / (wF + ~learned))[:, None], self.F),  # + 1 where nothing was learned: no 0 / 0
            CR=xp.where(cell, (wCR / (total + ~learned))[:, None], self.CR),
            next=xp.where(learned, (self.next + 1) % size, self.next),
        )
