"""Evaluation of the user's function: in this process, in worker processes, by executors, maps and clusters."""

from __future__ import annotations

import os
import sys
import uuid
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..problem import Problem
from .local import Caller, Evaluator
from .values import EvaluationError, EvaluatorLost, Failure

__all__ = ["EvaluationError", "Evaluator", "EvaluatorLost", "Failure", "evaluator_for"]


def evaluator_for(
    problem: Problem, workers: Any = 1, timeout: float | None = None, memory: int | None = None
) -> Evaluator:
    """Return the evaluator that the arguments `workers`, `eval_timeout` and `eval_memory` of `minimize` ask for.

    One worker without limits evaluates in this process. Limits need another process, which can be killed. An
    `Evaluator` is returned as it is.
    """
    if isinstance(workers, Evaluator):
        return workers
    limited = timeout is not None or memory is not None
    caller = Caller(problem.fun, problem.vectorized)
    if isinstance(workers, int | np.integer) and not isinstance(workers, bool):
        count = _usable_cores() if workers == -1 else int(workers)
        if count < 1:
            raise ValueError(f"workers must be an int >= 1, or -1 for all cores; got {workers}")
        if count == 1 and not limited:
            return caller.evaluator()
        _check_system()
        from .pool import Pool
        from .sending import packed

        return Pool(packed(caller), count, timeout, memory, problem.vectorized)
    if _is_dask(workers):
        from .remote import DaskCluster

        return DaskCluster(workers, _isolated(caller, timeout, memory))

    from concurrent.futures import Executor

    from .sending import Portable

    if not isinstance(workers, Executor) and not callable(workers):
        raise ValueError(
            "workers must be an int, a concurrent.futures.Executor, a Dask Client or a callable like map; "
            f"got {type(workers).__name__}"
        )
    at_once = int(getattr(workers, "_max_workers", None) or _usable_cores())

    def size(rows: int) -> int:
        return -(-rows // at_once) if problem.vectorized and not limited else 1

    task: Any
    end: Callable[[], None]
    if limited:
        task = _isolated(caller, timeout, memory)
        from .remote import end_children

        end = partial(end_children, task.name)  # children of this process: the workers may be threads
    else:
        task, end = Portable(caller), _nothing
    if isinstance(workers, Executor):
        from .remote import by_executor

        return by_executor(workers, task, size, end, at_once)
    from .remote import Mapped

    return Mapped(workers, task, size, end)


def _nothing() -> None:
    pass


def _isolated(caller: Caller, timeout: float | None, memory: int | None) -> Any:
    _check_system()
    from .remote import Isolated
    from .sending import packed, versions

    return Isolated(uuid.uuid4().hex, packed(caller), tuple(sys.path), versions(), timeout, memory, caller.vectorized)


def _check_system() -> None:
    if os.name != "posix" or not sys.executable:
        raise ValueError(
            "worker processes need a POSIX system and a Python interpreter that can be started; "
            "pass an Executor as workers, without eval_timeout and eval_memory"
        )


def _usable_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _is_dask(workers: Any) -> bool:
    distributed = sys.modules.get("distributed")
    return distributed is not None and isinstance(workers, distributed.Client)
