"""SciPy's constraints in the form of this library, and the polishing of a result by gradients."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..constraints import Constraint
from ..population import HUGE, TOLERANCE
from .search import Function, values_at

MARGIN = 1e-8  # SLSQP aims so far inside the limits, in units of the limit, because it may miss them by less


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
    """Improve a result by gradients: less violation first, then a smaller value; unchanged where that fails."""
    calls = 0

    def counted(x: np.ndarray) -> float:
        nonlocal calls
        calls += 1
        return fun.value(x)

    def violation(x: np.ndarray) -> float:
        return float(sum(violation_at(limit, x, fun.vectorized).sum() for limit in limits))

    def better(candidate: Any) -> bool:
        inside = bool(np.all((candidate.x >= box.lower) & (candidate.x <= box.upper)))
        return inside and (violation(candidate.x), candidate.fun) < (violation(result.x), result.fun)

    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "delta_grad == 0.0")  # trust-constr, on linear functions
            warnings.filterwarnings("ignore", "Singular Jacobian")
            warnings.filterwarnings("ignore", "Equality and inequality constraints are specified in the same element")
            warnings.filterwarnings("ignore", "Values in x were outside bounds")  # SLSQP clips them
            if callable(polish):
                candidates = [_by_callable(polish, counted, result.x, given, box)]
            else:
                candidates = _by_gradients(counted, result.x, limits, box, fun, disp, better)
            chosen = next((candidate for candidate in candidates if better(candidate)), None)
    except _NotAResult:
        raise
    except Exception as error:  # the function failed where the search had not been: the result is still good
        result.message += f" Polishing failed: {type(error).__name__}: {error}"
        return
    finally:
        result.nfev += calls
    if chosen is not None:
        result.x, result.fun = np.asarray(chosen.x, float), float(chosen.fun)
        if chosen.get("jac") is not None:
            result.jac = chosen.jac
        result.population[0] = result.x
        result.population_energies[0] = np.inf if violation(result.x) > 0 else result.fun


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


def _by_gradients(
    fun: Callable[..., float],
    x: np.ndarray,
    limits: Sequence[Constraint],
    box: PolishBounds,
    whole: Function,
    disp: bool,
    better: Callable[[Any], bool],
) -> list[Any]:
    """Minimise over the variables that may move, by L-BFGS-B, or with constraints by SLSQP and then trust-constr.

    Return what they found, the last first. Trust-constr, which is slow, runs if SLSQP has found nothing better.
    """
    from scipy.optimize import Bounds, NonlinearConstraint
    from scipy.optimize import minimize as by_gradients

    free = ~box.held

    def full(part: np.ndarray) -> np.ndarray:
        point = x.copy()
        point[free] = np.clip(part, box.lower[free], box.upper[free])  # finite differences stay inside
        return point

    def limited(limit: Constraint, margin: float) -> Any:
        def values(part: np.ndarray) -> np.ndarray:
            point = full(part)
            return values_at(limit, point[None] if whole.vectorized else point, whole.vectorized).reshape(-1)

        return NonlinearConstraint(values, *inner_limits(limit, margin))

    found: list[Any] = []
    start = fun(x)
    worst = 1e6 * max(1.0, abs(start)) if np.isfinite(start) else HUGE  # a line search can step back from it
    for method in ("SLSQP", "trust-constr") if limits else ("L-BFGS-B",):
        if disp:
            print(f"Polishing solution with '{method}'")
        end = by_gradients(
            lambda part: min(fun(full(part)), worst),
            x[free],
            method=method,
            bounds=Bounds(box.lower[free], box.upper[free], keep_feasible=True),
            constraints=[limited(limit, MARGIN if method == "SLSQP" else 0.0) for limit in limits],
            options={"ftol": 1e-10, "maxiter": 1000} if method == "SLSQP" else {},
        )
        end.x = full(end.x)
        jac = end.get("jac")
        if not limits and jac is not None:
            end.jac = np.zeros(len(x))
            end.jac[free] = jac
        found.insert(0, end)
        if better(end):
            break
    return found


def inner_limits(limit: Constraint, margin: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the limits of a constraint, moved inwards by a margin in units of each, at most a quarter of the way.

    Examples
    --------
    >>> inner_limits(Constraint(abs, np.array([-np.inf, 1.0, 2.0]), np.array([100.0, np.inf, 2.0]), "c0"), 0.1)
    (array([-inf,  1.1,  2. ]), array([90., inf,  2.]))
    """
    if margin == 0:
        return limit.lower, limit.upper
    lower, upper = np.broadcast_arrays(limit.lower, limit.upper)
    room = np.where(np.isfinite(lower) & np.isfinite(upper), (upper - lower) / 4, np.inf)

    def moved(side: np.ndarray) -> np.ndarray:
        size: np.ndarray = np.minimum(margin * np.maximum(1.0, np.abs(side)), room)
        return np.where(np.isfinite(side), size, 0.0)

    return lower + moved(lower), upper - moved(upper)
