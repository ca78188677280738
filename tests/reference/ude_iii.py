"""UDE-III as a reading copy: slow, literal, a point at a time; the oracle of the fast version."""

from __future__ import annotations

import math
from typing import Any

from .iude import best_of_three, replaces, weight
from .literal_run import LiteralRun
from .pps_de import (
    CURRENT_TO_PBEST,
    CURRENT_TO_RAND,
    RAND,
    STRATEGIES,
    Trial,
    draw_by_rate,
    draw_index,
    positive_cauchy,
)
from .single_points import Point, in_order


class ReferenceUDEIII(LiteralRun):
    def start(self, rng: Any) -> None:
        S = self.settings
        self.NP, self.T, H = S.population_size, S.top_size, S.memory_size
        self.population = in_order(self.points_anywhere(self.NP, rng))
        self.eps_0 = max((p.phi for p in self.population if not p.failed), default=0.0)
        self.G = 0
        self.W: list[list[int]] = []
        self.L: list[list[int]] = []
        self.M_F, self.M_CR = ([[0.5] * H for _ in STRATEGIES] for _ in range(2))
        self.k = [0, 0, 0]
        self.c = [0] * self.NP
        self.archive: list[Point] = []

    def generation(self, rng: Any) -> None:
        S, NP, T = self.settings, self.NP, self.T
        self.G += 1
        parents = list(self.population)
        eps = self.epsilon()  # 1
        trials = self.trials([(i, s) for s in STRATEGIES for i in range(T)], rng)  # 2
        winners = [best_of_three([trials[s * T + i] for s in STRATEGIES]) for i in range(T)]
        rates = self.rates()
        u = rng.uniform(NP - T)
        bottom = self.trials([(T + i, draw_by_rate(float(u[i]), rates)) for i in range(NP - T)], rng)  # 3

        won, lost = [0, 0, 0], [0, 0, 0]
        rejected = []
        for trial in [*winners, *bottom]:
            if replaces(trial.point, parents[trial.target], eps):  # 4
                self.population[trial.target] = trial.point
                self.c[trial.target] = 0
                won[trial.strategy] += 1  # 6
            else:
                self.c[trial.target] += 1
                lost[trial.strategy] += 1
                rejected.append(trial.point)
        for winner in winners:
            won[winner.strategy] += not winner.point.failed
        self.W.append(won)
        self.L.append(lost)
        self.learn([(t, weight(t.point, parents[t.target])) for t in trials])  # 5

        members = list(zip(self.population, self.c, strict=True))  # 7
        self.population, self.c = map(list, zip(*sorted(members, key=lambda m: (m[0].phi, m[0].f)), strict=True))
        self.archive = in_order([*self.archive, *(p for p in rejected if not p.failed)])[:NP]
        u_archive = float(rng.uniform(1)[0])
        stagnated = [i for i in range(NP) if self.c[i] > S.stagnation_generations]  # 8
        centre = [sum(p.x[j] for p in self.population) / NP for j in range(self.d)]
        spread = sum(math.dist(p.x, centre) for p in self.population) / NP
        if len(stagnated) > S.stagnation_share * NP and spread > S.least_spread and self.archive:
            first = stagnated[0]
            self.population[first] = self.archive[math.floor(u_archive * len(self.archive))]
            self.c[first] = 0
            members = list(zip(self.population, self.c, strict=True))
            self.population, self.c = map(list, zip(*sorted(members, key=lambda m: (m[0].phi, m[0].f)), strict=True))

    def epsilon(self) -> float:
        pc, G_max = self.settings.closes, max(self.max_evaluations // (self.NP + 2 * self.T), 1)
        if self.eps_0 == 0 or self.G / G_max > pc:
            return 0.0
        cp = min(self.settings.most_power, max((-math.log(self.eps_0) - 6) / math.log(1 - pc), 0.0))
        return float(self.eps_0 * (1 - self.G / G_max) ** cp)

    def rates(self) -> list[float]:
        Lp = self.settings.strategy_window
        if Lp >= self.G:
            return [1 / 3, 1 / 3, 1 / 3]
        W, L = ([sum(row[s] for row in rows[-Lp:]) for s in STRATEGIES] for rows in (self.W, self.L))
        R = [(W[s] / (W[s] + L[s]) if W[s] + L[s] else 0.0) + self.settings.least_share for s in STRATEGIES]
        return [r / sum(R) for r in R]

    def trials(self, wanted: list[tuple[int, int]], rng: Any) -> list[Trial]:
        S, m, NP = self.settings, len(wanted), self.NP
        u_cross, u, u_parents = rng.uniform(m, self.d), rng.uniform(5, m), rng.uniform(3, m)
        z, u_p = rng.normal(m), rng.uniform(m)
        ranked = [NP - (r + 1) if r < self.T else 0 for r in range(NP)]
        made = []
        for t, (i, s) in enumerate(wanted):
            cell = math.floor(u[0, t] * S.memory_size)
            F = positive_cauchy(self.M_F[s][cell], float(u[1, t]))
            CR = min(max(self.M_CR[s][cell] + 0.1 * float(z[t]), 0.0), 1.0)
            least, most = min(S.pbest_least, NP), min(S.pbest_most, NP)
            p = math.floor(least + (most - least) * float(u_p[t]) + 0.5)
            if s == CURRENT_TO_PBEST:
                r1 = draw_index(float(u[2, t]), [1 if r < p else 0 for r in range(NP)], {i})
            else:
                r1 = draw_index(float(u_parents[0, t]), ranked, {i})
            r2 = draw_index(float(u_parents[1, t]), ranked, {i, r1})
            r3 = draw_index(float(u_parents[2, t]), [1] * NP, {i, r1, r2})
            x, x1, x2, x3 = (self.population[r].x for r in (i, r1, r2, r3))
            y = []
            for j in range(self.d):
                start = x1[j] if s == RAND else x[j] + F * (x1[j] - x[j])
                crossed = s == CURRENT_TO_RAND or u_cross[t, j] <= CR
                y.append(start + F * (x2[j] - x3[j]) if crossed else x[j])
            made.append(Trial(self.judge(self.in_box("clamp", y)), i, s, F, CR))
        return made

    def learn(self, records: list[tuple[Trial, float]]) -> None:
        for s in STRATEGIES:
            mine = [(t, w) for t, w in records if t.strategy == s and w > 0]
            if mine:
                total = sum(w for _, w in mine)
                wF, wFF = (sum(w / total * t.F**power for t, w in mine) for power in (1, 2))
                self.M_F[s][self.k[s]] = wFF / wF
                self.M_CR[s][self.k[s]] = sum(w / total * t.CR for t, w in mine)
                self.k[s] = (self.k[s] + 1) % self.settings.memory_size
