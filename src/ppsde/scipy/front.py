"""`differential_evolution` with the arguments and the result of SciPy's, done by the search of this library."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from inspect import signature
from typing import Any

import numpy as np

from ..checks import check_int
from ..constraints import as_list, constraints_of
from ..engines.ending import CONVERGED as METHOD_CONVERGED
from ..engines.ending import STOPPED
from ..minimize import minimize
from ..population import Population
from ..problem import box
from ..variables import mask
from .polishing import Function, PolishBounds, in_rows, polish_result, violation_at

CONVERGED = "Optimization terminated successfully."
SPENT = "Maximum number of iterations has been exceeded."
BY_CALLBACK = "callback function requested stop early"
STRATEGIES = tuple(
    base + crossing
    for crossing in ("bin", "exp")
    for base in ("best1", "rand1", "randtobest1", "currenttobest1", "best2", "rand2")
)
UPDATINGS = ("immediate", "deferred")
INITS = ("latinhypercube", "sobol", "halton", "random")
SMALLEST_POPULATION = 8  # of the search; SciPy's is 5


def differential_evolution(
    func: Callable[..., Any],
    bounds: Any,
    args: tuple[Any, ...] = (),
    strategy: Any = "best1bin",
    maxiter: int | None = 1000,
    popsize: int = 15,
    tol: float = 0.01,
    mutation: Any = (0.5, 1),
    recombination: float = 0.7,
    rng: Any = None,
    callback: Callable[..., Any] | None = None,
    disp: bool = False,
    polish: Any = True,
    init: Any = "latinhypercube",
    atol: float = 0,
    updating: str = "immediate",
    workers: Any = 1,
    constraints: Any = (),
    x0: Any = None,
    *,
    integrality: Any = None,
    vectorized: bool = False,
    seed: Any = None,
) -> Any:
    """Minimise a function under bounds and constraints, called as `scipy.optimize.differential_evolution` is.

    Parameters
    ----------
    func : callable
        `func(x, *args)` returns a number. With `vectorized`, x has shape (N, S) and the values (S,), as in SciPy.
    bounds : scipy Bounds or pairs (low, high)
        A lower bound above its upper one is an error here; SciPy swaps them.
    maxiter, popsize : int
        Together the budget: (maxiter + 1) * popsize * N evaluations without those of polishing, where N counts the
        variables that are not fixed by their bounds. The search has a population size of its own.
    tol, atol : float
        The run ends early when all of the population is feasible and the standard deviation of its values is at most
        `atol + tol * abs(mean)`, or when the method itself has converged (see `minimize`); never if both are 0.
    rng, seed : None, int, SeedSequence, Generator or RandomState
    callback : callable
        `callback(intermediate_result)` or `callback(x, convergence)`; True or `StopIteration` ends the run.
    disp : bool
        Whether to print the best value of each generation.
    polish : bool or callable
        Whether to improve a feasible result by `scipy.optimize.minimize` (L-BFGS-B, or trust-constr where there are
        constraints), integers fixed. The polished point replaces x only if it is feasible and better. A callable is
        used in its place.
    init : str or array (S, N)
        An array is the first population. The names of samplings have no effect: the first population is uniform.
    workers : int or callable like map
        If a worker dies, only the evaluation that killed it is lost.
    constraints : NonlinearConstraint, LinearConstraint, Bounds, or a sequence of these
        `lb == ub` is an equality, met within 1e-4; SciPy has no tolerance. NaN is never feasible.
    x0 : array (N,)
        A point of the first population.
    integrality : bool or array (N,)
    strategy, mutation, recombination, updating
        Checked, but without effect: the search adapts these by itself.

    Returns
    -------
    scipy.optimize.OptimizeResult
        With `x`, `fun`, `nfev` (every evaluation, also of vectorised functions), `nit`, `success`, `message`,
        `population`, `population_energies` (inf where not feasible), `jac` if polishing helped, and with constraints
        `constr`, `constr_violation` and `maxcv`. `success` is True if x is feasible and no callback stopped the run;
        the message says whether it converged. Points where the function failed are counted in `n_failed`.

    Examples
    --------
    >>> result = differential_evolution(lambda x: (x[0] - 1) ** 2 + x[1] ** 2, [(-2, 2), (-2, 2)], rng=1)
    >>> print(result.success, result.message, abs(result.fun) < 1e-8)
    True Optimization terminated successfully. True
    """
    from scipy.optimize import OptimizeResult

    if not callable(func):
        raise ValueError(f"func must be callable; got {type(func).__name__}")
    lower, upper = box(bounds)
    check_without_effect(strategy, mutation, recombination, updating)
    tol, atol = at_least_0(tol, "tol"), at_least_0(atol, "atol")
    rng = seed_of(rng, seed)
    if vectorized and workers != 1:
        warnings.warn("vectorized is ignored, because workers were given", UserWarning, stacklevel=2)
        vectorized = False
    integer = mask(False if integrality is None else integrality, len(lower), "integrality")
    first, size = first_points(init, x0, lower, upper, integer, popsize)
    budget = ((1000 if maxiter is None else check_int("maxiter", maxiter, 0)) + 1) * size

    fun = Function(func, tuple(args), bool(vectorized))
    given = as_list(constraints)
    rows = [in_rows(constraint, k, bool(vectorized)) for k, constraint in enumerate(given)]
    limits = constraints_of(rows, len(lower))
    after_generation = Callback(callback, bool(disp), tol, atol)
    found = minimize(
        fun,
        np.stack([lower, upper], axis=1),
        constraints=rows,
        max_evaluations=budget,
        rng=rng,
        vectorized=bool(vectorized),
        callback=after_generation,
        x0=first,
        workers=workers,
        integrality=integer,
        options=None if isinstance(init, str) else {"population_size": max(SMALLEST_POPULATION, size)},
        tol=None if tol or atol else 0.0,
    )

    message = message_of(found.status, found.message, after_generation.converged)
    success = bool(found.feasible) and message in (CONVERGED, SPENT)
    result = OptimizeResult(
        x=found.x, fun=found.fun, nfev=found.nfev, nit=found.nit, message=message, success=success,
        n_failed=found.n_failed, **last_population(found.population, found.x, found.fun, bool(found.feasible)),
    )  # fmt: skip
    if polish and found.feasible and not integer.all():
        held = integer | (lower == upper)
        polish_result(result, polish, fun, limits, given, PolishBounds(lower, upper, held, integer), bool(disp))
    if given:
        result.constr = [violation_at(limit, result.x, bool(vectorized)) for limit in limits]
        result.constr_violation = result.maxcv = float(np.max(np.concatenate(result.constr)))
        if not found.feasible and not np.isnan(found.x).any():
            result.message = f"The solution does not satisfy the constraints, MAXCV = {result.maxcv}"
    return result


def check_without_effect(strategy: Any, mutation: Any, recombination: Any, updating: Any) -> None:
    """Raise ValueError for arguments that SciPy would refuse, though they have no effect on this search."""
    if not callable(strategy) and strategy not in STRATEGIES:
        raise ValueError(f"strategy must be a callable or one of {', '.join(STRATEGIES)}; got {strategy!r}")
    factors = np.atleast_1d(np.asarray(mutation, float))
    if factors.size > 2 or not np.all((factors >= 0) & (factors < 2)):
        raise ValueError(f"mutation must be a number in [0, 2) or a pair of these; got {mutation!r}")
    if not isinstance(recombination, int | float | np.number) or not 0 <= recombination <= 1:
        raise ValueError(f"recombination must be a number in [0, 1]; got {recombination!r}")
    if updating not in UPDATINGS:
        raise ValueError(f"updating must be 'immediate' or 'deferred'; got {updating!r}")


def at_least_0(value: Any, name: str) -> float:
    """Return the value; ValueError unless it is a finite number >= 0."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not 0 <= value < np.inf:
        raise ValueError(f"{name} must be a number >= 0; got {value!r}")
    return float(value)


def seed_of(rng: Any, seed: Any) -> Any:
    """Return the argument `rng` of `minimize`, passed here under either of its names."""
    if rng is not None and seed is not None:
        raise TypeError("differential_evolution() got multiple values for argument 'rng': seed is the same")
    source = seed if rng is None else rng
    if isinstance(source, np.random.RandomState):
        return int(source.randint(2**31))
    return int(source) if isinstance(source, np.integer) else source


def first_points(
    init: Any, x0: Any, lower: np.ndarray, upper: np.ndarray, integer: np.ndarray, popsize: Any
) -> tuple[np.ndarray | None, int]:
    """Return the points that the first population must hold, and the size that SciPy's population would have."""
    d = len(lower)
    if isinstance(init, str):
        if init not in INITS:
            raise ValueError(f"init must be one of {', '.join(INITS)} or an array (S, {d}); got {init!r}")
        points = np.empty((0, d))
        size = max(5, check_int("popsize", popsize, 1) * max(1, int((lower < upper).sum())))
    else:
        points = np.asarray(init, float)
        if points.ndim != 2 or len(points) < 5 or points.shape[1] != d or not np.isfinite(points).all():
            raise ValueError(f"init must be a finite array (S, {d}) with S > 4; got shape {points.shape}")
        points, size = np.clip(points, lower, upper), len(points)
    if x0 is not None:
        start = np.asarray(x0, float)
        if start.shape != (d,) or not np.all((start >= lower) & (start <= upper)):
            raise ValueError(f"x0 must be a point ({d},) inside the bounds; got {x0!r}")
        points = np.concatenate([start[None], points[1:]])
    if not len(points):
        return None, size
    whole = np.clip(np.round(points), np.ceil(lower), np.floor(upper))
    return np.where(integer, whole, points), size


class Callback:
    """Calls the user's callback after each generation, prints the display, and ends a run that has converged."""

    def __init__(self, callback: Callable[..., Any] | None, disp: bool, tol: float, atol: float) -> None:
        if callback is not None and not callable(callback):
            raise ValueError(f"callback must be callable; got {type(callback).__name__}")
        self._callback, self._disp, self._tol, self._atol = callback, disp, tol, atol
        self.converged = False

    def __call__(self, stand: Any) -> None:
        if stand.nit == 0 or stand.population is None:  # SciPy calls it first after a generation
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
        intermediate = OptimizeResult(
            x=stand.x, fun=stand.fun, nfev=stand.nfev, nit=stand.nit, message="in progress", success=stand.feasible,
            convergence=convergence, **last_population(stand.population, stand.x, stand.fun, stand.feasible),
        )  # fmt: skip
        return bool(self._callback(intermediate_result=intermediate))


def message_of(status: int, message: str, converged: bool) -> str:
    """Return SciPy's message for a run that ended with this status and message of `minimize`."""
    if converged or status == METHOD_CONVERGED:
        return CONVERGED
    if status > STOPPED:  # interrupted, or nothing but failures
        return message
    return BY_CALLBACK if status == STOPPED else SPENT


def last_population(
    population: Population | None, x: np.ndarray, fun: float, feasible: bool
) -> dict[str, np.ndarray | None]:
    """Return points and energies, best first; the best point of the run is first, if need be in place of the worst."""
    if population is None:
        return {"population": None, "population_energies": None}
    ordered = population.take(population.valid).sorted()
    energies = np.where(ordered.feasible, ordered.f, np.inf)
    if np.isnan(x).any():  # nothing but failures
        return {"population": ordered.x, "population_energies": energies}
    same = np.flatnonzero((ordered.x == x).all(axis=1))
    others = np.delete(np.arange(ordered.size), same[0] if len(same) else -1)
    return {
        "population": np.concatenate([x[None], ordered.x[others]]),
        "population_energies": np.concatenate([[fun if feasible else np.inf], energies[others]]),
    }
