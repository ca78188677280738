"""pycma: `fmin2`, and `fmin_con2` where there are constraints."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from ..task import TOLERANCE, Answer, Task


def solve(task: Task, seed: int) -> Answer:
    cma = import_module("cma")
    low, high = np.array(task.low), np.array(task.high)
    options: dict[str, Any] = {"bounds": [low, high], "maxfevals": task.evaluations, "seed": seed, "verbose": -9}
    start = np.random.default_rng(seed).uniform(np.minimum(low, high), np.maximum(low, high))
    step = float(np.abs(high - low).min()) / 4
    if any(task.counts):

        def constraints(x: np.ndarray) -> list[float]:
            g = list(task.g(x)) if task.g else []
            return [*g, *(abs(value) - TOLERANCE for value in (task.h(x) if task.h else ()))]

        x, strategy = cma.fmin_con2(task.f, start, step, constraints=constraints, options=options)
        return Answer(x, None, None, strategy.result.evaluations)
    if task.rows:
        x, strategy = cma.fmin2(
            None, start, step, options, parallel_objective=lambda points: list(task.f(np.array(points)))
        )
    elif task.workers > 1:
        strategy = cma.CMAEvolutionStrategy(start, step, options)
        with import_module("cma.optimization_tools").EvalParallel2(task.f, task.workers) as evaluate:
            while not strategy.stop():
                points = strategy.ask()
                strategy.tell(points, evaluate(points))
    else:
        _, strategy = cma.fmin2(task.f, start, step, options)
    result = strategy.result
    return Answer(result.xbest, result.fbest, None, result.evaluations)
