"""SciPy's differential evolution, with its own defaults and the budget set by its iterations."""

from __future__ import annotations

import numpy as np

from ..task import TOLERANCE, Answer, Task


def solve(task: Task, seed: int) -> Answer:
    from scipy.optimize import NonlinearConstraint, differential_evolution

    constraints = []
    if task.g is not None:
        constraints.append(NonlinearConstraint(task.g, -np.inf, 0.0))
    if task.h is not None:  # SciPy has no tolerance: limits take its place
        constraints.append(NonlinearConstraint(task.h, -TOLERANCE, TOLERANCE))
    f = (lambda x: task.f(x.T)) if task.rows else task.f
    population = 15 * len(task.low)
    result = differential_evolution(
        f,
        list(zip(task.low, task.high, strict=True)),
        constraints=constraints,
        maxiter=max(1, task.evaluations // population - 1),
        rng=seed,
        vectorized=task.rows,
        workers=task.workers,
        updating="deferred" if task.rows or task.workers > 1 else "immediate",
        polish=not task.rows,  # it calls the function in another way
    )
    return Answer(result.x, result.fun, result.success, result.nfev)
