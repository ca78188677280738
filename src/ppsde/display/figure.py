"""The figure of one run: best values and state of the search over evaluations."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from itertools import pairwise
from typing import Any

import numpy as np

from .markup import Markup, tag

# From the palette of Okabe and Ito, distinct for every kind of colour vision.
FEASIBLE, INFEASIBLE, OTHER, PUSH = "#0072B2", "#D55E00", "#000000", "#F0E442"


def run_figure(history: Mapping[str, np.ndarray]) -> Any:
    """Return a matplotlib Figure with a panel for each known column of the history; the push stage is shaded."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ValueError("drawing needs matplotlib: pip install matplotlib") from None

    panels = [
        panel
        for panel, column in (
            (_objective, "f"),
            (_violation, "violation"),
            (_share, "feasible_share"),
            (_epsilon, "epsilon"),
        )
        if column in history
    ]
    if not panels or not len(history["evaluations"]):
        raise ValueError("there is nothing to draw: no generation was finished")

    class Shown(Figure):
        """A figure that a notebook shows, also without pyplot."""

        def _repr_png_(self) -> bytes:
            png = BytesIO()
            self.savefig(png, format="png")
            return png.getvalue()

    figure = Shown(figsize=(8.0, 1.2 + 1.7 * len(panels)), layout="constrained")
    rows = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
    for axes, panel in zip(rows, panels, strict=True):
        panel(axes, history)
        _shade_the_push(axes, history)
        axes.grid(alpha=0.3)
    if any(patch.get_label() == "push" for patch in rows[0].patches) or len(rows[0].lines) > 1:
        rows[0].legend(loc="upper right", fontsize="small")
    rows[-1].set_xlabel("evaluations")
    return figure


def sketch(history: Mapping[str, np.ndarray]) -> Markup:
    """Return a small SVG of the best objective over evaluations, dashed while it is not feasible.

    It is empty if fewer than two values are known.
    The scale is logarithmic if all values are positive and the largest is over a thousand times the smallest.
    """
    at, f, violation = (np.asarray(history.get(name, ()), float) for name in ("evaluations", "f", "violation"))
    known = np.isfinite(f)
    if known.sum() < 2:
        return Markup()
    at, f, feasible = at[known], f[known], violation[known] == 0
    logarithmic = f.min() > 0 and f.max() > 1e3 * f.min()
    height = np.log(f) if logarithmic else f
    width, tall, edge = 360, 110, 16
    span_x, span_y = max(float(np.ptp(at)), 1e-300), max(float(np.ptp(height)), 1e-300)
    x = edge + (at - at[0]) / span_x * (width - 2 * edge)
    y = edge + (height.max() - height) / span_y * (tall - 2 * edge)

    def line(shown: np.ndarray, colour: str, dashes: str | None) -> Markup:
        drawn = shown.copy()
        drawn[1:] |= shown[:-1]  # to the next point, so that no piece between the two lines is missing
        rows = np.flatnonzero(drawn)
        if not len(rows):
            return Markup()
        pieces = np.split(rows, np.flatnonzero(np.diff(rows) > 1) + 1)
        d = "".join("M" + "L".join(f"{x[k]:.1f} {y[k]:.1f}" for k in thinned_rows(piece)) for piece in pieces)
        return tag("path", d=d, fill="none", stroke=colour, stroke_width="2", stroke_dasharray=dashes)

    def text(words: str, left: float, top: float, anchor: str) -> Markup:
        return tag("text", words, x=left, y=top, text_anchor=anchor, font_size="11", fill="currentColor")

    return tag(
        "svg",
        tag("title", "best objective over evaluations" + ", logarithmic" * bool(logarithmic)),
        line(~feasible, INFEASIBLE, "5 4"),
        line(feasible, FEASIBLE, None),
        text(f"{f.max():.6g}", edge, edge - 4, "start"),
        text(f"{f.min():.6g}", edge, tall - 3, "start"),
        text(f"{int(at[-1]):,} evaluations", width - edge, tall - 3, "end"),
        xmlns="http://www.w3.org/2000/svg",
        width=width,
        height=tall,
        viewBox=f"0 0 {width} {tall}",
        role="img",
    )


def thinned_rows(rows: np.ndarray, most: int = 200) -> np.ndarray:
    """Return at most so many of the rows, evenly spread, with the first and the last."""
    return rows if len(rows) <= most else rows[np.unique(np.linspace(0, len(rows) - 1, most).astype(int))]


def _objective(axes: Any, history: Mapping[str, np.ndarray]) -> None:
    """Draw the best objective so far; dashed while it is not feasible, because its value means little then."""
    f, feasible = history["f"], history["violation"] == 0
    for label, colour, style, shown in (
        ("feasible", FEASIBLE, "solid", feasible),
        ("not feasible", INFEASIBLE, "dashed", ~feasible),
    ):
        if shown.any():
            axes.plot(history["evaluations"], np.where(shown, f, np.nan), color=colour, linestyle=style, label=label)
    values = f[np.isfinite(f)]
    if values.size and values.min() > 0 and values.max() > 1e3 * values.min():
        axes.set_yscale("log")
    axes.set_ylabel("objective")


def _violation(axes: Any, history: Mapping[str, np.ndarray]) -> None:
    axes.plot(history["evaluations"], history["violation"], color=INFEASIBLE)
    _down_to_zero(axes, history["violation"])
    axes.set_ylabel("violation")


def _share(axes: Any, history: Mapping[str, np.ndarray]) -> None:
    axes.plot(history["evaluations"], history["feasible_share"], color=FEASIBLE)
    axes.set_ylim(-0.05, 1.05)
    axes.set_ylabel("feasible share")


def _epsilon(axes: Any, history: Mapping[str, np.ndarray]) -> None:
    shown = np.isfinite(history["epsilon"])
    if "stage" in history:
        shown &= history["stage"] != 0  # the push ignores constraints and does not use epsilon
    epsilon = np.where(shown, history["epsilon"], np.nan)
    axes.plot(history["evaluations"], epsilon, color=OTHER)
    _down_to_zero(axes, epsilon)
    axes.set_ylabel("epsilon")


def _down_to_zero(axes: Any, values: np.ndarray) -> None:
    """Set a logarithmic scale that also shows 0."""
    positive = values[(values > 0) & np.isfinite(values)]
    if positive.size:
        threshold = 10.0 ** np.ceil(np.log10(positive.min()))
        axes.set_yscale("symlog", linthresh=threshold)
        axes.set_ylim(bottom=-0.3 * threshold)
    else:
        axes.set_ylim(-0.05, 1.0)  # all are 0: a scale around it would have negative numbers


def _shade_the_push(axes: Any, history: Mapping[str, np.ndarray]) -> None:
    if "stage" not in history:
        return
    at, pushing = history["evaluations"], history["stage"] == 0
    turns = np.flatnonzero(np.diff(pushing.astype(int)))
    edges = [0, *(turns + 1).tolist(), len(at) - 1]
    label = "push"
    for begin, end in pairwise(edges):
        if pushing[begin] and end > begin:
            axes.axvspan(at[begin], at[end], color=PUSH, alpha=0.25, linewidth=0, label=label)
            label = "_push"  # named once in the legend
