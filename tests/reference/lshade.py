"""L-SHADE as a reading copy: slow, literal, a member at a time; the oracle of the fast version."""

from __future__ import annotations

import math
from typing import Any

from .differential_evolution import binomial
from .pps_de import positive_cauchy
from .shade import clipped, current_to_pbest, gain_of, lehmer, to_archive
from .shrinking import ShrinkingRun
from .single_points import in_order, not_worse

TERMINAL = -1.0


class ReferenceLSHADE(ShrinkingRun):
    def __init__(self, settings: Any, *args: Any) -> None:
        super().__init__(settings, *args)
        self.M_F, self.M_CR = [0.5] * self.H, [0.5] * self.H
        self.k = 0

    def generation(self, rng: Any) -> None:
        P = self.population
        N = len(P)
        self.G += 1
        u_cell, u_F, u_archive = rng.uniform(3, self.N_init)
        z = rng.normal(self.N_init)
        u_pbest, u_r1, u_r2, u_kept = rng.uniform(4, self.N_init)
        u_cross = rng.uniform(self.N_init, self.d)
        u_cut = rng.uniform(self.most_archived(self.N_init))

        trials, F, CR = [], [], []
        best = max(2, math.floor(self.settings.pbest * N + 0.5))
        for i in range(N):
            r = math.floor(u_cell[i] * self.H)
            F.append(positive_cauchy(self.M_F[r], float(u_F[i])))
            CR.append(0.0 if self.M_CR[r] == TERMINAL else clipped(self.M_CR[r] + 0.1 * float(z[i])))
            v = current_to_pbest(P, self.A, i, best, F[i], (u_pbest[i], u_r1[i], u_r2[i]))
            y = binomial(v, P[i].x, CR[i], u_cross[i], math.floor(u_kept[i] * self.d))
            trials.append(self.judge(self.in_box("midpoint", y, P[i].x)))
        self.FES += N

        after = list(P)
        S: list[tuple[float, float, float]] = []
        for i in range(N):
            if not_worse(trials[i], P[i]):
                after[i] = trials[i]
            gained = gain_of(trials[i], P[i])
            if gained > 0:
                to_archive(self.A, P[i].x, self.most_archived(N), float(u_archive[i]))
                S.append((F[i], CR[i], gained))
        if S:
            total = sum(gained for _, _, gained in S)
            w = [gained / total for _, _, gained in S]
            CRs = [CR_s for _, CR_s, _ in S]
            self.M_F[self.k] = lehmer([F_s for F_s, _, _ in S], w)
            if self.M_CR[self.k] == TERMINAL or max(CRs) == 0:
                self.M_CR[self.k] = TERMINAL
            else:
                self.M_CR[self.k] = lehmer(CRs, w)
            self.k = (self.k + 1) % self.H

        self.population = in_order(after)
        self.reduce(u_cut)
