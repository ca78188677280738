"""UDE as a reading copy: slow, literal, a point at a time; the oracle of the fast version.

It has the skeleton of IUDE's reading copy, pairs of F and CR in the place of memories, a static penalty in the place of
feasibility and epsilon, and a step around the best. It asks a stream for the same draws in the same order as the fast
version.
"""

from __future__ import annotations

import math
from typing import Any

from .differential_evolution import binomial
from .iude import ReferenceIUDE
from .pps_de import STRATEGIES
from .single_points import Point, draw_others

POOL = [(0.9, 0.9), (0.5, 0.5)]


class ReferenceUDE(ReferenceIUDE):
    def __init__(self, settings: Any, *args: Any) -> None:
        super().__init__(WithRange(settings), *args)
        self.NP = settings.population_size or max(self.d, 12)
        self.T = math.floor(self.NP / 2 + 0.5)
        self.R: float = settings.penalty_weight

    def fitness(self, p: Point) -> float:
        return math.inf if p.failed else p.f + self.R * p.phi

    def not_worse(self, y: Point, x: Point) -> bool:
        return not y.failed and (x.failed or self.fitness(y) <= self.fitness(x))

    def ranked(self, points: list[Point]) -> list[Point]:
        return sorted(points, key=lambda p: (p.failed, self.fitness(p)))

    def start(self, rng: Any) -> None:
        self.population = self.ranked(self.points_anywhere(self.NP, rng))

    def generation(self, rng: Any) -> None:
        self.G += 1
        parents = list(self.population)
        trials = self.trials([(i, s) for s in STRATEGIES for i in range(self.T)], rng)
        winners = []
        for i in range(self.T):
            three = [trials[s * self.T + i] for s in STRATEGIES]
            winners.append(min(three, key=lambda t: (t.point.failed, self.fitness(t.point))))
        bottom = self.bottom_trials(rng)
        self.NW.append([sum(1 for w in winners if w.strategy == s and not w.point.failed) for s in STRATEGIES])
        for trial in [*winners, *bottom]:
            if self.not_worse(trial.point, parents[trial.target]):
                self.population[trial.target] = trial.point
        self.population = self.ranked(self.population)
        self.local_search(rng)

    def parameters(self, s: int, u_cell: float, u_F: float, z: float) -> tuple[float, float]:
        return POOL[math.floor(u_cell * 2)]

    def equal_so_far(self) -> bool:
        return len(self.NW) < self.settings.strategy_window

    def local_search(self, rng: Any) -> None:
        count = self.settings.local_steps
        if count == 0:
            return
        u = rng.uniform(5, count)
        u_cross = rng.uniform(count, self.d)
        steps = []
        for t in range(count):
            F, CR, u1, u2, u_kept = (float(v) for v in u[:, t])
            x_best, x1, x2 = (self.population[r].x for r in (0, *draw_others([u1, u2], self.NP, 0)))
            v = self.in_box("mirror", [x_best[j] + F * (x1[j] - x2[j]) for j in range(self.d)])
            steps.append(self.judge(binomial(v, x_best, CR, u_cross[t], math.floor(u_kept * self.d))))
        step = self.ranked(steps)[0]
        if self.not_worse(step, self.population[0]):
            self.population[0] = step


class WithRange:
    """Settings of UDE, with its one pbest as the range that IUDE's reading copy asks for, and what else that asks."""

    memory_size = 1
    certain_component = True

    def __init__(self, settings: Any) -> None:
        self.settings = settings
        self.pbest_least = self.pbest_most = settings.pbest

    def __getattr__(self, name: str) -> Any:
        return getattr(self.settings, name)
