"""SASS as a reading copy: slow, literal, a member at a time; the oracle of the fast version.

Least-squares steps are solved by their normal equations.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .differential_evolution import binomial
from .literal_run import LiteralRun
from .lshade import TERMINAL
from .pps_de import positive_cauchy
from .shade import clipped, current_to_pbest, lehmer, to_archive
from .single_points import Point, anywhere, in_order


class ReferenceSASS(LiteralRun):
    def start(self, rng: Any) -> None:
        S = self.settings
        self.N, self.G, self.k = S.population_size, 0, 0
        self.M_F, self.M_CR = [0.5] * S.memory_size, [0.5] * S.memory_size
        self.A: list[list[float]] = []
        self.population = in_order(self.points_anywhere(self.N, rng))
        best = [p.phi for p in self.population[: math.ceil(S.share * self.N)] if not p.failed]
        some = next((p for p in self.population if not p.failed), Point([]))
        self.m = max(len(some.g) + len(some.h), 1)
        self.eps_0 = sum(best) / max(len(best), 1) / self.m
        self.incumbent = self.population[0]

    def epsilon(self) -> float:
        S, it = self.settings, self.G
        T = min(S.horizon, max(self.max_evaluations // self.N // 2, 1))
        if not 1 < it < T or self.eps_0 == 0:
            return 0.0
        cp = max(S.least_power, (-5 - math.log(self.eps_0)) / math.log(0.05))
        return float(self.eps_0 * (1 - it / T) ** cp)

    def generation(self, rng: Any) -> None:
        S, N, P, d = self.settings, self.N, self.population, self.d
        self.G += 1
        eps = self.epsilon()  # 1
        u = rng.uniform(6, N)
        u_parents, u_cross, u_new = rng.uniform(4, N), rng.uniform(N, d), rng.uniform(N, d)
        known = all(not p.failed and p.f < math.inf for p in P)
        flat_phi = np.std([p.phi for p in P]) < S.least_spread and all(p.phi > 0 for p in P) if known else False
        restart = known and (flat_phi or np.std([p.f for p in P]) < S.least_spread)
        if restart:  # 8
            self.population = in_order(self.judge(anywhere(u_new[i], self.lower, self.upper)) for i in range(N))
            self.incumbent = in_order([self.incumbent, self.population[0]])[0]
            return
        trials, F, CR = [], [], []
        best = max(2, math.floor(S.pbest * N + 0.5))
        for i in range(N):  # 2 and 3
            cell = math.floor(u[0, i] * S.memory_size)
            noise = 0.1 * math.sqrt(math.pi) * (math.asin(-u[2, i]) + math.asin(u[3, i]))
            CR.append(0.0 if self.M_CR[cell] == TERMINAL else clipped(self.M_CR[cell] + noise))
            F.append(positive_cauchy(self.M_F[cell], float(u[1, i])))
            v = current_to_pbest(P, self.A, i, best, F[i], (u_parents[0, i], u_parents[1, i], u_parents[2, i]))
            y = binomial(v, P[i].x, CR[i], u_cross[i], math.floor(u_parents[3, i] * d))
            trials.append(self.judge(self.in_box("midpoint", y, P[i].x)))
        if (self.G - 1) % d == 0:  # 4
            self.repair(trials, self.to_repair(trials, u[4]))
        S_F, S_CR, w = [], [], []
        after = list(P)
        for i, (y, x) in enumerate(zip(trials, P, strict=True)):
            if not y.failed and not x.failed and y.f < x.f < math.inf:  # 5
                S_F.append(F[i])
                S_CR.append(CR[i])
                w.append(x.f - y.f)
                to_archive(self.A, x.x, math.floor(S.archive_rate * N + 0.5), float(u[5, i]))
            if not y.failed and (self.over(y, eps), y.f) <= (self.over(x, eps), x.f):  # 6
                after[i] = y
        if w:
            w = [v / sum(w) for v in w]
            self.M_F[self.k] = lehmer(S_F, w)
            closed = self.M_CR[self.k] == TERMINAL or max(S_CR) == 0
            self.M_CR[self.k] = TERMINAL if closed else lehmer(S_CR, w)
            self.k = (self.k + 1) % S.memory_size
        self.population = in_order(after)  # 7
        self.incumbent = in_order([self.incumbent, self.population[0]])[0]

    def over(self, p: Point, eps: float) -> float:
        if p.failed:
            return math.inf
        return sum(max(0.0, g - eps) for g in p.g) + sum(max(0.0, abs(h) - eps - self.judge.tolerance) for h in p.h)

    def to_repair(self, trials: list[Point], u: Any) -> list[int]:
        chance = self.settings.repair_probability
        return [i for i, y in enumerate(trials) if not y.failed and 0 < y.phi < 100 * self.m and u[i] < chance]

    def repair(self, trials: list[Point], rows: list[int]) -> None:
        """All chosen trials step by step together, as evaluations are asked for in blocks."""
        S, d = self.settings, self.d
        state: dict[int, dict[str, Any]] = {i: {"lam": S.damping, "J": None, "failed": False} for i in rows}
        for _ in range(S.repair_steps):
            needy = [i for i in rows if trials[i].phi > 0]
            for i in needy:
                if state[i]["J"] is None:
                    state[i]["J"] = self.slopes(trials[i])
            going = [i for i in needy if state[i]["J"] is not None]
            for i in going:
                y, now = trials[i], state[i]
                r = np.array([max(g, 0.0) for g in y.g] + y.h)
                s = np.array([math.sqrt(max(-g, 0.0)) for g in y.g])
                m, p = len(r), len(s)
                down, up = ([math.sqrt(abs(y.x[j] - side[j])) for j in range(d)] for side in (self.lower, self.upper))
                wide = np.zeros((m + 2 * d, d + p + 2 * d))  # rows: constraints, lower bounds, upper bounds
                wide[:m, :d] = now["J"]
                for k, slack in enumerate(s):
                    wide[k, d + k] = 2 * slack
                for j in range(d):
                    wide[m + j, j], wide[m + j, d + p + j] = 1, -2 * down[j]
                    wide[m + d + j, j], wide[m + d + j, d + p + d + j] = 1, 2 * up[j]
                normal = wide.T @ wide + now["lam"] * np.eye(wide.shape[1])
                step = -np.linalg.solve(normal, wide.T @ np.concatenate([r, np.zeros(2 * d)]))[:d]
                z = self.judge(self.in_box("clamp", [y.x[j] + float(step[j]) for j in range(d)]))
                if not z.failed and sum(v * v for v in [*(max(g, 0.0) for g in z.g), *z.h]) < float((r * r).sum()):
                    now["lam"] = now["lam"] if now["failed"] else now["lam"] / 10
                    now["failed"], now["J"] = False, None
                    trials[i] = z
                else:
                    now["lam"] *= 10
                    now["failed"] = True

    def slopes(self, y: Point) -> np.ndarray | None:
        columns, sound = [], True
        for j in range(self.d):
            step = self.settings.difference * (self.upper[j] - self.lower[j])
            x = list(y.x)
            x[j] = x[j] + step if x[j] + step <= self.upper[j] else max(x[j] - step, self.lower[j])
            p = self.judge(x)
            sound = sound and not p.failed
            if sound:
                columns.append([(b - a) / (x[j] - y.x[j]) for a, b in zip([*y.g, *y.h], [*p.g, *p.h], strict=True)])
        return np.array(columns).T if sound else None
