"""The SciPy-like front: one call that searches and gives a result."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any

from .checkpoints.checkpoint import Checkpoint
from .compiled_run import compiled_result, wants_compiling
from .constraints import Combined, limits_of
from .facts import Facts
from .optimizer import start_run
from .population import TOLERANCE, checked_tolerance
from .problem import Problem
from .search import CHECKPOINT_EVERY, Conditions, search
from .variables import variables_of, wrapped


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
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_every: float = CHECKPOINT_EVERY,
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
    checkpoint : path-like, optional
        A new file to keep the run in while it goes on, with a journal beside it of what finished since. However this
        process ends, `ppsde.resume` takes the run up again, makes no finished evaluation twice, and ends with the
        same bits. A disk that is full is a warning.
    checkpoint_every : float
        Seconds that pass at least between two states in that file; 0 stores every generation. A process that is killed
        loses nothing of what it did in between, because the journal has it; a computer that stops may lose a second.

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
    problem = problem_of(fun, bounds, constraints, vectorized, checked_tolerance(tolerance))
    if callback is not None and not callable(callback):
        raise ValueError(f"callback must be callable; got {type(callback).__name__}")
    conditions = Conditions(on_failure, eval_timeout, eval_memory, max_time)
    _check_checkpoint(checkpoint, checkpoint_every)
    variables = variables_of(problem.lower, problem.upper, integrality, log)
    facts = Facts.of(
        problem,
        variables,
        own=isinstance(fun, Problem),
        method=method,
        on_failure=on_failure,
        eval_timeout=eval_timeout,
        eval_memory=eval_memory,
    )
    if variables is not None:
        problem = wrapped(problem, variables)
        x0 = None if x0 is None else variables.to_search(x0)
    run = start_run(problem.lower, problem.upper, method, max_evaluations, rng, x0, problem.tolerance, options)
    hindrances = {
        "callback": callback is not None,
        "constraints": isinstance(problem.fun, Combined),
        "workers": not (isinstance(workers, int) and workers == 1),
        "eval_timeout, eval_memory or max_time": replace(conditions, on_failure="penalise") != Conditions(),
        "on_failure": on_failure != "penalise",
        "integrality or log": variables is not None,
        "checkpoint": checkpoint is not None,
    }
    if wants_compiling(backend, fun, hindrances):
        return compiled_result(problem, run, progress)

    def kept() -> AbstractContextManager[Checkpoint | None]:
        if checkpoint is None:
            return nullcontext()
        return Checkpoint(checkpoint, run, about=vars(facts), every=checkpoint_every)

    return search(
        problem,
        variables,
        run,
        conditions,
        title=problem.name if isinstance(fun, Problem) else method,
        workers=workers,
        callback=callback,
        progress=progress,
        checkpoint=kept,
    )


def _check_checkpoint(path: Any, every: Any) -> None:
    if path is None and every != CHECKPOINT_EVERY:
        raise ValueError(f"checkpoint_every={every!r} needs a checkpoint to write")
    if path is not None and not isinstance(path, str | os.PathLike):
        raise ValueError(f"checkpoint must be the path of a file; got {path!r}")


def problem_of(fun: Any, bounds: Any, constraints: Any, vectorized: bool, tolerance: float) -> Problem:
    """The problem that the arguments of `minimize` describe."""
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
    limits = limits_of(constraints, problem.dimension)
    return Problem(Combined(fun, limits, vectorized), bounds, vectorized=bool(vectorized), tolerance=tolerance)
