"""The report as one page of HTML that needs nothing else: no network, its own small script, its data inside."""

from __future__ import annotations

import base64
import hashlib
import math
from collections.abc import Iterable
from importlib import resources

from .. import __version__
from ..files import MADE_BY
from ..markup import Markup, embedded, joined, listed, tag
from . import published
from .drawing import DARK, RULES, Drawing, colour_variables, series_rules, svg
from .figures import Figures, draw
from .findings import ALPHA, TARGETS, Findings, find
from .study import Study
from .tables import (
    DIGITS,
    ReportTable,
    best_by_mean,
    cell,
    column,
    mean_and_std,
    row_head,
    short,
    sortable,
    tables,
    wide_table,
)

MEANS = (
    "Mean and, in brackets, standard deviation over all runs that did not fail, infeasible ones included, as the CEC "
    "tables print them; beneath, how many of the runs ended feasible. Bold: the best by feasibility rate, then mean "
    "violation, then mean objective."
)
CURVES = (
    "Each curve is the median run, its shade the quartiles. No run is left out: one without a feasible point counts as "
    "infinite, so an objective appears when half of the runs are feasible. Values nearer to zero than 1e-10 are "
    "drawn as zero. Point at a figure, or focus it and use the arrow keys, to read values."
)
SECTIONS = {
    "results": "results",
    "published": "published",
    "comparison": "comparison",
    "scores": "scores",
    "over-time": "over time",
    "problems": "problems",
    "state": "state",
    "provenance": "provenance",
}
SERIES = 16
SHOWN = 0.62  # pixels per unit of figures that have a size of their own
FAILURES = 200  # failed runs listed at most


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
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=Markup(policy)),
        tag("meta", name="generator", content=MADE_BY),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", f"{study.name}: report"),
        tag("style", Markup(style)),
    )
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
                "at": _rounded(next(iter(row.values())).at) if row else [],
                "by": [
                    {
                        "a": series,
                        "f": [_rounded(quartile) for quartile in curve.f],
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


def _rounded(values: Iterable[float]) -> list[float | int | None]:
    """Return the numbers for JSON; None for one that is not finite."""
    short = [float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None for value in values]
    return [int(v) if v is not None and v.is_integer() and abs(v) < 1e15 else v for v in short]


# --- sections -----------------------------------------------------------------------------------------------------


def _verdict(study: Study, findings: Findings, compared: bool) -> Markup:
    links = {name: text for name, text in SECTIONS.items() if compared or name != "published"}
    size = (
        f"{len(study.problems)} problems, {len(study.algorithms)} algorithms, "
        f"{study.runs:,} of {study.wanted:,} runs done, {study.failed:,} failed"
    )
    return joined(
        tag("h1", study.name),
        tag("p", size),
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
            aria_label="what was not run",
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
    head = [column("problem"), *(column(a, k) for k, a in enumerate(study.algorithms))]
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
                f", {summary.n_failed} failed" if summary.n_failed else "",
                class_=None if summary.n_feasible == summary.n else "short",
            )
            cells.append(
                tag(
                    "td",
                    mean_and_std(summary),
                    feasible,
                    data_a=k,
                    data_v=short(summary.mean, 9),
                    class_="best" if name in best else None,
                    title=tip,
                )
            )
        rows.append(tag("tr", row_head(problem.label), *cells, data_p=p))
    foot = []
    if findings.ranks is not None:
        average = dict(zip(findings.ranks.algorithms, findings.ranks.by_median.mean(axis=0), strict=True))
        cells = [
            tag("td", f"{average[a]:.3f}" if a in average else "-", data_a=k) for k, a in enumerate(study.algorithms)
        ]
        foot = [tag("tfoot", tag("tr", row_head("average rank"), *cells))]
    note = tag("p", MEANS, class_="note")
    return tag("section", tag("h2", "Results"), note, wide_table(head, rows, *foot), id="results")


def _comparisons(study: Study, findings: Findings, figures: Figures, found: dict[str, ReportTable]) -> Markup:
    title = tag("h2", "Comparison")
    if findings.ranks is None:
        return tag("section", title, tag("p", "There is nothing to compare yet."), id="comparison")
    numbered = {problem.label: p for p, problem in enumerate(study.problems)}
    parts = [title]
    if figures.differences is not None:
        parts.append(
            _figure(
                figures.differences,
                "Average ranks by the median run, better to the left. A bar joins algorithms that Nemenyi's test does "
                f"not tell apart at the level {ALPHA}.",
                _fold("pairs", "table", sortable(found["pairs"]), sortable(found["tests"])),
                "diagram",
            )
        )
    parts += [tag("h3", "Pairs"), _wins(study, findings), _fold("wins", "table", sortable(found["wins"]))]
    if figures.ranks is not None:
        parts.append(
            _figure(
                figures.ranks,
                "Rank of each algorithm on each problem by its median run, feasible before infeasible; 1 is best.",
                _fold("ranks", "table", sortable(found["ranks"], numbered), sortable(found["competition"])),
                "map",
            )
        )
    return tag("section", *parts, id="comparison")


def _wins(study: Study, findings: Findings) -> Markup:
    """Return the table of problems won, tied and lost by the row against the column."""
    counts = {(w.first, w.second): (w.wins, w.ties, w.losses) for w in findings.wins}
    counts |= {(w.second, w.first): (w.losses, w.ties, w.wins) for w in findings.wins}
    series = {name: k for k, name in enumerate(study.algorithms)}
    names = findings.order
    rows = []
    for first in names:
        cells = []
        for second in names:
            if first == second:
                cells.append(tag("td", data_a=series[second], data_v=0))
                continue
            w, t, l = counts[first, second]
            tip = f"{first} against {second}: {w} won, {t} tied, {l} lost"
            strong = "best" if w > l else None
            cells.append(tag("td", f"{w}/{t}/{l}", data_a=series[second], data_v=w - l, class_=strong, title=tip))
        rows.append(tag("tr", row_head(first), *cells, data_a=series[first]))
    note = (
        f"Problems won/tied/lost by the row against the column: rank-sum test on the runs of each problem, level "
        f"{ALPHA} each, feasible before infeasible. Bold: more won than lost."
    )
    head = [column("algorithm"), *(column(name, series[name]) for name in names)]
    return joined(tag("p", note, class_="note"), wide_table(head, rows))


def _scores(study: Study, figures: Figures, found: dict[str, ReportTable]) -> Markup:
    if figures.tiers is None:
        return Markup()
    numbered = {problem.label: p for p, problem in enumerate(study.problems)}
    figure = _figure(
        figures.tiers,
        "All runs by the tiers of the U-score. The target of a problem is the median of the final objectives of its "
        "feasible runs; who reaches it sooner wins, then who is feasible with a lower objective, then who violates "
        "less.",
        _fold("scores", "table", sortable(found["scores_by_problem"], numbered)),
        "diagram",
    )
    note = tag("p", "Larger is better. Speed is seen at the recorded points of each run.", class_="note")
    return tag("section", tag("h2", "Speed and accuracy"), figure, note, sortable(found["scores"]), id="scores")


def _over_time(study: Study, findings: Findings, figures: Figures, found: dict[str, ReportTable]) -> Markup:
    parts = []
    if figures.feasibility is not None:
        parts.append(
            _figure(
                figures.feasibility,
                f"Runs that have found a feasible point, mean over {len(study.complete)} problems.",
                _fold("feasibility", "table", sortable(found["feasibility"])),
            )
        )
    if figures.ecdf is not None:
        without = len(study.complete) - findings.ecdf_problems
        left_out = f" {without} problems without any feasible run are left out." if without else ""
        parts.append(
            _figure(
                figures.ecdf,
                f"Pairs of problem and target that were reached, of {findings.ecdf_problems} x {len(TARGETS)}. Targets "
                f"lie {TARGETS[0]:g} to {TARGETS[-1]:g} above the best objective of this study.{left_out}",
                _fold("ecdf", "table", sortable(found["ecdf"])),
            )
        )
    shown = tag("div", *parts, class_="pair") if parts else tag("p", "No run is finished yet.")
    return tag("section", tag("h2", "Over time"), shown, id="over-time")


def _problems(study: Study, figures: Figures) -> Markup:
    parts = []
    for p, problem in enumerate(study.problems):
        drawing = figures.problems.get(problem.label)
        if drawing is None or drawing.plot is None:
            continue
        left, right = drawing.plot
        behind = _fold(f"curves {p}", "table", tag("div", class_="wide", tabindex=0), data_table=p)
        instance = "" if problem.instance is None else f", instance {problem.instance}"
        note = f"D = {problem.dimension}{instance}, {problem.budget:,} evaluations"
        figure = svg(drawing, data_curves=p, data_plot=f"{left:g} {right:g}", tabindex=0)
        parts.append(
            tag(
                "section",
                tag("h3", problem.label),
                tag("p", note, class_="note"),
                tag("figure", figure, behind),
                data_p=p,
            )
        )
    shown = tag("div", *parts, class_="problems")
    return tag("section", tag("h2", "Problems"), tag("p", CURVES, class_="note"), shown, id="problems")


def _state(study: Study, found: dict[str, ReportTable]) -> Markup:
    failures = study.standing.failures
    parts = [_fold("state", "runs done, by algorithm and problem", sortable(found["state"]))]
    if failures:
        head = [column(name) for name in ("algorithm", "problem", "D", "run", "message")]
        rows = [
            tag(
                "tr",
                row_head(f.algorithm),
                *map(cell, (f.problem, f.dimension, f.run)),
                tag("td", f.message, class_="words"),
            )
            for f in failures[:FAILURES]
        ]
        parts += [tag("h3", "Failed runs"), wide_table(head, rows)]
        if len(failures) > FAILURES:
            parts.append(tag("p", f"{len(failures) - FAILURES:,} more are not shown."))
    return tag("section", tag("h2", "What was run"), *parts, id="state")


def _origin(study: Study) -> Markup:
    facts = [joined(tag("dt", kind), tag("dd", listed(texts))) for kind, texts in study.origin.items()]
    own = joined(tag("dt", "report by"), tag("dd", f"ppsde {__version__}"))
    return tag("section", tag("h2", "Provenance"), tag("dl", own, *facts), id="provenance")


# --- pieces -------------------------------------------------------------------------------------------------------


def _figure(drawing: Drawing, caption: str, behind: Markup, kind: str | None = None) -> Markup:
    size = {"width": f"{SHOWN * drawing.width:.0f}", "height": f"{SHOWN * drawing.height:.0f}"} if kind else {}
    return tag("figure", svg(drawing, **size), tag("figcaption", caption), behind, class_=kind)


def _fold(name: str, summary: str, *content: Markup, **attributes: object) -> Markup:
    """Return content that is shown on demand."""
    return tag("details", tag("summary", summary), *content, data_name=name, **attributes)
