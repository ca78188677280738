"""Problems of pymoo as ours, and ours as pymoo's."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..problem import Problem
from ..violation import TOLERANCE
from .others import needed
from .values import counts_of, values_of


class OfPymoo:
    """The function of a pymoo problem: rows in, (f, g, h) out."""

    def __init__(self, problem: Any) -> None:
        self._problem = problem

    def __call__(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        out = self._problem.evaluate(x, return_values_of=["F", "G", "H"], return_as_dictionary=True)
        return out["F"][:, 0], out["G"], out["H"]


def from_pymoo(problem: Any, tolerance: float = TOLERANCE) -> Problem:
    """A pymoo problem as a `Problem`, rows at a time.

    Parameters
    ----------
    problem : pymoo.core.problem.Problem
        With one objective, real variables and finite bounds.
    tolerance : float
        How far an equality may be missed; pymoo keeps this with its algorithms, not with its problems.
    """
    if not callable(getattr(problem, "evaluate", None)) or not hasattr(problem, "n_obj"):
        raise ValueError(f"expected a pymoo problem; got {type(problem).__name__}")
    name = str(problem.name())
    if problem.n_obj != 1:
        raise ValueError(f"only problems with one objective can be solved; {name} has {problem.n_obj}")
    if getattr(problem, "vars", None) is not None or problem.vtype not in (None, float):
        raise ValueError(
            f"only real variables can be taken over; {name} has others. Integers: state the function again "
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
    """A `Problem` as a pymoo problem, with `out["F"]`, `out["G"]` (<= 0) and `out["H"]` (= 0) of rows.

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
