"""This library."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...minimize import minimize
from ..task import Answer, Task


def solve(task: Task, seed: int) -> Answer:
    def together(x: np.ndarray) -> Any:
        return task.f(x), task.g(x) if task.g else [], task.h(x) if task.h else []

    constrained = task.g is not None or task.h is not None
    result = minimize(
        together if constrained else task.f,
        list(zip(task.low, task.high, strict=True)),
        max_evaluations=task.evaluations,
        rng=seed,
        vectorized=task.rows,
        workers=task.workers,
    )
    return Answer(result.x, result.fun, result.success, result.nfev)
