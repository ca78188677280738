"""`Ending`, the record that a run leaves, and `Endings`, several as columns; every kind of result is made from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..evaluation.values import Failure
from ..population import Population

Constraints = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]  # x (d,) -> g (p,), h (q,)
NONE = np.empty((1, 0))  # constraint values
SPENT, INFEASIBLE, STOPPED, INTERRUPTED, FAILED, RUNNING, TIME_UP, ERROR, CONVERGED, TARGET = range(10)

STATUS = {
    SPENT: "the budget is spent and a feasible point was found",
    INFEASIBLE: "the budget is spent and no feasible point was found; x is the least violating one",
    STOPPED: "stopped by the callback",
    INTERRUPTED: "interrupted",
    FAILED: "every evaluation failed",
    RUNNING: "the run is not over",
    TIME_UP: "the time is up",
    ERROR: "stopped by an error",
    CONVERGED: "converged: the method expects no better point, as exactly as tol asks",
    TARGET: "the target is reached",
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
    CONVERGED: "tol",
    TARGET: "target",
}  # the argument or event that ended the run


@dataclass(frozen=True, eq=False)
class Ending:
    """The record of a run at its end, or so far, and why it ended.

    `best` is the best point ever evaluated, `answer` the point that the method's original program reports. Both have
    one row, or are None if no evaluation returned values.
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
    seconds: float | None = None  # None if the caller evaluates, as with `Optimizer`
    eval_seconds_mean: float | None = None
    eval_seconds_max: float | None = None  # NaN where it cannot be known

    @property
    def message(self) -> str:
        """Why the run ended, in words."""
        text = STATUS[self.status]
        if self.status == FAILED and self.failures:
            text += f" ({self.failed} of {self.evaluations}); the first with {self.failures[0]}"
        if self.status == CONVERGED and self.best is not None and not self.best.feasible[0]:
            text += "; no feasible point was found, x is the least violating one"
        if self.status == TARGET and self.best is not None and not self.best.feasible[0]:
            text += "; evaluated once more outside the program, x misses a constraint by rounding"
        return text


def compiled_status(found: Mapping[str, Any], target: float | None, violation: Any) -> np.ndarray:
    """Return the status of one compiled run or of several, from their values by name; `left` only if it can end early.

    The program's own values say why it ended; `violation`, judged on the host, says whether a feasible point was found.

    Examples
    --------
    >>> f, violation = np.array([3.0, 1.0, 1.0]), np.array([0.0, 0.0, 0.5])
    >>> found = {"f": f, "violation": violation, "left": np.array([True, False, False])}
    >>> [STATUS[status] for status in compiled_status(found, 2.0, violation).tolist()][1]
    'the target is reached'
    """
    f, seen = found["f"], found["violation"]
    status = np.where(violation == 0.0, SPENT, np.where(seen < np.inf, INFEASIBLE, FAILED))
    status = np.where(found.get("left", False), CONVERGED, status)
    return np.where((seen == 0.0) & (f <= (np.nan if target is None else target)), TARGET, status)


def ending_of(found: Mapping[str, Any], constraints: Constraints) -> Ending:
    """Return the ending of one compiled run, from its values by name; `constraints` evaluates g and h of its points."""

    def point(prefix: str) -> Population:
        x, f, violation = (np.asarray(found[prefix + name], float) for name in ("x", "f", "violation"))
        g, h = constraints(x)
        return Population(x[None], f[None], violation[None], g[None], h[None])

    best, answer = (point(""), point("answer_")) if found["violation"] < np.inf else (None, None)
    return Ending(
        status=int(found["status"]),
        dimension=len(found["x"]),
        best=best,
        answer=answer,
        population=found.get("population"),
        evaluations=int(found["evaluations"]),
        failed=int(found.get("failed", 0)),
        generations=int(found.get("generation", 0)),
        history=found["record"],
    )


@dataclass(frozen=True, eq=False)
class Endings:
    """The endings of several runs on one problem, as columns with a row per run.

    A row without values has x = NaN and f = violation = inf. `record` has columns (runs, record) along the runs.
    """

    x: np.ndarray  # (runs, d)
    f: np.ndarray  # (runs,)
    violation: np.ndarray  # (runs,), the search's measure
    answer_x: np.ndarray  # (runs, d)
    answer_f: np.ndarray  # (runs,)
    answer_violation: np.ndarray  # (runs,)
    evaluations: np.ndarray  # (runs,)
    status: np.ndarray  # (runs,), why each ended
    record: dict[str, np.ndarray]

    @classmethod
    def of(cls, endings: Sequence[Ending], budget: int, record: int) -> Endings:
        """Return single endings as columns; each history is reduced to `record` rows."""
        nothing = np.full((1, endings[0].dimension), np.nan), np.full(1, np.inf), np.full(1, np.inf), NONE, NONE
        best = [ending.best or Population(*nothing) for ending in endings]
        answer = [ending.answer or Population(*nothing) for ending in endings]
        records = [thinned(ending.history, budget, record) for ending in endings]
        return cls(
            x=np.array([row.x[0] for row in best]),
            f=np.array([row.f[0] for row in best]),
            violation=np.array([row.violation[0] for row in best]),
            answer_x=np.array([row.x[0] for row in answer]),
            answer_f=np.array([row.f[0] for row in answer]),
            answer_violation=np.array([row.violation[0] for row in answer]),
            evaluations=np.array([ending.evaluations for ending in endings]),
            status=np.array([ending.status for ending in endings]),
            record={name: np.array([rows[name] for rows in records]) for name in records[0]},
        )

    def ending(self, row: int, constraints: Constraints) -> Ending:
        """Return the ending of one run; `constraints` evaluates g and h of its points."""
        record = {name: column[row] for name, column in self.record.items()}
        values = {name: column[row] for name, column in vars(self).items() if name != "record"}
        return ending_of({**values, "record": record}, constraints)


def thinned(history: dict[str, np.ndarray], budget: int, record: int) -> dict[str, np.ndarray]:
    """Return a history with `record` rows, one for each of as many equal parts of the budget.

    A row is that of the last generation that ended within its part, NaN if none did. The start is not a generation, as
    in the compiled engine.

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
        columns[name][at] = column[1:]  # where several generations end in one part, the last is stored
    return columns
