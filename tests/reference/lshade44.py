"""LSHADE44 as a reading copy: slow, literal, a member at a time; the oracle of the fast version.

Strategies: 0 current-to-pbest/1/bin, 1 current-to-pbest/1/exp, 2 randrl/1/bin, 3 randrl/1/exp.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from .lshade import TERMINAL
from .pps_de import positive_cauchy
from .shade import clipped, current_to_pbest, gain_of, lehmer, to_archive
from .shrinking import ShrinkingRun
from .single_points import Point, draw_others, in_order, not_worse

STRATEGIES = range(4)

Success = Callable[[Point, Point], bool]
Gain = Callable[[Point, Point], float]


class ReferenceLSHADE44(ShrinkingRun):
    def __init__(self, settings: Any, *args: Any) -> None:
        super().__init__(settings, *args)
        self.rows = self.N_init  # for which draws are made
        self.M_F = [[0.5] * self.H for _ in STRATEGIES]
        self.M_CR = [[0.5] * self.H for _ in STRATEGIES]
        self.pos = [0 for _ in STRATEGIES]
        self.n = [settings.prior for _ in STRATEGIES]

    def generation(self, rng: Any) -> None:
        self.G += 1
        N = len(self.population)
        self.FES += N
        y, k, F, CR = self.trials(self.draws(rng))
        trials = [self.judge(y[i]) for i in range(N)]
        self.population = in_order(self.select(trials, k, F, CR, not_worse, gain_of, rng.uniform(self.rows)))
        self.reduce(rng.uniform(self.most_archived(self.N_init)))

    def draws(self, rng: Any) -> tuple[Any, Any, Any, Any]:
        return (
            rng.uniform(5, self.rows),
            rng.uniform(3, self.rows),
            rng.uniform(self.rows, self.d),
            rng.normal(self.rows),
        )

    def trials(self, draws: tuple[Any, Any, Any, Any]) -> tuple[list[list[float]], list[int], list[float], list[float]]:
        """The trial of each member, its strategy, F and CR."""
        S, P = self.settings, self.population
        (u_strategy, u_cell, u_F, u_start, u_length), u_parents, u_cross, z = draws
        ys, ks, Fs, CRs = [], [], [], []
        for i in range(len(P)):
            k = self.draw_strategy(float(u_strategy[i]))  # 1
            if min(self.n) / sum(self.n) < S.least_share:
                self.n = [S.prior for _ in STRATEGIES]

            r = math.floor(u_cell[i] * self.H)  # 2
            M_CR = self.M_CR[k][r]
            CR = 0.0 if M_CR == TERMINAL else clipped(M_CR + S.CR_deviation * float(z[i]))
            F = positive_cauchy(self.M_F[k][r], float(u_F[i]))

            u = (float(u_parents[0][i]), float(u_parents[1][i]), float(u_parents[2][i]))
            if k in (0, 1):  # 3
                best = max(1, math.floor(S.pbest * len(P) + 0.5))
                v = current_to_pbest(P, self.A, i, best, F, u)
            else:
                v = self.randrl(i, F, u)
            j = math.floor(u_start[i] * self.d)
            cross = exponential if k in (1, 3) else binomial_or_one
            y = cross(v, P[i].x, CR, u_cross[i], float(u_length[i]), j)  # 4
            ys.append(self.in_box("midpoint" if k in (0, 1) else "reflect", y, P[i].x))  # 5
            ks.append(k)
            Fs.append(F)
            CRs.append(CR)
        return ys, ks, Fs, CRs

    def draw_strategy(self, u: float) -> int:
        passed = 0.0
        for k in STRATEGIES:
            passed += self.n[k] / sum(self.n)
            if u < passed:
                return k
        return STRATEGIES[-1]

    def randrl(self, i: int, F: float, u: tuple[float, float, float]) -> list[float]:
        """The best of three plus F times the difference of the others; the lower rank is the better member."""
        P = self.population
        r1, r2, r3 = draw_others(u, len(P), i)
        if self.settings.randrl == "ranked":
            b, s, w = sorted([r1, r2, r3])
        else:  # the best changes places with the first drawn
            b, s, w = r1, r2, r3
            if r2 < min(r1, r3):
                b, s = r2, r1
            elif r3 < min(r1, r2):
                b, w = r3, r1
        return [P[b].x[j] + F * (P[s].x[j] - P[w].x[j]) for j in range(self.d)]

    def select(
        self,
        trials: list[Point],
        k: list[int],
        F: list[float],
        CR: list[float],
        succeeds: Success,
        gain: Gain,
        u_archive: Sequence[float],
    ) -> list[Point]:
        """The members after the generation; on the way counts, archive and memories learn from the successes."""
        P, N = self.population, len(self.population)
        after = list(P)
        S: list[list[tuple[float, float, float]]] = [[] for _ in STRATEGIES]
        for i in range(N):
            if not succeeds(trials[i], P[i]):
                continue
            after[i] = trials[i]
            if P[i].failed:
                continue  # there is nothing to keep of a parent without values, nor to learn
            S[k[i]].append((F[i], CR[i], gain(trials[i], P[i])))
            to_archive(self.A, P[i].x, self.most_archived(N), float(u_archive[i]))
            self.n[k[i]] += 1
        for s in STRATEGIES:
            if S[s]:
                self.remember(s, S[s])
        return after

    def remember(self, s: int, S: list[tuple[float, float, float]]) -> None:
        total = sum(d for _, _, d in S)
        w = [d / total if total > 0 else 1 / len(S) for _, _, d in S]
        CRs = [CR for _, CR, _ in S]
        self.M_F[s][self.pos[s]] = lehmer([F for F, _, _ in S], w)
        if self.M_CR[s][self.pos[s]] == TERMINAL or max(CRs) == 0:
            self.M_CR[s][self.pos[s]] = TERMINAL
        else:
            self.M_CR[s][self.pos[s]] = sum(w_s * CR_s for w_s, CR_s in zip(w, CRs, strict=True))
        self.pos[s] = (self.pos[s] + 1) % self.H


def binomial_or_one(
    v: list[float], x: list[float], CR: float, u: Sequence[float], u_length: float, j: int
) -> list[float]:
    y = [v[c] if u[c] < CR else x[c] for c in range(len(x))]
    if not any(u[c] < CR for c in range(len(x))):
        y[j] = v[j]
    return y


def exponential(v: list[float], x: list[float], CR: float, u: Sequence[float], u_length: float, j: int) -> list[float]:
    """From component j on, with chance CR for each further one: one number decides, as the chances multiply."""
    y = list(x)
    y[j] = v[j]
    taken, chance = 1, CR
    while taken < len(x) and u_length < chance:
        c = (j + taken) % len(x)
        y[c] = v[c]
        taken += 1
        chance *= CR
    return y
