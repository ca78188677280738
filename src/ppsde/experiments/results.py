"""The result of a run as those who read a store see it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from .jobs import Job
from .rows import OK, Row

ANSWER = "answer_"  # before the names of what the original program reports
RECORD = "record."  # before the names of the columns along a run


@dataclass(frozen=True, eq=False)
class Result:
    """What one run of a study gave.

    `x`, `f`, `violation` and what follows are of the best point ever evaluated; `answer` has the same of the point that
    the method's original program reports. A run that failed has `status` 'failed', NaN for values, an infinite
    violation and no record.
    """

    algorithm: str  # the label that the plan gives it
    problem: str
    dimension: int
    run: int
    status: str  # 'ok' or 'failed'
    message: str  # why it failed
    job: Job  # everything else that was asked for
    arrays: Mapping[str, np.ndarray]

    @property
    def key(self) -> tuple[str, str, int, int]:
        return self.algorithm, self.problem, self.dimension, self.run

    @property
    def ok(self) -> bool:
        return self.status == OK

    @property
    def x(self) -> np.ndarray:
        """The best point (d,)."""
        return self.arrays["x"]

    @property
    def f(self) -> float:
        return float(self.arrays["f"])

    @property
    def violation(self) -> float:
        """The search's measure."""
        return float(self.arrays["violation"])

    @property
    def competition_violation(self) -> float:
        """The measure of the CEC tables: a mean over the constraints."""
        return float(self.arrays["competition_violation"])

    @property
    def by_constraint(self) -> np.ndarray:
        """How far each constraint is violated (m,), inequalities first: g, or |h| above its tolerance; else 0."""
        return self.arrays["by_constraint"]

    @property
    def feasible(self) -> bool:
        return bool(self.arrays["feasible"])

    @property
    def evaluations(self) -> int:
        return int(self.arrays["evaluations"])

    @property
    def answer(self) -> dict[str, np.ndarray]:
        """The point that the method's original program reports: x, f, violation, feasible and so on."""
        return {name.removeprefix(ANSWER): a for name, a in self.arrays.items() if name.startswith(ANSWER)}

    @property
    def record(self) -> dict[str, np.ndarray]:
        """Columns along the run, each (record,): evaluations, f, violation, feasible_share and the method's own.

        The k-th numbers are of the last generation that ended within the k-th part of the budget, NaN where none did.
        """
        return {name.removeprefix(RECORD): a for name, a in self.arrays.items() if name.startswith(RECORD)}


def result_of(label: str, job: Job, row: Row) -> Result:
    """A row with what it means."""
    return Result(
        algorithm=label,
        problem=job.problem_name,
        dimension=job.dimension,
        run=row.run,
        status=row.status,
        message=row.message,
        job=job,
        arrays=row.arrays,
    )
