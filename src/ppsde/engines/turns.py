"""Runs one after another on the host engine, with the same outcome as a compiled batch: for what cannot be compiled."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algorithm import Algorithm, Task
from ..problem import Problem
from .run import Run


def runs_on_the_host(
    algorithm: Algorithm, problem: Problem, numbers: np.ndarray, budget: int, seed: int, record: int
) -> dict[str, Any]:
    """What `Program` gives of one problem: the best points, the answers, and `record` rows along each run."""
    runs = [_finished(algorithm, problem, int(number), budget, seed) for number in numbers]
    points = {"": [run.best for run in runs], "answer_": [run.answer for run in runs]}
    nowhere = np.full(problem.dimension, np.nan)
    columns: dict[str, Any] = {}
    for prefix, rows in points.items():
        columns[f"{prefix}x"] = np.array([nowhere if row is None else row.x[0] for row in rows])
        columns[f"{prefix}f"] = np.array([np.inf if row is None else row.f[0] for row in rows])
        columns[f"{prefix}violation"] = np.array([np.inf if row is None else row.violation[0] for row in rows])
    columns["evaluations"] = np.array([run.evaluations for run in runs])
    records = [thinned(run.history, budget, record) for run in runs]
    columns["record"] = {name: np.array([rows[name] for rows in records]) for name in records[0]}
    return columns


def _finished(algorithm: Algorithm, problem: Problem, number: int, budget: int, seed: int) -> Run:
    run = Run(algorithm, Task(problem.lower, problem.upper, budget), seed=seed, run=number, tolerance=problem.tolerance)
    while run.wanted is not None:
        run.supply(*problem.evaluate(run.wanted))
    return run


def thinned(history: dict[str, np.ndarray], budget: int, record: int) -> dict[str, np.ndarray]:
    """Of a row per generation, the last within each part of the budget, NaN where none ended there.

    The start is no generation, as in the compiled engine.

    Examples
    --------
    >>> import numpy as np
    >>> thinned({"evaluations": np.array([10.0, 30, 50, 90]), "f": np.array([9.0, 8, 7, 6])}, 100, 4)["f"]
    array([nan,  7., nan,  6.])
    """
    made = np.asarray(history.get("evaluations", ()), float)[1:].astype(np.int64)
    at = (made * record - 1) // budget
    columns = {name: np.full(record, np.nan) for name in history}
    for name, column in history.items():
        columns[name][at] = column[1:]  # of several generations in one part the last one stays
    return columns
