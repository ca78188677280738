"""LSHADE44+IDE as a reading copy: slow, literal, a member at a time; the oracle of the fast version.

First LSHADE44 on the violation alone, then IDE. Both draw in every generation, as the fast version does; of the draws
each uses its own. Ranks count from 0, the best first.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from statistics import NormalDist
from typing import Any

from .differential_evolution import binomial
from .lshade44 import ReferenceLSHADE44
from .single_points import Point, anywhere, draw_index, draw_others, in_order, not_worse


class ReferenceLSHADE44IDE:
    """One run. `settings` is any object with the settings of LSHADE44+IDE by their names."""

    def __init__(self, settings: Any, *args: Any) -> None:
        self.settings = settings
        self.NP2: int = settings.refined_size
        self.search = ReferenceLSHADE44(settings, *args)
        self.judge, self.max_evaluations = self.search.judge, self.search.max_evaluations
        self.lower, self.upper, self.d = self.search.lower, self.search.upper, self.search.d
        self.rows = self.search.rows = max(self.search.N_init, self.NP2)  # for which draws are made
        self.spare: list[Point] = []  # without values, from anywhere
        self.G = 0
        self.refining = False
        self.found: list[Point] = []
        self.members: list[Point] = []  # of IDE
        self.g = self.idle = 0
        self.g_max = max(math.floor(self.max_evaluations / self.NP2 + 0.5), 1)
        self.random_base = False

    @property
    def FES(self) -> int:
        return self.search.FES

    @property
    def population(self) -> list[Point]:
        return self.members if self.refining else self.search.population

    def start(self, rng: Any) -> None:
        search = self.search
        points = search.points_anywhere(search.N_init, rng)
        search.FES = search.N_init
        u_spare = rng.uniform(self.rows, self.d)
        self.spare = [Point(anywhere(u_spare[i], self.lower, self.upper)) for i in range(self.NP2)]
        self.keep(points, rng.uniform(self.NP2 + search.N_init))
        search.population = by_violation(points)

    def keep(self, points: list[Point], u: Sequence[float]) -> None:
        """The feasible points of a generation; of too many in all a random choice: the smallest numbers stay."""
        numbered = [(float(u[k]), p) for k, p in enumerate(self.found)]
        numbered += [(float(u[self.NP2 + k]), p) for k, p in enumerate(points) if p.phi == 0]
        self.found = [p for _, p in sorted(numbered, key=lambda pair: pair[0])][: self.NP2]

    def generation(self, rng: Any) -> None:
        self.G += 1
        enough = len(self.found) == self.NP2
        longest = self.settings.search_share * self.max_evaluations
        if not self.refining and (enough or longest <= self.FES):
            self.hand_over()
        if self.refining:
            self.refine(rng)
        else:
            self.look_for_feasible(rng)

    def look_for_feasible(self, rng: Any) -> None:
        search = self.search
        N = len(search.population)
        search.FES += N
        y, k, F, CR = search.trials(search.draws(rng))
        self.draws_of_ide(rng)
        trials = [self.judge(y[i]) for i in range(N)]
        u_put = rng.uniform(self.rows)
        after = search.select(trials, k, F, CR, less_violating, lambda y, x: x.phi - y.phi, u_put)
        search.population = by_violation(after)
        search.reduce(rng.uniform(search.most_archived(search.N_init)))
        self.keep(trials, rng.uniform(self.NP2 + self.rows))

    def hand_over(self) -> None:
        """The feasible points found, then members of least violation, then points without values from anywhere."""
        infeasible = [p for p in self.search.population if p.phi > 0 and not p.failed]
        candidates = sorted(self.found, key=lambda p: p.f) + in_order(infeasible)
        missing = max(0, self.NP2 - len(candidates))
        self.members = candidates[: self.NP2] + self.spare[:missing]
        self.refining = True
        self.g_max = max(math.floor((self.max_evaluations - self.FES) / self.NP2 + 0.5), 1)

    def draws_of_ide(self, rng: Any) -> tuple[Any, Any]:
        return rng.uniform(8, self.rows), rng.uniform(4, self.rows, self.d)

    def refine(self, rng: Any) -> None:
        """One generation of IDE."""
        NP, P = self.NP2, self.members
        self.search.draws(rng)
        u, u_components = self.draws_of_ide(rng)
        ps = 0.1 + 0.9 * 10 ** (5 * (self.g / self.g_max - 1))
        superior = max(5, math.floor(ps * NP))
        pd = 0.1 * ps

        trials = []
        for i in range(NP):
            u_base, u_1, u_2, u_3, u_superior, u_F, u_CR, u_kept = (float(v) for v in u[:, i])
            u_where, u_value, u_cross, u_repair = u_components[:, i]
            o, r1, r2, r3 = draw_others([u_base, u_1, u_2, u_3], NP, i)  # 1
            base = o if self.random_base else i
            if base >= superior and r1 >= superior:  # 2
                r1 = draw_index(u_superior, superior, {i, o, r2, r3})
            anew = anywhere(u_value, self.lower, self.upper)
            x_3 = [anew[j] if u_where[j] < pd else P[r3].x[j] for j in range(self.d)]  # 3
            F, CR = by_rank(base + 1, NP, u_F), by_rank(i + 1, NP, u_CR)
            x_o, x_1, x_2 = P[base].x, P[r1].x, P[r2].x
            v = [x_o[j] + F * (x_1[j] - x_o[j]) + F * (x_2[j] - x_3[j]) for j in range(self.d)]  # 4
            y = binomial(v, P[i].x, CR, u_cross, math.floor(u_kept * self.d))  # 5
            trials.append(self.judge(self.search.in_box("resample", y, u=u_repair)))  # 6
        self.search.FES += NP

        accepted = [not_worse(trials[i], P[i]) for i in range(NP)]
        self.members = in_order(trials[i] if accepted[i] else P[i] for i in range(NP))
        SR = sum(accepted) / NP
        SR_T = 0.1 if self.g >= math.floor(self.g_max / 2) else 0.0
        self.idle = self.idle + 1 if SR <= SR_T else 0
        if self.idle >= self.g_max / 10:
            self.random_base = True
        self.g += 1


def by_violation(points: list[Point]) -> list[Point]:
    return sorted(points, key=lambda p: p.phi)


def less_violating(y: Point, x: Point) -> bool:
    return not y.failed and y.phi <= x.phi


def by_rank(rank: int, NP: int, u: float) -> float:
    """Normal around rank / NP, redrawn until it is in (0, 1]; the larger u, the smaller."""
    law = NormalDist()
    low, high = law.cdf(-rank / NP / 0.1), law.cdf((1 - rank / NP) / 0.1)
    p = high - u * (high - low)
    return 1.0 if p >= 1.0 else min(max(rank / NP + 0.1 * law.inv_cdf(p), sys.float_info.min), 1.0)
