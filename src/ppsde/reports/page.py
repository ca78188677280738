"""The report as one page of HTML that needs nothing else: no network, its own small script, its data inside."""

from __future__ import annotations

import base64
import hashlib
import math
from collections.abc import Iterable
from importlib import resources

import numpy as np

from .. import __version__
from ..display.markup import Markup, embedded, joined, listed, tag
from ..files import MADE_BY
from ..stats import magnitude
from . import published
from .drawing import DARK, RULES, Drawing, colour_variables, series_rules, svg
from .figures import Figures, draw, errors
from .findings import ALPHA, LEVEL, TARGETS, Findings, find, plain, reasons_of
from .study import Study, StudyProblem
from .tables import (
    DIGITS,
    MARKS,
    ReportTable,
    best_by_mean,
    cell,
    column,
    error_of,
    padded,
    row_head,
    short,
    sortable,
    tables,
    wide_table,
)

MEANS = (
    "Mean and, in brackets, standard deviation over all runs that did not fail, infeasible ones included, as the CEC "
    "tables print them; beneath, how many of the runs ended feasible. Bold: the best by feasibility rate, then mean "
    f"violation, then mean objective, objectives within {plain(LEVEL)} of the best counted as equal."
)
MEDIANS = (
    "Objective of the median run, feasible runs before infeasible ones; beneath, where the optimum f* is known, its "
    f"error f - f*. A median run that is not feasible has its violation instead. Bold: the least error, {plain(LEVEL)} "
    "counted as equal. An error is negative where the tolerance of equalities allows a lower objective."
)
CURVES = (
    "Each curve is the median run, its shade the quartiles; where the optimum is known, the error is drawn, else the "
    "objective. No run is left out: one without a feasible point counts as infinite, so a curve appears when half of "
    "the runs are feasible. Values nearer to zero than 1e-10 are drawn as zero. Point at a figure, or focus it and use "
    "the arrow keys, to read values. Boxes are of the feasible runs alone, which are counted beside them."
)
SECTIONS = {
    "results": "results",
    "medians": "medians and errors",
    "published": "published",
    "comparison": "comparison",
    "scores": "scores",
    "run-times": "run times",
    "over-time": "over time",
    "problems": "problems",
    "state": "state",
    "provenance": "provenance",
}
SERIES = 16
SHOWN = 0.62  # pixels per unit of figures that have a size of their own


def page(study: Study, *, compared: Markup | None = None, findings: Findings | None = None, live: bool = False) -> str:
    """Return the whole page.

    Parameters
    ----------
    study : Study
    compared : str, optional
        The section about the published table; by default that of the runs that can be compared with it.
    findings : Findings, optional
        The statistics of the study, if they are known already.
    live : bool
        Whether the page is served, and is to fetch itself again every few seconds.
    """
    findings = find(study) if findings is None else findings
    figures = draw(study, findings)
    found = tables(study, findings, figures)
    if compared is None:
        compared = published.section(published.comparisons(study))
    return assemble(study, findings, figures, found, compared, live=live)


def assemble(
    study: Study,
    findings: Findings,
    figures: Figures,
    found: dict[str, ReportTable],
    compared: Markup,
    *,
    live: bool = False,
) -> str:
    """Return the page; `compared` is the section about the published table, or empty."""
    style, script = _style(len(study.algorithms)), _file("page.js") + (_file("live.js") if live else "")
    policy = (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; base-uri 'none'; form-action 'none'"
        + ("; connect-src 'self'" if live else "")
    )
    data = embedded(_data(study, figures))
    sections = [
        _verdict(study, findings, bool(compared)),
        _controls(study),
        _results(study, findings),
        _medians(study, findings),
        compared,
        _comparisons(study, findings, figures, found),
        _scores(study, figures, found),
        _over_time(study, findings, figures, found),
        _problems(study, figures),
        _state(study, found),
        _origin(study),
    ]
    content = Markup("\n".join(sections))
    digest = hashlib.sha256((content + data).encode()).hexdigest()[:16]
    gone = tag(
        "p", "This page is no longer served; it shows the last state.", id="gone", class_="verdict caveats", hidden=True
    )
    head = _head(study.title or study.name, style, policy)
    body = tag(
        "body",
        "\n",
        gone if live else "",
        tag(
            "main",
            content,
            "\n",
            tag("script", data, type="application/json", id="data", data_digest=digest),
            id="content",
        ),
        "\n",
        tag("div", id="tip", class_="tip", role="status", hidden=True),
        "\n",
        tag("script", Markup(script)),
    )
    return f"<!doctype html>\n{tag('html', head, body, lang='en')}\n"


def static_page(title: str, content: Markup) -> str:
    """Return a page without a script: its content, and the style of the reports."""
    style = _style(SERIES)
    policy = f"default-src 'none'; style-src {_hash(style)}; base-uri 'none'; form-action 'none'"
    body = tag("body", tag("main", content))
    return f"<!doctype html>\n{tag('html', _head(title, style, policy), body, lang='en')}\n"


def _head(title: str, style: str, policy: str) -> Markup:
    return tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=Markup(policy)),
        tag("meta", name="generator", content=MADE_BY),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", title),
        tag("style", Markup(style)),
    )


def _file(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _style(algorithms: int) -> str:
    series = -(-algorithms // SERIES) * SERIES  # so that one more algorithm rarely changes the stylesheet
    dark = f"@media (prefers-color-scheme: dark) {{ :root {{ {colour_variables(series, DARK)} }} }}"
    light = f":root {{ {colour_variables(series)} }}"
    return "\n".join([_file("page.css"), light, dark, RULES, series_rules(series)])


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _data(study: Study, figures: Figures) -> dict[str, object]:
    """Return the data of the script: names, and the curves, in five significant digits."""
    return {
        "algorithms": list(study.algorithms),
        "problems": [
            {
                "label": problem.label,
                "value": "objective" if problem.optimum is None else "error",
                "at": _rounded(next(iter(row.values())).at) if row else [],
                "by": [
                    {
                        "a": series,
                        "f": [_rounded(quartile) for quartile in _values(curve.f, problem)],
                        "v": [_rounded(quartile) for quartile in curve.violation],
                        "share": _rounded(curve.share.round(3)),
                    }
                    for series, curve in row.items()
                ],
            }
            for problem in study.problems
            for row in [figures.curves[problem.label]]
        ],
    }


def _values(f: np.ndarray, problem: StudyProblem) -> np.ndarray:
    """Return what the figure of a problem shows of objectives."""
    return f if problem.optimum is None else errors(f, problem.optimum)


def _rounded(values: Iterable[float]) -> list[float | int | None]:
    """Return the numbers for JSON; None for one that is not finite."""
    short = [float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None for value in values]
    return [int(v) if v is not None and v.is_integer() and abs(v) < 1e15 else v for v in short]


# --- sections -----------------------------------------------------------------------------------------------------


def _verdict(study: Study, findings: Findings, compared: bool) -> Markup:
    links = {name: text for name, text in SECTIONS.items() if compared or name != "published"}
    done = f"{study.runs:,} of {study.wanted:,} runs done, {study.failed:,} failed"
    when = f"{study.name}, last run finished {study.date}, {done}." if study.date else f"{study.name}, {done}."
    return joined(
        tag("h1", study.title or study.name),
        tag("p", when),
        tag("p", f"Plan: {study.plan}") if study.plan else "",
        tag("nav", *(tag("a", text, href=f"#{name}") for name, text in links.items()), aria_label="sections"),
        tag(
            "section",
            tag("p", findings.headline, class_="headline"),
            listed(findings.reasons),
            class_="verdict",
            aria_label="verdict",
        ),
        tag(
            "section",
            tag("strong", "What was run"),
            listed(findings.caveats),
            class_="verdict caveats",
            aria_label="what was run",
        ),
    )


def _controls(study: Study) -> Markup:
    boxes = []
    for k, name in enumerate(study.algorithms):
        key = Drawing(92, 32, "")
        key.line([(4, 16), (88, 16)], "curve", k)
        key.marker(46, 16, k)
        shown = Markup(svg(key, class_="key", aria_hidden="true").replace(f' data-a="{k}"', ""))
        boxes.append(tag("label", tag("input", type="checkbox", value=k, checked=True), shown, name, title=name))
    search = tag("input", id="search", type="search", placeholder="C01 C05", autocomplete="off")
    return tag(
        "form",
        tag("label", "Problems ", search),
        tag("fieldset", tag("legend", "Algorithms"), *boxes),
        aria_label="filter",
    )


def _results(study: Study, findings: Findings) -> Markup:
    rows = []
    for p, problem in enumerate(study.problems):
        best, row = best_by_mean(findings, problem.label), findings.summaries[problem.label]
        cells = []
        for k, name in enumerate(study.algorithms):
            summary = row.get(name)
            if summary is None:
                cells.append(tag("td", "-", data_a=k, data_v="", title="not run"))
                continue
            tip = (
                f"best {short(summary.best)}, median {short(summary.median)}, worst {short(summary.worst)}, "
                f"mean violation {short(summary.mean_violation)}, {summary.n_failed} failed"
            )
            feasible = tag(
                "small",
                f"{summary.n_feasible}/{summary.n} feasible",
                class_=None if summary.n_feasible == summary.n else "short",
            )
            if summary.n_failed:
                feasible = joined(feasible, tag("small", f"{summary.n_failed} failed", class_="short"))
            every = summary.n_failed == summary.n
            cells.append(
                tag(
                    "td",
                    "-" if every else padded(summary.mean),
                    _mark(findings, problem.label, name),
                    "" if every else tag("small", f"({padded(summary.std, 3)})"),
                    feasible,
                    data_a=k,
                    data_v=short(summary.mean, 9),
                    class_="best" if name in best else None,
                    title=tip,
                )
            )
        rows.append(tag("tr", row_head(problem.label), *cells, data_p=p))
    note = joined(tag("p", MEANS, class_="note"), _marks_explained(findings))
    table = _by_algorithm(study, findings, [column("problem")], rows, "means by problem and algorithm")
    return tag("section", tag("h2", "Results"), note, table, id="results")


def _medians(study: Study, findings: Findings) -> Markup:
    known = any(problem.optimum is not None for problem in study.problems)
    rows = []
    for p, problem in enumerate(study.problems):
        row = findings.summaries[problem.label]
        found = {name: error_of(one.median, one.v_bar, problem) for name, one in row.items()}
        least = min((max(value, 0.0) for value in found.values() if value is not None), default=-math.inf)
        cells = [tag("td", padded(problem.optimum), data_v=short(problem.optimum, 9))] if known else []
        for k, name in enumerate(study.algorithms):
            summary, error = row.get(name), found.get(name)
            if summary is None or summary.n_failed == summary.n:
                cells.append(tag("td", "-", data_a=k, data_v=""))
                continue
            if error is not None:
                below = tag("small", f"error {padded(error, 3)}")
            elif summary.v_bar > 0:
                below = tag("small", f"violation {padded(summary.v_bar, 3)}", class_="short")
            else:
                below = tag("small", "failed", class_="short") if math.isnan(summary.v_bar) else Markup()
            cells.append(
                tag(
                    "td",
                    padded(summary.median),
                    below,
                    data_a=k,
                    data_v=short(summary.median if error is None else error, 9),
                    class_="best" if error is not None and max(error, 0.0) <= least + LEVEL else None,
                )
            )
        rows.append(tag("tr", row_head(problem.label), *cells, data_p=p))
    head = [column("problem"), *([column("optimum f*")] if known else [])]
    note = tag("p", MEDIANS, class_="note")
    table = _by_algorithm(study, findings, head, rows, "medians and errors by problem and algorithm")
    return tag("section", tag("h2", "Medians and errors"), note, table, id="medians")


def _by_algorithm(study: Study, findings: Findings, head: list[Markup], rows: list[Markup], name: str) -> Markup:
    """Return a table with a column for each algorithm and, at its foot, their average ranks."""
    columns = [*head, *(column(a, k) for k, a in enumerate(study.algorithms))]
    foot = []
    if findings.ranks is not None:
        average = dict(zip(findings.ranks.algorithms, findings.ranks.by_median.mean(axis=0), strict=True))
        cells = [tag("td")] * (len(head) - 1) + [
            tag("td", f"{average[a]:.3f}" if a in average else "-", data_a=k) for k, a in enumerate(study.algorithms)
        ]
        foot = [tag("tfoot", tag("tr", row_head("average rank"), *cells))]
    return wide_table(columns, rows, *foot, name=name, full=True)


def _mark(findings: Findings, problem: str, name: str) -> Markup:
    sign = findings.mark(problem, name)
    if not sign:
        return Markup()
    said = f"{MARKS[sign]} than {findings.reference}" if sign in "+-" else f"no difference from {findings.reference}"
    shown = {"+": "+", "-": "\u2212", "=": "\u2248"}[sign]
    return tag("span", shown, class_="mark", title=said, role="img", aria_label=said)


def _marks_explained(findings: Findings) -> Markup:
    if findings.reference is None or not findings.comparisons:
        return Markup()
    text = (
        f"Marks compare with {findings.reference}: + better, \u2212 worse, \u2248 no difference by the rank-sum test "
        f"on the runs, feasible before infeasible, level {ALPHA} after Holm's correction over the problems."
    )
    return tag("p", text, class_="note")


def _comparisons(study: Study, findings: Findings, figures: Figures, found: dict[str, ReportTable]) -> Markup:
    title = tag("h2", "Comparison")
    if findings.ranks is None:
        return tag("section", title, tag("p", "There is nothing to compare yet."), id="comparison")
    numbered = {problem.label: p for p, problem in enumerate(study.problems)}
    side: list[Markup] = []
    if figures.differences is not None:
        side.append(
            shown_figure(
                figures.differences,
                "Average ranks by the median run, better to the left. A bar joins algorithms whose ranks do not differ "
                f"significantly, by Nemenyi's test at the level {ALPHA}.",
                _fold("tests", "table", sortable(found["tests"]), sortable(found["pairs"])),
            )
        )
    if figures.ranks is not None:
        side.append(
            shown_figure(
                figures.ranks,
                "Rank of each algorithm on each problem by its median run, feasible before infeasible; 1 is best.",
                _fold("ranks", "table", sortable(found["ranks"], numbered), sortable(found["competition"])),
                "map",
            )
        )
    parts = [tag("div", *side)]
    if figures.differences is not None:
        parts.append(tag("div", _pairs(study, findings, found["pairs"])))
    wins = _wins(study, findings)
    more = _fold("wins", "table", sortable(found["wins"]))
    return tag("section", title, tag("div", *parts, class_="pair"), wins, more, id="comparison")


def _pairs(study: Study, findings: Findings, table: ReportTable) -> Markup:
    """Return the pairs over all problems, the best ranked first, p-values in bold where they are significant."""
    place = {name: k for k, name in enumerate(findings.order)}
    series = {name: k for k, name in enumerate(study.algorithms)}
    rows = []
    for first, second, apart, nemenyi, holm, chance, effect, _ in map(tuple, table.rows):
        if place[str(first)] > place[str(second)]:
            first, second, apart, chance = second, first, -float(str(apart)), 1 - float(str(chance))
        cells = [
            tag("td", f"{abs(float(str(apart))):.2f}", data_v=abs(float(str(apart)))),
            *(_p_value(float(str(p))) for p in (nemenyi, holm)),
            tag("td", f"{float(str(chance)):.2f}", data_v=float(str(chance))),
            tag("td", str(effect)),
        ]
        row = tag("tr", row_head(f"{first}, {second}"), *cells, data_a=series[str(second)])
        rows.append((place[str(first)], place[str(second)], row))
    head = [column(name) for name in ("better, worse", "ranks apart", "p, Nemenyi", "p, Holm", "A12", "effect")]
    note = (
        "By average ranks over all problems: p-values of Nemenyi's test, and of the normal test after Holm's "
        f"correction over the pairs; bold below {ALPHA}. A12, the chance that a run of the first is better, is the "
        "mean over the problems, with its size by Vargha and Delaney."
    )
    body = wide_table(head, [row for *_, row in sorted(rows)], name="pairs of algorithms, the best ranked first")
    return joined(tag("h3", "Pairs over all problems"), tag("p", note, class_="note"), body)


def _p_value(p: float) -> Markup:
    return tag("td", "< 0.0001" if p < 1e-4 else f"{p:.3g}", data_v=f"{p:.9g}", class_="best" if p < ALPHA else None)


def _wins(study: Study, findings: Findings) -> Markup:
    """Return the table of problems won, tied and lost by the row against the column."""
    counts = {(w.first, w.second): (w.wins, w.ties, w.losses, w.A12) for w in findings.wins}
    counts |= {(w.second, w.first): (w.losses, w.ties, w.wins, 1 - w.A12) for w in findings.wins}
    series = {name: k for k, name in enumerate(study.algorithms)}
    names = findings.order
    rows = []
    for first in names:
        cells = []
        for second in names:
            if first == second:
                cells.append(tag("td", data_a=series[second], data_v=0))
                continue
            w, t, l, chance = counts[first, second]
            tip = f"{first} against {second}: {w} won, {t} tied, {l} lost, {magnitude(chance)} effect"
            strong = "best" if w > l else None
            shown = joined(f"{w}/{t}/{l}", tag("small", f"A12 {chance:.2f}"))
            cells.append(tag("td", shown, data_a=series[second], data_v=w - l, class_=strong, title=tip))
        rows.append(tag("tr", row_head(first), *cells, data_a=series[first]))
    note = (
        f"Problems won/tied/lost by the row against the column: rank-sum test on the runs of each problem, feasible "
        f"before infeasible, level {ALPHA} after Holm's correction over the problems; beneath, A12: the chance that a "
        "run of the row is better, mean over the problems. Bold: more won than lost."
    )
    head = [column("algorithm"), *(column(name, series[name]) for name in names)]
    table = wide_table(head, rows, name="problems won, tied and lost", full=True)
    return joined(tag("h3", "Pairs on each problem"), tag("p", note, class_="note"), table)


def _scores(study: Study, figures: Figures, found: dict[str, ReportTable]) -> Markup:
    times = _run_times(found)
    if figures.tiers is None:
        return times
    numbered = {problem.label: p for p, problem in enumerate(study.problems)}
    figure = shown_figure(
        figures.tiers,
        "All runs by the tiers of the U-score. The target of a problem is the median of the final objectives of its "
        "feasible runs; who reaches it sooner wins, then who is feasible with a lower objective, then who violates "
        "less.",
        _fold("scores", "table", sortable(found["scores_by_problem"], numbered)),
    )
    note = tag("p", "Larger is better. Speed is seen at the recorded points of each run.", class_="note")
    both = tag("div", figure, times, class_="pair")
    return tag("section", tag("h2", "Speed and accuracy"), both, note, sortable(found["scores"]), id="scores")


def _run_times(found: dict[str, ReportTable]) -> Markup:
    if "run_times" not in found:
        return Markup()
    note = (
        "Seconds per run without compilation: the median, least and most over the problems. Runs of a compiled job "
        "share its time. Machines, and what else they did, are not corrected for."
    )
    title = tag("h3", "Run times")
    return tag("section", title, tag("p", note, class_="note"), sortable(found["run_times"]), id="run-times")


def _over_time(study: Study, findings: Findings, figures: Figures, found: dict[str, ReportTable]) -> Markup:
    parts = []
    if figures.feasibility is not None:
        parts.append(
            shown_figure(
                figures.feasibility,
                f"Runs that have found a feasible point, mean over {len(study.complete)} problems.",
                _fold("feasibility", "table", sortable(found["feasibility"])),
            )
        )
    if figures.ecdf is not None:
        without = len(study.complete) - findings.ecdf_problems
        are = "problem without any feasible run is" if without == 1 else "problems without any feasible run are"
        left_out = f" {without} {are} left out." if without else ""
        parts.append(
            shown_figure(
                figures.ecdf,
                f"Pairs of problem and target that were reached, of {findings.ecdf_problems} x {len(TARGETS)}. Targets "
                f"lie {plain(TARGETS[0])} to {plain(TARGETS[-1])} above {_floor(findings)}.{left_out}",
                _fold("ecdf", "table", sortable(found["ecdf"])),
            )
        )
    shown = tag("div", *parts, class_="pair") if parts else tag("p", "No run is finished yet.")
    return tag("section", tag("h2", "Over time"), shown, id="over-time")


def _floor(findings: Findings) -> str:
    """Return, in words, the objectives that targets are measured from."""
    if findings.ecdf_known == findings.ecdf_problems:
        return "the known optimum of each problem"
    if not findings.ecdf_known:
        return "the best objective of this study"
    return (
        f"the known optimum of {findings.ecdf_known} problems, and above the best objective of this study on the others"
    )


def _problems(study: Study, figures: Figures) -> Markup:
    parts = []
    for p, problem in enumerate(study.problems):
        drawing = figures.problems.get(problem.label)
        if drawing is None or drawing.plot is None:
            continue
        left, right = drawing.plot
        about = {"role": "region", "aria_label": f"table of {problem.label}"}
        behind = _fold(f"curves {p}", "table", tag("div", class_="wide", tabindex=0, **about), data_table=p)
        instance = "" if problem.instance is None else f", instance {problem.instance}"
        known = "" if problem.optimum is None else f", f* = {problem.optimum:.10g}"
        note = f"D = {problem.dimension}{instance}, {problem.budget:,} evaluations{known}"
        figure = svg(drawing, data_curves=p, data_plot=f"{left:g} {right:g}", tabindex=0)
        parts.append(
            tag(
                "section",
                tag("h3", problem.label),
                tag("p", note, class_="note"),
                tag("figure", figure, behind),
                tag(
                    "figure",
                    svg(figures.boxes[problem.label]),
                    _fold(f"boxes {p}", "table", _quartiles(study, problem)),
                ),
                data_p=p,
            )
        )
    shown = tag("div", *parts, class_="problems")
    return tag("section", tag("h2", "Problems"), tag("p", CURVES, class_="note"), shown, id="problems")


def _quartiles(study: Study, problem: StudyProblem) -> Markup:
    """Return the numbers of the boxes of a problem."""
    value = "objective" if problem.optimum is None else "error"
    rows = []
    for name, runs in study.outcomes[problem.label].items():
        final = _values(runs.f[runs.feasible], problem)
        numbers = np.percentile(final, (0, 25, 50, 75, 100)) if final.size else [None] * 5
        cells = [tag("td", short(number)) for number in numbers]
        rows.append(tag("tr", row_head(name), *cells, tag("td", f"{final.size}/{runs.n}")))
    names = ("algorithm", f"least {value}", "lower quartile", "median", "upper quartile", "most", "feasible")
    head = [tag("th", name, scope="col") for name in names]
    return wide_table(head, rows, name=f"final {value}s on {problem.label}")


def _state(study: Study, found: dict[str, ReportTable]) -> Markup:
    parts = [_fold("state", "runs done, by algorithm and problem", sortable(found["state"]))]
    reasons = reasons_of(study)
    if reasons:
        words = {"algorithms", "problems", "message"}
        head = [column(n, kind="words" if n in words else None) for n in ("algorithms", "runs", "problems", "message")]
        rows = [
            tag(
                "tr",
                row_head(", ".join(one.algorithms), "words"),
                cell(one.runs),
                tag("td", ", ".join(one.problems), class_="words"),
                tag("td", one.message, class_="words"),
            )
            for one in reasons
        ]
        parts += [tag("h3", "Failed runs by reason"), wide_table(head, rows, name="failed runs by reason")]
    return tag("section", tag("h2", "What was run"), *parts, id="state")


def _origin(study: Study) -> Markup:
    facts = [joined(tag("dt", kind), tag("dd", listed(texts))) for kind, texts in study.origin.items()]
    own = joined(tag("dt", "report by"), tag("dd", f"ppsde {__version__}"))
    return tag("section", tag("h2", "Provenance"), tag("dl", own, *facts), id="provenance")


# --- pieces -------------------------------------------------------------------------------------------------------


def shown_figure(drawing: Drawing, caption: str, behind: str = "", kind: str | None = None) -> Markup:
    """Return a drawing with its caption and what is behind it; of the kind 'map', it has a size of its own."""
    size = {"width": f"{SHOWN * drawing.width:.0f}", "height": f"{SHOWN * drawing.height:.0f}"} if kind else {}
    reached = None if behind else 0  # by the keyboard, to scroll it in a narrow window; what is behind can be, too
    return tag("figure", svg(drawing, **size), tag("figcaption", caption), behind, class_=kind, tabindex=reached)


def _fold(name: str, summary: str, *content: Markup, **attributes: object) -> Markup:
    """Return content that is shown on demand."""
    return tag("details", tag("summary", summary), *content, data_name=name, **attributes)
