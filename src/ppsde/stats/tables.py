"""Rows of named values, the form of every table of statistics, and their text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

TableRow = dict[str, object]


def as_text(rows: Sequence[Mapping[str, object]], *, digits: int = 5) -> str:
    """Return rows as an aligned table with a line of names.

    Parameters
    ----------
    rows : sequence of mappings
        All with the same names in the same order, as the `rows` of every result of this package gives them.
    digits : int
        Significant digits of a float.

    Returns
    -------
    str
        Text to the left, numbers to the right; None is printed as a dash.

    Examples
    --------
    >>> print(as_text([{"algorithm": "one", "rank": 1.25}, {"algorithm": "two", "rank": 10}]))
    algorithm  rank
    one        1.25
    two          10
    """
    if not rows:
        return ""
    names = list(rows[0])
    for row in rows:
        if list(row) != names:
            raise ValueError(f"rows must all have the columns {names}; got {list(row)}")
    columns = [[name, *(_cell(row[name], digits) for row in rows)] for name in names]
    to_the_left = [all(isinstance(row[name], str) for row in rows) for name in names]
    widths = [max(map(len, column)) for column in columns]
    lines = []
    for cells in zip(*columns, strict=True):
        padded = (
            cell.ljust(w) if left else cell.rjust(w) for cell, w, left in zip(cells, widths, to_the_left, strict=True)
        )
        lines.append("  ".join(padded).rstrip())
    return "\n".join(lines)


def _cell(value: object, digits: int) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, float | np.floating):
        return f"{float(value):.{digits}g}"
    if isinstance(value, tuple):
        return "(" + ", ".join(_cell(item, digits) for item in value) + ")"
    return str(value)
