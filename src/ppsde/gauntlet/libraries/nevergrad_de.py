"""nevergrad's differential evolution."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from ..task import TOLERANCE, Answer, NotOffered, Task


def solve(task: Task, seed: int) -> Answer:
    if task.rows:
        raise NotOffered("functions of rows")
    nevergrad = import_module("nevergrad")
    variables = nevergrad.p.Array(shape=(len(task.low),)).set_bounds(np.array(task.low), np.array(task.high))
    variables.random_state.seed(seed)
    optimizer = nevergrad.optimizers.registry["DE"](variables, budget=task.evaluations, num_workers=task.workers)
    violations = []
    if task.g is not None:
        g = task.g
        violations.append(lambda x: np.maximum(g(x), 0.0))
    if task.h is not None:
        h = task.h
        violations.append(lambda x: np.maximum(np.abs(h(x)) - TOLERANCE, 0.0))
    more: dict[str, Any] = {"constraint_violation": violations} if violations else {}
    if task.workers > 1:
        from concurrent.futures import ProcessPoolExecutor

        with ProcessPoolExecutor(task.workers) as executor:
            found = optimizer.minimize(task.f, executor=executor, batch_mode=False)
    else:
        found = optimizer.minimize(task.f, **more)
    return Answer(found.value, found.loss, None, optimizer.num_tell)
