"""The tables of a study, as CSV, LaTeX and HTML."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..display.markup import Markup, tag
from ..files import MADE_BY, write_own
from ..stats import magnitude
from .figures import Figures, reached, unused
from .findings import ALPHA, LEVEL, Findings, reasons_of
from .study import Study, StudyProblem

ECDF_ROWS = 40
FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n")  # spreadsheets take text that begins so for a formula
DIGITS = 5  # significant, of a number that is shown
MARKS = {"+": "better", "-": "worse", "=": "no difference", "": None}
LONG_WORDS = 40  # letters; a column of more is broken into lines in LaTeX
NARROW = 5  # columns that a table in LaTeX may have and still stand in one column of the text
MOST_TEX_ROWS = 60  # of a table in LaTeX, which must fit a page


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
        rows = [[row["test"], row["statistic"], _freedom(row["df"]), row["p"]] for row in findings.test.test_rows()]
        found["tests"] = ReportTable("Friedman's test", ["test", "statistic", "degrees of freedom", "p"], rows)
        found["pairs"] = _pairs(findings)
    if findings.wins:
        rows = [[w.first, w.second, w.wins, w.ties, w.losses, w.A12] for w in findings.wins]
        names = ["first", "second", "wins", "ties", "losses", "mean A12"]
        found["wins"] = ReportTable("problems won, tied and lost after Holm's correction", names, rows)
        found["comparisons"] = _comparisons(findings)
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
    if any(study.seconds.values()):
        found["run_times"] = _run_times(study)
    reasons = reasons_of(study)
    if reasons:
        found["failures"] = ReportTable(
            "failed runs by reason",
            ["algorithm", "runs", "problems", "message"],
            [[", ".join(one.algorithms), one.runs, ", ".join(one.problems), one.message] for one in reasons],
        )
    found["state"] = ReportTable(
        "runs by cell",
        ["algorithm", "problem", "D", "wanted", "done", "failed"],
        [[c.algorithm, c.problem, c.dimension, c.wanted, c.done, c.failed] for c in study.standing.cells],
    )
    return found


def _results(study: Study, findings: Findings) -> ReportTable:
    names = ["n", "n_feasible", "n_failed", "best", "median", "v_bar", "mean", "std", "feasible_mean", "worst"]
    names.append("mean_violation")
    more = ["optimum", "best_error", "median_error", "worst_error", "seconds", "against_reference"]
    rows: list[list[object]] = []
    for problem in study.problems:
        for algorithm, summary in findings.summaries[problem.label].items():
            values = [getattr(summary, name) for name in names]
            errors = [
                error_of(summary.best, summary.best_violation, problem),
                error_of(summary.median, summary.v_bar, problem),
                error_of(summary.worst, summary.worst_violation, problem),
            ]
            seconds = study.seconds.get(problem.label, {}).get(algorithm)
            mark = MARKS[findings.mark(problem.label, algorithm)]
            rows.append([problem.name, problem.dimension, algorithm, *values, problem.optimum, *errors, seconds, mark])
    return ReportTable("results", ["problem", "D", "algorithm", *names, *more], rows)


def error_of(f: float, violation: float, problem: StudyProblem) -> float | None:
    """Return how far a feasible run ended above the optimum; None if it is not feasible or no optimum is known."""
    return None if problem.optimum is None or violation != 0 else f - problem.optimum


def _freedom(df: object) -> str:
    """Return degrees of freedom as they are printed: '3' or '3, 24'."""
    return ", ".join(f"{d:g}" for d in df) if isinstance(df, tuple | list) else str(df)


def _pairs(findings: Findings) -> ReportTable:
    assert findings.pairs is not None and findings.holm is not None
    effects = {(w.first, w.second): w.A12 for w in findings.wins}
    corrected = dict(
        zip(zip(findings.holm.first, findings.holm.second, strict=True), findings.holm.adjusted, strict=True)
    )
    rows: list[list[object]] = []
    for row in findings.pairs.rows():
        pair = str(row["first"]), str(row["second"])
        effect = effects[pair]
        rows.append(
            [*pair, row["difference"], row["p"], float(corrected[pair]), effect, magnitude(effect), row["differ"]]
        )
    names = ["first", "second", "rank difference", "p, Nemenyi", "p, Holm", "mean A12", "effect", "differ"]
    return ReportTable("pairs of algorithms over all problems", names, rows)


def _comparisons(findings: Findings) -> ReportTable:
    names = ["problem", "first", "second", "A12", "effect", "p", "p, Holm", "better"]
    rows: list[list[object]] = [
        [one.problem, one.first, one.second, one.A12, one.effect, one.p, one.adjusted, one.winner]
        for one in findings.comparisons
    ]
    return ReportTable("pairs of algorithms on each problem", names, rows)


def _run_times(study: Study) -> ReportTable:
    """Return seconds per run by algorithm; the runs of a compiled job share its time."""
    rows: list[list[object]] = []
    for name in study.algorithms:
        spent = {p: row[name] for p, row in study.seconds.items() if name in row}
        if not spent:
            continue
        each = np.array(list(spent.values()))
        runs = {p: study.outcomes[p][name].n for p in spent if name in study.outcomes[p]}
        total = sum(spent[p] * n for p, n in runs.items())
        made = sum(int(study.results[p][name].evaluations.sum()) for p in runs)
        rate = made / total if total > 0 else None
        rows.append([name, float(np.median(each)), float(each.min()), float(each.max()), total / 3600, rate])
    names = ["algorithm", "median, s", "least, s", "most, s", "all runs, h", "evaluations per s"]
    return ReportTable("seconds per run, over the problems", names, rows)


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


def padded(value: float | None, digits: int = DIGITS) -> str:
    """Return a number as text with all its significant digits, so that a column of a table shows one precision.

    Examples
    --------
    >>> padded(0.75), padded(-15.0), padded(61.0, 3), padded(30665.5), padded(1e-12, 3), padded(-0.0), padded(None)
    ('0.75000', '-15.000', '61.0', '30666', '1.00e-12', '0', '-')
    >>> padded(1074.2, 3), padded(183902.4)
    ('1074', '183902')
    """
    if value == 0:
        return "0"
    if value is None or not math.isfinite(value):
        return short(value, digits)
    if 10**digits <= abs(value) < 1e7:
        return f"{value:.0f}"
    mantissa, e, exponent = f"{value:#.{digits}g}".partition("e")
    return mantissa.rstrip(".") + e + exponent


# --- files --------------------------------------------------------------------------------------------------------


def write_tables(found: dict[str, ReportTable], papers: dict[str, str], folder: Path) -> list[Path]:
    """Write every table as CSV, in full precision, and, unless it is long, as LaTeX; and the tables of a paper."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {f"{name}.tex": text for name, text in papers.items()}
    for name, table in found.items():
        files[f"{name}.csv"] = as_csv(table)
        if len(table.rows) <= MOST_TEX_ROWS:
            label = f"{name}-in-full" if name == "results" else name  # the table of the paper is tab:results
            files[f"{unused(name, papers)}.tex"] = as_tex(table, label)
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


# --- LaTeX: needs booktabs and graphicx, which shrinks a table that is wider than the text --------------------------


def as_tex(table: ReportTable, name: str) -> str:
    """Return the table as a LaTeX table with a caption and the label tab:NAME."""
    kinds = [_kind([row[k] for row in table.rows]) for k in range(len(table.columns))]
    lines = [_line(map(tex, row)) for row in table.rows]
    caption = tex(table.title[:1].upper() + table.title[1:]) + "."
    return _table("".join(kinds), _line(map(tex, table.columns)), lines, caption, name)


def _kind(values: Sequence[object]) -> str:
    """Return the kind of a column: numbers to the right, words to the left, and long ones in lines of their own."""
    longest = max((len(value) for value in values if isinstance(value, str)), default=0)
    if longest > LONG_WORDS:
        return r"p{.3\linewidth}"
    return "l" if longest else "r"


def paper_tables(study: Study, findings: Findings) -> dict[str, str]:
    """Return the tables of a paper, as LaTeX: means of all cells and, where optima are known, errors."""
    found = {"paper": paper_table(study, findings)}
    if any(problem.optimum is not None for problem in study.problems):
        found["paper_errors"] = error_table(study, findings)
    return found


def paper_table(study: Study, findings: Findings) -> str:
    """Return mean, standard deviation and feasible runs of every cell as LaTeX, the best in bold, with marks."""
    lines = []
    for problem in study.problems:
        best, row = best_by_mean(findings, problem.label), findings.summaries[problem.label]
        cells, beneath = [tex(problem.label)], [""]
        for name in study.algorithms:
            summary = row.get(name)
            if summary is None or summary.n_failed == summary.n:
                cells.append("--")
                beneath.append("" if summary is None else "failed")
                continue
            cells.append(
                _bold(tex_number(summary.mean, pad=True), name in best) + _tex_mark(findings, problem.label, name)
            )
            feasible = "" if summary.n_feasible == summary.n else f" {summary.n_feasible}/{summary.n}"
            beneath.append(rf"({tex_number(summary.std, 3, pad=True)}){feasible}")
        lines += [_line(cells), _line(beneath)]
    caption = (
        "Mean and, in brackets, standard deviation of the objective over all runs that did not fail; the number of "
        "feasible runs is given where not all are. Bold: the best by feasibility rate, then mean violation, then mean. "
        + _tex_legend(findings)
    )
    return _paper(study, findings, lines, caption, "results")


def error_table(study: Study, findings: Findings) -> str:
    """Return the error of the median run of every cell as LaTeX, of the problems whose optimum is known."""
    lines = []
    for problem in study.problems:
        if problem.optimum is None:
            continue
        row = findings.summaries[problem.label]
        found = {
            name: error_of(summary.median, summary.v_bar, problem)
            for name in study.algorithms
            if (summary := row.get(name)) is not None
        }
        least = min((max(value, 0.0) for value in found.values() if value is not None), default=0.0)
        cells = [tex(problem.label), tex_number(problem.optimum, 8)]
        for name in study.algorithms:
            value = found.get(name)
            if value is None:
                cells.append("--")
                continue
            best = max(value, 0.0) <= least + LEVEL
            cells.append(_bold(tex_number(value, 3, pad=True), best) + _tex_mark(findings, problem.label, name))
        lines.append(_line(cells))
    caption = (
        r"Error of the median run, $f - f^*$; a dash where it is not feasible. $f^*$ is the best objective known. "
        rf"Bold: the least, and those within $10^{{{math.log10(LEVEL):.0f}}}$ of it. " + _tex_legend(findings)
    )
    return _paper(study, findings, lines, caption, "errors", "$f^*$")


def _paper(study: Study, findings: Findings, lines: list[str], caption: str, name: str, *more: str) -> str:
    head = _line(["Problem", *more, *map(tex, study.algorithms)])
    if findings.ranks is not None:
        average = dict(zip(findings.ranks.algorithms, findings.ranks.by_median.mean(axis=0), strict=True))
        ranks = [f"{average[a]:.2f}" if a in average else "--" for a in study.algorithms]
        lines = [*lines, r"\midrule", _line(["Average rank", *[""] * len(more), *ranks])]
    if findings.wins and findings.reference is not None:
        counts = [_counts(findings, findings.reference, a) for a in study.algorithms]
        lines = [*lines, _line([r"$+$/$\approx$/$-$", *[""] * len(more), *counts])]
    return _table("l" + "r" * (len(study.algorithms) + len(more)), head, lines, caption, name)


def _counts(findings: Findings, reference: str, name: str) -> str:
    """Return on how many problems an algorithm is better than the reference, no different, and worse."""
    if findings.ranks is None or name == reference or name not in findings.ranks.algorithms:
        return "--"
    marks = [findings.mark(problem, name) for problem in findings.ranks.problems]
    return "/".join(str(marks.count(sign)) for sign in "+=-")


def _tex_mark(findings: Findings, problem: str, name: str) -> str:
    """Return the mark beside a number; no superscript, which after a power of ten would be taken for its exponent."""
    return {"+": "~$+$", "-": "~$-$", "=": r"~$\approx$", "": ""}[findings.mark(problem, name)]


def _tex_legend(findings: Findings) -> str:
    if findings.reference is None or not findings.wins:
        return ""
    return (
        rf"$+$, $-$, $\approx$: better than {tex(findings.reference)}, worse, no difference by the rank-sum test with "
        f"Holm's correction over the problems, level {ALPHA}."
    )


def _bold(number: str, best: bool) -> str:
    return rf"{{\boldmath{number}}}" if best else number


def tex_number(value: float | None, digits: int = DIGITS, *, pad: bool = False) -> str:
    r"""Return a number for LaTeX, as siunitx sets it: a true minus sign, and powers of ten; `pad` keeps all digits.

    Examples
    --------
    >>> tex_number(-30665.53867), tex_number(1.24e-06, 3), tex_number(float("inf")), tex_number(None)
    ('$-30666$', '$1.24\\times10^{-6}$', '$\\infty$', '--')
    >>> tex_number(0.75), tex_number(0.75, pad=True)
    ('$0.75$', '$0.75000$')
    """
    if value is None or math.isnan(value):
        return "--"
    if math.isinf(value):
        return r"$\infty$" if value > 0 else r"$-\infty$"
    mantissa, _, exponent = (padded if pad else short)(value, digits).partition("e")
    return rf"${mantissa}\times10^{{{int(exponent)}}}$" if exponent else f"${mantissa}$"


def _line(cells: Iterable[str]) -> str:
    return " & ".join(cells) + r" \\"


def _table(kinds: str, head: str, lines: list[str], caption: str, name: str) -> str:
    """Return the lines as a table that is no wider than the text, with a caption above and a label.

    A table of more columns than NARROW spans the page where the text has two columns, and its own lie closer together.
    """
    wide = head.count(" & ") + 1 > NARROW
    environment, closer = ("table*", r"\setlength{\tabcolsep}{3pt}") if wide else ("table", "")
    return "\n".join(
        [
            f"% {MADE_BY}; needs \\usepackage{{booktabs,graphicx}}",
            rf"\begin{{{environment}}}",
            rf"\centering\footnotesize\setlength{{\belowcaptionskip}}{{4pt}}{closer}",
            rf"\caption{{{caption}}}",
            rf"\label{{tab:{re.sub('[^A-Za-z0-9]+', '-', name)}}}",
            r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
            rf"\begin{{tabular}}{{{kinds}}}",
            r"\toprule",
            head,
            r"\midrule",
            *lines,
            r"\bottomrule",
            r"\end{tabular}}",
            rf"\end{{{environment}}}",
            "",
        ]
    )


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
    ('50\\\\%\\\\_\\\\textbackslash{}of\\\\{it\\\\}', '$0.5$', '--')
    """
    if value is None:
        return "--"
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, float | np.floating):
        return tex_number(float(value))
    special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    special |= {letter: "\\" + letter for letter in "&%$#_{}"}
    return "".join(special.get(letter, letter if letter.isprintable() else "?") for letter in str(value))


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
    return wide_table([column(name) for name in table.columns], rows, name=table.title)


def wide_table(head: Sequence[Markup], rows: Sequence[Markup], *foot: Markup, name: str, full: bool = False) -> Markup:
    """Return a table that scrolls by itself where it is wider than the page; `full` if it is as wide at least."""
    body = tag("thead", tag("tr", *head)), tag("tbody", *rows), *foot
    table = tag("table", *body, class_="full" if full else None)
    return tag("div", table, class_="wide", tabindex=0, role="region", aria_label=name)


def column(text: str, series: int | None = None, kind: str | None = None) -> Markup:
    """Return the head of a column, a button that sorts by it; of the kind "words", it is set like its text."""
    return tag("th", tag("button", text, type="button", title=text), scope="col", data_a=series, class_=kind)


def row_head(text: str, kind: str | None = None) -> Markup:
    """Return the head of a row; of the kind "words", it is broken into lines."""
    return tag("th", text, scope="row", class_=kind)


def cell(value: object) -> Markup:
    """Return a value as a cell of a table, with the number to sort by."""
    if isinstance(value, bool | np.bool_):
        return tag("td", "yes" if value else "no")
    if isinstance(value, int | float | np.integer | np.floating):
        number = float(value)
        text = f"{number:.0f}" if 1e5 <= abs(number) < 1e7 else short(number)  # 105323 among 91906, not 1.0532e+05
        return tag("td", text, data_v=f"{number:.9g}" if math.isfinite(number) else "")
    return tag("td", "-" if value is None else str(value))
