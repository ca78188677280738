"""What came of the trials of the last generations, strategy by strategy: SaDE's learning period."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array, namespace

STRATEGIES = 4


@dataclass(frozen=True)
class History:
    """The trials of the last generations, a ring: what made them, and whether they survived."""

    strategy: Array  # (window, n), -1 before there were any
    CR: Array  # (window, n)
    success: Array  # (window, n)

    @classmethod
    def fresh(cls, window: int, n: int, xp: Any = np) -> History:
        shape = (window, n)
        return cls(xp.full(shape, -1), xp.zeros(shape), xp.zeros(shape, dtype=bool))

    def record(self, generation: Array, strategy: Array, CR: Array, success: Array) -> History:
        """With this generation in the place of the oldest."""
        xp = namespace(self.CR)
        window = self.CR.shape[0]
        here = (xp.arange(window) == generation % window)[:, None]
        return History(
            xp.where(here, strategy, self.strategy), xp.where(here, CR, self.CR), xp.where(here, success, self.success)
        )

    def rates(self, generation: Array, least: float) -> Array:
        """How often to use each strategy: by the share of its trials that succeeded; alike until the window is full."""
        xp = namespace(self.CR)
        used = self._by_strategy(self.strategy >= 0).sum(axis=1)
        succeeded = self._by_strategy(self.success).sum(axis=1)
        share = succeeded / xp.maximum(used, 1) + least
        full = generation >= self.CR.shape[0]
        return xp.where(full, share / share.sum(), 1.0 / STRATEGIES)

    def medians(self, generation: Array, otherwise: Array) -> Array:
        """The median CR of each strategy's successes (strategies,), or `otherwise`; 0.5 until the window is full."""
        xp = namespace(self.CR)
        count = self._by_strategy(self.success).sum(axis=1)
        first = 2 * xp.arange(STRATEGIES)  # each strategy's rates in a range of their own, so that one sort serves all
        ordered = xp.sort(xp.where(self.success, 2 * self.strategy + self.CR, np.inf).reshape(-1))
        begins = xp.minimum(xp.cumsum(count) - count, ordered.shape[0] - 1)  # of none: anywhere
        low, high = ordered[begins + xp.maximum(count - 1, 0) // 2], ordered[begins + count // 2]
        median = xp.where(count > 0, (low - first + high - first) / 2, otherwise)
        return xp.where(generation >= self.CR.shape[0], median, 0.5)

    def _by_strategy(self, trials: Array) -> Array:
        """Which of those trials are of each strategy (strategies, window n)."""
        xp = namespace(self.CR)
        return (self.strategy.reshape(-1) == xp.arange(STRATEGIES)[:, None]) & trials.reshape(-1)
