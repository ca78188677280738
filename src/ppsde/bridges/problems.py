"""Problems converted to and from pymoo and pygmo, which are imported only when they are needed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np

from ..population import TOLERANCE
from ..problem import Problem
from ..problem.returned import row_values
from ..problem.variables import Variables, mask


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
    lower, upper = limits_of(problem)
    middle = lower / 2 + upper / 2
    _, g, h = values_of(problem, np.where(integers_of(problem), np.ceil(middle), middle)[None])
    return g.shape[1], h.shape[1]


def integers_of(problem: Problem) -> np.ndarray:
    """Return the mask (d,) of the integer variables of a problem; ValueError if others have allowed values only."""
    if problem.chosen:
        raise ValueError(f"{problem.name} has variables with allowed values, which only ppsde itself can search")
    if not (np.isfinite(problem.lower).all() and np.isfinite(problem.upper).all()):
        raise ValueError(f"{problem.name} has variables without bounds, which only ppsde itself can search")
    return mask(False if problem.integrality is None else problem.integrality, problem.dimension, "integrality")


def limits_of(problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    """Return the bounds (d,) of a problem, whole numbers where a variable is an integer."""
    variables = problem.variables
    return (problem.lower, problem.upper) if variables is None else (variables.lower, variables.upper)


def whole_or_real(lower: np.ndarray, upper: np.ndarray, integer: np.ndarray) -> Variables:
    """Return variables of which some are integers, none log-scaled."""
    return Variables(lower, upper, integer, np.zeros(len(lower), bool))


class PygmoProblem:
    """A `Problem` in the form of pygmo's user-defined problems; pygmo itself is not needed to make one.

    The fitness is the objective, then the equalities, then the inequalities, as pygmo wants them. pygmo's integer
    variables come last: `order` has the number of the problem's variable for each of pygmo's.

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
        integer = integers_of(problem)
        self._n_ineq, self._n_eq = counts_of(problem)
        self.order = np.argsort(integer, kind="stable")  # (d,)
        self._n_integers = int(integer.sum())

    def fitness(self, x: Any) -> np.ndarray:
        """Return objective, equalities and inequalities of one point."""
        return self._fitnesses(np.asarray(x, float)[None]).reshape(-1)

    def batch_fitness(self, x: Any) -> np.ndarray:
        """Return the fitnesses of several points; both are flat arrays, as in pygmo."""
        return self._fitnesses(np.asarray(x, float).reshape(-1, self.problem.dimension)).reshape(-1)

    def get_bounds(self) -> tuple[np.ndarray, np.ndarray]:
        lower, upper = limits_of(self.problem)
        return lower[self.order], upper[self.order]

    def get_nec(self) -> int:
        return self._n_eq

    def get_nic(self) -> int:
        return self._n_ineq

    def get_nix(self) -> int:
        return self._n_integers

    def get_name(self) -> str:
        return self.problem.name

    def _fitnesses(self, x: np.ndarray) -> np.ndarray:
        ours = np.empty_like(x)
        ours[:, self.order] = x
        f, g, h = values_of(self.problem, ours)
        return np.concatenate([f[:, None], h, g], axis=1)


def to_pygmo(problem: Problem) -> Any:
    """Return a `Problem` as a `pygmo.problem`, its tolerance set on the equalities; inequalities have none."""
    made = needed("pygmo", "to_pygmo").problem(PygmoProblem(problem))
    made.c_tol = [problem.tolerance] * made.get_nec() + [0.0] * made.get_nic()
    return made


class OfPygmo:
    """The function of a pygmo problem: rows in, (f, g, h) out."""

    def __init__(self, problem: Any) -> None:
        self._problem = problem

    def __call__(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        whole = x.copy()
        first = x.shape[1] - self._problem.get_nix()
        whole[:, first:] = np.round(whole[:, first:])
        if self._problem.has_batch_fitness():
            fitness = np.asarray(self._problem.batch_fitness(whole.ravel())).reshape(len(x), -1)
        else:
            fitness = np.array([self._problem.fitness(point) for point in whole])
        return parts_of_fitness(self._problem, fitness)


def parts_of_fitness(problem: Any, fitness: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return f (n,), g (n, p) and h (n, q) from pygmo's fitness vectors (n, 1 + q + p)."""
    n_eq = problem.get_nec()
    return fitness[:, 0], fitness[:, 1 + n_eq :], fitness[:, 1 : 1 + n_eq]


def from_pygmo(problem: Any, tolerance: float | None = None) -> Problem:
    """Return a pygmo problem as a `Problem`, which is evaluated by rows.

    Parameters
    ----------
    problem : pygmo.problem or user-defined problem
        With one objective and finite bounds. Its last variables may be integers.
    tolerance : float, optional
        How far an equality may be missed. The default is the smallest `c_tol` of the equalities, or 1e-4 if that is 0,
        which is what pygmo has unless it is set.
    """
    pygmo = needed("pygmo", "from_pygmo")
    if not isinstance(problem, pygmo.problem):
        try:
            problem = pygmo.problem(problem)
        except (NotImplementedError, TypeError) as error:
            raise ValueError(f"expected a pygmo problem; got {type(problem).__name__} ({error})") from None
    name = str(problem.get_name())
    check_one_objective(problem.get_nobj(), name)
    lower, upper = problem.get_bounds()
    integer = np.arange(len(lower)) >= len(lower) - problem.get_nix()
    return Problem(
        OfPygmo(problem),
        np.stack([lower, upper], axis=1),
        n_ineq=int(problem.get_nic()),
        n_eq=int(problem.get_nec()),
        vectorized=True,
        tolerance=pygmo_tolerance(problem) if tolerance is None else tolerance,
        name=name,
        integrality=integer if integer.any() else None,
    )


def pygmo_tolerance(problem: Any) -> float:
    """Return the smallest tolerance of the equalities of a pygmo problem, or ours if that is 0."""
    smallest = float(min(problem.c_tol[: problem.get_nec()], default=0.0))
    return smallest if smallest > 0 else TOLERANCE


def check_one_objective(count: int, name: str) -> None:
    """Raise ValueError unless a problem has one objective."""
    if count != 1:
        raise ValueError(f"only problems with one objective can be solved; {name} has {count}")


@dataclass(frozen=True)
class PymooSpace:
    """The variables of a pymoo problem, and the conversion of points (n, d) to those that it evaluates."""

    variables: Variables
    convert: Callable[[np.ndarray], np.ndarray]  # (n, d) -> (n, d), or (n,) dicts


def space_of(problem: Any) -> PymooSpace:
    """Return the variables of a pymoo problem; ValueError if a search cannot have them."""
    from pymoo.core.variable import Binary, Choice, Integer, Real

    if not callable(getattr(problem, "evaluate", None)) or not hasattr(problem, "n_obj"):
        raise ValueError(f"expected a pymoo problem; got {type(problem).__name__}")
    name = str(problem.name())
    check_one_objective(problem.n_obj, name)
    kinds = getattr(problem, "vars", None)
    if kinds is None:
        if problem.xl is None or problem.xu is None:
            raise ValueError(f"bounds must be given; {name} has none")
        if problem.vtype not in (None, float, int, bool):
            raise ValueError(f"variables must be float, int or bool; {name} has {problem.vtype!r}")
        whole = problem.vtype in (int, bool)
        variables = whole_or_real(problem.xl, problem.xu, np.full(len(problem.xl), whole))
        return PymooSpace(variables, lambda x: x.astype(problem.vtype) if whole else x)

    def number(kind: Any) -> Callable[[float], Any]:
        if isinstance(kind, Choice):
            return lambda value: kind.options[int(value)]
        return next(type_ for of, type_ in ((Integer, int), (Binary, bool), (Real, float)) if isinstance(kind, of))

    bounds = []
    for label, kind in kinds.items():
        if not isinstance(kind, Real | Integer | Binary | Choice):
            raise ValueError(f"variables must be Real, Integer, Binary or Choice; {name} has {kind!r} as {label!r}")
        if isinstance(kind, Choice):
            bounds.append((0, len(kind.options) - 1))
        else:
            bounds.append((0, 1) if isinstance(kind, Binary) else kind.bounds)
        if None in bounds[-1]:
            raise ValueError(f"bounds must be given; {name} has none for {label!r}")
    integer = [not isinstance(kind, Real) for kind in kinds.values()]
    names, numbers = list(kinds), [number(kind) for kind in kinds.values()]

    def dicts(x: np.ndarray) -> np.ndarray:
        rows = np.empty(len(x), object)
        for k, point in enumerate(x):
            rows[k] = {name: convert(value) for name, convert, value in zip(names, numbers, point, strict=True)}
        return rows

    table = np.array(bounds, float)
    return PymooSpace(whole_or_real(table[:, 0], table[:, 1], np.array(integer)), dicts)


class OfPymoo:
    """The function of a pymoo problem: rows in, (f, g, h) out."""

    def __init__(self, problem: Any, space: PymooSpace) -> None:
        self._problem, self._space = problem, space

    def __call__(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        whole = np.where(self._space.variables.integrality, np.round(x), x)
        out = self._problem.evaluate(
            self._space.convert(whole), return_values_of=["F", "G", "H"], return_as_dictionary=True
        )
        return out["F"][:, 0], out["G"], out["H"]


def from_pymoo(problem: Any, tolerance: float = TOLERANCE) -> Problem:
    """Return a pymoo problem as a `Problem`, which is evaluated by rows.

    Parameters
    ----------
    problem : pymoo.core.problem.Problem
        With one objective and finite bounds. Variables may be float, int or bool (`vtype`), or, as `vars`, Real,
        Integer, Binary and Choice; an option of a Choice is known by its number, from 0.
    tolerance : float
        How far an equality may be missed; in pymoo a setting of the algorithm, not of the problem.
    """
    needed("pymoo", "from_pymoo")
    space = space_of(problem)
    variables = space.variables
    return Problem(
        OfPymoo(problem, space),
        np.stack([variables.lower, variables.upper], axis=1),
        n_ineq=int(problem.n_ieq_constr),
        n_eq=int(problem.n_eq_constr),
        vectorized=True,
        tolerance=tolerance,
        name=str(problem.name()),
        integrality=variables.integrality if variables.integrality.any() else None,
    )


def to_pymoo(problem: Problem) -> Any:
    """Return a `Problem` as a pymoo problem, with `out["F"]`, `out["G"]` (<= 0) and `out["H"]` (= 0) of rows.

    If all variables are integers, its `vtype` is int. If only some are, it has `vars` named x0, x1 and so on. pymoo's
    algorithms have a tolerance for equalities of their own, 1e-4 unless set otherwise.
    """
    base = needed("pymoo.core.problem", "to_pymoo").Problem
    from pymoo.core.variable import Integer, Real

    if not isinstance(problem, Problem):
        raise ValueError(f"expected a ppsde Problem; got {type(problem).__name__}")
    integer = integers_of(problem)
    n_ineq, n_eq = counts_of(problem)
    lower, upper = limits_of(problem)
    mixed = integer.any() and not integer.all()
    names = [f"x{k}" for k in range(problem.dimension)]

    class InPymoo(base):  # type: ignore[misc, valid-type]
        def name(self) -> str:
            return problem.name

        def _evaluate(self, x: Any, out: dict[str, Any], *args: Any, **kwargs: Any) -> None:
            if mixed:
                x = [[point[name] for name in names] for point in x]
            f, out["G"], out["H"] = values_of(problem, np.asarray(x, float))
            out["F"] = f[:, None]

    common = {"n_obj": 1, "n_ieq_constr": n_ineq, "n_eq_constr": n_eq}
    if mixed:
        kinds = [
            Integer(bounds=(int(low), int(high))) if whole else Real(bounds=(low, high))
            for whole, low, high in zip(integer, lower.tolist(), upper.tolist(), strict=True)
        ]
        return InPymoo(vars=dict(zip(names, kinds, strict=True)), **common)
    return InPymoo(
        n_var=problem.dimension,
        xl=lower.copy(),
        xu=upper.copy(),
        vtype=int if integer.all() else float,
        **common,
    )
