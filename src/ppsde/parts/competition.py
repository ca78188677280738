"""Strategy competition: who won how often over the last generations decides who is tried."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Array, namespace, when


@dataclass(frozen=True)
class Competition:
    """Wins of each strategy in each of the last generations, a ring."""

    wins: Array  # (window, strategies)

    @classmethod
    def fresh(cls, window: int, strategies: int, xp: object = np) -> Competition:
        return cls(xp.zeros((window, strategies)))  # type: ignore[attr-defined]

    def record(self, generation: Array | int, won: Array) -> Competition:
        """Put the wins (strategies,) of this generation in the place of the oldest."""
        xp = namespace(self.wins)
        window = self.wins.shape[0]
        return Competition(xp.where((xp.arange(window) == generation % window)[:, None], won, self.wins))

    def rates(self, generation: Array | int) -> Array:
        """Each strategy's share of the wins (strategies,); equal shares while generation 1, 2, .. fill the window."""
        xp = namespace(self.wins)
        window, strategies = self.wins.shape
        each = self.wins.sum(axis=0)
        total = each.sum()
        known = (generation > window) & (total > 0)
        return when(known, lambda: each / xp.maximum(total, 1.0), xp.full(strategies, 1.0 / strategies))


def strategy_by_rate(u: Array, rates: Array) -> Array:
    """A strategy (m,) per uniform number, with probabilities `rates`."""
    return (u >= rates.cumsum()[:-1, None]).sum(axis=0)
