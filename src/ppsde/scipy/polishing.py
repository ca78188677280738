"""Polishing: a feasible result improved by a method that needs no population."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..constraints import Limits
from .constraints import values_at, violation_at
from .function import Function


@dataclass(frozen=True)
class Box:
    """The bounds, and which variables polishing may not move: integers, and those fixed by their bounds."""

    lower: np.ndarray
    upper: np.ndarray
    held: np.ndarray
    integer: np.ndarray


def polish_result(
    result: Any, polish: Any, fun: Function, limits: Sequence[Limits], given: list[Any], box: Box, disp: bool
) -> None:
    """Improve a feasible result by gradients; it stays as it is where that fails, or gives nothing better."""
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
    """A polishing function gave something else than an OptimizeResult."""


def _by_callable(polish: Any, fun: Callable[..., float], x: np.ndarray, given: list[Any], box: Box) -> Any:
    from scipy.optimize import Bounds, OptimizeResult

    lower, upper = np.where(box.integer, x, box.lower), np.where(box.integer, x, box.upper)
    better = polish(fun, x.copy(), bounds=Bounds(lower, upper), constraints=tuple(given))
    if not isinstance(better, OptimizeResult):
        raise _NotAResult(f"a polishing function must return an OptimizeResult; got {type(better).__name__}")
    return better


def _by_gradients(
    fun: Callable[..., float], x: np.ndarray, limits: Sequence[Limits], box: Box, whole: Function, disp: bool
) -> Any:
    """L-BFGS-B or trust-constr over the variables that may move."""
    from scipy.optimize import Bounds, NonlinearConstraint
    from scipy.optimize import minimize as by_gradients

    free = ~box.held

    def full(part: np.ndarray) -> np.ndarray:
        point = x.copy()
        point[free] = np.clip(part, box.lower[free], box.upper[free])  # finite differences stay inside
        return point

    def limited(limit: Limits) -> Any:
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
