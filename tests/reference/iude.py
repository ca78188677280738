"""IUDE as a reading copy: slow, literal, a point at a time; the oracle of the fast version.

It follows the steps of the authors' program, shares no formula with the library, and asks a stream for the same draws
in the same order as the fast version. Ranks count from 0, the best first.
"""

from __future__ import annotations

import math
from typing import Any

from .literal_run import LiteralRun
from .pps_de import CURRENT_TO_RAND, RAND, STRATEGIES, Trial, draw_by_rate, positive_cauchy, three_parents
from .single_points import Point, in_order


class ReferenceIUDE(LiteralRun):
    def __init__(self, settings: Any, *args: Any) -> None:
        super().__init__(settings, *args)
        self.NP: int = settings.population_size or max(5 * self.d, 40)
        self.T = math.floor(self.NP / 2 + 0.5)
        self.G_max = self.max_evaluations // (3 * self.T + (self.NP - self.T))
        H = settings.memory_size
        self.G = 0
        self.eps_0 = self.eps = 0.0
        self.NW: list[list[int]] = []  # wins of generation g = 1, 2, .. in NW[g - 1]
        self.M_F = [[0.5] * H for _ in STRATEGIES]
        self.M_CR = [[0.5] * H for _ in STRATEGIES]
        self.k = [0 for _ in STRATEGIES]

    def start(self, rng: Any) -> None:
        self.population = in_order(self.points_anywhere(self.NP, rng))
        self.eps_0 = self.eps = max((p.phi for p in self.population if not p.failed), default=0.0)

    def generation(self, rng: Any) -> None:
        self.G += 1
        self.eps = self.epsilon()  # 1
        parents = list(self.population)

        # 3 Top: three trials per target, strategy after strategy; the best of them by feasibility goes on.
        trials = self.trials([(i, s) for s in STRATEGIES for i in range(self.T)], rng)
        winners = [best_of_three([trials[s * self.T + i] for s in STRATEGIES]) for i in range(self.T)]

        # 4 Success records: each of the three against its target.
        records = [(t, weight(t.point, parents[t.target])) for t in trials]

        # 5 and 6 Bottom: one trial per target, its strategy by the wins of the generations before this one.
        bottom = self.bottom_trials(rng)
        self.NW.append([sum(1 for w in winners if w.strategy == s and not w.point.failed) for s in STRATEGIES])

        # 7 and 8 Replacement by epsilon, then in order again.
        for trial in [*winners, *bottom]:
            if replaces(trial.point, parents[trial.target], self.eps):
                self.population[trial.target] = trial.point
        self.population = in_order(self.population)

        # 9 Memories
        for s in STRATEGIES:
            mine = [(t, w) for t, w in records if t.strategy == s and w > 0]
            if mine:
                total = sum(w for _, w in mine)
                wF = sum(w / total * t.F for t, w in mine)
                wFF = sum(w / total * t.F**2 for t, w in mine)
                self.M_F[s][self.k[s]] = wFF / wF
                self.M_CR[s][self.k[s]] = sum(w / total * t.CR for t, w in mine)
                self.k[s] = (self.k[s] + 1) % self.settings.memory_size

    def epsilon(self) -> float:
        pc = self.settings.closes
        if self.eps_0 == 0 or self.G / max(self.G_max, 1) > pc:
            return 0.0
        cp = max((-math.log(self.eps_0) - 6) / math.log(1 - pc), 0.0)
        return self.eps_0 * (1 - self.G / max(self.G_max, 1)) ** cp

    def bottom_trials(self, rng: Any) -> list[Trial]:
        rates = self.strategy_rates()
        u = rng.uniform(self.NP - self.T)
        return self.trials([(self.T + i, draw_by_rate(float(u[i]), rates)) for i in range(self.NP - self.T)], rng)

    def strategy_rates(self) -> list[float]:
        S = self.settings
        recent = [sum(wins[s] for wins in self.NW[-S.strategy_window :]) for s in STRATEGIES]
        if self.equal_so_far() or sum(recent) == 0:
            return [1 / 3, 1 / 3, 1 / 3]
        return [recent[s] / sum(recent) for s in STRATEGIES]

    def equal_so_far(self) -> bool:
        return self.settings.equal_generations >= self.G or len(self.NW) < self.settings.strategy_window

    def trials(self, targets_and_strategies: list[tuple[int, int]], rng: Any) -> list[Trial]:
        S, m = self.settings, len(targets_and_strategies)
        u_cross = rng.uniform(m, self.d)
        u = rng.uniform(5, m)
        u_parents = rng.uniform(3, m)
        z = rng.normal(m)
        u_p = rng.uniform(m) if S.pbest_least < S.pbest_most else [0.0] * m
        u_repair = rng.uniform(m, self.d) if S.repair == "resample" else [None] * m
        made = []
        for t in range(m):
            i, s = targets_and_strategies[t]
            u_cell, u_F, u_best, u_kept, _ = (float(v) for v in u[:, t])
            F, CR = self.parameters(s, u_cell, u_F, float(z[t]))
            least, most = min(S.pbest_least, self.NP), min(S.pbest_most, self.NP)
            p = math.floor(least + (most - least) * float(u_p[t]) + 0.5)
            r1, r2, r3 = three_parents(S.parents, self.NP, i, s, p, u_best, [float(v) for v in u_parents[:, t]])
            x_i, x1, x2, x3 = (self.population[r].x for r in (i, r1, r2, r3))
            y = []
            for j in range(self.d):
                start = x1[j] if s == RAND else x_i[j] + F * (x1[j] - x_i[j])
                certain = S.certain_component and j == math.floor(u_kept * self.d)
                crossed = s == CURRENT_TO_RAND or float(u_cross[t, j]) <= CR or certain
                y.append(start + F * (x2[j] - x3[j]) if crossed else x_i[j])
            made.append(Trial(self.judge(self.in_box(S.repair, y, x_i, u_repair[t])), i, s, F, CR))
        return made

    def parameters(self, s: int, u_cell: float, u_F: float, z: float) -> tuple[float, float]:
        cell = math.floor(u_cell * self.settings.memory_size)
        CR = min(max(self.M_CR[s][cell] + 0.1 * z, 0.0), 1.0)
        return positive_cauchy(self.M_F[s][cell], u_F), CR


def best_of_three(trials: list[Trial]) -> Trial:
    best = trials[0]
    for rival in trials[1:]:
        if (rival.point.phi, rival.point.f) < (best.point.phi, best.point.f):
            best = rival
    return best


def weight(y: Point, x: Point) -> float:
    """By how much a trial beats its target, 0 if it does not; by feasibility, f where violations are equal."""
    if y.failed or x.failed:
        return 0.0
    if y.phi != x.phi:
        return max(x.phi - y.phi, 0.0)
    return x.f - y.f if y.f < x.f < math.inf else 0.0


def replaces(y: Point, x: Point, eps: float) -> bool:
    if y.failed or x.failed:
        return x.failed and not y.failed
    if (eps > 0 and y.phi <= eps and x.phi <= eps) or y.phi == x.phi:
        return y.f < x.f
    return y.phi < x.phi
