"""Summaries of runs: best, median, mean, worst, and the numbers of feasible and failed runs."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np

from .outcomes import Cells, Outcomes, algorithms_of
from .tables import TableRow

BANDS = (1.0, 0.01, 0.0001)  # lower ends of the three classes of violation that CEC tables count


@dataclass(frozen=True)
class Summary:
    """Statistics of the runs of one algorithm on one problem.

    `best`, `median` and `worst` are objectives of runs in the order feasible by objective, infeasible by violation,
    failed; so each stands beside the violation of its run, and a failed run shows as NaN. `mean` and `std` are over
    all runs that did not fail, infeasible ones included, as the tables of the competitions have them;
    `feasible_mean` is over the feasible ones.
    """

    n: int
    n_feasible: int
    n_failed: int
    FR: float  # feasibility rate, failed runs counted as infeasible
    best: float
    best_violation: float
    median: float
    c: tuple[int, int, int] | None  # constraints of the median run violated by > 1, (0.01, 1], (0.0001, 0.01]
    v_bar: float  # violation of the median run
    mean: float
    std: float
    feasible_mean: float
    worst: float
    worst_violation: float
    mean_violation: float  # of all runs; infinite as soon as one failed

    def rows(self) -> list[TableRow]:
        return [asdict(self)]


def summarise(runs: Outcomes) -> Summary:
    """Summarise the runs of one algorithm on one problem.

    No run is dropped silently: `n`, `n_feasible` and `n_failed` are part of the summary. A failed run counts as
    infeasible in `FR`, as infinite in `mean_violation`, and is the worst run; only `mean`, `std` and `feasible_mean`,
    which a missing value would leave undefined, are of the runs that they can be computed from.

    Parameters
    ----------
    runs : Outcomes
        With `by_constraint` for the numbers `c`, which are None otherwise or where the median run failed.

    Returns
    -------
    Summary
        `std` has n - 1 in the denominator. Where n is even, the median is the worse of the two middle runs: it stays
        one run, whose violation can be shown.

    Notes
    -----
    `c` counts, in the median run, the constraints violated by more than 1, by more than 0.01 and at most 1, and by
    more than 0.0001 and at most 0.01: disjoint classes, as the programs behind the published tables count. The number
    violated by more than 0.01 is the sum of the first two, and so on.

    Examples
    --------
    >>> runs = Outcomes([4.0, 2.0, 0.0, 3.0, 9.0], [0.0, 0.0, 0.7, 0.0, float("nan")])
    >>> it = summarise(runs)
    >>> it.n, it.n_feasible, it.n_failed, it.FR
    (5, 3, 1, 0.6)
    >>> it.best, it.median, it.v_bar, it.mean
    (2.0, 4.0, 0.0, 2.25)
    >>> it.worst, it.mean_violation
    (nan, inf)
    """
    order, failed, feasible = runs.order(), runs.failed, runs.feasible
    f = np.where(failed, np.nan, runs.f)
    violation = np.where(failed, np.nan, runs.violation)
    best, median, worst = order[0], order[runs.n // 2], order[-1]
    finished = f[~failed]
    return Summary(
        n=runs.n,
        n_feasible=int(feasible.sum()),
        n_failed=int(failed.sum()),
        FR=float(feasible.mean()),
        best=float(f[best]),
        best_violation=float(violation[best]),
        median=float(f[median]),
        c=_violated(runs, int(median)),
        v_bar=float(violation[median]),
        mean=_mean(finished),
        std=_std(finished),
        feasible_mean=_mean(f[feasible]),
        worst=float(f[worst]),
        worst_violation=float(violation[worst]),
        mean_violation=np.inf if failed.any() else _mean(violation),
    )


def summary_rows(cells: Cells) -> list[TableRow]:
    """Summarise a whole table of outcomes, a row per problem and algorithm.

    Parameters
    ----------
    cells : mapping of problem to mapping of algorithm to Outcomes

    Examples
    --------
    >>> from ppsde.stats import as_text
    >>> rows = summary_rows({"C01": {"a": Outcomes([1.0, 2.0]), "b": Outcomes([3.0, 0.0], [0.0, 1.0])}})
    >>> shown = ("problem", "algorithm", "n", "n_feasible", "n_failed", "best", "mean", "mean_violation")
    >>> print(as_text([{name: row[name] for name in shown} for row in rows]))
    problem  algorithm  n  n_feasible  n_failed  best  mean  mean_violation
    C01      a          2           2         0     1   1.5               0
    C01      b          2           1         0     3   1.5             0.5
    """
    algorithms = algorithms_of(cells)
    return [
        {"problem": problem, "algorithm": algorithm, **asdict(summarise(by_algorithm[algorithm]))}
        for problem, by_algorithm in cells.items()
        for algorithm in algorithms
    ]


def _violated(runs: Outcomes, run: int) -> tuple[int, int, int] | None:
    if runs.by_constraint is None or runs.failed[run]:
        return None
    more = [int((runs.by_constraint[run] > limit).sum()) for limit in BANDS]
    return more[0], more[1] - more[0], more[2] - more[1]


def _mean(values: np.ndarray) -> float:
    return float(values.mean()) if values.size else np.nan


def _std(values: np.ndarray) -> float:
    with np.errstate(invalid="ignore"):  # an infinite objective has no standard deviation
        return float(values.std(ddof=1)) if values.size > 1 else np.nan
