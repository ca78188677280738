"""RDEx and RDE26 as a reading copy: slow, literal, a trial at a time; the oracle of the fast version."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .cl_srde import LatestAndBest, accepts, by_rank, pick, roulette
from .literal_run import Vector
from .shade import clipped
from .single_points import Point


class ReferenceRDEx(LatestAndBest):
    def start(self, rng: Any) -> None:
        S = self.settings
        self.begin(
            S.population_size or max(int(S.size_per_variable * self.d), S.final_size), S.first_F, S.first_CR, rng
        )
        self.rate = S.first_ordered_rate
        self.last_f = [p.f for p in self.front]
        self.last_ordered = [False] * self.N_init

    def generation(self, rng: Any) -> None:
        self.G += 1
        S, rows, d, N, count = self.settings, self.rows(), self.d, len(self.front), self.block()
        t = min(self.FES / self.max_evaluations, 1.0)
        front, top = by_rank(self.front, self.eps), by_rank(self.population, self.eps)
        u, z, u_members = rng.uniform(7, rows), rng.normal(rows), rng.uniform(3, rows)
        u_cross, u_cauchy = rng.uniform(rows, d), rng.uniform(rows, d)
        race = S.race_top > 0
        u_race = rng.uniform(5, rows) if race else None
        u_race_cross = rng.uniform(rows, d) if race else None
        open_now = race and t < S.race_until and self.share_feasible > S.race_feasible
        runners = front[: max(1, math.floor(S.race_top * N + 0.5))]

        first, second = [], []
        for k in range(count):
            i = math.floor(u[0, k] * N)
            members = [float(v) for v in u_members[:, k]]
            ordered = t >= S.ordered_after and float(u[1, k]) < self.rate
            if ordered:  # 3
                a, b, c = self.linear(members, i, front, top, self.t)
                three = [self.population[a], self.front[b], self.population[c]]
                best, middle, worst = sorted(three, key=lambda p: p.f)
                cell = math.floor(u[3, k] * (S.memory_size + 1))
                m_F = self.M_F[cell] if cell < S.memory_size else S.ordered_F
                m_CR = self.M_CR[cell] if cell < S.memory_size else S.ordered_CR
                F = cauchy_in_unit(m_F, S.F_scale, float(u[4, k]))
            else:  # 2
                pb, r1, r2 = self.pressed(members, i, front, top)
                best, middle, worst = self.population[pb], self.front[r1], self.population[r2]
                m_CR = self.M_CR[math.floor(u[2, k] * S.memory_size)]
                F = self.normal_F(float(u[4, k]))
            CR = clipped(m_CR + S.CR_deviation * float(z[k]))
            x = self.front[i].x
            y, crossed = [], 0
            for j in range(d):  # 4
                if u_cross[k, j] <= CR or j == math.floor(u[5, k] * d):
                    crossed += 1
                    y.append(x[j] + F * (best.x[j] - x[j]) + F * (middle.x[j] - worst.x[j]))
                elif u[6, k] < S.perturbation:
                    y.append(cauchy(float(u_cauchy[k, j]), x[j], S.perturbation_scale))
                else:
                    y.append(x[j])
            first.append((i, self.drawn_in(y, x), F, crossed / d, ordered))
            if open_now and i in runners:
                y, share = self.race(i, F, CR, front, top, u_race[:, k], u_race_cross[k])  # type: ignore[index]
                second.append((k, y, share))

        trials = [self.judge(y) for _, y, _, _, _ in first]
        rivals = {k: (self.judge(y), share) for k, y, share in second}
        made: list[tuple[int, Point, float, float]] = []
        for k, (i, _, F, share, ordered) in enumerate(first):
            y_k = trials[k]
            if k in rivals and accepts(rivals[k][0], y_k, self.eps):  # 5
                y_k, share = rivals[k]
            made.append((i, y_k, F, share))
            self.last_f[i], self.last_ordered[i] = y_k.f, ordered
        self.FES += count + len(second)
        if self.accept(made, S.learning_rate):  # 6 and 8
            self.rate = self.ordered_rate()  # 7
            self.begin_round()

    def linear(self, u: Sequence[float], i: int, front: list[int], top: list[int], t: float) -> tuple[int, int, int]:
        S, N = self.settings, len(front)
        best = max(2, math.floor(S.ordered_pbest * N * (1 - S.ordered_pbest_decay * t)))
        a = top[roulette(u[0], [N - k if k < best and top[k] != i else 0 for k in range(N)])]
        b = front[roulette(u[1], [N - k if front[k] != a else 0 for k in range(N)])]
        c = top[roulette(u[2], [N - k if top[k] not in (a, b) else 0 for k in range(N)])]
        return a, b, c

    def race(
        self, i: int, F: float, CR: float, front: list[int], top: list[int], u: Any, u_cross: Any
    ) -> tuple[Vector, float]:
        S, N, d = self.settings, len(front), self.d
        a = pick(u[0], [r for r in top if r != i])
        b = pick(u[1], [r for r in front if r not in (a, i)])
        c = pick(u[2], [r for r in top if r not in (a, b, i)])
        best = [r for r in front[: max(1, math.floor(S.race_pbest * N + 0.5))] if r != i]
        pb = pick(u[3], best) if best else b
        CR = min(max(CR, S.race_CR_least), S.race_CR_most)
        x, x_b, x_a, x_c = self.front[i].x, self.front[pb].x, self.population[a].x, self.population[c].x
        y, crossed = [], 0
        for j in range(d):
            if u_cross[j] <= CR or j == math.floor(u[4] * d):
                crossed += 1
                y.append(x[j] + S.race_pull * F * (x_b[j] - x[j]) + S.race_difference * F * (x_a[j] - x_c[j]))
            else:
                y.append(x[j])
        return self.drawn_in(y, x), crossed / d

    def drawn_in(self, y: Vector, x: Vector) -> Vector:
        part = self.settings.repair_share
        inside = []
        for j in range(self.d):
            bound = self.lower[j] if y[j] < self.lower[j] else self.upper[j]
            out = not self.lower[j] <= y[j] <= self.upper[j]
            inside.append((1 - part) * x[j] + part * bound if out else y[j])
        return inside

    def ordered_rate(self) -> float:
        gained = [0.0, 0.0]
        for i, f in enumerate(self.mass):
            if self.last_f[i] <= f < math.inf:
                gained[self.last_ordered[i]] += f - self.last_f[i]
        return gained[1] / sum(gained) if min(gained) > 0 else float(self.settings.first_ordered_rate)


def cauchy(u: float, m: float, scale: float) -> float:
    return m + scale * math.tan(math.pi * (u - 0.5))


def cauchy_in_unit(m: float, scale: float, u: float) -> float:
    """Cauchy(m, scale), redrawn until in [0, 1], which is the truncated law."""
    below, above = (0.5 + math.atan((end - m) / scale) / math.pi for end in (0.0, 1.0))
    return cauchy(below + u * (above - below), m, scale)
