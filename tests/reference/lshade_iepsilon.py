"""LSHADE-IEpsilon as a reading copy: slow, literal, a member at a time; the oracle of the fast version."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

from .iude import replaces
from .literal_run import LiteralRun
from .lshade44 import STRATEGIES, binomial_or_one, exponential
from .rdex import cauchy_in_unit
from .shade import lehmer
from .single_points import Point, draw_others, in_order


class ReferenceLSHADEIEpsilon(LiteralRun):
    def start(self, rng: Any) -> None:
        S = self.settings
        self.N_init: int = S.population_size or 18 * self.d
        self.FES, self.G = self.N_init, 0
        self.population = in_order(self.points_anywhere(self.N_init, rng))
        self.n = [S.prior] * 4
        self.M: list[list[tuple[float, float]]] = [[] for _ in STRATEGIES]  # pairs of F and CR, empty at first
        self.pos = [0] * 4
        phi = sorted((p.phi for p in self.population if not p.failed), reverse=True)
        place = min(max(math.floor(S.theta * len(phi)), 1), max(len(phi), 1))
        self.eps = phi[place - 1] if phi and phi[place - 1] > 0 else math.inf
        self.phi_max = phi[0] if phi else 0.0

    def update_epsilon(self) -> None:
        S, t = self.settings, min(self.FES / self.max_evaluations, 1.0)
        known = [p for p in self.population if not p.failed]
        self.phi_max = max([self.phi_max, *(p.phi for p in known)])
        share = sum(p.phi == 0 for p in known) / max(len(known), 1)
        if t >= S.closes:
            self.eps = 0.0
        elif self.eps == math.inf:
            self.eps = self.phi_max if share < 1 else math.inf
        elif share < S.alpha:
            self.eps *= (1 - t / S.closes) ** S.cp
        else:
            self.eps = 1.1 * self.phi_max

    def generation(self, rng: Any) -> None:
        S, P, N, rows, d = self.settings, self.population, len(self.population), self.N_init, self.d
        self.G += 1
        self.update_epsilon()  # 1
        u, u_members, u_cross = rng.uniform(7, rows), rng.uniform(3, rows), rng.uniform(rows, d)
        if min(self.n) / sum(self.n) < S.least_share:  # 2
            self.n = [S.prior] * 4
        rates = [n / sum(self.n) for n in self.n]
        won: list[list[tuple[float, float, float]]] = [[] for _ in STRATEGIES]
        after, wins = list(P), [0] * 4
        for i in range(N):
            k = sum(u[0, i] >= sum(rates[: s + 1]) for s in range(3))
            m_F, m_CR = self.M[k][math.floor(u[1, i] * len(self.M[k]))] if self.M[k] else (0.5, 0.5)  # 3
            F = cauchy_in_unit(m_F, 0.1, float(u[2, i]))
            law = NormalDist(m_CR, 0.1)
            CR = law.inv_cdf(law.cdf(0.0) + float(u[3, i]) * (law.cdf(1.0) - law.cdf(0.0)))
            r1, r2, r3 = draw_others([float(v) for v in u_members[:, i]], N, i)
            x = P[i].x
            if k < 2:  # 4
                p = 1 / N + float(u[4, i]) * max(S.most_pbest - 1 / N, 0.0)
                x_b = P[math.floor(u_members[2, i] * max(math.floor(p * N), 1))].x
                v = [x[j] + F * (x_b[j] - x[j]) + F * (P[r1].x[j] - P[r2].x[j]) for j in range(d)]
            else:
                b, s, w = (P[r].x for r in sorted([r1, r2, r3]))
                v = [b[j] + F * (s[j] - w[j]) for j in range(d)]
            cross = exponential if k % 2 else binomial_or_one
            y = cross(v, x, CR, u_cross[i], float(u[6, i]), math.floor(u[5, i] * d))
            y_i = self.judge(self.in_box("clamp", y))  # 5
            if replaces(y_i, P[i], self.eps):  # 6
                after[i] = y_i
                if not P[i].failed:
                    wins[k] += 1
                    won[k].append((F, CR, self.gain(y_i, P[i])))
        self.n = [self.n[k] + wins[k] for k in STRATEGIES]
        for k in STRATEGIES:
            total = sum(g for _, _, g in won[k])
            if total > 0:
                w_k = [g / total for _, _, g in won[k]]
                CR = sum(w * CR for w, (_, CR, _) in zip(w_k, won[k], strict=True))
                pair = lehmer([F for F, _, _ in won[k]], w_k), CR
                self.M[k][self.pos[k] : self.pos[k] + 1] = [pair]
                self.pos[k] = (self.pos[k] + 1) % S.memory_size
        self.FES += N  # 7
        share = min(self.FES / self.max_evaluations, 1.0)
        N_new = math.floor((S.final_size - rows) * share + rows + 0.5)
        self.population = in_order(after)[:N_new]

    def gain(self, y: Point, x: Point) -> float:
        by_f = (y.phi <= self.eps and x.phi <= self.eps) or y.phi == x.phi
        amount = x.f - y.f if by_f else x.phi - y.phi
        return amount if math.isfinite(amount) else 0.0
