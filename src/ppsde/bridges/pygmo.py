"""Our problems as pygmo's."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..problem import Problem
from .others import needed
from .values import counts_of, values_of


class PygmoProblem:
    """A `Problem` in the form of pygmo's user-defined problems; pygmo itself is not needed to make one.

    The fitness is the objective, then the equalities, then the inequalities, as pygmo wants them.

    Examples
    --------
    >>> disc = Problem(lambda x: (x[0] + x[1], [x[0] ** 2 + x[1] ** 2 - 1], []), [(-2, 2), (-2, 2)], name="disc")
    >>> there = PygmoProblem(disc)
    >>> there.fitness([0.0, 1.0]), there.get_nec(), there.get_nic()
    (array([1., 0.]), 0, 1)
    """

    def __init__(self, problem: Problem) -> None:
        if not isinstance(problem, Problem):
            raise ValueError(f"expected a ppsde Problem; got {type(problem).__name__}")
        self.problem = problem
        self._n_ineq, self._n_eq = counts_of(problem)

    def fitness(self, x: Any) -> np.ndarray:
        """Objective, equalities and inequalities of one point."""
        return self._fitnesses(np.asarray(x, float)[None])[0]

    def batch_fitness(self, x: Any) -> np.ndarray:
        """The fitnesses of several points, all of them in one flat array as pygmo passes them."""
        return self._fitnesses(np.asarray(x, float).reshape(-1, self.problem.dimension)).reshape(-1)

    def get_bounds(self) -> tuple[np.ndarray, np.ndarray]:
        return self.problem.lower.copy(), self.problem.upper.copy()

    def get_nec(self) -> int:
        return self._n_eq

    def get_nic(self) -> int:
        return self._n_ineq

    def get_name(self) -> str:
        return self.problem.name

    def _fitnesses(self, x: np.ndarray) -> np.ndarray:
        f, g, h = values_of(self.problem, x)
        return np.concatenate([f[:, None], h, g], axis=1)


def to_pygmo(problem: Problem) -> Any:
    """A `Problem` as a `pygmo.problem`, its tolerance set on the equalities; inequalities have none, as here."""
    made = needed("pygmo", "to_pygmo").problem(PygmoProblem(problem))
    made.c_tol = [problem.tolerance] * made.get_nec() + [0.0] * made.get_nic()
    return made
