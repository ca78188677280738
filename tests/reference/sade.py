"""SaDE as a reading copy: slow, literal, a point at a time; the oracle of the fast version."""

from __future__ import annotations

import math
import statistics
from typing import Any

from scipy import stats

from .differential_evolution import ReferenceDE, binomial
from .literal_run import Vector
from .single_points import draw_others

RAND_1, CURRENT_TO_BEST_2, RAND_2, CURRENT_TO_RAND_1 = range(4)


class ReferenceSaDE(ReferenceDE):
    def begin(self, rng: Any) -> None:
        self.ns: list[list[int]] = []  # successes and failures of each strategy, a row per generation
        self.nf: list[list[int]] = []
        self.successful_CR: list[list[list[float]]] = []  # of each generation and strategy
        self.p = [0.25] * 4

    def trials(self, rng: Any) -> list[Vector]:
        S, LP = self.settings, self.settings.window
        u = rng.uniform(4, self.NP)
        u_pointer = float(rng.uniform(1)[0])
        u_median = rng.uniform(4)
        z_F = rng.normal(self.NP)
        u_parents = rng.uniform(5, self.NP)
        u_cross = rng.uniform(self.NP, self.d)
        u_repair = rng.uniform(self.NP, self.d)

        CRm = [0.5] * 4
        if self.G >= LP:
            for k in range(4):
                seen = [CR for generation in self.successful_CR[-LP:] for CR in generation[k]]
                CRm[k] = statistics.median(seen) if seen else float(u_median[k])

        # Stochastic universal sampling: equally spaced pointers along the wheel, then shuffled.
        pool = []
        for i in range(self.NP):
            pointer = (u_pointer + i) / self.NP
            k, passed = 0, self.p[0]
            while pointer >= passed and k < 3:
                k += 1
                passed += self.p[k]
            pool.append(k)
        shuffled = sorted(range(self.NP), key=lambda i: float(u[0, i]))
        self.strategy = [pool[shuffled[i]] for i in range(self.NP)]

        self.CR = []
        made = []
        best = self.best()
        for i in range(self.NP):
            k = self.strategy[i]
            law = stats.truncnorm((0 - CRm[k]) / S.CR_deviation, (1 - CRm[k]) / S.CR_deviation, CRm[k], S.CR_deviation)
            CR = float(law.ppf(float(u[1, i])))
            self.CR.append(CR)
            F = S.F_mean + S.F_deviation * float(z_F[i])
            K = float(u[2, i])
            r = [self.population[index].x for index in draw_others(u_parents[:, i], self.NP, i)]
            x = self.population[i].x
            v = []
            for j in range(self.d):
                if k == RAND_1:
                    v.append(r[0][j] + F * (r[1][j] - r[2][j]))
                elif k == CURRENT_TO_BEST_2:
                    v.append(x[j] + F * (best[j] - x[j]) + F * (r[1][j] - r[2][j]) + F * (r[3][j] - r[4][j]))
                elif k == RAND_2:
                    v.append(r[0][j] + F * (r[1][j] - r[2][j]) + F * (r[3][j] - r[4][j]))
                else:
                    v.append(x[j] + K * (r[0][j] - x[j]) + F * (r[1][j] - r[2][j]))
            y = v if k == CURRENT_TO_RAND_1 else binomial(v, x, CR, u_cross[i], math.floor(u[3, i] * self.d))
            made.append(self.in_box("resample", y, u=u_repair[i]))
        return made

    def learn(self, won: list[bool]) -> None:
        LP = self.settings.window
        self.ns.append([sum(won[i] for i in range(self.NP) if self.strategy[i] == k) for k in range(4)])
        self.nf.append([sum(not won[i] for i in range(self.NP) if self.strategy[i] == k) for k in range(4)])
        self.successful_CR.append(
            [[self.CR[i] for i in range(self.NP) if self.strategy[i] == k and won[i]] for k in range(4)]
        )
        if len(self.ns) >= LP:
            rate = []
            for k in range(4):
                ns, nf = sum(row[k] for row in self.ns[-LP:]), sum(row[k] for row in self.nf[-LP:])
                rate.append((ns / (ns + nf) if ns + nf else 0.0) + self.settings.least_share)
            self.p = [rate[k] / sum(rate) for k in range(4)]
