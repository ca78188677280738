"""A drawing with the names of its series under it, for files that stand alone."""

from __future__ import annotations

from dataclasses import replace

from .drawing import Drawing, Line, Marker

ROW, KEY, LETTER, GAP = 34.0, 64.0, 11.0, 30.0
LONGEST = 32


def with_legend(drawing: Drawing, names: tuple[str, ...]) -> Drawing:
    """The drawing as it is where it has no curves; else taller, with a key for each algorithm that is drawn."""
    if not any(isinstance(item, Line) and item.kind == "curve" for item in drawing.items):
        return drawing
    drawn = {item.series for item in drawing.items if isinstance(item, Line | Marker)}
    found = replace(drawing, items=list(drawing.items))
    x, y = GAP, drawing.height + ROW / 2
    for series, name in enumerate(names):
        if series not in drawn:
            continue
        text = name if len(name) <= LONGEST else name[: LONGEST - 1] + "…"
        width = KEY + 10 + LETTER * len(text)
        if x > GAP and x + width > drawing.width:
            x, y = GAP, y + ROW
        found.line([(x, y), (x + KEY, y)], "curve", series)
        found.marker(x + KEY / 2, y, series)
        found.text(x + KEY + 10, y + 7, text, series=series)
        x += width + GAP
    found.height = y + ROW / 2
    return found
