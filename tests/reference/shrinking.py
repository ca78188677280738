"""What literal versions with a population that shrinks share: its size along a line, and an archive that follows it.

The population really shrinks. Of draws for a whole first population they use those for the members that are left.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .literal_run import LiteralRun, Vector
from .shade import shortened
from .single_points import in_order


class ShrinkingRun(LiteralRun):
    def __init__(self, settings: Any, *args: Any) -> None:
        super().__init__(settings, *args)
        self.N_init: int = settings.population_size or 18 * self.d
        self.H: int = settings.memory_size
        self.G = 0
        self.FES = 0  # asked for, more than evaluated once the budget is spent
        self.A: list[Vector] = []

    def most_archived(self, N: int) -> int:
        return math.floor(self.settings.archive_rate * N + 0.5)

    def start(self, rng: Any) -> None:
        self.population = in_order(self.points_anywhere(self.N_init, rng))
        self.FES = self.N_init

    def reduce(self, u_cut: Sequence[float]) -> None:
        """Population, best first, and archive down to the size that this moment of the run allows."""
        N_min = self.settings.final_size
        share = min(self.FES / self.max_evaluations, 1.0)
        N_new = math.floor((N_min - self.N_init) * share + self.N_init + 0.5)
        self.population = self.population[:N_new]
        self.A = shortened(self.A, self.most_archived(N_new), u_cut)
