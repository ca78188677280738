"""EnMODE as a reading copy: slow, literal, a member at a time; the oracle of the fast version."""

from __future__ import annotations

import math
from typing import Any

from .differential_evolution import binomial
from .literal_run import LiteralRun
from .pps_de import positive_cauchy
from .shade import lehmer, to_archive
from .single_points import Point, draw_index, in_order


class ReferenceEnMODE(LiteralRun):
    def start(self, rng: Any) -> None:
        S = self.settings
        self.N_init: int = S.population_size or (200 if self.d <= 30 else 150 if self.d <= 50 else 80)
        self.H = S.memory_size or self.N_init
        self.population = in_order(self.points_anywhere(self.N_init, rng))
        self.FES, self.G, self.k, self.share = self.N_init, 0, 0, 0.5
        self.M_F, self.M_CR = [S.first_F] * self.H, [S.first_CR] * self.H
        self.A: list[list[float]] = []
        single = [self.single(p) for p in self.population if not p.failed]
        m = len(single[0])
        hardness = sorted((sum(row[c] for row in single), c) for c in range(m))
        self.easy = {c for _, c in hardness[: math.ceil(m / 2)]}
        self.left: int = S.easy_generations

    def single(self, p: Point) -> list[float]:
        return [max(0.0, g) for g in p.g] + [max(0.0, abs(h) - self.judge.tolerance) for h in p.h]

    def nu(self, p: Point) -> float:
        if p.failed or self.left == 0:
            return p.phi
        return sum(v for c, v in enumerate(self.single(p)) if c in self.easy)

    def generation(self, rng: Any) -> None:
        S, P, N, rows, d = self.settings, self.population, len(self.population), self.N_init, self.d
        self.G += 1
        t = min(self.FES / self.max_evaluations, 1.0)
        u, u_members = rng.uniform(7, rows), rng.uniform(3, rows)
        kind = ("midpoint", "mirror", "resample")[math.floor(3 * float(rng.uniform(1)[0]))]
        u_repair, u_cross = rng.uniform(rows, d), rng.uniform(rows, d)
        lowest = sorted(range(N), key=lambda r: P[r].f)
        trials, ops, F, CR = [], [], [], []
        for i in range(N):
            ops.append(0 if u[0, i] < self.share else 1)  # 1
            cell = math.floor(u[1, i] * self.H)
            F.append(positive_cauchy(self.M_F[cell], float(u[2, i])))
            CR.append(positive_cauchy(self.M_CR[cell], float(u[3, i])))
            x_b = P[lowest[math.floor(u[4, i] * max(1, math.floor(S.pbest * N)))]].x  # 2
            r1 = draw_index(u_members[1, i], N, {i})
            more = len(self.A) if ops[i] == 0 else 0
            r2 = draw_index(u_members[2, i], N + more, {i, r1})
            x, x_1, x_2 = P[i].x, P[r1].x, P[r2].x if r2 < N else self.A[r2 - N]
            v = [x[j] + F[i] * (x_b[j] - x[j]) + F[i] * (x_1[j] - x_2[j]) for j in range(d)]
            v = self.in_box(kind, v, x, u_repair[i])
            trials.append(self.judge(binomial(v, x, CR[i], u_cross[i], math.floor(u[5, i] * d))))
        if t >= 0.5:
            self.left = 0
        after = list(P)
        gains: dict[int, float] = {}
        feasible = []
        for i, (y, x_i) in enumerate(zip(trials, P, strict=True)):  # 3
            if (self.nu(y), y.f) < (self.nu(x_i), x_i.f):
                after[i] = y
                if not x_i.failed:
                    gains[i] = self.change(y, x_i)
                    if self.nu(y) == 0:
                        feasible.append(i)
            elif not x_i.failed:
                to_archive(self.A, x_i.x, math.floor(S.archive_rate * rows + 0.5), float(u[6, i]))
        largest = max([g for i, g in gains.items() if i not in feasible], default=0.0)
        for i in feasible:
            gains[i] += largest
        self.left = max(self.left - 1, 0)
        self.share = self.next_share(ops, gains) if t < S.shares_until else 0.5  # 4
        total = sum(gains.values())
        if total > 0:  # 5
            won = [i for i in gains if gains[i] > 0]
            w = [gains[i] / total for i in won]
            self.M_F[self.k] = lehmer([F[i] for i in won], w)
            self.M_CR[self.k] = lehmer([CR[i] for i in won], w)
            self.k = (self.k + 1) % self.H
        self.FES += N
        used = min(self.FES / self.max_evaluations, 1.0)
        self.population = in_order(after)[: math.floor((S.final_size - rows) * used + rows + 0.5)]

    def change(self, y: Point, x: Point) -> float:
        less = (self.nu(x) - self.nu(y)) / self.nu(x) if self.nu(x) > 0 else 0.0
        if math.inf in (x.f, y.f) or x.f == y.f:
            return less
        return less + max((x.f - y.f) / max(abs(x.f), abs(y.f)), 0.0)

    def next_share(self, ops: list[int], gains: dict[int, float]) -> float:
        means = [sum(g for i, g in gains.items() if ops[i] == op) / max(ops.count(op), 1) for op in (0, 1)]
        if sum(means) == 0:
            return 0.5
        least = self.settings.least_share
        return float(min(max(means[0] / sum(means), least), 1 - least))
