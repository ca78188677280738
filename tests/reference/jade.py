"""JADE as a reading copy: slow, literal, a member at a time; the oracle of the fast version."""

from __future__ import annotations

import math
from typing import Any

from .differential_evolution import binomial
from .literal_run import LiteralRun
from .pps_de import positive_cauchy
from .shade import clipped, current_to_pbest, lehmer, shortened
from .single_points import in_order


class ReferenceJADE(LiteralRun):
    def __init__(self, settings: Any, *args: Any) -> None:
        super().__init__(settings, *args)
        self.NP: int = settings.population_size
        self.most_archived = math.floor(settings.archive_rate * self.NP + 0.5)
        self.G = 0
        self.A: list[list[float]] = []
        self.mu_F = self.mu_CR = 0.5

    def start(self, rng: Any) -> None:
        self.population = in_order(self.points_anywhere(self.NP, rng))

    def generation(self, rng: Any) -> None:
        NP, P = self.NP, self.population
        self.G += 1
        u_F, z = rng.uniform(NP), rng.normal(NP)
        u_pbest, u_r1, u_r2, u_kept = rng.uniform(4, NP)
        u_cross = rng.uniform(NP, self.d)
        rng.uniform(NP)  # for the places in a full archive, which this one never is while parents come in
        u_cut = rng.uniform(self.most_archived + NP)

        trials, F, CR = [], [], []
        best = max(2, math.floor(self.settings.pbest * NP + 0.5))
        for i in range(NP):
            F.append(positive_cauchy(self.mu_F, float(u_F[i])))
            CR.append(clipped(self.mu_CR + 0.1 * float(z[i])))
            v = current_to_pbest(P, self.A, i, best, F[i], (u_pbest[i], u_r1[i], u_r2[i]))
            y = binomial(v, P[i].x, CR[i], u_cross[i], math.floor(u_kept[i] * self.d))
            trials.append(self.judge(self.in_box("midpoint", y, P[i].x)))

        after = list(P)
        S_F, S_CR = [], []
        for i in range(NP):
            if not trials[i].failed and (trials[i].phi, trials[i].f) < (P[i].phi, P[i].f):
                after[i] = trials[i]
                if not P[i].failed:
                    self.A.append(P[i].x)
                    S_F.append(F[i])
                    S_CR.append(CR[i])
        self.population = in_order(after)
        self.A = shortened(self.A, self.most_archived, u_cut)
        if S_F:
            c, alike = self.settings.c, [1.0] * len(S_F)
            self.mu_F = (1 - c) * self.mu_F + c * lehmer(S_F, alike)
            self.mu_CR = (1 - c) * self.mu_CR + c * sum(S_CR) / len(S_CR)
