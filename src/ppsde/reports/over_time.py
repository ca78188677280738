"""The whole study over time: how many runs are feasible by when, and how many targets are reached by when."""

from __future__ import annotations

import numpy as np

from ..stats import Ecdf
from .axes import Scale, frame, markers_along, pieces
from .curves import Curves
from .drawing import Drawing

WIDTH, HEIGHT = 1000.0, 430.0
LEFT, RIGHT, TOP, BOTTOM = 80.0, 958.0, 40.0, 366.0
STEPS = 120


def mean_shares(found: dict[int, list[Curves]]) -> dict[int, np.ndarray]:
    """By algorithm, the mean over the problems of the share of feasible runs, at equal shares of each budget."""
    at = np.linspace(0.0, 1.0, 61)[1:]
    shares = {}
    for series, curves in found.items():
        rows = [np.append(0.0, curve.share)[np.floor(at * len(curve.at) + 1e-9).astype(int)] for curve in curves]
        shares[series] = np.mean(rows, axis=0)
    return shares


def feasibility(shares: dict[int, np.ndarray]) -> Drawing:
    """Feasible runs over the budget."""
    drawing = Drawing(WIDTH, HEIGHT, "mean share of feasible runs against the share of the budget")
    x, y = Scale(0.0, 100.0, LEFT, RIGHT), Scale(0.0, 100.0, BOTTOM, TOP)
    frame(drawing, x, y, numbers_below=True, label="runs with a feasible point, % (mean over the problems)")
    drawing.text((LEFT + RIGHT) / 2, HEIGHT - 8, "budget used, %", "middle", small=True)
    for series, share in shares.items():
        at = np.linspace(0.0, 100.0, len(share) + 1)[1:]
        _curve(drawing, x, y, at, 100 * share, series, len(shares))
    return drawing


def ecdfs(found: dict[int, Ecdf]) -> Drawing:
    """Targets reached over evaluations per variable."""
    drawing = Drawing(WIDTH, HEIGHT, "share of pairs of problem and target reached against evaluations per variable")
    steps = np.concatenate([one.evaluations for one in found.values()]) if found else np.empty(0)
    positive = steps[steps > 0]
    if not positive.size:
        drawing.text(WIDTH / 2, HEIGHT / 2, "no target was reached", "middle")
        return drawing
    low, high = float(positive.min()), float(positive.max())
    x = Scale(low, max(high, 2 * low), LEFT, RIGHT, "log")
    y = Scale(0.0, 100.0, BOTTOM, TOP)
    frame(drawing, x, y, numbers_below=True, label="pairs of problem and target reached, %")
    drawing.text((LEFT + RIGHT) / 2, HEIGHT - 8, "evaluations per variable", "middle", small=True)
    at = np.geomspace(x.low, x.high, STEPS)
    for series, one in found.items():
        _curve(drawing, x, y, at, 100 * reached(one, at), series, len(found))
    return drawing


def reached(one: Ecdf, at: np.ndarray) -> np.ndarray:
    """The share at those evaluations."""
    return np.append(0.0, one.share)[np.searchsorted(one.evaluations, at * (1 + 1e-12), side="right")]


def _curve(drawing: Drawing, x: Scale, y: Scale, at: np.ndarray, values: np.ndarray, series: int, of: int) -> None:
    stretches = pieces(x, y, at, values)
    for stretch in stretches:
        drawing.line(stretch, "curve", series)
    markers_along(drawing, stretches, series, of)
