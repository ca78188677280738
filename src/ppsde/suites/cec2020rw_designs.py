"""Pictures of designs of the CEC2020 real-world suite: trusses, gears, beams, wind farms and voltages as they are."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ..files import write_own_picture
from ..problem import Problem
from .cec2020rw_machines import COLUMNS, GEAR_PLACES, ROWS, TRUSS_BARS, TRUSS_NODES, listed
from .cec2020rw_power import INVERTERS, TURBINE_RADIUS, WIND_DIRECTIONS, WIND_SHARES
from .cec2020rw_processes import whole
from .picture import checked_target

INK, BLUE, ORANGE, GREY = "black", "#0072B2", "#D55E00", "#C9CBCF"


def draw_design(problem: Problem, path: str | os.PathLike[str], x: np.ndarray | None = None) -> Path:
    """Draw the design that a point stands for, the best known if none is given, and return the path of the file."""
    name = problem.name.partition(" ")[0]
    if problem.properties.get("suite") != "cec2020rw" or name not in DRAWINGS:
        raise ValueError(
            f"{problem.name} has no picture of its design; of suite cec2020rw {', '.join(DRAWINGS)} have one"
        )
    if x is None and problem.optimum is not None:
        x = problem.optimum.x
    if x is None:
        raise ValueError(f"no best design of {problem.name} is known; draw_design draws any point")
    point = np.asarray(x, float)
    if point.shape != (problem.dimension,):
        raise ValueError(f"{problem.name}: a point must have {problem.dimension} numbers; got shape {point.shape}")
    target = checked_target(path)

    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.2, 6.0), layout="constrained")
    axes = figure.add_subplot()
    DRAWINGS[name](axes, point)
    f = problem.evaluate(point[None])[0][0]
    axes.set_title(f"{problem.name}, f = {f:.6g}", fontsize=11)
    target.parent.mkdir(parents=True, exist_ok=True)
    write_own_picture(target, figure)
    return target


def _gear_box(axes: Any, x: np.ndarray) -> None:
    """Draw the pinions and gears of the four stages in their box; a gear's pinion sits on its shaft."""
    from matplotlib.patches import Circle

    numbers = whole(x[None])[0]
    pinion, gear = numbers[0:8:2], numbers[1:8:2]
    across, up = listed(numbers[12:17], GEAR_PLACES), listed(numbers[17:22], GEAR_PLACES)
    distance = np.hypot(across[1:] - across[0], up[1:] - up[0])
    at = [0, 2, 3, 4]  # the shaft of each pinion
    for k in range(4):
        for teeth, place, colour in ((pinion[k], at[k], ORANGE), (gear[k], k + 1, BLUE)):
            radius = distance[k] * teeth / (pinion[k] + gear[k])
            axes.add_patch(Circle((across[place], up[place]), radius, fill=False, edgecolor=colour, linewidth=1.5))
    for place in range(5):
        label = "input" if place == 0 else str(place)
        axes.plot(across[place], up[place], "k.", markersize=4)
        axes.annotate(label, (across[place], up[place]), textcoords="offset points", xytext=(4, 4), fontsize=9)
    axes.set(xlim=(0, 127), ylim=(0, 127), xlabel="mm; pinions orange, gears blue", ylabel="mm", aspect="equal")


def _truss(axes: Any, x: np.ndarray) -> None:
    """Draw the ten bars, their width growing with their area."""
    for (start, end), area in zip(TRUSS_BARS, x, strict=True):
        (x1, y1), (x2, y2) = TRUSS_NODES[start], TRUSS_NODES[end]
        axes.plot([x1, x2], [y1, y2], color=BLUE, linewidth=1 + 9 * area / 50e-4, solid_capstyle="round")
        share = 0.35 if x1 != x2 and y1 != y2 else 0.5  # the numbers of crossing bars must not meet
        place = (x1 + share * (x2 - x1), y1 + share * (y2 - y1))
        axes.annotate(f"{1e4 * area:.1f}", place, fontsize=8, ha="center", bbox={"fc": "white", "ec": "none", "pad": 1})
    axes.plot(*TRUSS_NODES[:4].T, "ko", markersize=6)
    axes.plot(*TRUSS_NODES[4:].T, "k>", markersize=11)
    axes.margins(0.08)
    axes.set(xlabel="m; areas in cm2", ylabel="m", aspect="equal")


def _topology(axes: Any, x: np.ndarray) -> None:
    """Draw the densities of the beam, fixed at its left edge and loaded at its lower right corner."""
    axes.imshow(x.reshape(COLUMNS, ROWS).T, cmap="Greys", vmin=0, vmax=1, extent=(0, COLUMNS, ROWS, 0))
    axes.plot([0, 0], [0, ROWS], color=ORANGE, linewidth=6)
    axes.annotate("load", (COLUMNS, ROWS), textcoords="offset points", xytext=(14, 8), color=ORANGE, fontsize=10)
    axes.set(xlabel="elements; black is solid", ylabel="elements", aspect="equal")


def _wind_farm(axes: Any, x: np.ndarray) -> None:
    """Draw the turbines with half of the least distance around them, and the direction of most wind."""
    from matplotlib.patches import Circle

    for k, (across, up) in enumerate(x.reshape(-1, 2), start=1):
        axes.add_patch(Circle((across, up), 2.5 * TURBINE_RADIUS, facecolor=GREY, edgecolor="none", alpha=0.6))
        axes.add_patch(Circle((across, up), TURBINE_RADIUS, facecolor=BLUE, edgecolor=INK))
        axes.annotate(str(k), (across, up), color="white", fontsize=8, ha="center", va="center")
    angle = WIND_DIRECTIONS[np.argmax(WIND_SHARES)]
    middle, arrow = 1000.0, 900 * np.array([np.cos(angle), np.sin(angle)])
    axes.annotate(
        "", middle + arrow, middle - arrow, arrowprops={"arrowstyle": "->", "color": ORANGE, "lw": 2, "alpha": 0.5}
    )
    axes.set(xlim=(0, 2000), ylim=(0, 2000), xlabel="m; most wind along the arrow", ylabel="m", aspect="equal")


def _voltage(levels: int) -> Callable[[Any, np.ndarray], None]:
    """Return the drawing of the voltage of an inverter over a quarter of its period."""

    def drawn(axes: Any, x: np.ndarray) -> None:
        steps = [1 if switch == "+" else -1 for switch in INVERTERS[levels].switches]
        order = np.argsort(x, kind="stable")
        level = np.cumsum(np.array(steps)[order])
        angles = np.concatenate([[0.0], np.repeat(x[order], 2), [90.0]])
        axes.plot(angles, np.concatenate([[0, 0], np.repeat(level, 2)]), color=BLUE, linewidth=1.5)
        axes.set(xlim=(0, 90), xlabel="angle in degrees", ylabel="voltage in steps")

    return drawn


DRAWINGS: dict[str, Callable[[Any, np.ndarray], None]] = {
    "RC26": _gear_box,
    "RC27": _truss,
    "RC33": _topology,
    "RC44": _wind_farm,
    **{f"RC{45 + k}": _voltage(levels) for k, levels in enumerate(INVERTERS)},
}
