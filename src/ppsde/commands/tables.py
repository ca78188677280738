"""Tables in plain text that fit the terminal."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Sequence

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
