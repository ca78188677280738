"""The end of a generation as SciPy has it."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any

import numpy as np

from .last_population import last_population


class Callback:
    """What happens after a generation: the user's callback, the display, and the end where the run has converged."""

    def __init__(self, callback: Callable[..., Any] | None, disp: bool, tol: float, atol: float) -> None:
        if callback is not None and not callable(callback):
            raise ValueError(f"callback must be callable; got {type(callback).__name__}")
        self._callback, self._disp, self._tol, self._atol = callback, disp, tol, atol
        self.converged = False

    def __call__(self, stand: Any) -> None:
        if stand.nit == 0 or stand.population is None:  # SciPy's first word is after a generation
            return
        f = np.where(stand.population.feasible, stand.population.f, np.inf)
        mean, deviation = (float(np.mean(f)), float(np.std(f))) if np.isfinite(f).all() else (np.inf, np.inf)
        if self._disp:
            print(f"differential_evolution step {stand.nit}: f(x)= {stand.fun}")
        if self._callback is not None and self._wants_to_stop(stand, mean, deviation):
            raise StopIteration
        if deviation <= self._atol + self._tol * abs(mean) < np.inf:
            self.converged = True
            raise StopIteration

    def _wants_to_stop(self, stand: Any, mean: float, deviation: float) -> bool:
        from scipy.optimize import OptimizeResult

        assert self._callback is not None
        smallest = float(np.finfo(float).eps)
        spread = deviation / (abs(mean) + smallest) if deviation < np.inf else np.inf
        convergence = self._tol / (spread + smallest)
        if set(signature(self._callback).parameters) != {"intermediate_result"}:
            return bool(self._callback(stand.x.copy(), convergence=convergence))
        told = OptimizeResult(
            x=stand.x, fun=stand.fun, nfev=stand.nfev, nit=stand.nit, message="in progress", success=stand.feasible,
            convergence=convergence, **last_population(stand.population, stand.x, stand.fun, stand.feasible),
        )  # fmt: skip
        return bool(self._callback(intermediate_result=told))
