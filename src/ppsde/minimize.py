"""The SciPy-like front: one call that searches and gives a result."""

from __future__ import annotations

import sys
from collections.abc import Callable
from math import inf
from time import monotonic
from typing import Any

from .compiled_run import compiled_result, wants_compiling
from .constraints import Combined, limits_of
from .driving import drive, watch
from .engines.host import Run
from .evaluation.backends import evaluator_for
from .evaluation.evaluate import Evaluate
from .evaluation.outcome import EvaluationError, EvaluatorLost
from .evaluation.policy import policy_of
from .interrupts import noticed
from .optimizer import start_run
from .population import Population, evaluated
from .problem import Problem
from .status import ERROR
from .variables import Variables, in_user_space, tell_in_user_space, variables_of, wrapped
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
    workers: Any = 1,
    eval_timeout: float | None = None,
    eval_memory: int | None = None,
    on_failure: str = "penalise",
    max_time: float | None = None,
    integrality: Any = None,
    log: Any = None,
    backend: str = "auto",
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
    workers : int, Executor, Dask Client or callable like map
        What evaluates: 1 is this process, more are processes of our own (-1: as many as there are cores), in which
        nothing that the function does can harm the run. The same seed gives the same bits with any of them.
    eval_timeout : float, optional
        Seconds that the evaluation of a point may take; then it is killed, and fails.
    eval_memory : int, optional
        Bytes that it may take beyond what its process already has; Linux only. Either limit needs a process that can
        be killed, so with `workers=1` there is one beside this.
    on_failure : str
        'penalise' leaves a point that fails without values, and the search goes on; 'retry:n' tries it up to n times
        more before; 'raise' raises an `EvaluationError`, which has the point in `x` and all that was found in
        `result`.
    max_time : float, optional
        Seconds after which the run ends. Evaluations running in other processes are abandoned then.
    integrality : bool or array (d,), optional
        True or 1 where a variable is an integer; `fun` gets whole numbers there, and so does `x`.
    log : bool or array (d,), optional
        True or 1 where a variable is searched in its logarithm; its bounds must be positive. `fun` gets, and `x0` and
        the result hold, the variable itself.
    backend : str
        'numpy' searches on the host, generation by generation. 'jax' makes the whole search one program on JAX's
        default device, for a `fun` written with `jax.numpy` or plain operators, in 64 bits; the history has then 200
        rows at most. 'auto' does so where `fun` is itself compiled by `jax.jit` and no argument asks for more than a
        program can do. The two draw different random numbers.

    Returns
    -------
    scipy.optimize.OptimizeResult
        With `x`, `fun`, `success` (only if feasible), `status`, `message`, `nfev`, `nit`, `feasible`, `violation`,
        `maxcv`, `constr_violation` (by name), `constraints` (value, slack, violation of each and whether it is active),
        `x_feasible` (None if none was found), `x_least_violation`, `n_failed`, `failures`, `n_calls` (of the function,
        which are more than `nfev` where points were tried again), `limited_by`, `seconds`, `eval_seconds_mean`,
        `eval_seconds_max`, `history` (columns along the run), `population` (the last one) and `original` (what the
        method's original program would report, for comparing with published tables). `plot()` draws the history.

    Notes
    -----
    In the main thread, Ctrl-C and SIGTERM end the run after the running evaluation, with the best so far and the
    status 'interrupted'; evaluations in other processes are not waited for. A second one raises KeyboardInterrupt.

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
    policy = policy_of(on_failure)
    timeout, memory, seconds = _limits(eval_timeout, eval_memory, max_time)
    variables = variables_of(problem.lower, problem.upper, integrality, log)
    if variables is not None:
        problem = wrapped(problem, variables)
        x0 = None if x0 is None else variables.to_search(x0)
    run = start_run(problem.lower, problem.upper, method, max_evaluations, rng, x0, problem.tolerance, options)
    title = problem.name if isinstance(fun, Problem) else method
    hindrances = {
        "callback": callback is not None,
        "constraints": isinstance(problem.fun, Combined),
        "workers": not (isinstance(workers, int) and workers == 1),
        "eval_timeout, eval_memory or max_time": (timeout, memory, seconds) != (None, None, inf),
        "on_failure": on_failure != "penalise",
        "integrality or log": variables is not None,
    }
    if wants_compiling(backend, fun, hindrances):
        return compiled_result(problem, run, progress)

    from .progress import display
    from .result import intermediate_of

    began = monotonic()
    with evaluator_for(problem, workers, timeout, memory) as evaluator, noticed() as interrupts:
        evaluate = Evaluate(evaluator, policy, _counts(problem))
        check = watch(interrupts, began + seconds)
        try:
            with display(title, run, progress) as show:

                def after_generation() -> None:
                    show()
                    if callback is not None:
                        callback(in_user_space(intermediate_of(run), variables))

                status = drive(run, evaluate, check, after_generation)
        except EvaluationError as error:
            tell_in_user_space(error, variables)
            error.result = _result(problem, variables, run, evaluate, ERROR, monotonic() - began)
            raise
        except EvaluatorLost as error:
            lost = EvaluationError(str(error))
            lost.result = _result(problem, variables, run, evaluate, ERROR, monotonic() - began)
            raise lost from error
        return _result(problem, variables, run, evaluate, status, monotonic() - began)


def _result(
    problem: Problem, variables: Variables | None, run: Run, evaluate: Evaluate, status: int, seconds: float
) -> Any:
    from .result import Effort, result_of

    mean, longest = evaluate.seconds_each()
    effort = Effort(
        calls=evaluate.calls,
        seconds=seconds,
        eval_seconds_mean=mean,
        eval_seconds_max=longest,
        unfinished=_unfinished(run, evaluate, problem.tolerance),
    )
    names = problem.constraint_names or evaluate.names
    result = result_of(run, names, status, problem.tolerance, evaluate.failures, effort)
    return in_user_space(result, variables)


def _unfinished(run: Run, evaluate: Evaluate, tolerance: float) -> Population | None:
    """Points that were evaluated for a request that was not finished: the search never knew them, yet they count."""
    if run.wanted is None or not evaluate.unfinished:
        return None
    rows = sorted(evaluate.unfinished)
    return evaluated(run.wanted[rows], *evaluate.values([evaluate.unfinished[row] for row in rows]), tolerance)


def _counts(problem: Problem) -> tuple[int, int] | None:
    if problem.n_ineq is None or problem.n_eq is None:
        return None
    return problem.n_ineq, problem.n_eq


def _limits(eval_timeout: Any, eval_memory: Any, max_time: Any) -> tuple[float | None, int | None, float]:
    """The limits, checked; no limit on the whole run is infinity."""
    for name, value in (("eval_timeout", eval_timeout), ("max_time", max_time)):
        if value is not None and (isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < inf):
            raise ValueError(f"{name} must be a number of seconds > 0; got {value!r}")
    if eval_memory is not None:
        if isinstance(eval_memory, bool) or not isinstance(eval_memory, int) or eval_memory < 1:
            raise ValueError(f"eval_memory must be a number of bytes, an int >= 1; got {eval_memory!r}")
        if sys.platform != "linux":
            raise ValueError("eval_memory can be kept on Linux only")
    return eval_timeout, eval_memory, inf if max_time is None else float(max_time)


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
