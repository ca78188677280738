"""SHADE as a reading copy: slow, literal, a member at a time; the oracle of the fast version.

Ranks count from 0, the best first. It asks a stream for the same draws in the same order as the fast version. What
L-SHADE, LSHADE44 and JADE do in the same way stands below as functions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .differential_evolution import binomial
from .literal_run import LiteralRun
from .pps_de import positive_cauchy
from .single_points import Point, draw_index, in_order, not_worse


class ReferenceSHADE(LiteralRun):
    def __init__(self, settings: Any, *args: Any) -> None:
        super().__init__(settings, *args)
        self.NP: int = settings.population_size
        self.H: int = settings.memory_size
        self.most_archived = math.floor(settings.archive_rate * self.NP + 0.5)
        self.G = 0
        self.A: list[list[float]] = []
        self.M_F, self.M_CR = [0.5] * self.H, [0.5] * self.H
        self.k = 0

    def start(self, rng: Any) -> None:
        self.population = in_order(self.points_anywhere(self.NP, rng))

    def generation(self, rng: Any) -> None:
        NP, P = self.NP, self.population
        self.G += 1
        u_cell, u_F, u_share, u_archive = rng.uniform(4, NP)
        z = rng.normal(NP)
        u_pbest, u_r1, u_r2, u_kept = rng.uniform(4, NP)
        u_cross = rng.uniform(NP, self.d)

        trials, F, CR = [], [], []
        for i in range(NP):
            r = math.floor(u_cell[i] * self.H)
            F.append(positive_cauchy(self.M_F[r], float(u_F[i])))
            CR.append(clipped(self.M_CR[r] + 0.1 * float(z[i])))
            p_min, p_max = 2 / NP, max(self.settings.largest_pbest, 2 / NP)
            p_i = p_min + float(u_share[i]) * (p_max - p_min)
            best = max(2, math.floor(p_i * NP + 0.5))
            v = current_to_pbest(P, self.A, i, best, F[i], (u_pbest[i], u_r1[i], u_r2[i]))
            y = binomial(v, P[i].x, CR[i], u_cross[i], math.floor(u_kept[i] * self.d))
            trials.append(self.judge(self.in_box("midpoint", y, P[i].x)))

        after = list(P)
        S: list[tuple[float, float, float]] = []
        for i in range(NP):
            if not_worse(trials[i], P[i]):
                after[i] = trials[i]
            gained = gain_of(trials[i], P[i])
            if gained > 0:
                to_archive(self.A, P[i].x, self.most_archived, float(u_archive[i]))
                S.append((F[i], CR[i], gained))
        self.population = in_order(after)
        if S:
            total = sum(gained for _, _, gained in S)
            w = [gained / total for _, _, gained in S]
            self.M_F[self.k] = lehmer([F_s for F_s, _, _ in S], w)
            self.M_CR[self.k] = sum(w_s * CR_s for w_s, (_, CR_s, _) in zip(w, S, strict=True))
            self.k = (self.k + 1) % self.H


def gain_of(y: Point, x: Point) -> float:
    """By how much a strictly better trial is better: in violation, or in f where the violations are equal."""
    if y.failed or x.failed or not (y.phi, y.f) < (x.phi, x.f):
        return 0.0
    amount = x.phi - y.phi if y.phi != x.phi else x.f - y.f
    return amount if math.isfinite(amount) else 0.0


def clipped(CR: float) -> float:
    return min(max(CR, 0.0), 1.0)


def lehmer(values: list[float], w: list[float]) -> float:
    above = sum(w_s * v * v for w_s, v in zip(w, values, strict=True))
    return above / sum(w_s * v for w_s, v in zip(w, values, strict=True))


def current_to_pbest(
    P: list[Point], A: list[list[float]], i: int, best: int, F: float, u: tuple[float, float, float]
) -> list[float]:
    """x_i + F (x_pbest - x_i) + F (x_r1 - x_r2), r2 from the population or, behind it, the archive."""
    pbest = math.floor(u[0] * best)
    r1 = draw_index(u[1], len(P), {i})
    r2 = draw_index(u[2], len(P) + len(A), {i, r1})
    x, x_p, x_1 = P[i].x, P[pbest].x, P[r1].x
    x_2 = P[r2].x if r2 < len(P) else A[r2 - len(P)]
    return [x[j] + F * (x_p[j] - x[j]) + F * (x_1[j] - x_2[j]) for j in range(len(x))]


def to_archive(A: list[list[float]], x: list[float], most: int, u: float) -> None:
    if len(A) < most:
        A.append(x)
    elif most > 0:
        A[math.floor(u * most)] = x


def shortened(A: list[list[float]], most: int, u: Sequence[float]) -> list[list[float]]:
    """Random members deleted: as if all drew a number and those with the largest left."""
    if len(A) <= most:
        return A
    ranked = sorted(range(len(A)), key=lambda a: u[a])
    return [A[a] for a in ranked[:most]]
