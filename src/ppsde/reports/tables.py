"""The tables of a study, as CSV, LaTeX and HTML."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..files import MADE_BY, write_own
from ..markup import Markup, tag
from ..stats import Summary
from .figures import Figures, reached, unused
from .findings import Findings
from .study import Study

ECDF_ROWS = 40
FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n")  # spreadsheets take text that begins so for a formula
DIGITS = 5  # significant, of a number that is shown


@dataclass(frozen=True)
class ReportTable:
    """Rows of values under the names of their columns."""

    title: str
    columns: list[str]
    rows: list[list[object]]


def tables(study: Study, findings: Findings, figures: Figures) -> dict[str, ReportTable]:
    """Return every table that the study has data for, by name."""
    found = {"results": _results(study, findings)}
    if findings.ranks is not None and findings.competition is not None:
        ranks = findings.ranks
        rows = [[p, *map(float, row)] for p, row in zip(ranks.problems, ranks.by_median, strict=True)]
        rows.append(["average", *map(float, ranks.by_median.mean(axis=0))])
        found["ranks"] = ReportTable("ranks by the median run", ["problem", *ranks.algorithms], rows)
        found["competition"] = ReportTable(
            "rank sums by the rules of CEC2017",
            ["algorithm", "by mean", "by median", "total", "place"],
            [list(row.values()) for row in findings.competition.rows()],
        )
    if findings.test is not None and findings.pairs is not None:
        rows = [[row["test"], row["statistic"], str(row["df"]), row["p"]] for row in findings.test.test_rows()]
        found["tests"] = ReportTable("Friedman's test", ["test", "statistic", "degrees of freedom", "p"], rows)
        names = ["first", "second", "difference", "p", "differ"]
        rows = [[row[name] for name in names] for row in findings.pairs.rows()]
        found["pairs"] = ReportTable("Nemenyi's comparison of average ranks", names, rows)
    if findings.wins:
        rows = [[w.first, w.second, w.wins, w.ties, w.losses] for w in findings.wins]
        found["wins"] = ReportTable("significant wins by problem", ["first", "second", "wins", "ties", "losses"], rows)
    if findings.u_score is not None and findings.speed_score is not None:
        found |= _scores(findings)
    if findings.ecdf:
        found["ecdf"] = _ecdf(findings)
    if figures.shares:
        steps = len(next(iter(figures.shares.values())))
        names = [study.algorithms[k] for k in figures.shares]
        columns = list(figures.shares.values())
        rows = [[100 * (k + 1) / steps, *(float(c[k]) for c in columns)] for k in range(steps)]
        found["feasibility"] = ReportTable("mean share of feasible runs", ["budget used, %", *names], rows)
    found["state"] = ReportTable(
        "runs by cell",
        ["algorithm", "problem", "D", "wanted", "done", "failed"],
        [[c.algorithm, c.problem, c.dimension, c.wanted, c.done, c.failed] for c in study.standing.cells],
    )
    return found


def _results(study: Study, findings: Findings) -> ReportTable:
    names = ["n", "n_feasible", "n_failed", "best", "median", "v_bar", "mean", "std", "feasible_mean", "worst"]
    names.append("mean_violation")
    rows: list[list[object]] = []
    for problem in study.problems:
        for algorithm, summary in findings.summaries[problem.label].items():
            values = [getattr(summary, name) for name in names]
            rows.append([problem.name, problem.dimension, algorithm, *values])
    return ReportTable("results", ["problem", "D", "algorithm", *names], rows)


def _scores(findings: Findings) -> dict[str, ReportTable]:
    u, speed = findings.u_score, findings.speed_score
    assert u is not None and speed is not None
    rows: list[list[object]] = [
        [
            name,
            float(u.total[k]),
            float(speed.total[k]),
            float(speed.parts["accuracy"][:, k].sum()),
            float(speed.parts["speed"][:, k].sum()),
            *(int(part[:, k].sum()) for part in u.parts.values()),
        ]
        for k, name in enumerate(u.algorithms)
    ]
    rows.sort(key=lambda row: -float(str(row[1])))
    columns = ["algorithm", "U-score (CEC2024)", "accuracy and speed (CEC2026)", "accuracy", "speed", *u.parts]
    by_problem = [
        [problem, name, float(u.scores[i, k]), float(speed.scores[i, k])]
        for i, problem in enumerate(u.problems)
        for k, name in enumerate(u.algorithms)
    ]
    return {
        "scores": ReportTable("scores of speed and accuracy", columns, rows),
        "scores_by_problem": ReportTable("scores by problem", ["problem", "algorithm", *columns[1:3]], by_problem),
    }


def _ecdf(findings: Findings) -> ReportTable:
    steps = np.concatenate([one.evaluations for one in findings.ecdf.values()])
    if not steps.size:
        return ReportTable("targets reached", ["evaluations per variable", *findings.ecdf], [])
    at = np.geomspace(max(steps.min(), 1e-3), max(steps.max(), 2e-3), ECDF_ROWS)
    columns = [reached(one, at) for one in findings.ecdf.values()]
    rows: list[list[object]] = [[float(at[k]), *(float(column[k]) for column in columns)] for k in range(len(at))]
    return ReportTable("share of targets reached", ["evaluations per variable", *findings.ecdf], rows)


def short(value: float | None, digits: int = DIGITS) -> str:
    """Return a number as text; a dash where there is none.

    Examples
    --------
    >>> short(1234567.0), short(0.5), short(float("nan")), short(3)
    ('1.2346e+06', '0.5', '-', '3')
    """
    return "-" if value is None or math.isnan(value) else f"{value:.{digits}g}"


# --- files --------------------------------------------------------------------------------------------------------


def write_tables(found: dict[str, ReportTable], paper: str, folder: Path) -> list[Path]:
    """Write every table as CSV, in full precision, and as LaTeX, and the table of the paper as LaTeX."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {"paper.tex": paper}
    for name, table in found.items():
        files[f"{name}.csv"] = as_csv(table)
        files[f"{unused(name, ['paper'])}.tex"] = as_tex(table)
    written = []
    for name, text in files.items():
        path = folder / name
        write_own(path, text, path.suffix[1:])
        written.append(path)
    return written


def as_csv(table: ReportTable) -> str:
    """Return the table as CSV with a line of names."""
    return csv_text([table.columns, *table.rows])


def csv_text(rows: Iterable[Sequence[object]]) -> str:
    """Return rows as CSV. An apostrophe before text that begins like a formula stops spreadsheets from computing it.

    Examples
    --------
    >>> csv_text([["=1+1", -1.5, "-", "a"]])
    "'=1+1,-1.5,-,a\\n"
    """
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([list(map(_harmless, row)) for row in rows])
    return text.getvalue()


def _harmless(value: object) -> object:
    if not isinstance(value, str):
        return value
    text = value.replace("\r", " ")  # readers take it for the end of a line
    return f"'{text}" if value != "-" and value.startswith(FORMULAS) else text


def as_tex(table: ReportTable) -> str:
    """Return the table as a LaTeX tabular, for the package booktabs."""
    kinds = ["l" if any(isinstance(row[k], str) for row in table.rows) else "r" for k in range(len(table.columns))]
    lines = [" & ".join(map(tex, row)) + r" \\" for row in table.rows]
    return _tabular("".join(kinds), [" & ".join(map(tex, table.columns)) + r" \\"], lines)


def paper_table(study: Study, findings: Findings) -> str:
    """Return mean and standard deviation of every cell as LaTeX, the best in bold, feasible runs beneath."""
    head = " & ".join(["problem", *map(tex, study.algorithms)]) + r" \\"
    lines = []
    for problem in study.problems:
        best = best_by_mean(findings, problem.label)
        row = findings.summaries[problem.label]
        cells, beneath = [], []
        for name in study.algorithms:
            summary = row.get(name)
            text = "--" if summary is None else mean_and_std(summary)
            cells.append(rf"\textbf{{{tex(text)}}}" if name in best else tex(text))
            beneath.append("" if summary is None else f"{summary.n_feasible}/{summary.n} feasible")
        lines.append(" & ".join([tex(problem.label), *cells]) + r" \\")
        lines.append(" & ".join(["", *beneath]) + r" \\")
    if findings.ranks is not None:
        average = dict(zip(findings.ranks.algorithms, findings.ranks.by_median.mean(axis=0), strict=True))
        ranks = [f"{average[name]:.3f}" if name in average else "--" for name in study.algorithms]
        lines += [r"\midrule", " & ".join(["average rank", *ranks]) + r" \\"]
    return _tabular("l" + "r" * len(study.algorithms), [head], lines)


def mean_and_std(summary: Summary) -> str:
    """Return mean and standard deviation as text; a dash where every run failed."""
    if summary.n_failed == summary.n:
        return "-"
    return f"{short(summary.mean)} ({short(summary.std, 3)})"


def best_by_mean(findings: Findings, problem: str) -> set[str]:
    """Return the best algorithms on a problem by the mean, feasibility first."""
    ranks = findings.ranks
    if ranks is None or problem not in ranks.problems:
        return set()
    row = ranks.by_mean[ranks.problems.index(problem)]
    return {name for name, rank in zip(ranks.algorithms, row, strict=True) if rank == row.min()}


def tex(value: object) -> str:
    """Return a value as text for LaTeX with every special letter escaped.

    Examples
    --------
    >>> tex(r"50%_\\of{it}"), tex(0.5), tex(None)
    ('50\\\\%\\\\_\\\\textbackslash{}of\\\\{it\\\\}', '0.5', '--')
    """
    if value is None:
        return "--"
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, float | np.floating):
        return short(float(value)).replace("-", "--") if np.isnan(value) else short(float(value))
    special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    special |= {letter: "\\" + letter for letter in "&%$#_{}"}
    return "".join(special.get(letter, letter if letter.isprintable() else "?") for letter in str(value))


def _tabular(kinds: str, head: list[str], lines: list[str]) -> str:
    top = [rf"\begin{{tabular}}{{{kinds}}}", r"\toprule", *head, r"\midrule"]
    return "\n".join([*top, *lines, r"\bottomrule", r"\end{tabular}", f"% {MADE_BY}"]) + "\n"


# --- in the page --------------------------------------------------------------------------------------------------


def sortable(table: ReportTable, problems: dict[str, int] | None = None) -> Markup:
    """Return a table that can be sorted; rows that begin with the label of a problem can be filtered."""
    rows = [
        tag(
            "tr",
            row_head(row[0]) if isinstance(row[0], str) else cell(row[0]),
            *map(cell, row[1:]),
            data_p=(problems or {}).get(str(row[0])),
        )
        for row in table.rows
    ]
    return wide_table([column(name) for name in table.columns], rows)


def wide_table(head: Sequence[Markup], rows: Sequence[Markup], *foot: Markup) -> Markup:
    """Return a table that scrolls by itself where it is wider than the page."""
    table = tag("table", tag("thead", tag("tr", *head)), tag("tbody", *rows), *foot)
    return tag("div", table, class_="wide", tabindex=0, role="region", aria_label="table")


def column(text: str, series: int | None = None) -> Markup:
    """Return the head of a column, a button that sorts by it."""
    return tag("th", tag("button", text, type="button", title=text), scope="col", data_a=series)


def row_head(text: str) -> Markup:
    """Return the head of a row."""
    return tag("th", text, scope="row")


def cell(value: object) -> Markup:
    """Return a value as a cell of a table, with the number to sort by."""
    if isinstance(value, bool | np.bool_):
        return tag("td", "yes" if value else "no")
    if isinstance(value, int | float | np.integer | np.floating):
        number = float(value)
        return tag("td", short(number), data_v=f"{number:.9g}" if math.isfinite(number) else "")
    return tag("td", "-" if value is None else str(value))
