"""The report as one page of HTML that needs nothing else: no network, its own small script, its data inside."""

from __future__ import annotations

import base64
import hashlib
from importlib import resources

from .. import __version__
from . import palette, published
from .drawing import RULES, Drawing, escape, svg
from .figures import Figures, draw
from .findings import ALPHA, TARGETS, Findings, find
from .html import cell, embedded, fold, header, listed, plain_table, scrolling
from .numbers import row as numbers
from .numbers import short
from .study import Study
from .tables import Table, best_by_mean, mean_and_std, tables

MEANS = (
    "Mean and, in brackets, standard deviation over all runs that did not fail, infeasible ones included, as the CEC "
    "tables print them; beneath, how many of the runs ended feasible. Bold: the best by feasibility rate, then mean "
    "violation, then mean objective."
)
CURVES = (
    "Each curve is the median run, its shade the quartiles. No run is left out: one without a feasible point counts as "
    "infinite, so an objective appears when half of the runs are feasible. What lies nearer to zero than 1e-10 is "
    "drawn there. Point at a figure, or focus it and use the arrow keys, to read values."
)
SERIES = 16
SHOWN = 0.62  # pixels per unit of figures that have a size of their own


def page(study: Study, *, compared: str | None = None, live: bool = False) -> str:
    """The whole page.

    Parameters
    ----------
    study : Study
    compared : str, optional
        The section about the published table; by default that of the runs that can be compared with it.
    live : bool
        Whether it is served, and is to fetch itself again every few seconds.
    """
    findings = find(study)
    figures = draw(study, findings)
    found = tables(study, findings, figures)
    if compared is None:
        compared = published.section(published.comparisons(study))
    return assemble(study, findings, figures, found, compared, live=live)


def assemble(
    study: Study,
    findings: Findings,
    figures: Figures,
    found: dict[str, Table],
    compared: str,
    *,
    live: bool = False,
) -> str:
    """The page of what has been computed; `compared` is the section about the published table, or nothing."""
    style, script = _style(len(study.algorithms)), _text("page.js") + (_text("live.js") if live else "")
    policy = (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; base-uri 'none'; form-action 'none'"
        + ("; connect-src 'self'" if live else "")
    )
    data = embedded(_data(study, figures))
    content = "\n".join(
        [
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
    )
    digest = hashlib.sha256((content + data).encode()).hexdigest()[:16]
    gone = '<p id="gone" class="verdict caveats" hidden>This page is no longer served; it shows the last state.</p>'
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(study.name)}: report</title><style>{style}</style></head><body>\n"
        f'{gone if live else ""}<main id="content">{content}\n'
        f'<script type="application/json" id="data" data-digest="{digest}">{data}</script></main>\n'
        f'<div id="tip" class="tip" role="status" hidden></div>\n<script>{script}</script></body></html>\n'
    )


def _text(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _style(algorithms: int) -> str:
    series = -(-algorithms // SERIES) * SERIES  # so that one more algorithm seldom is another stylesheet
    dark = f"@media (prefers-color-scheme: dark) {{ :root {{ {palette.stylesheet(series, palette.DARK)} }} }}"
    light = f":root {{ {palette.stylesheet(series)} }}"
    return "\n".join([_text("page.css"), light, dark, RULES, palette.series_rules(series)])


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _data(study: Study, figures: Figures) -> dict[str, object]:
    """What the script needs: names, and the curves, in few digits."""
    return {
        "algorithms": list(study.algorithms),
        "problems": [
            {
                "label": problem.label,
                "at": numbers(next(iter(row.values())).at) if row else [],
                "by": [
                    {
                        "a": series,
                        "f": [numbers(quartile) for quartile in curve.f],
                        "v": [numbers(quartile) for quartile in curve.violation],
                        "share": numbers(curve.share.round(3)),
                    }
                    for series, curve in row.items()
                ],
            }
            for problem in study.problems
            for row in [figures.curves[problem.label]]
        ],
    }


# --- sections -----------------------------------------------------------------------------------------------------


def _verdict(study: Study, findings: Findings, compared: bool) -> str:
    links = {"results": "results"} | ({"published": "published"} if compared else {})
    links |= {"comparison": "comparison", "scores": "scores", "over-time": "over time"}
    links |= {"problems": "problems", "state": "state", "provenance": "provenance"}
    nav = "".join(f'<a href="#{name}">{text}</a>' for name, text in links.items())
    size = (
        f"{len(study.problems)} problems, {len(study.algorithms)} algorithms, "
        f"{study.runs:,} of {study.wanted:,} runs done, {study.failed:,} failed"
    )
    return (
        f'<h1>{escape(study.name)}</h1><p>{size}</p><nav aria-label="sections">{nav}</nav>'
        f'<section class="verdict" aria-label="verdict"><p class="headline">{escape(findings.headline)}</p>'
        f"{listed(findings.reasons)}</section>"
        f'<section class="verdict caveats" aria-label="what was not run"><strong>What was run</strong>'
        f"{listed(findings.caveats)}</section>"
    )


def _controls(study: Study) -> str:
    boxes = []
    for k, name in enumerate(study.algorithms):
        key = Drawing(92, 32, "")
        key.line([(4, 16), (88, 16)], "curve", k)
        key.marker(46, 16, k)
        shown = svg(key, ' class="key" aria-hidden="true"').replace(f' data-a="{k}"', "")
        boxes.append(
            f'<label title="{escape(name)}"><input type="checkbox" value="{k}" checked>{shown}{escape(name)}</label>'
        )
    return (
        '<form aria-label="filter"><label>Problems <input id="search" type="search" placeholder="C01 C05" '
        'autocomplete="off"></label>'
        f"<fieldset><legend>Algorithms</legend>{''.join(boxes)}</fieldset></form>"
    )


def _results(study: Study, findings: Findings) -> str:
    head = header("problem") + "".join(header(a, f' data-a="{k}"') for k, a in enumerate(study.algorithms))
    rows = []
    for p, problem in enumerate(study.problems):
        best, row = best_by_mean(findings, problem.label), findings.summaries[problem.label]
        cells = []
        for k, name in enumerate(study.algorithms):
            summary = row.get(name)
            if summary is None:
                cells.append(f'<td data-a="{k}" data-v="" title="not run">-</td>')
                continue
            tip = (
                f"best {short(summary.best)}, median {short(summary.median)}, worst {short(summary.worst)}, "
                f"mean violation {short(summary.mean_violation)}, {summary.n_failed} failed"
            )
            short_of = "" if summary.n_feasible == summary.n else ' class="short"'
            kind = ' class="best"' if name in best else ""
            cells.append(
                f'<td data-a="{k}" data-v="{short(summary.mean, 9)}"{kind} title="{escape(tip)}">'
                f"{mean_and_std(summary)}<small{short_of}>{summary.n_feasible}/{summary.n} feasible"
                f"{f', {summary.n_failed} failed' if summary.n_failed else ''}</small></td>"
            )
        rows.append(f'<tr data-p="{p}"><th scope="row">{escape(problem.label)}</th>{"".join(cells)}</tr>')
    foot = ""
    if findings.ranks is not None:
        average = dict(zip(findings.ranks.algorithms, findings.ranks.by_median.mean(axis=0), strict=True))
        cells = [
            f'<td data-a="{k}">{average[a]:.3f}</td>' if a in average else f'<td data-a="{k}">-</td>'
            for k, a in enumerate(study.algorithms)
        ]
        foot = f'<tfoot><tr><th scope="row">average rank</th>{"".join(cells)}</tr></tfoot>'
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody>{foot}</table>"
    return f'<section id="results"><h2>Results</h2><p class="note">{MEANS}</p>{scrolling(table)}</section>'


def _comparisons(study: Study, findings: Findings, figures: Figures, found: dict[str, Table]) -> str:
    if findings.ranks is None:
        return '<section id="comparison"><h2>Comparison</h2><p>There is nothing to compare yet.</p></section>'
    numbered = {problem.label: p for p, problem in enumerate(study.problems)}
    parts = ['<section id="comparison"><h2>Comparison</h2>']
    if figures.differences is not None:
        parts.append(
            _figure(
                figures.differences,
                "Average ranks by the median run, better to the left. A bar joins algorithms that Nemenyi's test does "
                f"not tell apart at the level {ALPHA}.",
                fold("pairs", "table", plain_table(found["pairs"]) + plain_table(found["tests"])),
                "diagram",
            )
        )
    parts.append(f"<h3>Pairs</h3>{_wins(study, findings)}")
    parts.append(fold("wins", "table", plain_table(found["wins"])))
    if figures.ranks is not None:
        parts.append(
            _figure(
                figures.ranks,
                "Rank of each algorithm on each problem by its median run, feasible before infeasible; 1 is best.",
                fold("ranks", "table", plain_table(found["ranks"], numbered) + plain_table(found["competition"])),
                "map",
            )
        )
    return "".join(parts) + "</section>"


def _wins(study: Study, findings: Findings) -> str:
    """Row against column: problems won, tied, lost."""
    counts = {(w.first, w.second): (w.wins, w.ties, w.losses) for w in findings.wins}
    counts |= {(w.second, w.first): (w.losses, w.ties, w.wins) for w in findings.wins}
    series = {name: k for k, name in enumerate(study.algorithms)}
    names = findings.order
    head = "".join(header(name, f' data-a="{series[name]}"') for name in names)
    rows = []
    for first in names:
        cells = []
        for second in names:
            if first == second:
                cells.append(f'<td data-a="{series[second]}" data-v="0"></td>')
                continue
            w, t, l = counts[first, second]
            tip = f"{first} against {second}: {w} won, {t} tied, {l} lost"
            strong = ' class="best"' if w > l else ""
            cells.append(
                f'<td data-a="{series[second]}" data-v="{w - l}"{strong} title="{escape(tip)}">{w}/{t}/{l}</td>'
            )
        rows.append(f'<tr data-a="{series[first]}"><th scope="row">{escape(first)}</th>{"".join(cells)}</tr>')
    note = (
        f"Problems won/tied/lost by the row against the column: rank-sum test on the runs of each problem, level "
        f"{ALPHA} each, feasible before infeasible. Bold: more won than lost."
    )
    table = f"<table><thead><tr>{header('algorithm')}{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    return f'<p class="note">{note}</p>{scrolling(table)}'


def _scores(study: Study, figures: Figures, found: dict[str, Table]) -> str:
    if figures.tiers is None:
        return ""
    numbered = {problem.label: p for p, problem in enumerate(study.problems)}
    figure = _figure(
        figures.tiers,
        "All runs by the tiers of the U-score. The target of a problem is the median of the final objectives of its "
        "feasible runs; who reaches it sooner wins, then who is feasible with a lower objective, then who violates "
        "less.",
        fold("scores", "table", plain_table(found["scores_by_problem"], numbered)),
        "diagram",
    )
    return (
        f'<section id="scores"><h2>Speed and accuracy</h2>{figure}'
        f'<p class="note">Larger is better. Speed is seen at the recorded points of each run.</p>'
        f"{plain_table(found['scores'])}</section>"
    )


def _over_time(study: Study, findings: Findings, figures: Figures, found: dict[str, Table]) -> str:
    parts = []
    if figures.feasibility is not None:
        parts.append(
            _figure(
                figures.feasibility,
                f"Runs that have found a feasible point, mean over {len(study.complete)} problems.",
                fold("feasibility", "table", plain_table(found["feasibility"])),
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
                fold("ecdf", "table", plain_table(found["ecdf"])),
            )
        )
    if not parts:
        return '<section id="over-time"><h2>Over time</h2><p>No run is finished yet.</p></section>'
    return f'<section id="over-time"><h2>Over time</h2><div class="pair">{"".join(parts)}</div></section>'


def _problems(study: Study, figures: Figures) -> str:
    parts = []
    for p, problem in enumerate(study.problems):
        drawing = figures.problems.get(problem.label)
        if drawing is None or drawing.plot is None:
            continue
        plot = f' data-curves="{p}" data-plot="{drawing.plot[0]:g} {drawing.plot[1]:g}" tabindex="0"'
        behind = fold(f"curves {p}", "table", '<div class="wide" tabindex="0"></div>', f' data-table="{p}"')
        instance = "" if problem.instance is None else f", instance {problem.instance}"
        parts.append(
            f'<section data-p="{p}"><h3>{escape(problem.label)}</h3><p class="note">D = {problem.dimension}'
            f"{escape(instance)}, {problem.budget:,} evaluations</p>"
            f"<figure>{svg(drawing, plot)}{behind}</figure></section>"
        )
    return (
        f'<section id="problems"><h2>Problems</h2><p class="note">{CURVES}</p>'
        f'<div class="problems">{"".join(parts)}</div></section>'
    )


def _state(study: Study, found: dict[str, Table]) -> str:
    failures = study.standing.failures
    rows: list[list[object]] = [[f.algorithm, f.problem, f.dimension, f.run, f.message] for f in failures[:200]]
    parts = [fold("state", "runs done, by algorithm and problem", plain_table(found["state"]))]
    if rows:
        head = "".join(header(name) for name in ("algorithm", "problem", "D", "run", "message"))
        body = "".join(
            f'<tr><th scope="row">{escape(str(row[0]))}</th>{"".join(map(cell, row[1:4]))}'
            f'<td class="words">{escape(str(row[4]))}</td></tr>'
            for row in rows
        )
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        more = f"<p>{len(failures) - 200:,} more are not shown.</p>" if len(failures) > 200 else ""
        parts.append(f"<h3>Failed runs</h3>{scrolling(table)}{more}")
    return f'<section id="state"><h2>What was run</h2>{"".join(parts)}</section>'


def _origin(study: Study) -> str:
    facts = "".join(f"<dt>{escape(kind)}</dt><dd>{listed(texts)}</dd>" for kind, texts in study.origin.items())
    own = f"<dt>report by</dt><dd>ppsde {__version__}</dd>"
    return f'<section id="provenance"><h2>Provenance</h2><dl>{own}{facts}</dl></section>'


def _figure(drawing: Drawing, caption: str, behind: str, kind: str = "") -> str:
    name = f' class="{kind}"' if kind else ""
    size = f' width="{SHOWN * drawing.width:.0f}" height="{SHOWN * drawing.height:.0f}"' if kind else ""
    return f"<figure{name}>{svg(drawing, size)}<figcaption>{escape(caption)}</figcaption>{behind}</figure>"
