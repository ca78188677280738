"""Our runs of the published experiment beside its printed table: cells and verdicts, as text, CSV and a section.

Verdicts of our mean against the printed one:
infeasible  some run found no feasible point, though the problem has one
equal       the difference is within two standard errors (of both), or within 1 %, or both are below 1e-8 in size
better, worse
Two questions on top: does the cell `hold` (every run feasible, and the mean no worse than the printed mean plus its
standard deviation, or within 1e-8 of the best known value), and does it `agree` (equal, feasibility ignored as the
printed table ignores it)?
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from .. import published, suites
from ..experiments import StoredRun
from ..experiments.job import Job
from ..markup import Markup, listed, tag
from ..population import competition_violation
from ..problem import Problem
from .study import Study
from .tables import ReportTable, sortable

COLUMN_OF = {  # our methods, and the columns of the published table
    "pps-de": "PPS-DE",
    "pps-de-published": "PPS-DE",
    "aga-pps": "AGA-PPS",
    "lshade44-ide": "LSHADE44+IDE",
    "lshade44": "LSHADE44",
    "ude": "UDE",
    "iude": "IUDE",
    "emag-es": "eMAg-ES",
    "c2ode": "C2oDE",
}
REPORTS = {"best": "the best point ever evaluated", "original": "the point that the original program reports"}
NEGLIGIBLE = 1e-8
PERCENT = 0.01
VERDICTS = ("better", "equal", "worse", "infeasible", "not printed")
HEADERS = (
    "problem", "mean", "std", "feasible", "violation", "published", "pub.std", "known", "verdict", "holds",
)  # fmt: skip
COLUMNS = (
    "method", "published_column", "dimension", "problem", "runs", "mean", "std", "best", "median", "worst",
    "feasible_share", "mean_violation", "printed_mean", "printed_std", "best_known", "verdict", "holds", "agrees",
    "judged", "not_judged_because",
)  # fmt: skip
NOTE = (
    "A cell holds if every run is feasible and our mean is no worse than the printed mean plus its standard deviation, "
    "or within 1e-8 of the best known value. The verdict compares the means: equal is within two standard errors or "
    "1 %. In brackets: not judged."
)


@dataclass(frozen=True)
class Ours:
    """The results of our runs of a cell."""

    mean: float
    std: float
    best: float
    median: float
    worst: float
    feasible_share: float
    violation: float  # mean of the competition's measure
    runs: int


@dataclass(frozen=True)
class Comparison:
    """A cell: ours, the printed one, and the best known value of the problem."""

    method: str  # its label in the study
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


# --- from the results of a study ------------------------------------------------------------------------------------


def comparisons(study: Study, report: str = "best", *, any_experiment: bool = False) -> list[Comparison]:
    """Return the cells of a study that have a published counterpart, by algorithm, dimension and problem.

    There are none on a machine that lacks the official data of the suite.

    Parameters
    ----------
    study : Study
    report : 'best' or 'original'
        Compare the best point ever evaluated, or the point that the method's original program reports.
    any_experiment : bool
        Also compare runs with another budget, or on another instance, than the published ones.
    """
    found = []
    for label in study.algorithms:
        for results in (row[label] for row in study.results.values() if label in row):
            job = results[0].job
            problem = _problem(job) if _has_a_counterpart(job, any_experiment) else None
            if problem is not None:
                found.append(_compared(label, results, problem, report))
    return sorted(found, key=lambda cell: (study.algorithms.index(cell.method), cell.dimension))


def _has_a_counterpart(job: Job, any_experiment: bool) -> bool:
    if job.suite != "cec2017" or job.dimension not in published.DIMENSIONS or job.method not in COLUMN_OF:
        return False
    budget = published.EVALUATIONS_PER_VARIABLE * job.dimension
    return any_experiment or (job.instance, job.budget) == ("official", budget)


def _problem(job: Job) -> Problem | None:
    try:
        return suites.get("cec2017").problem(job.problem["name"], job.dimension, instance=job.instance)
    except ValueError:  # its data is not on this machine
        return None


def _compared(label: str, results: Sequence[StoredRun], problem: Problem, report: str) -> Comparison:
    job, name = results[0].job, results[0].problem
    points = [result.answer if report == "original" else result.arrays for result in results]
    x, f, violation = (np.array([point[key] for point in points]) for key in ("x", "f", "violation"))
    best_first = np.lexsort((f, violation))
    ours = Ours(
        mean=float(f.mean()),
        std=float(f.std(ddof=1)) if len(f) > 1 else 0.0,
        best=float(f[best_first[0]]),
        median=float(np.median(f)),
        worst=float(f[best_first[-1]]),
        feasible_share=float((violation == 0).mean()),
        violation=_mean_violation(problem, x),
        runs=len(f),
    )
    return Comparison(
        method=label,
        column=COLUMN_OF[job.method],
        dimension=job.dimension,
        problem=name,
        ours=ours,
        printed=published.meant(job.dimension, name, COLUMN_OF[job.method]),
        best_known=problem.optimum.value if problem.optimum is not None else np.nan,
        excuse=published.UNJUDGED.get(name, ""),
    )


def _mean_violation(problem: Problem, x: np.ndarray) -> float:
    """Return the mean over points (runs, d) of the competition's measure."""
    if np.isnan(x).any():
        return np.inf
    _, g, h = problem.evaluate(x)
    return float(competition_violation(g, h, problem.tolerance).mean())


# --- as text, CSV and a section of the report -----------------------------------------------------------------------


def blocks(cells: Iterable[Comparison]) -> dict[str, list[Comparison]]:
    """Return the cells by method and dimension, under a title."""
    found: dict[str, list[Comparison]] = {}
    for cell in cells:
        found.setdefault(f"{cell.method} beside {cell.column}, D = {cell.dimension}", []).append(cell)
    return found


def line(cell: Comparison) -> list[str]:
    """Return a cell as the texts under `HEADERS`; a verdict that does not count is in brackets."""
    ours, printed = cell.ours, cell.printed
    numbers = (ours.mean, ours.std, ours.violation, printed.mean, printed.std, cell.best_known)
    mean, std, violation, printed_mean, printed_std, known = (f"{value:.4g}" for value in numbers)
    verdict, holds = (cell.verdict, "yes" if cell.holds else "no") if cell.judged else (f"({cell.verdict})", "-")
    return [
        cell.problem, mean, std, f"{ours.feasible_share:.0%}", violation, printed_mean, printed_std, known, verdict,
        holds,
    ]  # fmt: skip


def total_lines(cells: Sequence[Comparison]) -> list[str]:
    """Return a sentence per method and dimension: how many judged cells hold, agree, and have each verdict."""
    lines = []
    for block in blocks(cells).values():
        judged = [cell for cell in block if cell.judged]
        counts = {verdict: sum(cell.verdict == verdict for cell in judged) for verdict in VERDICTS}
        mended = [cell.problem for cell in block if (cell.dimension, cell.problem, cell.column) in published.LOST_SIGNS]
        lines.append(
            f"{block[0].method}, D = {block[0].dimension}: of {len(judged)} judged problems "
            f"{sum(cell.holds for cell in judged)} hold, {sum(cell.agrees for cell in judged)} agree with the printed "
            "mean; "
            + ", ".join(f"{count} {verdict}" for verdict, count in counts.items() if count)
            + (f" (printed without its minus sign, which is put back: {', '.join(mended)})" if mended else "")
        )
    return lines


def as_csv(cells: Sequence[Comparison]) -> str:
    """Return the cells as CSV, every number in full."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for cell in cells:
        ours = cell.ours
        writer.writerow(
            [
                cell.method, cell.column, cell.dimension, cell.problem, ours.runs, ours.mean, ours.std, ours.best,
                ours.median, ours.worst, ours.feasible_share, ours.violation, cell.printed.mean, cell.printed.std,
                cell.best_known, cell.verdict, cell.holds, cell.agrees, cell.judged, cell.excuse,
            ]
        )  # fmt: skip
    return text.getvalue()


def section(cells: Sequence[Comparison], report: str = "best") -> Markup:
    """Return the comparison as a section of a study's page; nothing if there are no cells."""
    if not cells:
        return Markup("")
    tables = []
    for title, block in blocks(cells).items():
        tables += [tag("h3", title), sortable(ReportTable(title, list(HEADERS), [_row(cell) for cell in block]))]
    excuses = dict.fromkeys(f"{cell.problem}: {cell.excuse}" for cell in cells if cell.excuse)
    return tag(
        "section",
        tag("h2", "Beside the published table"),
        listed(total_lines(cells)),
        tag("p", f"{NOTE} Our runs report {REPORTS[report]}.", class_="note"),
        *tables,
        *((tag("h3", "Not judged"), listed([*excuses])) if excuses else ()),
        id="published",
    )


def _row(cell: Comparison) -> list[object]:
    """Return a cell as the values under `HEADERS`, with numbers to sort by."""
    ours, printed, texts = cell.ours, cell.printed, line(cell)
    return [
        cell.problem, ours.mean, ours.std, ours.feasible_share, ours.violation, printed.mean, printed.std,
        cell.best_known, *texts[-2:],
    ]  # fmt: skip
