"""Our runs of the published experiment beside its printed table: cells and verdicts, as text, CSV and a section.

Verdicts of our mean against the printed one:
infeasible     some run found no feasible point, though the problem has one
equal          equivalent by the test of `agreement.py`: shown to differ by less than a region that comes from print
better, worse  the difference is significant, and not within the region
unclear        neither: the runs spread too much to say
Does the cell `hold` on top: is every run feasible, and the mean no worse than the printed mean plus its standard
deviation, or within 1e-8 of the best known value? How far a method agrees with its column is judged by the cells that
tell columns apart, feasibility ignored as the printed table ignores it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from .. import published, suites
from ..display.markup import Markup, listed, tag
from ..experiments.job import Job
from ..population import competition_violation
from ..problem import Problem
from ..stats import Equivalence
from .agreement import JUDGED, NEGLIGIBLE, Agreement, agreement, compared, is_telling, region_of
from .study import POINT, CellRuns, Study
from .tables import ReportTable, csv_text, sortable

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
PERCENT = 0.01
VERDICTS = ("better", "equal", "worse", "unclear", "infeasible", "not printed")
HEADERS = (
    "problem", "mean", "std", "feasible", "violation", "published", "pub.std", "known", "verdict", "holds", "telling",
)  # fmt: skip
AGREEMENT_HEADERS = (
    "method", "column", "D", "telling cells", "equivalent", "different", "nearest other column", "p", "verdict",
)  # fmt: skip
COLUMNS = (
    "method", "published_column", "dimension", "problem", "runs", "mean", "std", "best", "median", "worst",
    "feasible_share", "mean_violation", "printed_mean", "printed_std", "best_known", "verdict", "holds", "agreement",
    "region", "telling", "judged", "not_judged_because",
)  # fmt: skip
NOTE = (
    "A cell holds if every run is feasible and our mean is no worse than the printed mean plus its standard deviation, "
    "or within 1e-8 of the best known value. The verdict compares the means: equal is equivalent, at the level 0.05, "
    "within one printed standard deviation (at least 1 % of the mean, and 1e-8); unclear is neither equal nor "
    "significantly different. A cell is telling if at most one of the other printed columns passes the same test: only "
    "these say whether a method agrees with its column. p is the chance, at most, that a different column passes as "
    "many of them. In brackets: not judged."
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
    base: str  # its name in the table of algorithms
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
        if self.agreement == "equivalent":
            return "equal"
        if self.agreement == "different":
            return "better" if self.ours.mean < self.printed.mean else "worse"
        return "unclear"

    @property
    def test(self) -> Equivalence | None:
        """The test of equivalence of the two means; None where one is missing or infinite."""
        return compared(self.ours.mean, self.ours.std, self.ours.runs, self.printed)

    @property
    def agreement(self) -> str:
        """'equivalent', 'different' or 'undecided', feasibility ignored; 'not printed'."""
        if math.isnan(self.printed.mean):
            return "not printed"
        return "undecided" if self.test is None else self.test.verdict

    @property
    def telling(self) -> bool:
        """Whether the printed cell tells its column from the others."""
        return is_telling(self.dimension, self.problem, self.column)

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
        for cell in (row[label] for row in study.results.values() if label in row):
            problem = _problem(cell.job) if _has_a_counterpart(cell.job, any_experiment) else None
            if problem is not None:
                found.append(_compared(label, cell, problem, report))
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


def _compared(label: str, cell: CellRuns, problem: Problem, report: str) -> Comparison:
    job, name = cell.job, cell.problem
    points = cell.answer if report == "original" else cell.best
    x, f, violation = (points[key] for key in POINT)
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
        base=job.method,
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
        holds, "yes" if cell.telling else "-",
    ]  # fmt: skip


def agreements(cells: Iterable[Comparison]) -> list[Agreement]:
    """Return how far each method agrees with its printed column, at dimensions of which all judged cells are there."""
    found = []
    for block in blocks(cells).values():
        of = {cell.problem: cell.agreement for cell in block}
        if set(JUDGED) <= set(of):
            first = block[0]
            found.append(agreement(first.method, first.base, first.column, first.dimension, of))
    return found


def total_lines(cells: Sequence[Comparison]) -> list[str]:
    """Return a sentence per method and dimension: how many judged cells hold, agree, and have each verdict."""
    lines = []
    for block in blocks(cells).values():
        judged = [cell for cell in block if cell.judged]
        counts = {verdict: sum(cell.verdict == verdict for cell in judged) for verdict in VERDICTS}
        mended = [cell.problem for cell in block if (cell.dimension, cell.problem, cell.column) in published.LOST_SIGNS]
        lines.append(
            f"{block[0].method}, D = {block[0].dimension}: of {len(judged)} judged problems "
            f"{sum(cell.holds for cell in judged)} hold; "
            + ", ".join(f"{count} {verdict}" for verdict, count in counts.items() if count)
            + (f" (printed without its minus sign, which is put back: {', '.join(mended)})" if mended else "")
        )
    return lines + [agreement_line(found) for found in agreements(cells)]


def agreement_line(found: Agreement) -> str:
    """Return how far a method agrees with its column, as a sentence."""
    return (
        f"{found.method}, D = {found.dimension}: of {found.telling} telling cells {found.equivalent} equivalent to "
        f"{found.column}, {found.different} different; the nearest other column, {found.nearest}, has {found.passed}: "
        f"{found.verdict}"
    )


def as_csv(cells: Sequence[Comparison]) -> str:
    """Return the cells as CSV, every number in full."""
    rows: list[Sequence[object]] = [COLUMNS]
    for cell in cells:
        ours = cell.ours
        rows.append(
            [
                cell.method, cell.column, cell.dimension, cell.problem, ours.runs, ours.mean, ours.std, ours.best,
                ours.median, ours.worst, ours.feasible_share, ours.violation, cell.printed.mean, cell.printed.std,
                cell.best_known, cell.verdict, cell.holds, cell.agreement, region_of(cell.printed), cell.telling,
                cell.judged, cell.excuse,
            ]
        )  # fmt: skip
    return csv_text(rows)


def section(cells: Sequence[Comparison], report: str = "best") -> Markup:
    """Return the comparison as a section of a study's page; nothing if there are no cells."""
    if not cells:
        return Markup("")
    tables, found = [], agreements(cells)
    if found:
        rows = [_agreement_row(one) for one in found]
        tables += [tag("h3", "Agreement"), sortable(ReportTable("Agreement", list(AGREEMENT_HEADERS), rows))]
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
        cell.best_known, *texts[-3:],
    ]  # fmt: skip


def _agreement_row(found: Agreement) -> list[object]:
    """Return an agreement as the values under `AGREEMENT_HEADERS`."""
    return [
        found.method, found.column, found.dimension, found.telling, found.equivalent, found.different,
        f"{found.nearest}: {found.passed}", found.p, found.verdict,
    ]  # fmt: skip
