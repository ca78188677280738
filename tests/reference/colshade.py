"""COLSHADE as a reading copy: slow, literal, a member at a time; the oracle of the fast version."""

from __future__ import annotations

import math
from typing import Any

from .differential_evolution import binomial
from .lshade import TERMINAL
from .shade import clipped, current_to_pbest, lehmer, to_archive
from .shrinking import ShrinkingRun
from .single_points import Point, in_order

PBEST, LEVY = 0, 1


class ReferenceCOLSHADE(ShrinkingRun):
    def start(self, rng: Any) -> None:
        super().start(rng)
        self.M_F, self.M_CR = ([[0.5] * self.H for _ in (PBEST, LEVY)] for _ in range(2))
        self.k = [0, 0]
        self.q = self.settings.first_levy_rate
        known = [p for p in self.population if not p.failed]
        final = self.judge.tolerance
        self.tol = [max(final, *(abs(p.h[j]) for p in known)) for j in range(len(known[0].h))]

    def shrink_tolerances(self) -> None:
        S, final, N = self.settings, self.judge.tolerance, len(self.population)
        left = S.closes * self.max_evaluations - self.FES
        for j in range(len(self.tol)):
            inside = sum(not p.failed and abs(p.h[j]) <= self.tol[j] for p in self.population)
            if left <= 0:
                self.tol[j] = final
            elif inside >= max(S.followers * N, 1):
                self.tol[j] = max(final, self.tol[j] * (final / self.tol[j]) ** (N / max(left, 1.0)))

    def svc(self, p: Point) -> float:
        if p.failed:
            return math.inf
        missed = sum(max(0.0, abs(h) - t) for h, t in zip(p.h, self.tol, strict=True))
        return sum(max(0.0, g) for g in p.g) + missed

    def generation(self, rng: Any) -> None:
        S, P, N, rows, d = self.settings, self.population, len(self.population), self.N_init, self.d
        self.G += 1
        self.shrink_tolerances()  # 1
        u, z, u_parents = rng.uniform(5, rows), rng.normal(rows), rng.uniform(3, rows)
        Z, u_bound, u_cross = rng.normal(rows, d), rng.uniform(rows, d), rng.uniform(rows, d)
        u_cut = rng.uniform(self.most_archived(rows))
        best = max(1, math.ceil(S.pbest * N))
        trials, ops, Fs, CRs = [], [], [], []
        for i in range(N):
            op = LEVY if u[0, i] < self.q else PBEST  # 2
            cell = math.floor(u[1, i] * self.H)
            CR = 0.0 if self.M_CR[op][cell] == TERMINAL else self.M_CR[op][cell] + 0.1 * float(z[i])
            F_crit = math.sqrt((1 - CR / 2) / N)
            F = cauchy_from(self.M_F[op][cell], F_crit, float(u[2, i]))
            CR = clipped(CR)
            x = P[i].x
            if op == PBEST:  # 3
                v = current_to_pbest(P, self.A, i, best, F, (u_parents[0, i], u_parents[1, i], u_parents[2, i]))
            else:
                x_b = P[math.floor(u_parents[0, i] * best)].x
                v = [x[j] + F * S.levy_scale / float(Z[i, j]) ** 2 * (x_b[j] - x[j]) for j in range(d)]
            for j in range(d):
                bound = self.lower[j] if v[j] < self.lower[j] else self.upper[j]
                if not self.lower[j] <= v[j] <= self.upper[j]:
                    r = 0.1 * float(u_bound[i, j])
                    v[j] = (1 - r) * bound + r * x[j]
            trials.append(self.judge(binomial(v, x, CR, u_cross[i], math.floor(u[3, i] * d))))
            ops.append(op)
            Fs.append(F)
            CRs.append(CR)
        self.FES += N
        self.select(trials, ops, Fs, CRs, u[4])
        self.reduce(u_cut)

    def select(self, trials: list[Point], ops: list[int], Fs: list[float], CRs: list[float], u_archive: Any) -> None:
        """4 to 7."""
        P, N = self.population, len(self.population)
        relaxed = any(t > self.judge.tolerance for t in self.tol)
        after = list(P)
        won: list[tuple[int, str, float]] = []
        for i in range(N):
            y, x = trials[i], P[i]
            kind, amount = "", 0.0
            if y.failed:
                continue
            if i == 0:
                if y.phi < x.phi:
                    kind, amount = "v", x.phi - y.phi
                elif y.phi == 0 and x.phi == 0 and y.f < x.f:
                    kind, amount = "f", x.f - y.f
            elif self.svc(y) < self.svc(x):
                kind, amount = "v", self.svc(x) - self.svc(y)
            elif self.svc(y) == 0 and self.svc(x) == 0 and y.f < x.f:
                kind, amount = "f", x.f - y.f
            elif relaxed and y.phi < x.phi:
                kind, amount = "v", x.phi - y.phi
            if not kind:
                continue
            after[i] = y
            if not x.failed:
                to_archive(self.A, x.x, self.most_archived(N), float(u_archive[i]))
                won.append((i, kind, amount if math.isfinite(amount) else 0.0))
        largest = {kind: max([a for _, k, a in won if k == kind], default=0.0) or 1.0 for kind in "fv"}
        gains = {i: a / largest[k] for i, k, a in won}
        for op in (PBEST, LEVY):  # 5
            mine = [i for i in gains if ops[i] == op]
            if mine:
                total = sum(gains[i] for i in mine)
                w = [gains[i] / total if total > 0 else 1 / len(mine) for i in mine]
                k = self.k[op]
                self.M_F[op][k] = lehmer([Fs[i] for i in mine], w)
                closed = self.M_CR[op][k] == TERMINAL or max(CRs[i] for i in mine) == 0
                self.M_CR[op][k] = TERMINAL if closed else lehmer([CRs[i] for i in mine], w)
                self.k[op] = (k + 1) % self.H
        if sum(gains.values()) > 0:  # 6
            S = self.settings
            flights = sum(g for i, g in gains.items() if ops[i] == LEVY) / sum(gains.values())
            q = S.momentum * self.q + (1 - S.momentum) * flights
            self.q = min(max(q, S.least_levy_rate), 1 - S.least_levy_rate)
        self.population = in_order(after)  # 7


def cauchy_from(m: float, least: float, u: float) -> float:
    """Cauchy(m, 0.1), redrawn until above `least`, at most 1; u = 0 is the largest."""
    below = 0.5 + math.atan((least - m) / 0.1) / math.pi
    p = 1 - u * (1 - below)
    return min(max(m + 0.1 * math.tan(math.pi * (p - 0.5)), least), 1.0)
