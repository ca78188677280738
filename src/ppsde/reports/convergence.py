"""One problem over evaluations: the objective above, the share of feasible runs between, the violation below."""

from __future__ import annotations

import numpy as np

from .axes import Scale, frame, markers_along, objective_scale, pieces, violation_scale
from .curves import Curves
from .drawing import Drawing

WIDTH, LEFT, RIGHT = 1000.0, 112.0, 958.0
OBJECTIVE, VIOLATION = 250.0, 190.0  # heights of the panels
ROW = 13.0  # height of one algorithm in the strip of shares
NOTHING = "no algorithm has a feasible median run"


def convergence(label: str, budget: int, found: dict[int, Curves]) -> Drawing:
    """The figure of a problem, from the curves of its algorithms by number."""
    top = 40.0
    strip = top + OBJECTIVE + 52
    low = strip + ROW * max(len(found), 1) + 48
    height = low + VIOLATION + 62
    title = f"{label}: objective, feasible runs and violation against evaluations"
    drawing = Drawing(WIDTH, height, title, plot=(LEFT, RIGHT))
    x = Scale(0.0, float(budget), LEFT, RIGHT)
    _panel(drawing, x, top, OBJECTIVE, found, "f", "objective of the best feasible point: median, quartiles")
    drawing.text(LEFT, strip - 12, "share of runs with a feasible point", small=True)
    for row, (series, curve) in enumerate(found.items()):
        _strip(drawing, x, strip + row * ROW, series, curve)
    _panel(drawing, x, low, VIOLATION, found, "violation", "least violation: median, quartiles")
    drawing.text((LEFT + RIGHT) / 2, height - 10, "evaluations", "middle", small=True)
    return drawing


def _panel(
    drawing: Drawing, x: Scale, top: float, height: float, found: dict[int, Curves], name: str, label: str
) -> None:
    values = {series: getattr(curve, name) for series, curve in found.items()}
    together = np.concatenate([v.ravel() for v in values.values()]) if values else np.empty(0)
    make = objective_scale if name == "f" else violation_scale
    y = make(together, top + height, top)
    if y is None:
        empty = Scale(0.0, 1.0, top + height, top)
        frame(drawing, x, empty, numbers_below=name == "violation", label=label, most=0)
        feasible = name == "violation" and bool((together == 0).any())
        said = "no violation is left wherever there is a record" if feasible else NOTHING
        drawing.text((x.start + x.end) / 2, top + height / 2, said, "middle", small=True)
        return
    frame(drawing, x, y, numbers_below=name == "violation", label=label, most=6 if name == "f" else 5)
    for series, curve in found.items():
        quartiles = values[series]
        both = np.isfinite(quartiles[0]) & np.isfinite(quartiles[2])
        lower = pieces(x, y, curve.at, np.where(both, quartiles[0], np.inf))
        upper = pieces(x, y, curve.at, np.where(both, quartiles[2], np.inf))
        for under, over in zip(lower, upper, strict=True):
            drawing.area([*under, *reversed(over)], series)
        stretches = pieces(x, y, curve.at, quartiles[1])
        for stretch in stretches:
            drawing.line(stretch, "curve", series)
        markers_along(drawing, stretches, series, len(found))


def _strip(drawing: Drawing, x: Scale, top: float, series: int, curve: Curves) -> None:
    """A row whose strength is the share of feasible runs; one box for as long as it stays the same."""
    edges = np.flatnonzero(np.diff(curve.share, prepend=-1.0))
    for k, begin in enumerate(edges):
        share = float(curve.share[begin])
        last = len(curve.share) if k + 1 == len(edges) else edges[k + 1]
        start = x(float(curve.at[begin - 1])) if begin else x(0.0)
        end = x(float(curve.at[last - 1]))
        tip = f"{share:.0%} of {curve.runs} runs feasible"
        drawing.box(start, top + 1, end - start, ROW - 2, share, series=series, tip=tip)
    drawing.line([(x.start, top + ROW), (x.end, top + ROW)], "grid", series)
