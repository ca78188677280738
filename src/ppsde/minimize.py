"""`minimize` and `resume`: a search from its arguments to its result."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .checkpoints.checkpoint import Checkpoint
from .checkpoints.state_file import CheckpointError, naming
from .constraints import Combined
from .engines.drive import drive
from .engines.run import Run
from .evaluation.evaluate import NO_COSTS, NO_LIMITS, Costs
from .evaluation.values import EvaluationError, Failure
from .population import TOLERANCE
from .problem import Problem
from .request import Request, request_of

if TYPE_CHECKING:
    from .result import Result

CHECKPOINT_EVERY = 1.0  # seconds: states are stored rarely enough to cost little, and the journal has the rest
BACKENDS = ("auto", "numpy", "jax")
RECORD = 200  # rows of the history of a compiled run


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
) -> Result:
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
        A new file that stores the run while it goes on, with a journal beside it of the evaluations since. However this
        process ends, `ppsde.resume` continues the run, makes no finished evaluation twice, and ends with the same bits.
        A full disk is a warning.
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
    request = request_of(
        fun,
        bounds,
        constraints,
        vectorized=vectorized,
        tolerance=tolerance,
        method=method,
        options=options,
        max_evaluations=max_evaluations,
        rng=rng,
        x0=x0,
        integrality=integrality,
        log=log,
        on_failure=on_failure,
        eval_timeout=eval_timeout,
        eval_memory=eval_memory,
        max_time=max_time,
    )
    _check_callback(callback)
    _check_checkpoint(checkpoint, checkpoint_every)
    run = request.run()
    host_only = {
        "callback": callback is not None,
        "constraints": isinstance(request.problem.fun, Combined),
        "workers": not (isinstance(workers, int) and workers == 1),
        "eval_timeout, eval_memory or max_time": (eval_timeout, eval_memory, max_time) != (None, None, None),
        "on_failure": on_failure != NO_LIMITS.on_failure,
        "integrality or log": request.variables is not None,
        "checkpoint": checkpoint is not None,
    }
    if _wants_compiling(backend, request.problem, host_only):
        return _compiled(request, run, progress)

    def opened() -> AbstractContextManager[Checkpoint | None]:
        if checkpoint is None:
            return nullcontext()
        return Checkpoint(checkpoint, run, about=request.stored(), every=checkpoint_every)

    return _search(request, run, workers, callback, progress, opened)


def resume(
    path: str | os.PathLike[str],
    fun: Callable[..., Any] | Problem,
    *,
    constraints: Any = (),
    callback: Callable[[Any], Any] | None = None,
    progress: bool = False,
    workers: Any = 1,
    max_time: float | None = None,
    checkpoint_every: float = CHECKPOINT_EVERY,
) -> Result:
    """Go on with a run of `minimize` that left a checkpoint; it ends with the bits that it would have ended with.

    No evaluation that finished is made again. Bounds, method, options, seed, budget, tolerance, and how failures are
    dealt with come from the checkpoint. Where evaluations are made may change: the result does not depend on it.

    Parameters
    ----------
    path : path-like
        The checkpoint. It is kept up to date, so that the run may be interrupted and resumed any number of times.
    fun : callable or Problem
        What was given to `minimize`. A checkpoint holds no code.
    constraints : scipy constraints, optional
        Likewise.
    callback, progress, workers, max_time, checkpoint_every
        As for `minimize`.

    Returns
    -------
    scipy.optimize.OptimizeResult
        As of `minimize`; `seconds` are those of this call. A run that is over gives its result again, and evaluates
        nothing.

    Raises
    ------
    CheckpointError
        If the file is damaged, is not of this problem, or belongs to another process that still runs.

    Examples
    --------
    >>> import tempfile, ppsde
    >>> def fun(x):
    ...     return (x**2).sum(), [1 - x[0]], []
    >>> def stop(intermediate_result):
    ...     if intermediate_result.nfev > 1000:
    ...         raise StopIteration
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = folder + "/run.ppsde"
    ...     first = ppsde.minimize(fun, [(-5, 5)] * 2, max_evaluations=2000, rng=1, callback=stop, checkpoint=path)
    ...     result = ppsde.resume(path, fun)
    >>> unbroken = ppsde.minimize(fun, [(-5, 5)] * 2, max_evaluations=2000, rng=1)
    >>> print(result.nfev, bool((result.x == unbroken.x).all()))
    2000 True
    """
    _check_callback(callback)
    stored = Checkpoint.load(path, every=checkpoint_every)
    with stored.checkpoint:
        with naming(Path(path)):
            request = Request.restored(stored.about, stored.run, fun, constraints, max_time)
            try:
                costs = Costs.checked(stored.costs)
            except (TypeError, ValueError) as error:
                raise CheckpointError(f"its counters are not possible: {type(error).__name__}: {error}") from None
        return _search(
            request,
            stored.run,
            workers,
            callback,
            progress,
            lambda: nullcontext(stored.checkpoint),
            costs,
            stored.failures,
        )


def _search(
    request: Request,
    run: Run,
    workers: Any,
    callback: Callable[[Any], Any] | None,
    progress: bool,
    checkpoint: Callable[[], AbstractContextManager[Checkpoint | None]],
    earlier: Costs = NO_COSTS,
    failures: list[Failure] | None = None,
) -> Result:
    """Drive the run on the host, show and call what was asked for, and make the result."""
    from .progress import display
    from .result import Result

    problem, variables = request.searched, request.variables
    try:
        with display(request.title, run, progress) as show:

            def after_generation() -> None:
                show()
                if callback is not None:
                    callback(Result.so_far(run, variables))

            ending = drive(
                run,
                problem,
                request.limits,
                workers=workers,
                after_generation=after_generation if progress or callback is not None else None,
                checkpoint=checkpoint,
                earlier=earlier,
                failures=failures or (),
                interruptible=True,
            )
    except EvaluationError as error:
        error.result = Result.of(error.ending, problem.tolerance, variables)
        if variables is not None and error.x is not None and error.failure is not None:
            error.x = variables.to_user(error.x)
            error.args = (f"the evaluation at {_shown(error.x)} failed: {error.failure}",)
        raise
    return Result.of(ending, problem.tolerance, variables)


def _shown(x: np.ndarray) -> str:
    with np.printoptions(precision=17, threshold=12):
        return str(x)


def _wants_compiling(backend: str, problem: Problem, host_only: dict[str, bool]) -> bool:
    """Whether to compile: if asked to, or if the function is itself compiled by `jax.jit` and no argument forbids it.

    `host_only` are arguments by name, true where one was given that only the host engine can respect.
    """
    if backend not in BACKENDS:
        raise ValueError(f"backend must be one of {', '.join(map(repr, BACKENDS))}; got {backend!r}")
    given = [name for name, is_given in host_only.items() if is_given]
    if backend == "jax" and given:
        raise ValueError(f"backend='jax' runs as one program and cannot honour {', '.join(given)}")
    jax = sys.modules.get("jax")  # a function can be JAX's only if JAX is loaded already
    jitted = jax is not None and isinstance(problem.fun, jax.stages.Wrapped)
    return backend == "jax" or (backend == "auto" and not given and jitted)


def _compiled(request: Request, run: Run, progress: bool) -> Result:
    """The result of the same run as one program; `run` itself is not driven."""
    from .engines.compiled import device_of, run_alone
    from .result import Result

    reason = getattr(run.algorithm, "host_only", None)
    if reason is not None:
        raise ValueError(f"this method cannot be compiled: {reason}; use backend='numpy'")
    device_of(None)  # JAX is there, or a clear error
    if progress:
        print("compiling and running as one program; no live display", file=sys.stderr)
    return Result.of(run_alone(run.algorithm, request.problem, run.task, run.seed, RECORD), request.problem.tolerance)


def _check_callback(callback: Any) -> None:
    if callback is not None and not callable(callback):
        raise ValueError(f"callback must be callable; got {type(callback).__name__}")


def _check_checkpoint(path: Any, every: Any) -> None:
    if path is None and every != CHECKPOINT_EVERY:
        raise ValueError(f"checkpoint_every={every!r} needs a checkpoint to write")
    if path is not None and not isinstance(path, str | os.PathLike):
        raise ValueError(f"checkpoint must be the path of a file; got {path!r}")
