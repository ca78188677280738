"""One cell of the published table beside our runs, and what to say of it. Feasibility stands beside every mean.

Verdicts of our mean against the printed one:
infeasible  some run found no feasible point, though the problem has one
equal       the difference is within two standard errors (of both), or within 1 %, or both are below 1e-8 in size
better, worse
Two questions on top: does the cell `hold` (every run feasible, and the mean no worse than the printed mean plus its
standard deviation, or within 1e-8 of the best known value), and does it `agree` (equal, feasibility ignored as the
printed table ignores it)?
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from .. import published

NEGLIGIBLE = 1e-8
PERCENT = 0.01


@dataclass(frozen=True)
class Ours:
    """What our runs of a cell gave."""

    mean: float
    std: float
    best: float
    median: float
    worst: float
    feasible_share: float
    violation: float  # mean of the competition's measure
    runs: int


@dataclass(frozen=True)
class Row:
    """A cell: ours, the printed one, and what is known of the problem."""

    method: str
    column: str  # of the published table
    dimension: int
    problem: str
    ours: Ours
    printed: published.Cell
    best_known: float
    excuse: str  # why the cell is not judged, '' if it is

    @property
    def judged(self) -> bool:
        return not self.excuse

    @property
    def verdict(self) -> str:
        if self.judged and self.ours.feasible_share < 1.0:
            return "infeasible"
        if math.isnan(self.printed.mean):
            return "not printed"
        if self.problem in published.BELOW_THE_OPTIMUM:  # the printed mean is of infeasible points
            return "equal" if self.holds else "worse"
        if self.agrees:
            return "equal"
        return "better" if self.ours.mean < self.printed.mean else "worse"

    @property
    def agrees(self) -> bool:
        ours, printed = self.ours, self.printed
        if math.isnan(printed.mean):
            return False
        error = math.hypot(ours.std / math.sqrt(ours.runs), printed.std / math.sqrt(published.RUNS))
        difference = abs(ours.mean - printed.mean)
        both_negligible = max(abs(ours.mean), abs(printed.mean)) <= NEGLIGIBLE
        return difference <= 2 * error or difference <= PERCENT * abs(printed.mean) or both_negligible

    @property
    def holds(self) -> bool:
        if self.ours.feasible_share < 1.0:
            return False
        if abs(self.ours.mean - self.best_known) <= NEGLIGIBLE:
            return True
        if self.problem in published.BELOW_THE_OPTIMUM:
            return self.ours.mean - self.best_known <= PERCENT * abs(self.best_known)
        return self.ours.mean <= self.printed.mean + self.printed.std


def totals(rows: list[Row]) -> list[dict[str, object]]:
    """Per method and dimension: how many judged cells there are, hold, agree, and have each verdict."""
    table = []
    for method, dimension in dict.fromkeys((row.method, row.dimension) for row in rows):
        judged = [row for row in rows if (row.method, row.dimension) == (method, dimension) and row.judged]
        counts = {verdict: sum(row.verdict == verdict for row in judged) for verdict in VERDICTS}
        table.append(
            {
                "method": method,
                "dimension": dimension,
                "judged": len(judged),
                "hold": sum(row.holds for row in judged),
                "agree": sum(row.agrees for row in judged),
                **counts,
            }
        )
    return table


VERDICTS = ("better", "equal", "worse", "infeasible", "not printed")
