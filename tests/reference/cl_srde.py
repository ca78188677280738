"""CL-SRDE as a reading copy: slow, literal, a trial at a time; the oracle of the fast version.

The populations really shrink. The trials of a block are made before any of them is accepted; a generation is a block.
What RDEx does in the same way stands in the class below and in functions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import Any

from .literal_run import LiteralRun
from .shade import clipped, lehmer
from .single_points import Point


class LatestAndBest(LiteralRun):
    """Two populations, "front" the latest and "population" the best, and the memories."""

    def begin(self, N_init: int, first_F: float, first_CR: float, rng: Any) -> None:
        H = self.settings.memory_size
        self.N_init = N_init
        self.population = self.points_anywhere(N_init, rng)
        self.front = list(self.population)
        self.FES, self.G, self.SR, self.pointer = N_init, 0, 0.5, 0
        self.M_F, self.M_CR, self.k = [first_F] * H, [first_CR] * H, 0
        self.begin_round()

    def begin_round(self) -> None:
        """1: epsilon, and what else is looked at only here."""
        S = self.settings
        t = self.t = min(self.FES / self.max_evaluations, 1.0)
        phi = sorted(p.phi for p in self.front if not p.failed)
        self.eps = 0.0
        if t < S.closes:
            place = math.floor(S.theta * max(len(phi), 1) * (1 - t) ** 2)
            self.eps = phi[min(place, len(phi) - 1)] if phi else math.inf
        self.mass = [p.f for p in self.front]
        self.share_feasible = sum(v == 0 for v in phi) / max(len(phi), 1)
        self.made = 0
        self.pool: list[Point] = []
        self.S: list[tuple[float, float, float]] = []

    def block(self) -> int:
        """The number of trials in this block."""
        N = len(self.front)
        return min(math.ceil(N / self.settings.blocks), N - self.made)

    def rows(self) -> int:
        """The number of trials for which draws are made."""
        return math.ceil(self.N_init / self.settings.blocks)

    def normal_F(self, u: float) -> float:
        """N(SR^power, 0.05), redrawn until in [0, 1], which is the truncated law."""
        m = self.SR**self.settings.success_power
        law = NormalDist(m, 0.05)
        return clipped(law.inv_cdf(law.cdf(0.0) + u * (law.cdf(1.0) - law.cdf(0.0))))

    def pressed(self, u: Sequence[float], i: int, front: list[int], top: list[int]) -> tuple[int, int, int]:
        """2: pbest and r2, rows of the top, and r1, a row of the front; their numbers differ, and pbest from i."""
        S, N = self.settings, len(front)
        best = max(2, math.floor(S.pbest * N))
        pb = pick(u[0], [r for r in top[:best] if r != i])
        weights = [0.0 if front[k] == pb else math.exp(-S.rank_pressure * k / N) for k in range(N)]
        r1 = front[roulette(u[1], weights)]
        r2 = pick(u[2], [r for r in top if r not in (pb, r1)])
        return pb, r1, r2

    def accept(self, made: list[tuple[int, Point, float, float]], rate: float) -> bool:
        """3 and 4: acceptance of (target, trial, F, share of crossed components); whether that ended a round."""
        old_front, N = list(self.front), len(self.front)
        for i, y, F, share in made:
            x = old_front[i]
            if not accepts(y, x, self.eps):
                continue
            self.front[self.pointer] = y
            self.pointer = (self.pointer + 1) % N
            self.pool.append(y)
            if not x.failed:
                self.S.append((F, share, improvement(y, x, self.eps)))
        self.made += len(made)
        if self.made < N:
            return False
        self.SR = len(self.pool) / N
        used = min(self.FES / self.max_evaluations, 1.0)
        N_new = math.floor((self.settings.final_size - self.N_init) * used + self.N_init + 0.5)
        for _ in range(N - N_new):
            del self.front[by_rank(self.front, self.eps)[-1]]
        self.pointer %= N_new
        both = self.population + self.pool
        self.population = [both[r] for r in by_rank(both, self.eps)][:N_new]
        if self.S:
            total = sum(w for _, _, w in self.S)
            w = [w_s / total if total > 0 else 1 / len(self.S) for _, _, w_s in self.S]
            cell = self.k
            self.M_F[cell] = rate * lehmer([F for F, _, _ in self.S], w) + (1 - rate) * self.M_F[cell]
            self.M_CR[cell] = rate * lehmer([CR for _, CR, _ in self.S], w) + (1 - rate) * self.M_CR[cell]
            self.k = (cell + 1) % self.settings.memory_size
        return True


class ReferenceCLSRDE(LatestAndBest):
    def start(self, rng: Any) -> None:
        self.begin(self.settings.population_size, 0.5, self.settings.first_CR, rng)

    def generation(self, rng: Any) -> None:
        self.G += 1
        rows, d, N, count = self.rows(), self.d, len(self.front), self.block()
        front, top = by_rank(self.front, self.eps), by_rank(self.population, self.eps)
        u, u_members = rng.uniform(4, rows), rng.uniform(3, rows)
        z, u_cross = rng.normal(rows), rng.uniform(rows, d)
        made = []
        for k in range(count):
            i = math.floor(u[0, k] * N)
            pb, r1, r2 = self.pressed([float(v) for v in u_members[:, k]], i, front, top)
            F = self.normal_F(float(u[2, k]))
            CR = clipped(self.M_CR[math.floor(u[1, k] * self.settings.memory_size)] + 0.1 * float(z[k]))
            x, x_b, x_1, x_2 = self.front[i].x, self.population[pb].x, self.front[r1].x, self.population[r2].x
            v = [x[j] + F * (x_b[j] - x[j]) + F * (x_1[j] - x_2[j]) for j in range(d)]
            v = self.in_box("midpoint", v, x)
            crossed = [u_cross[k, j] <= CR or j == math.floor(u[3, k] * d) for j in range(d)]
            y = self.judge([v[j] if crossed[j] else x[j] for j in range(d)])
            made.append((i, y, F, sum(crossed) / d))
        self.FES += count
        if self.accept(made, 0.5):
            self.begin_round()


def clipped_violation(p: Point, eps: float) -> float:
    return 0.0 if p.phi <= eps else p.phi


def by_rank(points: list[Point], eps: float) -> list[int]:
    return sorted(range(len(points)), key=lambda r: (clipped_violation(points[r], eps), points[r].f))


def accepts(y: Point, x: Point, eps: float) -> bool:
    """As the program says it, though the first case is contained in the others."""
    if y.failed:
        return False
    v_y, v_x = clipped_violation(y, eps), clipped_violation(x, eps)
    return (y.phi <= eps and y.f <= x.f) or (v_y == v_x and y.f <= x.f) or v_y < v_x


def improvement(y: Point, x: Point, eps: float) -> float:
    v_y, v_x = clipped_violation(y, eps), clipped_violation(x, eps)
    amount = x.f - y.f if (y.phi <= eps or v_y == v_x) and y.f <= x.f else v_x - v_y
    return amount if math.isfinite(amount) else 0.0


def pick(u: float, rows: list[int]) -> int:
    return rows[math.floor(u * len(rows))]


def roulette(u: float, weights: list[float]) -> int:
    position, passed = u * sum(weights), 0.0
    for k, w in enumerate(weights):
        passed += w
        if position < passed:
            return k
    return max(k for k, w in enumerate(weights) if w > 0)
