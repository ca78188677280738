"""The least violating point of a run that has found none that is feasible, and trials close to it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from ..algorithm import Task
from ..arrays import Array, namespace, when
from ..population import Population

WIDEST, NARROWEST = 1, 8  # decades below the width of the box


@dataclass(frozen=True)
class Nearest:
    """A point, and by how much it is infeasible; once a point is feasible, later ones are no more looked at."""

    x: Array  # (d,)
    violation: Array

    @classmethod
    def of(cls, population: Population) -> Nearest:
        """Of a population, sorted best first."""
        return cls(population.x[0], population.violation[0])

    def among(self, *populations: Population) -> Nearest:
        """This one, or a closer one of the populations."""
        nearest = self
        for population in populations:
            nearest = when(nearest.violation > 0.0, partial(nearest._or_one_of, population), nearest)
        return nearest

    def _or_one_of(self, population: Population) -> Nearest:
        least = population.violation.argmin()
        other = Nearest(population.x[least], population.violation[least])
        return when(other.violation < self.violation, lambda: other, self)

    @property
    def is_infeasible(self) -> Array:
        return (self.violation > 0.0) & (self.violation < np.inf)

    def around(self, u: Array, task: Task) -> Array:
        """Points (n, d) around it, made of uniform numbers; the first of them far, each one closer than the last.

        How far is enough depends on how steep the constraints are, which nobody knows: so every distance has its turn.
        """
        xp = namespace(u)
        n = u.shape[0]
        decades = WIDEST + (NARROWEST - WIDEST) * xp.arange(n) / n
        step = (task.upper - task.lower) * 10.0 ** -decades[:, None]
        return xp.clip(self.x + step * (2.0 * u - 1.0), task.lower, task.upper)
