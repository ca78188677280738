"""Draw the pictures of the README and of the pages into docs/pictures: `python docs/pictures.py`, or some by name.

Pictures of the gallery are drawn when the site is built; these are committed, so that pages show them on a code host.
"""

from __future__ import annotations

import math
import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Ellipse, Rectangle

import ppsde

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "pictures"
STYLE = {
    "svg.hashsalt": "ppsde",  # the same file every time
    "figure.constrained_layout.use": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "font.size": 10,
}
BLUE, ORANGE, GREEN, YELLOW = "#0072B2", "#D55E00", "#009E73", "#F0E442"  # of the palette of Okabe and Ito


def write(figure: Any, name: str, run: Any) -> None:
    """Write a figure, with what its run found, by which a test sees whether a method has changed since."""
    metadata = {"Date": None, "Description": found(run)}
    figure.savefig(FOLDER / f"{name}.svg", metadata=metadata, facecolor="white")
    plt.close(figure)


def found(run: Any) -> str:
    return f"{run.fun:.6g} after {run.nfev} evaluations"


def crossing() -> None:
    """Draw the picture of the README, an animation; the program is an example of the gallery."""
    example = runpy.run_path(str(ROOT / "examples" / "gallery" / "searches" / "crossing.py"))
    (FOLDER / "crossing.svg").write_text(example["animation"].svg + "\n", encoding="utf-8")


def islands_run() -> tuple[Any, list[Any], dict[str, Any]]:
    """Return the run of the README's picture, its populations, and the names of its program."""
    source = (ROOT / "examples" / "gallery" / "searches" / "crossing.py").read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    exec(source.split("# %%")[0] + source.split("# %%")[1], names)
    return names["result"], names["populations"], names


def stages() -> None:
    """Draw six moments of the run of the README's picture."""
    result, populations, names = islands_run()
    stage, epsilon = result.history["stage"], result.history["epsilon"]
    switch, closed = names["switch"], names["closed"]
    low, high = names["LOW"], names["HIGH"]
    a, b = np.meshgrid(np.linspace(low[0], high[0], 120), np.linspace(low[1], high[1], 80))
    values = [names["islands"](x) for x in zip(a.flat, b.flat, strict=True)]
    f = np.reshape([value[0] for value in values], a.shape)
    violation = np.reshape([max(value[1][0], 0) for value in values], a.shape)
    figure, panels = plt.subplots(2, 3, figsize=(9, 4.4), sharex=True, sharey=True)
    moments = [0, 3, switch - 1, *np.linspace(switch + 2, closed, 3).astype(int)]
    for axes, k in zip(panels.flat, moments, strict=True):
        for x, y, rx, ry in (names["LARGE"], names["SMALL"]):
            axes.add_patch(Ellipse((x, y), 2 * rx, 2 * ry, facecolor="#cfe8f7", edgecolor=BLUE))
        axes.contour(a, b, f, levels=[0.3, 2, 6, 14, 28, 50], colors="gray", linewidths=0.4)
        pulling = stage[k] == 1
        if pulling and epsilon[k] > 0:
            axes.contour(a, b, violation, levels=[epsilon[k]], colors="black", linewidths=1)
        points = populations[k]
        axes.scatter(*points.x.T, s=11, c=np.where(points.feasible, BLUE, ORANGE), edgecolor="white", linewidth=0.3)
        axes.set_title(f"generation {k}: " + (f"pull, epsilon {epsilon[k]:.2g}" if pulling else "push"), fontsize=9)
        axes.set_xticks([])
        axes.set_yticks([])
    write(figure, "stages", result)


def epsilon() -> None:
    """Draw epsilon and the feasible share along that run."""
    result, _, names = islands_run()
    last = names["closed"] + 40
    history = {name: column[:last] for name, column in result.history.items()}
    figure, (top, bottom) = plt.subplots(2, 1, sharex=True, figsize=(7.2, 4))
    generation = np.arange(last)
    for axes in (top, bottom):
        axes.axvspan(0, names["switch"], color=YELLOW, alpha=0.35, linewidth=0)
    top.plot(generation[names["switch"] :], history["epsilon"][names["switch"] :], color=BLUE)
    top.set_ylabel("epsilon")
    bottom.plot(generation, history["feasible_share"], color=GREEN)
    bottom.set_ylabel("feasible share")
    bottom.set_xlabel("generation (yellow: push)")
    write(figure, "epsilon", result)


def tank_of_the_tutorial() -> Callable[..., Any]:
    """Return the function of the tutorial."""
    text = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    exec(text.split('```python title="tank.py"\n')[1].split("```")[0], names)
    return names["tank"]


def run_with_plates(tank: Callable[..., Any]) -> Any:
    choices = {2: [3, 4, 5, 6, 8, 10, 12]}
    return ppsde.minimize(tank, [(0.3, 3), (0.3, 4), None], choices=choices, max_evaluations=2000, rng=1)


def tutorial_landscape() -> None:
    """Draw the mass over radius and height, and the points of the run."""
    tank = tank_of_the_tutorial()
    seen = []

    def watched(x: Any) -> Any:
        seen.append(x.copy())
        return tank(x)

    result = ppsde.minimize(watched, [(0.3, 3), (0.3, 4), (1, 20)], rng=1)
    r, h = np.meshgrid(np.linspace(0.3, 2.2, 150), np.linspace(0.3, 4, 150))
    mass = 7850 * 5 * r / 1000 * (2 * math.pi * r * h + 2 * math.pi * r**2)
    figure, axes = plt.subplots(figsize=(7.2, 4.2))
    lines = axes.contour(r, h, mass, levels=[250, 500, 1000, 1500, 2500, 4000, 6000], colors="gray", linewidths=0.7)
    axes.clabel(lines, fmt="%d kg", fontsize=8)
    axes.contourf(r, h, 10 - math.pi * r**2 * h, levels=[0, 99], colors=[ORANGE], alpha=0.2)
    axes.contourf(r, h, h - 3, levels=[0, 99], colors=["#CC79A7"], alpha=0.3)
    x = np.array(seen)
    axes.plot(x[:, 0], x[:, 1], ".", color=BLUE, markersize=3)
    axes.plot(*result.x[:2], "*", color="black", markersize=13)
    axes.text(0.34, 0.85, "too little volume")
    axes.text(1.55, 3.4, "too high")
    axes.set_xlim(0.3, 2.2)
    axes.set_ylim(0.3, 4)
    axes.set_xlabel("radius, m")
    axes.set_ylabel("height, m")
    write(figure, "tutorial-landscape", result)


def tutorial_tanks() -> None:
    """Draw the two tanks of the tutorial."""
    tank = tank_of_the_tutorial()
    any_plate = ppsde.minimize(tank, [(0.3, 3), (0.3, 4), (1, 20)], rng=1)
    stock = run_with_plates(tank)
    figure, axes = plt.subplots(figsize=(7.2, 3.8))
    for middle, found in ((0, any_plate), (4, stock)):
        r, h, t = found.x
        axes.add_patch(Rectangle((middle - r, 0), 2 * r, h, facecolor="#cfe8f7", edgecolor=BLUE, linewidth=t / 1.5))
        for y in (0, h):
            axes.add_patch(Ellipse((middle, y), 2 * r, 0.32, facecolor="#e6f3fb", edgecolor=BLUE, linewidth=t / 1.5))
        words = f"{found.fun:.0f} kg\nr {r:.3f} m\nh {h:.3f} m\nt {t:.2f} mm"
        axes.text(middle, h / 2, words, ha="center", va="center")
    axes.axhline(3, color=ORANGE, linewidth=1, linestyle="dashed")
    axes.text(2.0, 3.06, "height limit", ha="center", color="#a84a00")
    axes.set_xlim(-1.6, 5.6)
    axes.set_ylim(-0.35, 3.5)
    axes.set_aspect("equal")
    axes.axis("off")
    write(figure, "tutorial-tanks", stock)


PICTURES: dict[str, Callable[[], None]] = {
    "crossing": crossing,
    "stages": stages,
    "epsilon": epsilon,
    "tutorial-landscape": tutorial_landscape,
    "tutorial-tanks": tutorial_tanks,
}

if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name in sys.argv[1:] or PICTURES:
        with matplotlib.rc_context(STYLE):
            PICTURES[name]()
        print(f"docs/pictures/{name}.svg: {(FOLDER / f'{name}.svg').stat().st_size // 1000} kB")
