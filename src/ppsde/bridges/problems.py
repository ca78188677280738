"""Problems converted to and from pymoo and pygmo, which are imported only when they are needed."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np

from .population import TOLERANCE
from .problem import Problem, row_values


def needed(module: str, by: str) -> ModuleType:
    """Return the module; ImportError that says which function needs it and how to install it."""
    library = module.partition(".")[0]
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != library:
            raise
        raise ImportError(f"{by} needs {library}; install it with: pip install {library}") from None


def values_of(problem: Problem, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return f (n,), g (n, p), h (n, q) of the rows of x. Errors of the function pass through."""
    return row_values(problem.evaluate(x), len(x))


def counts_of(problem: Problem) -> tuple[int, int]:
    """Return the numbers of inequalities and equalities; if not stated, from an evaluation in the middle of the box."""
    if problem.n_ineq is not None and problem.n_eq is not None:
        return int(problem.n_ineq), int(problem.n_eq)
    _, g, h = values_of(problem, (problem.lower / 2 + problem.upper / 2)[None])
    return g.shape[1], h.shape[1]


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
        """Return objective, equalities and inequalities of one point."""
        return self._fitnesses(np.asarray(x, float)[None]).reshape(-1)

    def batch_fitness(self, x: Any) -> np.ndarray:
        """Return the fitnesses of several points; both are flat arrays, as in pygmo."""
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
    """Return a `Problem` as a `pygmo.problem`, its tolerance set on the equalities; inequalities have none."""
    made = needed("pygmo", "to_pygmo").problem(PygmoProblem(problem))
    made.c_tol = [problem.tolerance] * made.get_nec() + [0.0] * made.get_nic()
    return made


class OfPymoo:
    """The function of a pymoo problem: rows in, (f, g, h) out."""

    def __init__(self, problem: Any) -> None:
        self._problem = problem

    def __call__(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        out = self._problem.evaluate(x, return_values_of=["F", "G", "H"], return_as_dictionary=True)
        return out["F"][:, 0], out["G"], out["H"]


def from_pymoo(problem: Any, tolerance: float = TOLERANCE) -> Problem:
    """Return a pymoo problem as a `Problem`, which is evaluated by rows.

    Parameters
    ----------
    problem : pymoo.core.problem.Problem
        With one objective, real variables and finite bounds.
    tolerance : float
        How far an equality may be missed; in pymoo a setting of the algorithm, not of the problem.
    """
    if not callable(getattr(problem, "evaluate", None)) or not hasattr(problem, "n_obj"):
        raise ValueError(f"expected a pymoo problem; got {type(problem).__name__}")
    name = str(problem.name())
    if problem.n_obj != 1:
        raise ValueError(f"only problems with one objective can be solved; {name} has {problem.n_obj}")
    if getattr(problem, "vars", None) is not None or problem.vtype not in (None, float):
        raise ValueError(
            f"only real variables can be converted; {name} has others. Integers: define the function again "
            "and give `integrality` to minimize"
        )
    if problem.xl is None or problem.xu is None:
        raise ValueError(f"bounds must be given; {name} has none")
    return Problem(
        OfPymoo(problem),
        np.stack([problem.xl, problem.xu], axis=1),
        n_ineq=int(problem.n_ieq_constr),
        n_eq=int(problem.n_eq_constr),
        vectorized=True,
        tolerance=tolerance,
        name=name,
    )


def to_pymoo(problem: Problem) -> Any:
    """Return a `Problem` as a pymoo problem, with `out["F"]`, `out["G"]` (<= 0) and `out["H"]` (= 0) of rows.

    pymoo's algorithms have a tolerance for equalities of their own, 1e-4 unless set otherwise.
    """
    base = needed("pymoo.core.problem", "to_pymoo").Problem
    n_ineq, n_eq = counts_of(problem)

    class InPymoo(base):  # type: ignore[misc, valid-type]
        def name(self) -> str:
            return problem.name

        def _evaluate(self, x: np.ndarray, out: dict[str, Any], *args: Any, **kwargs: Any) -> None:
            f, out["G"], out["H"] = values_of(problem, np.asarray(x, float))
            out["F"] = f[:, None]

    return InPymoo(
        n_var=problem.dimension,
        n_obj=1,
        n_ieq_constr=n_ineq,
        n_eq_constr=n_eq,
        xl=problem.lower.copy(),
        xu=problem.upper.copy(),
        vtype=float,
    )
