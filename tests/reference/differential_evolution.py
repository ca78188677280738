"""What literal versions of differential evolution share: a population of single points, one trial per member.

Subclasses say how parameters and mutants are made and what is learned. The draws come from a stream in the order of the
fast versions. Comparison is by the feasibility rule.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .single_points import Evaluate, Judge, Point, anywhere, not_worse

Vector = list[float]


class ReferenceDE:
    """One run. `settings` is any object with the settings of the algorithm by their names."""

    def __init__(
        self,
        settings: Any,
        evaluate: Evaluate,
        lower: Sequence[float],
        upper: Sequence[float],
        max_evaluations: int,
        tolerance: float,
    ) -> None:
        self.settings = settings
        self.judge = Judge(evaluate, max_evaluations, tolerance)
        self.max_evaluations = max_evaluations
        self.lower, self.upper = list(lower), list(upper)
        self.d = len(self.lower)
        self.NP: int = settings.population_size
        self.G = 0
        self.population: list[Point] = []

    def start(self, rng: Any) -> None:
        u = rng.uniform(self.NP, self.d)
        self.population = [self.judge(anywhere(u[i], self.lower, self.upper)) for i in range(self.NP)]
        self.begin(rng)

    def begin(self, rng: Any) -> None:
        """What else there is at the start."""

    def generation(self, rng: Any) -> None:
        trials = [self.judge(x) for x in self.trials(rng)]
        won = [not_worse(trials[i], self.population[i]) for i in range(self.NP)]
        self.population = [trials[i] if won[i] else self.population[i] for i in range(self.NP)]
        self.learn(won)
        self.G += 1

    def trials(self, rng: Any) -> list[Vector]:
        raise NotImplementedError

    def learn(self, won: list[bool]) -> None:
        raise NotImplementedError

    def best(self) -> Vector:
        """The first of the best."""
        return min(self.population, key=lambda p: (p.phi, p.f)).x

    def reflected(self, v: Vector) -> Vector:
        result = []
        for j in range(self.d):
            value = v[j]
            while not self.lower[j] <= value <= self.upper[j]:
                value = 2 * self.lower[j] - value if value < self.lower[j] else 2 * self.upper[j] - value
            result.append(value)
        return result

    def clamped(self, v: Vector) -> Vector:
        return [min(max(v[j], self.lower[j]), self.upper[j]) for j in range(self.d)]

    def halved(self, v: Vector, parent: Vector) -> Vector:
        def one(j: int) -> float:
            if v[j] < self.lower[j]:
                return (self.lower[j] + parent[j]) / 2
            return (self.upper[j] + parent[j]) / 2 if v[j] > self.upper[j] else v[j]

        return [one(j) for j in range(self.d)]

    def resampled(self, v: Vector, u: Sequence[float]) -> Vector:
        anew = anywhere(u, self.lower, self.upper)
        return [v[j] if self.lower[j] <= v[j] <= self.upper[j] else anew[j] for j in range(self.d)]

    def crossed(self, v: Vector, x: Vector, CR: float, u: Sequence[float], u_kept: float) -> Vector:
        """Binomial: a component of the mutant where u <= CR, and one for certain."""
        kept = math.floor(u_kept * self.d)
        return [v[j] if float(u[j]) <= CR or j == kept else x[j] for j in range(self.d)]
