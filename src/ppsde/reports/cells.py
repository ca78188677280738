"""The runs of a study by algorithm, problem and dimension, as exports write them, and what was known along each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..experiments import Result, Store
from ..stats import Records


@dataclass(frozen=True)
class Cell:
    """What the runs of one file share."""

    algorithm: str  # by label
    suite: str | None  # None for a problem of a file
    problem: str
    dimension: int


def cells(store: Store, plan: int | None) -> dict[Cell, list[Result]]:
    """Every finished run, failed ones included, in the order of the plan."""
    found: dict[Cell, list[Result]] = {}
    for result in store.results(plan):
        cell = Cell(result.algorithm, result.job.suite, result.problem, result.dimension)
        found.setdefault(cell, []).append(result)
    return found


def along(result: Result) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Evaluations, best feasible objective so far and least violation so far, (points,) each.

    These are the recorded points and the end of the run, which mostly is a recorded point too; none of a failed run.
    The objective is infinite before the first feasible point.
    """
    if not result.ok:
        return np.empty(0, np.int64), np.empty(0), np.empty(0)
    names = ("evaluations", "f", "violation")
    made, f, violation = (np.append(result.record.get(name, np.empty(0)), getattr(result, name)) for name in names)
    records = Records(made, [f], [violation])
    there = ~np.isnan(made)
    return made[there].astype(np.int64), records.feasible_f[0, there], records.least_violation[0, there]
