"""jDE as a reading copy: slow, literal, a point at a time; the oracle of the fast version."""

from __future__ import annotations

import math
from typing import Any

from .differential_evolution import ReferenceDE, binomial
from .literal_run import Vector
from .single_points import draw_others


class ReferenceJDE(ReferenceDE):
    def begin(self, rng: Any) -> None:
        self.F = [self.settings.F] * self.NP
        self.CR = [self.settings.CR] * self.NP

    def trials(self, rng: Any) -> list[Vector]:
        S = self.settings
        u = rng.uniform(5, self.NP)
        u_parents = rng.uniform(3, self.NP)
        u_cross = rng.uniform(self.NP, self.d)
        u_repair = rng.uniform(self.NP, self.d) if S.repair == "resample" else [None] * self.NP
        self.new_F, self.new_CR = list(self.F), list(self.CR)
        made = []
        for i in range(self.NP):
            u_new_F, u_F, u_new_CR, u_CR, u_kept = (float(v) for v in u[:, i])
            if u_new_F < S.tau_F:
                self.new_F[i] = S.least_F + u_F * (S.largest_F - S.least_F)
            if u_new_CR < S.tau_CR:
                self.new_CR[i] = u_CR
            x1, x2, x3 = (self.population[r].x for r in draw_others(u_parents[:, i], self.NP, i))
            v = [x1[j] + self.new_F[i] * (x2[j] - x3[j]) for j in range(self.d)]
            x = self.population[i].x
            y = binomial(v, x, self.new_CR[i], u_cross[i], math.floor(u_kept * self.d))
            made.append(self.in_box(S.repair, y, x, u_repair[i]))
        return made

    def learn(self, won: list[bool]) -> None:
        for i in range(self.NP):
            if won[i]:
                self.F[i], self.CR[i] = self.new_F[i], self.new_CR[i]
