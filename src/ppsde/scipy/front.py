"""The call itself, by the search of this library."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ..bounds import box
from ..constraints import as_list, limits_of
from ..minimize import minimize
from ..variables import mask
from .arguments import at_least_0, check_without_effect, count, seed_of
from .callback import Callback
from .constraints import in_rows, violation_at
from .first_points import SMALLEST_POPULATION, first_points
from .function import Function
from .last_population import last_population
from .messages import CONVERGED, SPENT, message_of
from .polishing import Box, polish_result


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
        `func(x, *args)` gives a number. With `vectorized`, x has shape (N, S) and the values (S,), as in SciPy.
    bounds : scipy Bounds or pairs (low, high)
        A lower bound above its upper one is an error here; SciPy swaps them.
    maxiter, popsize : int
        Together the budget: (maxiter + 1) * popsize * N evaluations without those of polishing, where N counts the
        variables that are not fixed by their bounds. The search has a population size of its own.
    tol, atol : float
        The run ends early when all of the population is feasible and the standard deviation of its values is at most
        `atol + tol * abs(mean)`.
    rng, seed : None, int, SeedSequence, Generator or RandomState
    callback : callable
        `callback(intermediate_result)` or `callback(x, convergence)`; True or `StopIteration` ends the run.
    disp : bool
        Whether to print the best value of each generation.
    polish : bool or callable
        Whether to improve a feasible result by `scipy.optimize.minimize` (L-BFGS-B, or trust-constr where there are
        constraints), integers held fast. What that gives is taken only if it is feasible and better. A callable is
        used in its place.
    init : str or array (S, N)
        An array is the first population. The names of samplings have no effect: the first population is uniform.
    workers : int or callable like map
        A worker that dies costs the evaluation that killed it, and no more.
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
    budget = ((1000 if maxiter is None else count(maxiter, 0, "maxiter")) + 1) * size

    fun = Function(func, tuple(args), bool(vectorized))
    given = as_list(constraints)
    rows = [in_rows(constraint, k, bool(vectorized)) for k, constraint in enumerate(given)]
    limits = limits_of(rows, len(lower))
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
    )

    message = message_of(found.status, found.message, after_generation.converged)
    success = bool(found.feasible) and message in (CONVERGED, SPENT)
    result = OptimizeResult(
        x=found.x, fun=found.fun, nfev=found.nfev, nit=found.nit, message=message, success=success,
        n_failed=found.n_failed, **last_population(found.population, found.x, found.fun, bool(found.feasible)),
    )  # fmt: skip
    if polish and found.feasible and not integer.all():
        held = integer | (lower == upper)
        polish_result(result, polish, fun, limits, given, Box(lower, upper, held, integer), bool(disp))
    if given:
        result.constr = [violation_at(limit, result.x, bool(vectorized)) for limit in limits]
        result.constr_violation = result.maxcv = float(np.max(np.concatenate(result.constr)))
        if not found.feasible and not np.isnan(found.x).any():
            result.message = f"The solution does not satisfy the constraints, MAXCV = {result.maxcv}"
    return result
