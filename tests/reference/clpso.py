"""CLPSO as a reading copy: slow, literal, a particle at a time; the oracle of the fast version.

Particles are compared by the feasibility rule.
"""

from __future__ import annotations

import math
from typing import Any

from .literal_run import LiteralRun
from .single_points import Point, draw_index


def better(a: Point, b: Point) -> bool:
    return not a.failed and (a.phi, a.f) < (b.phi, b.f)


class ReferenceCLPSO(LiteralRun):
    def start(self, rng: Any) -> None:
        S = self.settings
        self.n, self.G = S.population_size, 0
        self.fastest = [S.largest_step * (b - a) for a, b in zip(self.lower, self.upper, strict=True)]
        self.population = self.points_anywhere(self.n, rng)  # pbest
        self.x = [list(p.x) for p in self.population]
        u = rng.uniform(self.n, self.d)
        self.v = [[(2 * float(u[i, j]) - 1) * self.fastest[j] for j in range(self.d)] for i in range(self.n)]
        self.exemplar = [[i] * self.d for i in range(self.n)]
        self.idle = [S.gap] * self.n
        self.FES = self.n

    def generation(self, rng: Any) -> None:
        S, n, d = self.settings, self.n, self.d
        order = sorted(range(n), key=lambda i: (self.population[i].phi, self.population[i].f))
        place = {i: k for k, i in enumerate(order)}
        u_pair, u_learn, u_forced, u_pull = rng.uniform(2, n, d), rng.uniform(n, d), rng.uniform(n), rng.uniform(n, d)
        elapsed = min(self.FES / self.max_evaluations, 1.0)
        w = S.first_inertia + (S.last_inertia - S.first_inertia) * elapsed
        old = list(self.population)
        for i in range(n):
            if self.idle[i] >= S.gap:
                self.idle[i] = 0
                grown = (math.exp(10 * i / (n - 1)) - 1) / (math.exp(10) - 1)
                Pc = S.least_Pc + (S.largest_Pc - S.least_Pc) * grown
                learns = [float(u_learn[i, j]) < Pc for j in range(d)]
                if not any(learns):
                    learns[math.floor(u_forced[i] * d)] = True
                for j in range(d):
                    a, b = (draw_index(float(u_pair[k, i, j]), n, {i}) for k in range(2))
                    self.exemplar[i][j] = (a if place[a] < place[b] else b) if learns[j] else i
            for j in range(d):
                pull = old[self.exemplar[i][j]].x[j] - self.x[i][j]
                v = w * self.v[i][j] + S.c * float(u_pull[i, j]) * pull
                self.v[i][j] = min(max(v, -self.fastest[j]), self.fastest[j])
                self.x[i][j] += self.v[i][j]
        for i in range(n):
            if not all(self.lower[j] <= self.x[i][j] <= self.upper[j] for j in range(d)):
                continue
            self.FES += 1
            trial = self.judge(list(self.x[i]))
            if better(trial, old[i]):
                self.population[i], self.idle[i] = trial, 0
            else:
                self.idle[i] += 1
        self.G += 1
