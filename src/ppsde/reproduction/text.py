"""The cells as lines of a table and as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from .. import published
from .cells import VERDICTS, Row, totals

HEADERS = (
    "problem", "mean", "std", "feasible", "violation", "published", "pub.std", "known", "verdict", "holds",
)  # fmt: skip
COLUMNS = (
    "method", "published_column", "dimension", "problem", "runs", "mean", "std", "best", "median", "worst",
    "feasible_share", "mean_violation", "printed_mean", "printed_std", "best_known", "verdict", "holds", "agrees",
    "judged", "not_judged_because",
)  # fmt: skip


def number(value: float) -> str:
    return f"{value:.4g}"


def line(row: Row) -> list[str]:
    """A row as the cells of `HEADERS`; what is not judged stands in brackets."""
    ours = row.ours
    holds = ("yes" if row.holds else "no") if row.judged else "-"
    return [
        row.problem,
        number(ours.mean),
        number(ours.std),
        f"{ours.feasible_share:.0%}",
        number(ours.violation),
        number(row.printed.mean),
        number(row.printed.std),
        number(row.best_known),
        row.verdict if row.judged else f"({row.verdict})",
        holds,
    ]


def total_lines(rows: list[Row]) -> list[str]:
    """A sentence per method and dimension."""
    return [
        f"{total['method']}, D = {total['dimension']}: of {total['judged']} judged problems {total['hold']} hold, "
        f"{total['agree']} agree with the printed mean; "
        + ", ".join(f"{total[verdict]} {verdict}" for verdict in VERDICTS if total[verdict])
        + _signs_put_back([row for row in rows if (row.method, row.dimension) == (total["method"], total["dimension"])])
        for total in totals(rows)
    ]


def _signs_put_back(rows: Sequence[Row]) -> str:
    found = [row.problem for row in rows if (row.dimension, row.problem, row.column) in published.LOST_SIGNS]
    return f" (printed without its minus sign, which is put back: {', '.join(found)})" if found else ""


def as_csv(rows: Sequence[Row]) -> str:
    """Every number in full."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in rows:
        ours = row.ours
        writer.writerow(
            [
                row.method, row.column, row.dimension, row.problem, ours.runs, ours.mean, ours.std, ours.best,
                ours.median, ours.worst, ours.feasible_share, ours.violation, row.printed.mean, row.printed.std,
                row.best_known, row.verdict, row.holds, row.agrees, row.judged, row.excuse,
            ]
        )  # fmt: skip
    return text.getvalue()
