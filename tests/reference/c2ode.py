"""C2oDE as a reading copy: slow, literal, a point at a time; the oracle of the fast version.

It asks a stream for the same draws in the same order as the fast version and shares no formula with the library. A
restart is a generation of its own, whose other draws are thrown away.
"""

from __future__ import annotations

import math
import statistics
from typing import Any

from .differential_evolution import binomial
from .literal_run import LiteralRun
from .single_points import Point, anywhere, draw_others, in_order

F_POOL = [0.6, 0.8, 1.0]
CR_POOL = [0.1, 0.2, 1.0]
A, B, C = 0, 1, 2  # current-to-best, modified rand-to-best, current-to-rand


class ReferenceC2oDE(LiteralRun):
    def __init__(self, settings: Any, *args: Any) -> None:
        super().__init__(settings, *args)
        self.NP: int = settings.population_size or max(5 * self.d, 40)
        self.max_gen = self.max_evaluations / (3 * self.NP)
        self.t = 0.0
        self.eps_0 = 0.0
        self.restarts = 0

    def start(self, rng: Any) -> None:
        self.population = self.points_anywhere(self.NP, rng)
        self.eps_0 = max((p.phi for p in self.population if not p.failed), default=0.0)

    def generation(self, rng: Any) -> None:
        u_cross = rng.uniform(3 * self.NP, self.d)
        u = rng.uniform(7, 3 * self.NP)
        u_parents = rng.uniform(4, 3 * self.NP)
        if self.collapsed():  # 2 Restart
            self.restarts += 1
            for i in range(self.NP):
                fresh = self.judge(anywhere(u_cross[i], self.lower, self.upper))
                if not fresh.failed:  # the budget may be spent
                    self.population[i] = fresh
            return
        eps = self.epsilon()  # 1

        # 3 and 4 Three trials per target.
        trials = []
        for s in (A, B, C):
            for i in range(self.NP):
                k = s * self.NP + i
                numbers = [float(v) for v in u[:, k]], [float(v) for v in u_parents[:, k]]
                trials.append(self.judge(self.trial(i, s, *numbers, [float(v) for v in u_cross[k]])))
        # 5 Pre-selection by feasibility, 6 selection by epsilon.
        chosen = [preselected([trials[s * self.NP + i] for s in (A, B, C)]) for i in range(self.NP)]
        self.population = [y if replaces(y, x, eps) else x for y, x in zip(chosen, self.population, strict=True)]
        self.t += 1 / self.max_gen

    def collapsed(self) -> bool:
        phi = [p.phi for p in self.population]
        if min(phi) == 0 or max(phi) == math.inf:
            return False
        return statistics.pstdev(phi) < self.settings.least_spread

    def epsilon(self) -> float:
        p = self.settings.closes
        if self.eps_0 == 0 or self.t > p:
            return 0.0
        cp = max(-(math.log(self.eps_0) + 6) / math.log(1 - p), 0.0)
        return self.eps_0 * (1 - self.t) ** cp

    def trial(self, i: int, s: int, u: list[float], u_parents: list[float], u_cross: list[float]) -> list[float]:
        u_F, u_CR, u_K, u_kept, u_guide, u_below, u_above = u
        F, CR = F_POOL[math.floor(u_F * 3)], CR_POOL[math.floor(u_CR * 3)]
        x_i, x1, x2, x3, x4 = (self.population[r].x for r in (i, *draw_others(u_parents, self.NP, i)))
        x_fbest = min(self.population, key=lambda p: p.f).x
        x_c = self.guide(u_guide).x
        v = []
        for j in range(self.d):
            if s == A:
                v.append(x_i[j] + F * (x_fbest[j] - x_i[j]) + F * (x1[j] - x2[j]))
            elif s == B:
                v.append(x1[j] + F * (x_c[j] - x2[j]) + F * (x3[j] - x4[j]))
            else:
                v.append(x_i[j] + u_K * (x1[j] - x_i[j]) + F * (x3[j] - x2[j]))
        v = self.repaired(v, s, u_below, u_above)
        if s == C:
            return v
        return binomial(v, x_i, CR, u_cross, math.floor(u_kept * self.d))

    def guide(self, u: float) -> Point:
        feasible = [p for p in self.population if p.phi == 0]
        if self.settings.feasible_guide == "best":
            return in_order(self.population)[0]
        return feasible[math.floor(u * len(feasible))] if feasible else min(self.population, key=lambda p: p.phi)

    def repaired(self, v: list[float], s: int, u_below: float, u_above: float) -> list[float]:
        if self.settings.repair == "mirror":
            return self.in_box("mirror", v)
        rho = sum(1 for p in self.population if p.phi == 0) / max(1, sum(1 for p in self.population if not p.failed))
        q_above = [(1 - rho) ** 3, self.t, 1 - rho][s]
        q_below = [(1 - rho) ** 3, self.t, max(1 - self.t, 1 - rho)][s]
        y = []
        for j in range(self.d):
            low, high = self.lower[j], self.upper[j]
            if low <= v[j] <= high:
                y.append(v[j])
            elif u_below < q_below if v[j] < low else u_above < q_above:
                image = 2 * low - v[j] if v[j] < low else 2 * high - v[j]
                y.append(image if low <= image <= high else low)
            else:
                y.append(high)
        return y


def preselected(trials: list[Point]) -> Point:
    """The feasible one with the least f, else the one with the least violation."""
    feasible = [p for p in trials if p.phi == 0]
    if feasible:
        return min(feasible, key=lambda p: p.f)
    return in_order(trials)[0]


def replaces(y: Point, x: Point, eps: float) -> bool:
    if y.failed or x.failed:
        return x.failed and not y.failed
    if (y.phi < eps and x.phi < eps) or y.phi == x.phi:
        return y.f < x.f
    return y.phi < x.phi
