"""EPSDE as a reading copy: slow, literal, a point at a time; the oracle of the fast version."""

from __future__ import annotations

import math
from typing import Any

from .differential_evolution import ReferenceDE
from .literal_run import Vector
from .single_points import draw_others

STRATEGIES = ("best/2", "rand/1", "current-to-rand/1")
CR_POOL = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
F_POOL = [0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
ALL = [(strategy, CR, F) for strategy in STRATEGIES for CR in CR_POOL for F in F_POOL]

Combination = tuple[str, float, float]


class ReferenceEPSDE(ReferenceDE):
    def begin(self, rng: Any) -> None:
        u = rng.uniform(self.NP)
        self.combination = [anything(float(u[i])) for i in range(self.NP)]
        self.winners: list[Combination] = []
        self.failures: list[float] = []  # share of each generation

    def trials(self, rng: Any) -> list[Vector]:
        jitter = rng.normal(self.NP, self.d)
        u_K = rng.uniform(self.NP, 1)
        u_parents = rng.uniform(4, self.NP)
        self.u = rng.uniform(4, self.NP)
        u_cross = rng.uniform(self.NP, self.d)
        u_repair = rng.uniform(self.NP, self.d)
        best = self.best()
        made = []
        for i in range(self.NP):
            strategy, CR, F_i = self.combination[i]
            F = [F_i + self.settings.F_deviation * float(jitter[i, j]) for j in range(self.d)]
            K = float(u_K[i, 0])
            r = [self.population[index].x for index in draw_others(u_parents[:, i], self.NP, i)]
            x = self.population[i].x
            y = []
            crossing = [float(u_cross[i, j]) < CR for j in range(self.d)]
            if not any(crossing):
                crossing[math.floor(float(self.u[0, i]) * self.d)] = True
            for j in range(self.d):
                if strategy == "best/2":
                    v = best[j] + F[j] * (r[1][j] - r[2][j]) + F[j] * (r[0][j] - r[3][j])
                elif strategy == "rand/1":
                    v = r[0][j] + F[j] * (r[1][j] - r[2][j])
                else:
                    v = x[j] + K * (r[0][j] - x[j]) + F[j] * (r[1][j] - r[2][j])
                y.append(v if crossing[j] or strategy == "current-to-rand/1" else x[j])
            made.append(self.in_box("resample", y, u=u_repair[i]))
        return made

    def learn(self, won: list[bool]) -> None:
        self.winners += [self.combination[i] for i in range(self.NP) if won[i]]
        self.winners.sort(key=ALL.index)
        self.failures.append(won.count(False) / self.NP)
        recent = self.failures[-self.settings.window :]
        rate = sum(recent) / len(recent)
        for i in range(self.NP):
            if not won[i]:
                if float(self.u[1, i]) <= rate and self.winners:
                    self.combination[i] = self.winners[math.floor(float(self.u[2, i]) * len(self.winners))]
                else:
                    self.combination[i] = anything(float(self.u[3, i]))


def anything(u: float) -> Combination:
    return ALL[math.floor(u * len(ALL))]
