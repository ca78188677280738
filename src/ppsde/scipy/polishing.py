"""SciPy's constraints in the form of this library, and the polishing of a result by gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..population import HUGE, TOLERANCE
from ..problem.constraints import Constraint
from .search import Function, values_at


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


def violation_at(limit: Constraint, x: np.ndarray, vectorized: bool) -> np.ndarray:
    """Return the violation of each component of a constraint at one point, beyond the tolerance of an equality."""
    if np.isnan(x).any():
        return np.full(1, np.inf)
    c = values_at(limit, x[None] if vectorized else x, vectorized).reshape(-1)
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
    """Improve a result by L-BFGS-B or by the user's function; unchanged where that fails."""
    calls = 0

    def counted(x: np.ndarray) -> float:
        nonlocal calls
        calls += 1
        return fun.value(x)

    try:
        if callable(polish):
            candidate = _by_callable(polish, counted, result.x, given, box)
        else:
            candidate = _by_gradients(counted, result.x, box, disp)
        take_if_better(result, candidate, fun, limits, box)
    except _NotAResult:
        raise
    except Exception as error:  # the function failed where the search had not been: the result is still good
        result.message += f" Polishing failed: {type(error).__name__}: {error}"
    finally:
        result.nfev += calls


def take_if_better(result: Any, candidate: Any, fun: Function, limits: Sequence[Constraint], box: PolishBounds) -> None:
    """Put x, fun and jac of a candidate into the result if it violates less, or as little with a smaller value."""

    def violation(x: np.ndarray) -> float:
        return float(sum(violation_at(limit, x, fun.vectorized).sum() for limit in limits))

    outside = violation(candidate.x)
    inside = bool(np.all((candidate.x >= box.lower) & (candidate.x <= box.upper)))
    if not inside or (outside, candidate.fun) >= (violation(result.x), result.fun):
        return
    result.x, result.fun = np.asarray(candidate.x, float), float(candidate.fun)
    if candidate.get("jac") is not None:
        result.jac = candidate.jac
    result.population[0] = result.x
    result.population_energies[0] = np.inf if outside > 0 else result.fun


class _NotAResult(ValueError):
    """A polishing function returned something other than an OptimizeResult."""


def _by_callable(polish: Any, fun: Callable[..., float], x: np.ndarray, given: list[Any], box: PolishBounds) -> Any:
    from scipy.optimize import Bounds, OptimizeResult

    lower, upper = np.where(box.integer, x, box.lower), np.where(box.integer, x, box.upper)
    better = polish(fun, x.copy(), bounds=Bounds(lower, upper), constraints=tuple(given))
    if not isinstance(better, OptimizeResult):
        raise _NotAResult(
            "The result from a user defined polishing function should return an OptimizeResult; "
            f"got {type(better).__name__}"
        )
    return better


def _by_gradients(fun: Callable[..., float], x: np.ndarray, box: PolishBounds, disp: bool) -> Any:
    """Minimise over the variables that may move, by L-BFGS-B."""
    from scipy.optimize import Bounds
    from scipy.optimize import minimize as by_gradients

    free = ~box.held

    def full(part: np.ndarray) -> np.ndarray:
        point = x.copy()
        point[free] = np.clip(part, box.lower[free], box.upper[free])  # finite differences stay inside
        return point

    start = fun(x)
    worst = 1e6 * max(1.0, abs(start)) if np.isfinite(start) else HUGE  # a line search can step back from it
    if disp:
        print("Polishing solution with 'L-BFGS-B'")
    end = by_gradients(
        lambda part: min(fun(full(part)), worst),
        x[free],
        method="L-BFGS-B",
        bounds=Bounds(box.lower[free], box.upper[free], keep_feasible=True),
    )
    end.x = full(end.x)
    jac = end.jac
    end.jac = np.zeros(len(x))
    end.jac[free] = jac
    return end
