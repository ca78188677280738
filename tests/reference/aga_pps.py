"""AGA-PPS as a reading copy: slow, literal, a point at a time; the oracle of the fast version.

Operators: 0 DE/current-to-pbest/1/bin, 1 DE/rand/1/bin, 2 the first with polynomial mutation, 3 polynomial mutation
alone. Ranks count from 0, the best first.
"""

from __future__ import annotations

import math
from typing import Any

from .differential_evolution import ReferenceDE, binomial
from .literal_run import Vector
from .pps_de import PUSH, positive_cauchy
from .single_points import draw_index, in_order


class ReferenceAGAPPS(ReferenceDE):
    def __init__(self, settings: Any, *args: Any) -> None:
        super().__init__(settings, *args)
        self.NP = settings.population_size or max(5 * self.d, 40)
        self.K = {"four": 4, "three": 3, "two": 2}[settings.operators]
        H = settings.memory_size
        self.successes = [settings.prior] * self.K
        self.M_F = [[0.5] * H for _ in range(3)]
        self.M_CR = [[0.5] * H for _ in range(3)]
        self.k = [0, 0, 0]
        self.pull = False
        self.eps = self.eps_0 = 0.0
        self.hist: list[float] = []

    def begin(self, rng: Any) -> None:
        self.population = in_order(self.population)

    def generation(self, rng: Any) -> None:
        self.G += 1
        self.stage_and_epsilon()
        rule: Any = self.eps if self.pull else PUSH
        trials = [self.judge(x) for x in self.trials(rng)]
        gains = []
        after = []
        for y, x in zip(trials, self.population, strict=True):
            by_f = rule == PUSH or (y.phi <= rule and x.phi <= rule) or y.phi == x.phi
            if y.failed:
                accepted, amount = False, 0.0
            elif x.failed:
                accepted, amount = True, 0.0
            elif by_f:
                accepted, amount = y.f <= x.f, x.f - y.f
            else:
                accepted, amount = y.phi < x.phi, x.phi - y.phi
            after.append(y if accepted else x)
            gains.append(amount if accepted and 0 < amount < math.inf else 0.0)
        self.population = in_order(after)
        self.learn_from(gains)

    def stage_and_epsilon(self) -> None:
        S, G = self.settings, self.G
        G_max = self.max_evaluations // self.NP
        Tc = S.closes * G_max
        f_min = min(p.f for p in self.population)
        self.hist.append(f_min)
        if Tc <= G:
            self.pull, self.eps = True, 0.0
            return
        if not self.pull and len(self.hist) > S.switch_window:
            old = self.hist[G - S.switch_window - 1]
            known = math.isfinite(old) and math.isfinite(f_min)
            if known and (old - f_min) / max(abs(old), S.switch_guard) <= S.switch_threshold:
                self.pull = True
                self.eps_0 = self.eps = max((p.phi for p in self.population if not p.failed), default=0.0)
        if self.pull:
            rf = sum(1 for p in self.population if p.phi == 0) / self.NP
            if S.schedule == "improved" and rf < S.alpha:
                self.eps = (1 - S.tau) * self.eps
            else:
                self.eps = self.eps_0 * (1 - G / max(Tc, 1)) ** S.cp

    def trials(self, rng: Any) -> list[Vector]:
        S, NP, d = self.settings, self.NP, self.d
        if min(self.successes) / sum(self.successes) < S.least_share / self.K:
            self.successes = [S.prior] * self.K
        u_operator = rng.uniform(NP)
        u_memory = rng.uniform(2, NP)
        z = rng.normal(NP)
        u = rng.uniform(3, NP)
        u_parents = rng.uniform(3, NP)
        u_cross = rng.uniform(NP, d)
        u_repair = rng.uniform(NP, d) if S.repair == "resample" else [None] * NP
        u_one = rng.uniform(NP)
        u_chosen = rng.uniform(NP, d)
        u_move = rng.uniform(NP, d)

        self.operator, self.F, self.CR = [], [], []
        made = []
        for i in range(NP):
            o, passed = 0, self.successes[0] / sum(self.successes)
            while float(u_operator[i]) >= passed and o < self.K - 1:
                o += 1
                passed += self.successes[o] / sum(self.successes)
            cell = math.floor(float(u_memory[0, i]) * S.memory_size)
            F = positive_cauchy(self.M_F[min(o, 2)][cell], float(u_memory[1, i]))
            CR = min(max(self.M_CR[min(o, 2)][cell] + 0.1 * float(z[i]), 0.0), 1.0)
            self.operator.append(o)
            self.F.append(F)
            self.CR.append(CR)

            x = self.population[i].x
            if o == 3:
                y = list(x)
            else:
                if o == 1:
                    r1 = draw_index(float(u_parents[0, i]), NP, {i})
                else:
                    best = max(math.floor(1 + float(u[0, i]) * (S.largest_pbest * NP - 1) + 0.5), 1)
                    others = [r for r in range(best) if r != i] or [1]
                    r1 = others[math.floor(float(u[1, i]) * len(others))]
                r2 = draw_index(float(u_parents[1, i]), NP, {i, r1})
                r3 = draw_index(float(u_parents[2, i]), NP, {i, r1, r2})
                x1, x2, x3 = (self.population[r].x for r in (r1, r2, r3))
                base = x1 if o == 1 else [x[j] + F * (x1[j] - x[j]) for j in range(d)]
                v = [base[j] + F * (x2[j] - x3[j]) for j in range(d)]
                y = binomial(v, x, CR, u_cross[i], math.floor(u[2, i] * d))
                y = self.in_box(S.repair, y, x, u_repair[i])
            if o >= 2:
                for j in range(d):
                    certain = o == 3 and j == math.floor(float(u_one[i]) * d)
                    if certain or float(u_chosen[i, j]) < 1 / d:
                        y[j] = self.moved(y[j], j, float(u_move[i, j]))
            made.append(y)
        return made

    def moved(self, y: float, j: int, u: float) -> float:
        """Deb's polynomial mutation of one component, as jMetal writes it."""
        low, high = self.lower[j], self.upper[j]
        power = 1 / (self.settings.index + 1)
        if u < 0.5:
            delta = (y - low) / (high - low)
            value = 2 * u + (1 - 2 * u) * (1 - delta) ** (self.settings.index + 1)
            step = value**power - 1
        else:
            delta = (high - y) / (high - low)
            value = 2 * (1 - u) + 2 * (u - 0.5) * (1 - delta) ** (self.settings.index + 1)
            step = 1 - value**power
        return min(max(y + step * (high - low), low), high)

    def learn_from(self, gains: list[float]) -> None:
        for i in range(self.NP):
            if gains[i] > 0:
                self.successes[self.operator[i]] += 1
        for o in range(3):
            mine = [i for i in range(self.NP) if self.operator[i] == o and gains[i] > 0]
            if not mine:
                continue
            total = sum(gains[i] for i in mine)
            w = {i: gains[i] / total for i in mine}
            wF = sum(w[i] * self.F[i] for i in mine)
            self.M_F[o][self.k[o]] = sum(w[i] * self.F[i] ** 2 for i in mine) / wF
            self.M_CR[o][self.k[o]] = sum(w[i] * self.CR[i] for i in mine)
            self.k[o] = (self.k[o] + 1) % self.settings.memory_size
