"""The SciPy-like front: one call that searches and gives a result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .constraints import Combined, limits_of
from .evaluation.in_process import InProcess
from .optimizer import start_run
from .problem import Problem
from .violation import TOLERANCE, checked_tolerance


def minimize(
    fun: Callable[..., Any] | Problem,
    bounds: Any = None,
    *,
    constraints: Any = (),
    method: str = "pps-de",
    max_evaluations: int | None = None,
    rng: Any = None,
    vectorized: bool = False,
    callback: Callable[[Any], Any] | None = None,
    x0: Any = None,
    tolerance: float = TOLERANCE,
    options: dict[str, Any] | None = None,
    progress: bool = False,
) -> Any:
    """Minimise a black box under constraints.

    Parameters
    ----------
    fun : callable or Problem
        `fun(x)` returns the objective, or `(f, g, h)`: objective, inequalities `g <= 0` and equalities `h = 0`
        from one call. A `Problem` brings its own bounds, constraints and tolerance.
    bounds : scipy Bounds, sequence of pairs (low, high), or two arrays
    constraints : scipy NonlinearConstraint, LinearConstraint, dict, or a sequence of these
        Two-sided limits and `lb == ub` (an equality) are fine. Each callable is called once per point.
    method : str
        One of `ppsde.ALGORITHMS`.
    max_evaluations : int, optional
        The budget, met exactly; 20000 times the number of variables if not given.
    rng : None, int, SeedSequence or Generator
        The same seed gives the same bits.
    vectorized : bool
        Whether `fun` (and every constraint) takes points as rows (n, d) and returns (n,) or (n, k) arrays.
    callback : callable, optional
        Called after each generation with the result so far; raising `StopIteration` ends the run.
    x0 : array (d,) or (k, d), optional
        Points the first population must hold.
    tolerance : float
        How far an equality may be missed: feasible means `|h| <= tolerance`.
    options : dict, optional
        Settings of the method, by name.
    progress : bool
        Whether to show a live display on standard error.

    Returns
    -------
    scipy.optimize.OptimizeResult
        With `x`, `fun`, `success` (only if feasible), `status`, `message`, `nfev`, `nit`, `feasible`, `violation`,
        `maxcv`, `constr_violation` (by name), `x_feasible` (None if none was found), `x_least_violation`,
        `n_failed`, `failures`, `history` (columns along the run), `population` (the last one) and `original` (what
        the method's original program would report, for comparing with published tables).

    Examples
    --------
    >>> result = minimize(lambda x: (x[0] ** 2 + x[1] ** 2, [1 - x[0] - x[1]], []), [(-5, 5), (-5, 5)],
    ...                   max_evaluations=3000, rng=1)
    >>> print(result.feasible, round(result.fun, 3), result.nfev)
    True 0.5 3000
    """
    problem = _problem(fun, bounds, constraints, vectorized, checked_tolerance(tolerance))
    if callback is not None and not callable(callback):
        raise ValueError(f"callback must be callable; got {type(callback).__name__}")
    run = start_run(problem.lower, problem.upper, method, max_evaluations, rng, x0, problem.tolerance, options)
    evaluate = InProcess(problem)

    from .progress import display
    from .result import INTERRUPTED, SPENT, STOPPED, intermediate_of, result_of

    def result(status: int) -> Any:
        names = problem.constraint_names or getattr(problem.fun, "constraint_names", None)
        return result_of(run, names, status, problem.tolerance, evaluate.failures)

    seen = -1
    try:
        with display(problem.name if isinstance(fun, Problem) else method, run, progress) as show:
            while run.wanted is not None:
                run.supply(*evaluate(run.wanted))
                if run.state is not None and run.state.generation != seen:
                    seen = run.state.generation
                    show()
                    if callback is not None:
                        callback(intermediate_of(run))
    except StopIteration:
        return result(STOPPED)
    except KeyboardInterrupt:
        return result(INTERRUPTED)
    return result(SPENT)


def _problem(fun: Any, bounds: Any, constraints: Any, vectorized: bool, tolerance: float) -> Problem:
    given = not (isinstance(constraints, tuple | list) and len(constraints) == 0)
    if isinstance(fun, Problem):
        if bounds is not None or given:
            raise ValueError("a Problem has bounds and constraints of its own; give none beside it")
        return fun
    if not callable(fun):
        raise ValueError(f"fun must be callable; got {type(fun).__name__}")
    if bounds is None:
        raise ValueError("bounds must be given: a scipy Bounds, pairs (low, high) or two arrays")
    problem = Problem(fun, bounds, vectorized=bool(vectorized), tolerance=tolerance)
    if not given:
        return problem
    limits = limits_of(constraints, problem.dimension, vectorized)
    return Problem(Combined(fun, limits, vectorized), bounds, vectorized=bool(vectorized), tolerance=tolerance)
