"""`minimize` and `resume`: a search from its arguments to its result."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .algorithms import DEFAULT
from .checkpoints.checkpoint import Checkpoint
from .checkpoints.state_file import CheckpointError, CheckpointWarning, naming
from .checks import takes_seed
from .engines.drive import drive
from .engines.ending import Ending
from .engines.run import Run
from .engines.searches import Searches
from .evaluation.evaluate import NO_COSTS, NO_LIMITS, Costs
from .evaluation.values import EvaluationError, Failure
from .population import TOLERANCE
from .problem import Problem
from .request import Request, request_of

if TYPE_CHECKING:
    from .result import Result

CHECKPOINT_EVERY = 1.0  # seconds; each write costs time, and the journal has all evaluations in between
BACKENDS = ("auto", "numpy", "jax")
RECORD = 200  # rows of the history of a compiled run


@takes_seed
def minimize(
    fun: Callable[..., Any] | Problem,
    bounds: Any = None,
    *,
    constraints: Any = (),
    method: Any = DEFAULT,
    max_evaluations: int | None = None,
    rng: Any = None,
    vectorized: bool = False,
    callback: Callable[[Any], Any] | None = None,
    x0: Any = None,
    x0_values: Any = None,
    target: float | None = None,
    tol: float | None = None,
    tolerance: Any = TOLERANCE,
    options: dict[str, Any] | None = None,
    progress: bool = False,
    workers: Any = 1,
    eval_timeout: float | None = None,
    eval_memory: int | None = None,
    on_failure: str = "penalise",
    max_time: float | None = None,
    integrality: Any = None,
    log: Any = None,
    choices: Any = None,
    args: Any = (),
    maximize: bool = False,
    backend: str = "auto",
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_every: float = CHECKPOINT_EVERY,
    asynchronous: bool = False,
) -> Result:
    """Minimise a function subject to bounds and constraints, without derivatives.

    Parameters
    ----------
    fun : callable or Problem
        `fun(x, *args)` returns the objective, or `(f, g, h)`: objective, inequalities `g <= 0` and equalities `h = 0`
        from one call. A `Problem` has its own bounds, constraints, tolerance and kinds of variables.
    bounds : scipy Bounds, sequence of pairs (low, high), or two arrays
        None or infinity where there is no bound; such variables are searched as docs/problems.md says.
    constraints : scipy NonlinearConstraint, LinearConstraint, dict, or a sequence of these
        Two-sided limits and `lb == ub` (an equality) are possible. Each callable is called once per point.
    method : str, or an algorithm
        One of `ppsde.ALGORITHMS`, FILE.py:NAME, the name of an entry point of the group `ppsde.algorithms`, or an
        algorithm itself, an object or a class. The default, 'pps-sqp', ends a run by itself when its local searches
        agree.
    max_evaluations : int, optional
        The budget, which is never exceeded; the default is 20000 times the number of variables. It is met exactly
        unless the method ends the run before (see `tol`).
    rng : None, int, SeedSequence or Generator
        The same seed gives the same result, bit for bit.
    vectorized : bool
        Whether `fun` (and every constraint) takes points as rows (n, d) and returns (n,) or (n, k) arrays.
    callback : callable, optional
        Called after each generation with the result so far; returning True or raising `StopIteration` ends the run.
    x0 : array (d,) or (k, d), optional
        Points that the first population must contain.
    x0_values : tuple (f, g, h), optional
        The values of these points, f (k,), g (k, p) and h (k, q), if they are known: the points are not evaluated then
        and cost no budget, and each may be the result. NaN means that a point failed. For one point a number and two
        sequences will do. With `constraints`, g and h are those of all constraints together, in the order in which
        `result.constraints` lists them.
    target : float, optional
        The run ends when a feasible point with an objective as small as this was evaluated. All points that were
        asked for together are evaluated first. `inf` ends it at the first feasible point.
    tol : float, optional
        How exact the result must be before the method may end the run by itself; smaller is more exact, 0 means that
        it never ends by itself. The default is 1e-8 for methods that can tell that they have converged; for all
        others it is 0, and nothing else is possible.
    tolerance : float
        An equality holds if `|h| <= tolerance`.
    options : dict, optional
        Settings of the method, by name.
    progress : bool
        Whether to show a live display on standard error.
    workers : int, Executor, Dask Client or callable like map
        Where points are evaluated: 1 means in this process, n > 1 in n worker processes (-1: as many as there are
        cores), in which a crash of the function cannot harm the run. The result does not depend on it.
    eval_timeout : float, optional
        Seconds that the evaluation of a point may take; after that it is killed and counts as a failure.
    eval_memory : int, optional
        Bytes that the evaluation may use beyond those its process has in use already; Linux only. Either limit needs a
        process that can be killed, so `workers=1` then starts one worker process.
    on_failure : str
        'penalise': a point that fails has no values, and the search goes on. 'retry:n': the same, after up to n further
        attempts. 'raise': an `EvaluationError` is raised, with the point as `x` and the result so far as `result`.
    max_time : float, optional
        Seconds after which the run ends. Evaluations running in other processes are abandoned then.
    integrality : bool or array (d,), optional
        True or 1 where a variable is an integer; `fun` gets, and the result has, whole numbers there.
    log : bool or array (d,), optional
        True or 1 where the search uses the logarithm of a variable; its bounds must be positive. `fun` gets, and `x0`
        and the result have, the variable itself.
    choices : mapping or sequence, optional
        The allowed values of variables, such as `{2: [1, 2, 5, 10]}`, or categories; see `Problem`.
    args : tuple
        Further arguments of `fun`.
    maximize : bool
        Whether `fun` is to be maximised; `target` and the result have its values as they are.
    backend : str
        'numpy' searches on the host, generation by generation. 'jax' compiles the whole search as one program of 64-bit
        floats for JAX's default device; `fun` must be written with `jax.numpy` or plain operators, and the history has
        at most 200 rows. 'auto' means 'jax' if `fun` is itself compiled by `jax.jit` and every argument is possible
        with it, else 'numpy'. The two draw different random numbers.
    checkpoint : path-like, optional
        A new file in which the run is stored while it goes on, with a journal of later evaluations beside it. However
        this process ends, `ppsde.resume` continues the run, repeats no finished evaluation, and ends with the same
        result, bit for bit. A full disk causes a warning.
    checkpoint_every : float
        Least number of seconds between two writes of that file; 0 writes it after every generation. A killed process
        loses no evaluation in between, because the journal has them; a computer that stops may lose one second.
    asynchronous : bool
        Whether points are evaluated one by one, as `workers` become free, so that none waits for the slowest. Where one
        search must wait for values, others begin on the same budget. The result depends on the order in which
        evaluations finish, so with several workers it is not the same for the same seed; see docs/asynchronous.md.

    Returns
    -------
    scipy.optimize.OptimizeResult
        With `x`, `variables` (by name, with categories), `fun`, `success` (only if feasible), `status`, `message`,
        `nfev`, `nit`, `feasible`, `violation`, `maxcv`, `constr_violation` (by name), `constraints` (value, slack,
        violation of each and whether it is active), `x_feasible` (None if none was found), `x_least_violation`,
        `n_failed`, `failures`, `n_calls` (calls of the function, more than `nfev` if points were retried),
        `limited_by`, `seconds`, `eval_seconds_mean`, `eval_seconds_max`, `history` (columns along the run),
        `population` (the last one) and `original` (the point that the method's original program reports, for comparing
        with published tables). `plot()` draws the history.

    Notes
    -----
    In the main thread, Ctrl-C and SIGTERM end the run after the current evaluation, with the best point so far and the
    message 'interrupted'; evaluations in other processes are abandoned. A second signal raises KeyboardInterrupt.

    Any exception that passes out of a run which has found something, such as one of the callback, has the result so far
    as its attribute `result`.

    Examples
    --------
    >>> result = minimize(lambda x: (x[0] ** 2 + x[1] ** 2, [1 - x[0] - x[1]], []), [(-5, 5), (-5, 5)],
    ...                   max_evaluations=3000, rng=1)
    >>> print(result.feasible, round(result.fun, 3), result.nfev)
    True 0.5 153
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
        x0_values=x0_values,
        target=target,
        tol=tol,
        integrality=integrality,
        log=log,
        choices=choices,
        args=args,
        maximize=maximize,
        on_failure=on_failure,
        eval_timeout=eval_timeout,
        eval_memory=eval_memory,
        max_time=max_time,
    )
    _check_callback(callback)
    _check_checkpoint(checkpoint, checkpoint_every)
    if not isinstance(asynchronous, bool | np.bool_):
        raise ValueError(f"asynchronous must be True or False; got {asynchronous!r}")
    run = request.run()
    host_only = {
        "callback": callback is not None,
        "x0_values": x0_values is not None,
        "constraints": request.problem.has_scipy_constraints,
        "workers": not (isinstance(workers, int) and workers == 1),
        "eval_timeout, eval_memory or max_time": (eval_timeout, eval_memory, max_time) != (None, None, None),
        "on_failure": on_failure != NO_LIMITS.on_failure,
        "integrality, log, choices or open bounds": request.problem.variables is not None,
        "args, maximize, scale or single tolerances": bool(request.problem.args) or not request.problem.units.is_plain,
        "checkpoint": checkpoint is not None,
        "asynchronous": asynchronous,
    }
    if _wants_compiling(backend, request.problem, host_only):
        return _compiled(request, run, progress)

    def opened() -> AbstractContextManager[Checkpoint | None]:
        if checkpoint is None:
            return nullcontext()
        return Checkpoint(checkpoint, driven, about=request.stored(), every=checkpoint_every)

    driven = Searches(run) if asynchronous else run
    return _search(request, driven, workers, callback, progress, opened)


def resume(
    path: str | os.PathLike[str],
    fun: Callable[..., Any] | Problem,
    *,
    constraints: Any = (),
    args: Any = (),
    method: Any = None,
    options: dict[str, Any] | None = None,
    callback: Callable[[Any], Any] | None = None,
    progress: bool = False,
    workers: Any = 1,
    max_time: float | None = None,
    checkpoint_every: float = CHECKPOINT_EVERY,
) -> Result:
    """Continue a run of `minimize` from its checkpoint; the result is that of the uninterrupted run, bit for bit.

    No finished evaluation is repeated. Bounds, method, options, seed, budget, target, tolerances and failure policy
    come from the checkpoint. `workers` may differ from before: the result does not depend on it. A run that was
    asynchronous still is; what its evaluations had found is the same, the order of the later ones may differ.

    Parameters
    ----------
    path : path-like
        The checkpoint. It is updated, so that the run can be interrupted and resumed any number of times.
    fun : callable or Problem
        The same as for `minimize`: a checkpoint contains no code. If its code, or a number that it uses, has changed,
        a `CheckpointWarning` says so.
    constraints, args : optional
        The same as for `minimize`.
    method, options : optional
        Only for a method that is not in `ppsde.ALGORITHMS`, and for a rule, `options={"rule": ...}`, that is not in
        `ppsde.RULES`: the same as for `minimize`.
    callback, progress, workers, max_time, checkpoint_every
        As for `minimize`.

    Returns
    -------
    scipy.optimize.OptimizeResult
        As from `minimize`; `seconds` are those of this call. If the run is over already, its result is returned and
        nothing is evaluated.

    Raises
    ------
    CheckpointError
        If the file is damaged, belongs to another problem, or is in use by another process.

    Warns
    -----
    CheckpointWarning
        If the function has changed, or if the method has changed since another version made the file: the run then
        begins again with its points, its best point and the evaluations that are left.

    Examples
    --------
    >>> import tempfile, ppsde
    >>> def fun(x):
    ...     return (x**2).sum(), [1 - x[0]], []
    >>> def stop(intermediate_result):
    ...     if intermediate_result.nfev > 40:
    ...         raise StopIteration
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = folder + "/run.ppsde"
    ...     first = ppsde.minimize(fun, [(-5, 5)] * 2, max_evaluations=2000, rng=1, callback=stop, checkpoint=path)
    ...     result = ppsde.resume(path, fun)
    >>> unbroken = ppsde.minimize(fun, [(-5, 5)] * 2, max_evaluations=2000, rng=1)
    >>> print(result.nfev == unbroken.nfev, bool((result.x == unbroken.x).all()))
    True True
    """
    _check_callback(callback)
    stored = Checkpoint.load(path, method=method, options=options, every=checkpoint_every)
    with stored.checkpoint:
        with naming(Path(path)):
            request = Request.restored(stored.about, stored.run, fun, max_time, constraints=constraints, args=args)
            try:
                costs = Costs.checked(stored.costs)
            except (TypeError, ValueError) as error:
                raise CheckpointError(f"its counters are not possible: {type(error).__name__}: {error}") from None
        _warn_of_another(Path(path), stored.about.get("code"), request.code)
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


def _warn_of_another(path: Path, before: str | None, now: str) -> None:
    """Warn if the code of a function differs from before, where both were compiled by one version of Python."""
    if before is not None and before != now and before.partition(" ")[0] == now.partition(" ")[0]:
        warnings.warn(
            f"{path}: the function is not the one that the run began with: its code, or a number that it uses, has "
            "changed. The values found before stay as they are; if they would be others now, start a new run",
            CheckpointWarning,
            stacklevel=3,
        )


def _search(
    request: Request,
    run: Run | Searches,
    workers: Any,
    callback: Callable[[Any], Any] | None,
    progress: bool,
    checkpoint: Callable[[], AbstractContextManager[Checkpoint | None]],
    earlier: Costs = NO_COSTS,
    failures: list[Failure] | None = None,
) -> Result:
    """Drive the run on the host engine, with display and callback if wanted, and return the result."""
    from .display.progress import display
    from .result import Result, keep_with

    problem, units = request.searched, request.problem.units

    def on_error(error: BaseException, ending: Ending) -> None:
        result = Result.of(ending, units, request.problem)
        keep_with(error, result)
        if not isinstance(error, EvaluationError):
            return
        error.result = result  # also where nothing was found
        if units.variables is not None and error.x is not None and error.failure is not None:
            error.x = units.x(error.x)
            error.args = (f"the evaluation at {_shown(error.x)} failed: {error.failure}",)

    with display(request.title, run, progress, units.sign) as show:

        def after_generation() -> bool:
            show()
            stop = False if callback is None else callback(Result.so_far(run, units))
            return isinstance(stop, bool | np.bool_) and bool(stop)  # anything else is not an answer

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
            on_error=on_error,
        )
    return Result.of(ending, units, request.problem)


def _shown(x: np.ndarray) -> str:
    with np.printoptions(precision=17, threshold=12):
        return str(x)


def _wants_compiling(backend: str, problem: Problem, host_only: dict[str, bool]) -> bool:
    """Return whether to compile: if asked to, or if `jax.jit` made the function and no argument forbids it.

    `host_only` has the arguments that only the host engine supports, by name: True if one was passed.
    """
    if backend not in BACKENDS:
        raise ValueError(f"backend must be one of {', '.join(map(repr, BACKENDS))}; got {backend!r}")
    given = [name for name, is_given in host_only.items() if is_given]
    if backend == "jax" and given:
        raise ValueError(f"backend='jax' runs as one program and does not support {', '.join(given)}")
    jax = sys.modules.get("jax")  # JAX can have made the function only if it is imported already
    jitted = jax is not None and isinstance(problem.fun, jax.stages.Wrapped)
    return backend == "jax" or (backend == "auto" and not given and jitted)


def _compiled(request: Request, run: Run, progress: bool) -> Result:
    """Return the result of the run as one compiled program; `run` itself does not change."""
    from .engines.compiled import device_of, run_alone
    from .result import Result

    reason = getattr(run.algorithm, "host_only", None)
    if reason is not None:
        raise ValueError(f"this method cannot be compiled: {reason}; use backend='numpy'")
    device_of(None)  # a clear error if JAX is not installed
    if progress:
        print("compiling and running as one program; no live display", file=sys.stderr)
    ending = run_alone(run.algorithm, request.searched, run.task, run.seed, RECORD, run.target)
    return Result.of(ending, request.problem.units, request.problem)


def _check_callback(callback: Any) -> None:
    if callback is not None and not callable(callback):
        raise ValueError(f"callback must be callable; got {type(callback).__name__}")


def _check_checkpoint(path: Any, every: Any) -> None:
    if path is None and every != CHECKPOINT_EVERY:
        raise ValueError(f"checkpoint_every={every!r} needs a checkpoint to write")
    if path is not None and not isinstance(path, str | os.PathLike):
        raise ValueError(f"checkpoint must be the path of a file; got {path!r}")
