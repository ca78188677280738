"""Success counts: operators compete, each used in proportion to its successes so far (Tvrdik's competition).

When one has become rare, all begin again from equal counts, so that none is ever lost.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array, namespace


@dataclass(frozen=True)
class SuccessCounts:
    counts: Array  # (operators,), from a prior on

    @classmethod
    def fresh(cls, operators: int, prior: int, xp: Any = np) -> SuccessCounts:
        return cls(xp.full(operators, prior))

    @property
    def rates(self) -> Array:
        """The probability of each operator (operators,)."""
        return self.counts / self.counts.sum()

    def renewed(self, least: float, prior: int) -> SuccessCounts:
        """From the prior again where the rate of some operator is below `least`."""
        xp = namespace(self.counts)
        return SuccessCounts(xp.where(self.rates.min() < least, prior, self.counts))

    def record(self, operator: Array, success: Array) -> SuccessCounts:
        """With the successes (n,) of the operators (n,) counted."""
        xp = namespace(self.counts)
        won = (operator == xp.arange(self.counts.shape[0])[:, None]) & success
        return SuccessCounts(self.counts + won.sum(axis=1))
