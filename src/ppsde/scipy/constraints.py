"""SciPy's constraints as this library takes them, and how one point stands with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..constraints import Limits
from ..violation import TOLERANCE


def in_rows(constraint: Any, k: int, vectorized: bool) -> Any:
    """The constraint for rows, or for single points; without `keep_feasible`, which SciPy's own search ignores too."""
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


def values_at(limit: Limits, x: np.ndarray, vectorized: bool) -> np.ndarray:
    """The values (k,) of a constraint at one point."""
    return np.asarray(limit.fun(x[None] if vectorized else x), float).reshape(-1)


def violation_at(limit: Limits, x: np.ndarray, vectorized: bool) -> np.ndarray:
    """How far each component of a constraint is missed at one point, beyond the tolerance if it is an equality."""
    if np.isnan(x).any():
        return np.full(1, np.inf)
    c = values_at(limit, x, vectorized)
    slack = np.where(limit.lower == limit.upper, TOLERANCE, 0.0)
    missed: np.ndarray = np.maximum(np.maximum(limit.lower - c, c - limit.upper) - slack, 0.0)
    return np.where(np.isnan(missed), np.inf, missed)
