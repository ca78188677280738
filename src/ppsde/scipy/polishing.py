"""SciPy's objective and constraints in the form of this library, and the polishing of a result by gradients."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..constraints import Constraint
from ..population import TOLERANCE


class Function:
    """The function with its arguments, rows (S, N) turned into SciPy's columns (N, S)."""

    def __init__(self, func: Callable[..., Any], args: tuple[Any, ...], vectorized: bool) -> None:
        self._func, self._args, self.vectorized = func, args, vectorized

    def __call__(self, x: np.ndarray) -> Any:
        return self._func(x.T if self.vectorized else x, *self._args)

    def value(self, x: np.ndarray) -> float:
        """Return the value of one point."""
        value = np.asarray(self._func(x[:, None] if self.vectorized else x, *self._args))
        if np.iscomplexobj(value):
            raise ValueError(f"the objective must be real; got complex: {value!r}")
        return float(value.reshape(()))


def in_rows(constraint: Any, k: int, vectorized: bool) -> Any:
    """Return the constraint for rows or single points, without `keep_feasible`, which SciPy's search ignores too."""
    from scipy.optimize import Bounds, LinearConstraint, NonlinearConstraint

    if isinstance(constraint, NonlinearConstraint):
        fun = _Columns(constraint.fun) if vectorized else constraint.fun
        return NonlinearConstraint(fun, constraint.lb, constraint.ub)
    if isinstance(constraint, LinearConstraint):
        return LinearConstraint(constraint.A, constraint.lb, constraint.ub)
    if isinstance(constraint, Bounds):
        return NonlinearConstraint(_itself, constraint.lb, constraint.ub)
    raise ValueError(
        f"constraint {k} must be a NonlinearConstraint, a LinearConstraint or Bounds; got {type(constraint).__name__}"
    )


class _Columns:
    """A vectorised constraint of SciPy, (N, S) to (M, S) or (S,), as one of rows (S, N) to (S, M)."""

    def __init__(self, fun: Callable[[np.ndarray], Any]) -> None:
        self._fun = fun

    def __call__(self, x: np.ndarray) -> np.ndarray:
        return np.atleast_2d(self._fun(x.T)).T


def _itself(x: np.ndarray) -> np.ndarray:
    return x


def values_at(limit: Constraint, x: np.ndarray, vectorized: bool) -> np.ndarray:
    """Return the values (k,) of a constraint at one point."""
    return np.asarray(limit.fun(x[None] if vectorized else x), float).reshape(-1)


def violation_at(limit: Constraint, x: np.ndarray, vectorized: bool) -> np.ndarray:
    """Return the violation of each component of a constraint at one point, beyond the tolerance of an equality."""
    if np.isnan(x).any():
        return np.full(1, np.inf)
    c = values_at(limit, x, vectorized)
    slack = np.where(limit.lower == limit.upper, TOLERANCE, 0.0)
    missed: np.ndarray = np.maximum(np.maximum(limit.lower - c, c - limit.upper) - slack, 0.0)
    return np.where(np.isnan(missed), np.inf, missed)


@dataclass(frozen=True)
class PolishBounds:
    """The bounds, and which variables polishing may not move: integers, and those fixed by their bounds."""

    lower: np.ndarray
    upper: np.ndarray
    held: np.ndarray
    integer: np.ndarray


def polish_result(
    result: Any,
    polish: Any,
    fun: Function,
    limits: Sequence[Constraint],
    given: list[Any],
    box: PolishBounds,
    disp: bool,
) -> None:
    """Improve a feasible result by gradients; it stays unchanged where that fails or finds nothing better."""
    calls = 0

    def counted(x: np.ndarray) -> float:
        nonlocal calls
        calls += 1
        return fun.value(x)

    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "delta_grad == 0.0")  # trust-constr, on linear functions
            warnings.filterwarnings("ignore", "Singular Jacobian")
            if callable(polish):
                better = _by_callable(polish, counted, result.x, given, box)
            else:
                better = _by_gradients(counted, result.x, limits, box, fun, disp)
            feasible = all(not violation_at(limit, better.x, fun.vectorized).any() for limit in limits)
    except _NotAResult:
        raise
    except Exception as error:  # the function failed where the search had not been: the result is still good
        result.message += f" Polishing failed: {type(error).__name__}: {error}"
        return
    finally:
        result.nfev += calls
    inside = bool(np.all((better.x >= box.lower) & (better.x <= box.upper)))
    if feasible and inside and better.fun < result.fun:
        result.x, result.fun = np.asarray(better.x, float), float(better.fun)
        if better.get("jac") is not None:
            result.jac = better.jac
        result.population[0], result.population_energies[0] = result.x, result.fun


class _NotAResult(ValueError):
    """A polishing function returned something other than an OptimizeResult."""


def _by_callable(polish: Any, fun: Callable[..., float], x: np.ndarray, given: list[Any], box: PolishBounds) -> Any:
    from scipy.optimize import Bounds, OptimizeResult

    lower, upper = np.where(box.integer, x, box.lower), np.where(box.integer, x, box.upper)
    better = polish(fun, x.copy(), bounds=Bounds(lower, upper), constraints=tuple(given))
    if not isinstance(better, OptimizeResult):
        raise _NotAResult(f"a polishing function must return an OptimizeResult; got {type(better).__name__}")
    return better


def _by_gradients(
    fun: Callable[..., float],
    x: np.ndarray,
    limits: Sequence[Constraint],
    box: PolishBounds,
    whole: Function,
    disp: bool,
) -> Any:
    """Minimise by L-BFGS-B or trust-constr over the variables that may move."""
    from scipy.optimize import Bounds, NonlinearConstraint
    from scipy.optimize import minimize as by_gradients

    free = ~box.held

    def full(part: np.ndarray) -> np.ndarray:
        point = x.copy()
        point[free] = np.clip(part, box.lower[free], box.upper[free])  # finite differences stay inside
        return point

    def limited(limit: Constraint) -> Any:
        return NonlinearConstraint(
            lambda part: values_at(limit, full(part), whole.vectorized), limit.lower, limit.upper
        )

    method = "trust-constr" if limits else "L-BFGS-B"
    if disp:
        print(f"Polishing solution with '{method}'")
    better = by_gradients(
        lambda part: fun(full(part)),
        x[free],
        method=method,
        bounds=Bounds(box.lower[free], box.upper[free], keep_feasible=True),
        constraints=[limited(limit) for limit in limits],
    )
    better.x = full(better.x)
    jac = better.get("jac")
    if not limits and jac is not None:
        better.jac = np.zeros(len(x))
        better.jac[free] = jac
    return better
