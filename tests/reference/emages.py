"""eMAg-ES as a reading copy: slow, literal, a point at a time; the oracle of the fast version.

It asks a stream for the same draws in the same order as the fast version. The original repairs each offspring before
it makes the next; here all are made first, then all take their first repair step, and so on, which changes nothing
but whose evaluations are cut off at the end of the budget.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .literal_run import LiteralRun, Vector
from .single_points import Point, in_order, not_worse


class ReferenceEMAgES(LiteralRun):
    def __init__(self, settings: Any, *args: Any) -> None:
        super().__init__(settings, *args)
        self.N = self.d
        self.lam: int = settings.population_size or 4 * self.N
        self.mu = math.floor(self.lam / 3)
        self.T = min(settings.horizon, max(math.floor(self.max_evaluations / self.lam / 2), 1))

        raw = [math.log(self.mu + 1 / 2) - math.log(i) for i in range(1, self.mu + 1)]
        self.w = [value / sum(raw) for value in raw]
        self.mu_w = 1 / sum(w_i**2 for w_i in self.w)
        self.c_sigma = (self.mu_w + 2) / (self.N + self.mu_w + 5)
        self.c_1 = 2 / ((self.N + 1.3) ** 2 + self.mu_w)
        self.c_mu = min(1 - self.c_1, 2 * (self.mu_w - 2 + 1 / self.mu_w) / ((self.N + 2) ** 2 + self.mu_w))

    def start(self, rng: Any) -> None:
        points = in_order(self.points_anywhere(self.lam, rng))
        best = [p.phi for p in points[: math.ceil(self.settings.share * self.lam)] if not p.failed]
        self.eps_0 = sum(best) / len(best) if best else 0.0
        self.gamma = self.settings.least_power
        if self.eps_0 > 0:
            self.gamma = max(self.gamma, (-5 - math.log(self.eps_0)) / math.log(0.05))
        if not self.settings.epsilon:
            self.eps_0 = 0.0
        self.eps = self.eps_0
        self.population = self.ranked(points)
        parents = [p for p in self.population[: self.mu] if not p.failed] or self.population[: self.mu]
        self.m = [sum(p.x[j] for p in parents) / len(parents) for j in range(self.N)]
        self.M = [[1.0 if i == j else 0.0 for j in range(self.N)] for i in range(self.N)]
        self.p_sigma = [0.0] * self.N
        self.sigma = float(self.settings.sigma)
        self.g = 0
        self.incumbent = self.population[0]

    def generation(self, rng: Any) -> None:
        S, N = self.settings, self.N
        z_drawn = rng.normal(self.lam, N)

        # 2 a and b Offspring in the box.
        z = [[float(v) for v in z_drawn[k]] for k in range(self.lam)]
        d = [times(self.M, z[k]) for k in range(self.lam)]
        y_raw = [[self.m[j] + self.sigma * d[k][j] for j in range(N)] for k in range(self.lam)]
        y = [self.judge(self.boxed(y_raw[k])) for k in range(self.lam)]

        # 2 c Gradient-based repair.
        u_repair = rng.uniform(self.lam)
        chosen = [k for k in range(self.lam) if self.g % N == 0 and u_repair[k] <= S.repair_probability]
        for _ in range(S.repair_steps):
            needy = [k for k in chosen if not y[k].failed and y[k].phi > 0]
            jacobians = [self.jacobian(y[k]) for k in needy]
            moved = [(k, self.repaired(y[k], J)) for k, J in zip(needy, jacobians, strict=True) if J is not None]
            for k, x in moved:
                point = self.judge(x)
                if not point.failed:
                    y[k] = point

        # 2 d Back-calculation.
        if S.back_calculation:
            inverse = pinv(self.M)
            for k in range(self.lam):
                if y[k].x != y_raw[k]:
                    d[k] = [(y[k].x[j] - self.m[j]) / self.sigma for j in range(N)]
                    z[k] = times(inverse, d[k])

        # 3 Ranks by epsilon, 4 to 7 learning, 8 the incumbent, 9 epsilon.
        order = self.ranked_indices(y)
        self.population = [y[k] for k in order]
        self.learn([z[k] for k in order], [d[k] for k in order])
        if not_worse(self.population[0], self.incumbent):
            self.incumbent = self.population[0]
        self.g += 1
        if 1 < self.g < self.T:
            self.eps = self.eps_0 * (1 - self.g / self.T) ** self.gamma
        if self.g + 1 >= self.T:
            self.eps = 0.0

    def learn(self, z: list[Vector], d: list[Vector]) -> None:
        """From the best mu offspring, as far as they have values."""
        N = self.N
        teachers = [i for i in range(self.mu) if not self.population[i].failed]
        if not teachers:
            return
        total = sum(self.w[i] for i in teachers)
        w = {i: self.w[i] / total for i in teachers}
        z_bar = [sum(w[i] * z[i][j] for i in teachers) for j in range(N)]
        d_bar = [sum(w[i] * d[i][j] for i in teachers) for j in range(N)]
        self.m = [self.m[j] + self.sigma * d_bar[j] for j in range(N)]  # 4
        root = math.sqrt(self.mu_w * self.c_sigma * (2 - self.c_sigma))
        p = [(1 - self.c_sigma) * self.p_sigma[j] + root * z_bar[j] for j in range(N)]  # 5
        Mp = times(self.M, p)
        M = [  # 6
            [
                (1 - self.c_1 / 2 - self.c_mu / 2) * self.M[a][b]
                + self.c_1 / 2 * Mp[a] * p[b]
                + self.c_mu / 2 * sum(w[i] * d[i][a] * z[i][b] for i in teachers)
                for b in range(N)
            ]
            for a in range(N)
        ]
        if any(not abs(entry) <= 1e12 for row in M for entry in row):
            M = [[1.0 if a == b else 0.0 for b in range(N)] for a in range(N)]
            p = [1.0] * N
        if self.settings.adapt_matrix:
            self.M = M
        self.p_sigma = p
        growth = math.exp(self.c_sigma / 2 * (sum(v * v for v in p) / N - 1))
        self.sigma = min(self.sigma * growth, self.settings.largest_sigma)  # 7

    # Ranks: violations up to epsilon count as none.

    def ranked_indices(self, points: list[Point]) -> list[int]:
        return sorted(
            range(len(points)), key=lambda k: (0.0 if points[k].phi <= self.eps else points[k].phi, points[k].f)
        )

    def ranked(self, points: list[Point]) -> list[Point]:
        return [points[k] for k in self.ranked_indices(points)]

    # Repairs

    def boxed(self, y: Vector) -> Vector:
        result = []
        for j in range(self.N):
            low, high = self.lower[j], self.upper[j]
            width = high - low
            value = y[j]
            if value < low:
                e = low - value
                if e >= width:
                    e -= math.floor(e / width) * width
                value = low + e
            elif value > high:
                e = value - high
                if e >= width:
                    e -= math.floor(e / width) * width
                value = high - e
            result.append(value)
        return result

    def jacobian(self, point: Point) -> list[Vector] | None:
        """A row per constraint, by differences; None if a probe has no values."""
        C = [*point.g, *point.h]
        columns: list[Vector | None] = []
        for j in range(self.N):
            step = self.settings.difference
            if point.x[j] + step > self.upper[j]:
                step = -step
            probe = self.judge([v + step if i == j else v for i, v in enumerate(point.x)])
            values = [*probe.g, *probe.h]
            columns.append(
                None if probe.failed else [(values[c] - C[c]) / (probe.x[j] - point.x[j]) for c in range(len(C))]
            )
        known = [column for column in columns if column is not None]
        if len(known) < self.N:
            return None
        return [[known[j][c] for j in range(self.N)] for c in range(len(C))]

    def repaired(self, point: Point, J: list[Vector]) -> Vector:
        r = [max(0.0, g) for g in point.g] + list(point.h)
        dx = times(pinv(J), r)
        return self.boxed([point.x[j] - dx[j] for j in range(self.N)])


def times(A: list[Vector], v: Vector) -> Vector:
    return [sum(a * b for a, b in zip(row, v, strict=True)) for row in A]


def pinv(A: list[Vector]) -> list[Vector]:
    """Singular values up to 1e-12 dropped: NumPy's own, which takes that limit relative to the largest."""
    largest = float(np.linalg.norm(A, 2))
    if largest <= 1e-12:
        return np.zeros((len(A[0]), len(A))).tolist()
    inverse: list[Vector] = np.linalg.pinv(A, rcond=1e-12 / largest).tolist()
    return inverse
