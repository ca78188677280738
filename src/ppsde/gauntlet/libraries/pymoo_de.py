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
        constr_ieq=_components(task.g, task.counts[0]),
        constr_eq=_components(task.h, task.counts[1]),
        xl=np.array(task.low),
        xu=np.array(task.high),
        **more,
    )


def _components(constraints: Callable[[np.ndarray], Any] | None, count: int) -> list[Callable[[np.ndarray], Any]]:
    return [partial(_component, constraints, k) for k in range(count)] if constraints is not None else []


def _component(constraints: Callable[[np.ndarray], Any], k: int, x: np.ndarray) -> Any:
    return constraints(x)[k]


def _of_rows(task: Task) -> Any:
    base = import_module("pymoo.core.problem").Problem

    class OfRows(base):  # type: ignore[misc, valid-type]
        def _evaluate(self, x: np.ndarray, out: dict[str, Any], *args: Any, **kwargs: Any) -> None:
            out["F"] = task.f(x)

    return OfRows(n_var=len(task.low), n_obj=1, xl=np.array(task.low), xu=np.array(task.high))
