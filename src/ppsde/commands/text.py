"""Plain text that fits the terminal: tables, headings, names made safe to print; and plain data as JSON."""

from __future__ import annotations

import json
import math
import os
import shutil
import sys
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .exit_status import FOUND

GAP = "  "
NARROWEST = 16  # letters of the last column at least, however wide the others are


def table(headers: Sequence[str], rows: Sequence[Sequence[str]], right: str = "") -> str:
    """Return rows under headers; columns whose header is in `right` are aligned right, the last one is wrapped."""
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
    """Return the text in bold, where the terminal can show it."""
    plain = not sys.stdout.isatty() or bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") in (None, "dumb")
    return text if plain else f"\033[1m{text}\033[0m"


def width() -> int:
    """Return the letters of a line of the terminal, 80 where there is none."""
    return max(40, shutil.get_terminal_size().columns)


def printable(text: str) -> str:
    """Return the text without line breaks and without control characters for the terminal."""
    return "".join(letter if letter.isprintable() else "?" for letter in " ".join(text.split()))


def plain(value: Any) -> Any:
    """Return a value in the types of strict JSON; numbers that are not finite are null."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, str | int) else str(value)


def print_json(value: Any) -> int:
    """Print a value as JSON, in ASCII, which every terminal and pipe can carry; return the exit status."""
    print(json.dumps(plain(value), indent=1, allow_nan=False))
    return FOUND
