"""Pieces of HTML: tables, headings, folds; every text escaped."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

import numpy as np

from .drawing import escape
from .numbers import short
from .tables import Table


def embedded(data: object) -> str:
    """Data as JSON that may stand in a page: nothing in it can end an element or begin one."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def cell(value: object) -> str:
    """A value as a cell of a table, with the number to sort by."""
    if isinstance(value, bool | np.bool_):
        return f"<td>{'yes' if value else 'no'}</td>"
    if isinstance(value, int | float | np.integer | np.floating):
        number = float(value)
        exact = f"{number:.9g}" if math.isfinite(number) else ""
        return f'<td data-v="{exact}">{escape(short(number))}</td>'
    return f"<td>{escape('-' if value is None else str(value))}</td>"


def header(text: str, attributes: str = "") -> str:
    """The head of a column that can be sorted by."""
    return f'<th scope="col"{attributes}><button type="button" title="{escape(text)}">{escape(text)}</button></th>'


def plain_table(table: Table, problems: dict[str, int] | None = None) -> str:
    """A table that can be sorted; rows that begin with the label of a problem can be filtered."""
    head = "".join(header(name) for name in table.columns)
    rows = []
    for row in table.rows:
        number = (problems or {}).get(str(row[0]))
        mark = "" if number is None else f' data-p="{number}"'
        first = f'<th scope="row">{escape(str(row[0]))}</th>' if isinstance(row[0], str) else cell(row[0])
        rows.append(f"<tr{mark}>{first}{''.join(map(cell, row[1:]))}</tr>")
    return scrolling(f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>")


def scrolling(table: str) -> str:
    return f'<div class="wide" tabindex="0" role="region" aria-label="table">{table}</div>'


def fold(name: str, summary: str, content: str, attributes: str = "") -> str:
    """Content that is shown when asked for."""
    return f'<details data-name="{escape(name)}"{attributes}><summary>{escape(summary)}</summary>{content}</details>'


def listed(items: Sequence[str]) -> str:
    return f"<ul>{''.join(f'<li>{escape(item)}</li>' for item in items)}</ul>"
