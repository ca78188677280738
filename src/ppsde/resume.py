"""Taking up a run that was interrupted, from its checkpoint."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from .arrays import bits
from .checkpoints.checkpoint import Checkpoint, Resumed
from .checkpoints.state_file import CheckpointError, naming
from .evaluation.evaluate import Account
from .facts import Facts
from .minimize import problem_of
from .problem import Problem
from .search import CHECKPOINT_EVERY, Conditions, search
from .variables import Variables, variables_of, wrapped


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
) -> Any:
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
    if callback is not None and not callable(callback):
        raise ValueError(f"callback must be callable; got {type(callback).__name__}")
    resumed = Checkpoint.load(path, every=checkpoint_every)
    with resumed.checkpoint:
        with naming(Path(path)):
            method, problem, variables, conditions, account = _agreed(resumed, fun, constraints, max_time)
        return search(
            problem,
            variables,
            resumed.run,
            conditions,
            title=problem.name if isinstance(fun, Problem) else method,
            workers=workers,
            callback=callback,
            progress=progress,
            checkpoint=lambda: nullcontext(resumed.checkpoint),
            earlier=(account, resumed.failures),
        )


def _agreed(
    resumed: Resumed, fun: Any, constraints: Any, max_time: float | None
) -> tuple[str, Problem, Variables | None, Conditions, Account]:
    """What the checkpoint tells of the run, and the problem, which must be the one that the checkpoint is of."""
    try:
        told = Facts.checked(resumed.about)
        conditions = Conditions(told.on_failure, told.eval_timeout, told.eval_memory)
        account = Account.checked(resumed.account)
    except (TypeError, ValueError) as error:
        raise CheckpointError(f"what it tells of the run is not possible: {type(error).__name__}: {error}") from None
    bounds = None if isinstance(fun, Problem) else np.column_stack([told.lower, told.upper])
    problem = problem_of(fun, bounds, constraints, told.vectorized, resumed.run.tolerance)
    differences = told.differences(problem)
    if problem.tolerance != resumed.run.tolerance:
        differences.append(f"tolerance {resumed.run.tolerance}; got one with {problem.tolerance}")
    if differences:
        raise CheckpointError(f"it is of a problem with {differences[0]}")
    variables = variables_of(problem.lower, problem.upper, told.integrality, told.log)
    if variables is not None:
        problem = wrapped(problem, variables)
    task = resumed.run.task
    if bits(problem.lower) != bits(task.lower) or bits(problem.upper) != bits(task.upper):
        raise CheckpointError("the box that it searches is not that of its problem")
    return told.method, problem, variables, replace(conditions, max_time=max_time), account
