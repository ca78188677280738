"""Quartiles of objective and violation, and the share of feasible runs, at some numbers of evaluations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..stats import Records

POINTS = 80  # along a curve


@dataclass(frozen=True)
class Curves:
    """The runs of one algorithm on one problem at some numbers of evaluations.

    Quartiles are over all runs, in the order in which no run is dropped: one that has no feasible point yet has an
    infinite objective, one that failed an infinite violation too. So a median is there as soon as more than half of
    the runs are feasible, and no curve improves by leaving out its bad runs.
    """

    at: np.ndarray  # (points,)
    f: np.ndarray  # (3, points): lower quartile, median, upper quartile of the best feasible objective
    violation: np.ndarray  # (3, points), of the least violation
    share: np.ndarray  # (points,) of the runs that have found a feasible point
    runs: int


def grid(budget: int, points: int = POINTS) -> np.ndarray:
    """Return equally spaced numbers of evaluations, the last one the budget."""
    return np.unique(np.ceil(np.linspace(budget / points, budget, points)))


def curves(records: Records, at: np.ndarray) -> Curves:
    """Return the curves of runs at those numbers of evaluations.

    Examples
    --------
    >>> f, violation = [[5.0, 4.0, 3.0], [9.0, 9.0, 1.0], [7.0, 7.0, 7.0]], [[0.0] * 3, [1.0, 1.0, 0.0], [2.0] * 3]
    >>> records = Records([10, 20, 30], f, violation)
    >>> found = curves(records, np.array([5, 20, 30]))
    >>> found.f[1].tolist(), found.violation[1].tolist()
    ([inf, inf, 3.0], [inf, 1.0, 0.0])
    >>> found.share.round(2).tolist()
    [0.0, 0.33, 0.67]
    """
    f, violation = known_at(records, at)
    return Curves(at, _quartiles(f), _quartiles(violation), (violation == 0).mean(axis=0), records.runs)


def known_at(records: Records, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the best feasible objective and the least violation after so many evaluations, (runs, points) each."""
    made = np.maximum.accumulate(np.nan_to_num(records.evaluations), axis=1)  # 0 before the first record
    index = np.array([(row <= at[:, None]).sum(axis=1) for row in made]) - 1
    last = np.maximum(index, 0)
    f = np.where(index >= 0, np.take_along_axis(records.feasible_f, last, axis=1), np.inf)
    violation = np.where(index >= 0, np.take_along_axis(records.least_violation, last, axis=1), np.inf)
    return f, violation


def _quartiles(values: np.ndarray) -> np.ndarray:
    """Return lower quartile, median and upper quartile of each column; each is the value of a run, the worse of two."""
    n = len(values)
    places = [max(0, -(-n // 4) - 1), n // 2, max(0, -(-3 * n // 4) - 1)]
    places[2] = max(places[1], places[2])
    return np.sort(values, axis=0)[places]
