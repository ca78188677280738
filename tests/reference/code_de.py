"""CoDE as a reading copy: slow, literal, a point at a time; the oracle of the fast version.

Only for the feasibility rule. It asks a stream for the same draws in the same order as the fast version.
"""

from __future__ import annotations

import math
from typing import Any

from .differential_evolution import binomial
from .literal_run import LiteralRun
from .single_points import draw_others, not_worse

POOL = [(1.0, 0.1), (1.0, 0.9), (0.8, 0.2)]


class ReferenceCoDE(LiteralRun):
    def __init__(self, settings: Any, *args: Any) -> None:
        super().__init__(settings, *args)
        self.NP: int = settings.population_size
        self.wins = [0, 0, 0]

    def start(self, rng: Any) -> None:
        self.population = self.points_anywhere(self.NP, rng)

    def generation(self, rng: Any) -> None:
        u = rng.uniform(3, 3 * self.NP)
        u_parents = rng.uniform(5, 3 * self.NP)
        u_cross = rng.uniform(3 * self.NP, self.d)
        trials = []
        for strategy in (1, 2, 3):
            for i in range(self.NP):
                k = (strategy - 1) * self.NP + i
                numbers = [float(v) for v in u[:, k]], [float(v) for v in u_parents[:, k]]
                trials.append(self.judge(self.trial(i, strategy, *numbers, [float(v) for v in u_cross[k]])))
        after = []
        for i, x in enumerate(self.population):
            three = [trials[s * self.NP + i] for s in range(3)]
            best = min(range(3), key=lambda s: (three[s].phi, three[s].f))  # the first where they tie
            taken = not_worse(three[best], x)
            self.wins[best] += taken
            after.append(three[best] if taken else x)
        self.population = after

    def trial(self, i: int, strategy: int, u: list[float], u_parents: list[float], u_cross: list[float]) -> list[float]:
        u_pair, U, u_kept = u
        F, CR = POOL[math.floor(u_pair * 3)]
        drawn = draw_others(u_parents, self.NP, i)
        if strategy == 3:
            drawn = [math.floor(v * self.NP) for v in u_parents]  # any, the target too, and twice too
        x_i = self.population[i].x
        x1, x2, x3, x4, x5 = (self.population[r].x for r in drawn)
        v = []
        for j in range(self.d):
            if strategy == 1:
                v.append(x1[j] + F * (x2[j] - x3[j]))
            elif strategy == 2:
                v.append(x1[j] + U * (x2[j] - x3[j]) + F * (x4[j] - x5[j]))
            else:
                v.append(x_i[j] + U * (x1[j] - x_i[j]) + F * (x2[j] - x3[j]))
        v = self.in_box("mirror", v)
        return v if strategy == 3 else binomial(v, x_i, CR, u_cross, math.floor(u_kept * self.d))
