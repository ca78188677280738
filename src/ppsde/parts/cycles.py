"""Cycles: a search that has found all it will find begins anew with what is left of the budget."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array, namespace, when
from ..population import Population

LEAST_FALL = 1e-9  # share of |f| by which the best must fall to count as progress
LEAST_FALL_OF_VIOLATION = 1e-6


@dataclass(frozen=True)
class Cycle:
    """One search from a fresh population on; a run may hold several."""

    number: Array  # 0, 1, ..
    age: Array  # generations made in this cycle
    idle: Array  # generations without progress
    violation: Array  # of the best point at the last progress
    f: Array

    @classmethod
    def fresh(cls, number: Any = 0, xp: Any = np) -> Cycle:
        infinite = xp.asarray(np.inf)
        return cls(xp.asarray(number), xp.asarray(0), xp.asarray(0), infinite, infinite)

    def older(self, population: Population, counts: Array) -> Cycle:
        """A generation later, with the population sorted best first; only generations where `counts` can be idle."""
        xp = namespace(self.f)
        violation, f = population.violation[0], population.f[0]
        size = when(self.f < np.inf, lambda: abs(self.f), 0.0)
        closer = violation < self.violation * (1.0 - LEAST_FALL_OF_VIOLATION)
        lower = (violation <= self.violation) & (f < self.f - LEAST_FALL * size)
        age, none = self.age + 1, xp.asarray(0)
        waiting = Cycle(self.number, age, when(counts, lambda: self.idle + 1, none), self.violation, self.f)
        return when(closer | lower, lambda: Cycle(self.number, age, none, violation, f), waiting)
