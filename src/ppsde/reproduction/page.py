"""The cells as one page of HTML that needs nothing else: no network, no script."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from .cells import Row
from .text import HEADERS, line, total_lines

STYLE = """
:root { color-scheme: light dark; --line: #8884; --good: #0072b2; --bad: #d55e00; --grey: #777; }
body { font: 15px/1.45 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; margin: 1rem 0 2rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding: .4rem 0; }
th, td { padding: .2rem .6rem; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; }
th:first-child, td:first-child, .verdict { text-align: left; }
thead th { position: sticky; top: 0; background: Canvas; }
.better, .equal { color: var(--good); } .worse, .infeasible { color: var(--bad); font-weight: 600; }
.unjudged td { color: var(--grey); }
dt { font-weight: 600; } dd { margin: 0 0 .5rem 1rem; overflow-wrap: anywhere; }
@media print { body { margin: 0; max-width: none; font-size: 10px; } thead th { position: static; } }
"""


def page(rows: list[Row], provenance: Mapping[str, str]) -> str:
    """Totals first, then a table per method and dimension, then where it all comes from."""
    sections = []
    for method, dimension in dict.fromkeys((row.method, row.dimension) for row in rows):
        chosen = [row for row in rows if (row.method, row.dimension) == (method, dimension)]
        sections.append(_table(f"{method} beside {chosen[0].column}, D = {dimension}", chosen))
    excuses = dict.fromkeys((row.problem, row.excuse) for row in rows if row.excuse)
    notes = "".join(f"<li>{escape(problem)}: {escape(excuse)}</li>" for problem, excuse in excuses)
    origin = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in provenance.items())
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>The published experiment, reproduced</title><style>{STYLE}</style></head><body>\n"
        "<h1>The published experiment, reproduced</h1>\n"
        f"<ul>{''.join(f'<li>{escape(text)}</li>' for text in total_lines(rows))}</ul>\n"
        "<p>A cell <em>holds</em> if every run is feasible and our mean is no worse than the printed mean plus its "
        "standard deviation, or within 1e-8 of the best known value. The verdict compares the means: equal is within "
        "two standard errors or 1 %. In brackets: not judged.</p>\n"
        + "\n".join(sections)
        + (f"\n<h2>Not judged</h2><ul>{notes}</ul>" if notes else "")
        + f"\n<h2>Provenance</h2><dl>{origin}</dl></body></html>\n"
    )


def _table(title: str, rows: list[Row]) -> str:
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in HEADERS)
    body = "".join(_line(row) for row in rows)
    return f"<table><caption>{escape(title)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _line(row: Row) -> str:
    cells = line(row)
    kind = f"verdict {row.verdict}" if row.judged else "verdict"
    marked = "".join(
        f'<td class="{kind}">{escape(cell)}</td>' if name == "verdict" else f"<td>{escape(cell)}</td>"
        for name, cell in zip(HEADERS, cells, strict=True)
    )
    return f'<tr class="{"judged" if row.judged else "unjudged"}">{marked}</tr>\n'
