"""What literal versions of differential evolution share: a population of single points, one trial per member.

Subclasses say how parameters and mutants are made and what is learned. The draws come from a stream in the order of the
fast versions. Comparison is by the feasibility rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .literal_run import LiteralRun, Vector
from .single_points import in_order, not_worse


class ReferenceDE(LiteralRun):
    def __init__(self, settings: Any, *args: Any) -> None:
        super().__init__(settings, *args)
        self.NP: int = settings.population_size
        self.G = 0

    def start(self, rng: Any) -> None:
        self.population = self.points_anywhere(self.NP, rng)
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
        return in_order(self.population)[0].x


def binomial(v: Vector, x: Vector, CR: float, u: Sequence[float], j_rand: int) -> Vector:
    """A component of the mutant where u <= CR, and one for certain."""
    return [v[j] if u[j] <= CR or j == j_rand else x[j] for j in range(len(x))]
