"""pymoo's differential evolution."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from ..task import Answer, Task


def solve(task: Task, seed: int) -> Answer:
    result = import_module("pymoo.optimize").minimize(
        _of_rows(task) if task.rows else _of_points(task),
        import_module("pymoo.algorithms.soo.nonconvex.de").DE(pop_size=50),
        ("n_eval", task.evaluations),
        seed=seed,
    )
    value = None if result.F is None else float(np.ravel(result.F)[0])
    return Answer(result.X, value, None, result.algorithm.evaluator.n_eval)


def _of_points(task: Task) -> Any:
    more: dict[str, Any] = {}
    if task.workers > 1:
        from multiprocessing.pool import Pool

        starmap = Pool(task.workers).starmap
        more["elementwise_runner"] = import_module("pymoo.parallelization").StarmapParallelization(starmap)
    return import_module("pymoo.problems.functional").FunctionalProblem(
        len(task.low),
        task.f,
        constr_ieq=[partial(_component, task.g, k) for k in range(task.counts[0])],
        constr_eq=[partial(_component, task.h, k) for k in range(task.counts[1])],
        xl=np.array(task.low),
        xu=np.array(task.high),
        **more,
    )


def _component(constraints: Callable[[np.ndarray], list[float]], k: int, x: np.ndarray) -> float:
    return constraints(x)[k]


def _of_rows(task: Task) -> Any:
    base = import_module("pymoo.core.problem").Problem

    class OfRows(base):
        def _evaluate(self, x: np.ndarray, out: dict[str, Any], *args: Any, **kwargs: Any) -> None:
            out["F"] = task.f(x)

    return OfRows(n_var=len(task.low), n_obj=1, xl=np.array(task.low), xu=np.array(task.high))
