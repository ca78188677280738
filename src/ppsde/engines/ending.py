"""The record that a run leaves, whichever engine ran it: results, batches and rows of a study are views of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ..evaluation.values import Failure
from ..population import Population

SPENT, INFEASIBLE, STOPPED, INTERRUPTED, FAILED, RUNNING, TIME_UP, ERROR = range(8)

STATUS = {
    SPENT: "the budget is spent and a feasible point was found",
    INFEASIBLE: "the budget is spent and no feasible point was found; x is the least violating one",
    STOPPED: "stopped by the callback",
    INTERRUPTED: "interrupted",
    FAILED: "every evaluation failed",
    RUNNING: "the run is not over",
    TIME_UP: "the time is up",
    ERROR: "stopped by an error",
}

LIMIT = {
    SPENT: "max_evaluations",
    INFEASIBLE: "max_evaluations",
    STOPPED: "callback",
    INTERRUPTED: "interrupt",
    FAILED: "failures",
    RUNNING: None,
    TIME_UP: "max_time",
    ERROR: "error",
}  # the argument or event that ended the run


@dataclass(frozen=True, eq=False)
class Ending:
    """Where a run stands, at its end or before, and why it ended.

    `best` is the best point ever evaluated, `answer` the point that the method's original program reports. Both have
    one row, or are None where no evaluation gave values.
    """

    status: int
    dimension: int
    best: Population | None
    answer: Population | None
    population: Population | None
    evaluations: int
    failed: int  # evaluations
    generations: int
    history: dict[str, np.ndarray] = field(repr=False)  # columns, a row per generation
    failures: Sequence[Failure] = ()  # the first thousand
    constraint_names: Sequence[str] | None = None
    calls: int | None = None  # of the function
    seconds: float | None = None  # None where somebody else evaluates
    eval_seconds_mean: float | None = None
    eval_seconds_max: float | None = None  # NaN where it cannot be known

    @property
    def message(self) -> str:
        """Why the run ended, in words."""
        text = STATUS[self.status]
        if self.status == FAILED and self.failures:
            text += f" ({self.failed} of {self.evaluations}); the first with {self.failures[0]}"
        return text


def thinned(history: dict[str, np.ndarray], budget: int, record: int) -> dict[str, np.ndarray]:
    """A history with `record` rows: the last generation that ended within each part of the budget, NaN where none did.

    The start is not a generation, as in the compiled engine.

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
