"""Tables in plain text that fit the terminal.

The outcome of a run, for people and for programs.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import sys
import tempfile
import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..problem import Optimum, Problem
from ..result import ConstraintReport

GAP = "  "
NARROWEST = 16  # letters that the last column keeps, however wide the others are


def table(headers: Sequence[str], rows: Sequence[Sequence[str]], right: str = "") -> str:
    """Rows under headers; columns whose header is in `right` are aligned there, the last one is wrapped."""
    widths = [max(map(len, column)) for column in zip(headers, *rows, strict=True)]
    taken = sum(widths[:-1]) + len(GAP) * (len(widths) - 1)
    widths[-1] = max(1, min(widths[-1], max(NARROWEST, width() - taken)))

    def line(cells: Sequence[str]) -> str:
        aligned = [
            cell.rjust(size) if name in right.split() else cell.ljust(size)
            for name, cell, size in zip(headers, cells, widths, strict=True)
        ]
        return GAP.join(aligned).rstrip()

    lines = [heading(line(headers))]
    for row in rows:
        *cells, last = row
        for piece in textwrap.wrap(last, widths[-1]) or [""]:
            lines.append(line([*cells, piece]))
            cells = [""] * len(cells)
    return "\n".join(lines)


def heading(text: str) -> str:
    """The text in bold, where that can be seen."""
    plain = not sys.stdout.isatty() or bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") in (None, "dumb")
    return text if plain else f"\033[1m{text}\033[0m"


def width() -> int:
    """Letters in a line: those of the terminal, 80 where there is none."""
    return max(40, shutil.get_terminal_size().columns)


def printable(text: str) -> str:
    """The text without line breaks and without anything that could steer a terminal."""
    return "".join(letter if letter.isprintable() else "?" for letter in " ".join(text.split()))


REASONS_TOLD = 3  # on the terminal
FAILURES_WRITTEN = 100  # in the file


def describe(problem: Problem, result: Any) -> str:
    """The outcome in lines to read: what was found, every constraint by name, every variable."""
    lines = [
        f"{printable(problem.name)}: {'FEASIBLE' if result.feasible else 'NOT FEASIBLE'}, {printable(result.message)}",
        f"  objective    {result.fun:.10g}",
    ]
    if problem.optimum is not None:
        lines.append(f"  optimum      {_against(problem.optimum, result)}")
    lines.append(f"  violation    {result.violation:.4g}")
    failed = f", {result.n_failed:,} of them failed" if result.n_failed else ""
    lines.append(f"  evaluations  {result.nfev:,} in {result.nit:,} generations{failed}")
    reasons = Counter(printable(failure.reason) for failure in result.failures).most_common(REASONS_TOLD)
    lines += [f"    failed     {count:,} x {reason}" for reason, count in reasons]
    if result.n_calls != result.nfev:
        lines.append(f"  calls        {result.n_calls:,} of the function")
    if result.constraints:
        lines += ["", *_indented(_constraints(result.constraints))]
    lines += ["", *_indented(_variables(problem, result.x))]
    return "\n".join(lines)


def _against(optimum: Optimum, result: Any) -> str:
    text = f"{optimum.value:.10g} ({optimum.status})"
    if optimum.violation > 0:
        return f"{text}, mean violation {optimum.violation:.4g}"
    return f"{text}, gap {result.fun - optimum.value:.3g}" if result.feasible else text


def _constraints(reports: Sequence[ConstraintReport]) -> str:
    rows = [
        (
            f"{report.slack:.4g}",
            "active" if report.active else "",
            f"violated by {report.violation:.4g}" if report.violation > 0 else "holds",
            printable(report.name),
        )
        for report in reports
    ]
    return table(("slack", "", "status", "constraint"), rows, right="slack")


def _variables(problem: Problem, x: np.ndarray) -> str:
    names = problem.properties.get("variables")
    if not isinstance(names, list | tuple) or len(names) != len(x):
        names = [f"x[{j}]" for j in range(len(x))]
    at = [
        "at its lower bound" if v == low else "at its upper bound" if v == high else ""
        for v, low, high in zip(x, problem.lower, problem.upper, strict=True)
    ]
    rows = [(printable(str(name)), f"{value:.10g}", note) for name, value, note in zip(names, x, at, strict=True)]
    return table(("variable", "value", ""), rows, right="value")


def _indented(text: str) -> list[str]:
    return ["  " + line for line in text.splitlines()]


def as_data(problem: Problem, result: Any, **about: Any) -> dict[str, Any]:
    """The outcome as plain data that strict JSON can hold; what is not a finite number is null."""
    from .. import __version__

    optimum = problem.optimum
    data = {
        "ppsde": __version__,
        **about,
        "problem": {
            "name": problem.name,
            "dimension": problem.dimension,
            "lower": problem.lower,
            "upper": problem.upper,
            "tolerance": problem.tolerance,
            "properties": problem.properties,
            "optimum": None
            if optimum is None
            else {"value": optimum.value, "status": optimum.status, "violation": optimum.violation},
        },
        "status": result.status,
        "message": result.message,
        "feasible": result.feasible,
        "x": result.x,
        "fun": result.fun,
        "violation": result.violation,
        "maxcv": result.maxcv,
        "constraints": [{"name": name, "violation": v} for name, v in result.constr_violation.items()],
        "nfev": result.nfev,
        "nit": result.nit,
        "n_failed": result.n_failed,
        "n_calls": result.n_calls,
        "limited_by": result.limited_by,
        "eval_seconds": {"mean": result.eval_seconds_mean, "max": result.eval_seconds_max},
        "failures": [vars(failure) for failure in result.failures[:FAILURES_WRITTEN]],
        "history": result.history,
    }
    plain: dict[str, Any] = _plain(data)
    return plain


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, str | int) else str(value)


def write(path: Path, data: Mapping[str, Any]) -> None:
    """Write JSON all at once: a reader never sees half a file, nor does a failure leave one."""
    text = json.dumps(data, indent=1, allow_nan=False, ensure_ascii=False) + "\n"
    with tempfile.NamedTemporaryFile("w", dir=path.parent, suffix=".part", delete=False, encoding="utf-8") as part:
        try:
            part.write(text)
            part.flush()
            os.fsync(part.fileno())
        except BaseException:
            Path(part.name).unlink()
            raise
    Path(part.name).chmod(0o644)  # temporary files are for their owner only; this one is to be read
    Path(part.name).replace(path)
