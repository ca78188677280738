"""The figure of one run: best values and state of the search over evaluations."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

# From the palette of Okabe and Ito, distinct for every kind of colour vision.
FEASIBLE, INFEASIBLE, OTHER, PUSH = "#0072B2", "#D55E00", "#000000", "#F0E442"


def run_figure(history: Mapping[str, np.ndarray]) -> Any:
    """Return a matplotlib Figure with a panel for each known column of the history; the push stage is shaded."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ValueError("drawing needs matplotlib: pip install 'ppsde[report]'") from None

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
    figure = Figure(figsize=(8.0, 1.2 + 1.7 * len(panels)), layout="constrained")
    rows = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
    for axes, panel in zip(rows, panels, strict=True):
        panel(axes, history)
        _shade_the_push(axes, history)
        axes.grid(alpha=0.3)
    if any(patch.get_label() == "push" for patch in rows[0].patches) or len(rows[0].lines) > 1:
        rows[0].legend(loc="upper right", fontsize="small")
    rows[-1].set_xlabel("evaluations")
    return figure


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
