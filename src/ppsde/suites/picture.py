"""Pictures of benchmark problems: objective contours and the feasible set over two variables."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from ..files import write_own_picture
from ..population import search_violation
from ..problem import Problem

POINTS = 401  # per side of the grid
CHUNK = 2_000  # rows evaluated at once
LEVELS = 14
# The colours of Okabe and Ito, distinct with every kind of colour vision, and by line style besides.
EQUALITY_COLOURS = ("#D55E00", "#CC79A7", "#009E73", "#E69F00", "#0072B2", "#56B4E9")
EQUALITY_STYLES = ("solid", "dashed", "dashdot", "dotted", (0, (5, 1)), (0, (3, 1, 1, 1)))
BOUNDARY_COLOUR = "black"


def draw(
    name: str,
    path: str | os.PathLike[str],
    *,
    suite: str = "cec2017",
    dimension: int | None = 2,
    variables: tuple[int, int] = (0, 1),
    window: float | None = None,
    **options: Any,
) -> Path:
    """Draw a problem of a suite into a file and return its path; the suffix (.png, .svg, .pdf) decides the format.

    Parameters
    ----------
    name : str
        Such as 'C15'.
    dimension : int, optional
        With more than two variables the picture is a slice: the others stay at the shift, or in the middle of the box
        where the problem has none.
    variables : two ints
        Which two variables the axes are, counted from 0.
    window : float, optional
        Half the width of the picture, around the centre of the slice. When not given, the box, or the part of it that
        the inequalities leave where that is small.
    **options
        Passed to the suite: instance, data, version.
    """
    from . import get

    return draw_problem(get(suite).problem(name, dimension, **options), path, variables=variables, window=window)


def draw_problem(
    problem: Problem,
    path: str | os.PathLike[str],
    *,
    variables: tuple[int, int] = (0, 1),
    window: float | None = None,
) -> Path:
    """Draw any problem with at least two variables; parameters as in `draw`."""
    target = checked_target(path)
    _check(problem, variables, window)
    centre = np.array(getattr(problem.fun, "shift", 0.5 * (problem.lower + problem.upper)), float)
    limits = _limits(problem, centre, variables, window)
    grid = [np.linspace(low, high, POINTS) for low, high in limits]
    f, g, h = _over(problem, centre, variables, grid[0], grid[1])
    figure = _figure(problem, variables, centre, grid, f, g, h)
    target.parent.mkdir(parents=True, exist_ok=True)
    write_own_picture(target, figure)
    return target


def checked_target(path: str | os.PathLike[str]) -> Path:
    """Return the path of a picture's file; ValueError where its suffix names no format."""
    target = Path(path)
    if target.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise ValueError(f"the picture's file must end in .png, .svg or .pdf; got {str(target)!r}")
    return target


def _check(problem: Problem, variables: tuple[int, int], window: float | None) -> None:
    d = problem.dimension
    if len(variables) != 2 or variables[0] == variables[1] or not all(0 <= j < d for j in variables):
        raise ValueError(f"variables must be two different numbers from 0 to {d - 1}; got {variables!r}")
    if window is not None and not window > 0:
        raise ValueError(f"window must be a positive number; got {window!r}")


def _over(problem: Problem, centre: np.ndarray, variables: tuple[int, int], across: np.ndarray, up: np.ndarray) -> Any:
    """Return objective (rows, columns), inequalities and equalities (rows, columns, k) on a grid of two variables."""
    x = np.tile(centre, (len(up) * len(across), 1))
    x[:, variables[0]] = np.tile(across, len(up))
    x[:, variables[1]] = np.repeat(up, len(across))
    pieces = [problem.evaluate(x[k : k + CHUNK]) for k in range(0, len(x), CHUNK)]
    f, g, h = (np.concatenate(values) for values in zip(*pieces, strict=True))
    shape = (len(up), len(across))
    return f.reshape(shape), g.reshape(*shape, g.shape[1]), h.reshape(*shape, h.shape[1])


def _limits(
    problem: Problem, centre: np.ndarray, variables: tuple[int, int], window: float | None
) -> list[tuple[float, float]]:
    low, high = problem.lower[list(variables)], problem.upper[list(variables)]
    middle = centre[list(variables)]
    if window is None:
        across, up = (np.linspace(a, b, 201) for a, b in zip(low, high, strict=True))
        _, g, _ = _over(problem, centre, variables, across, up)
        violation = search_violation(g, g[..., :0])
        allowed = violation <= max(0.0, float(violation.min()))
        columns, rows = across[allowed.any(axis=0)], up[allowed.any(axis=1)]
        if allowed.mean() > 0.15:
            return [(float(a), float(b)) for a, b in zip(low, high, strict=True)]
        middle = np.array([columns.min() + columns.max(), rows.min() + rows.max()]) / 2
        window = float(max(np.ptp(columns), np.ptp(rows), 0.05 * (high - low).max())) * 0.65
    return [(float(max(a, m - window)), float(min(b, m + window))) for a, b, m in zip(low, high, middle, strict=True)]


def _figure(
    problem: Problem,
    variables: tuple[int, int],
    centre: np.ndarray,
    grid: list[np.ndarray],
    f: np.ndarray,
    g: np.ndarray,
    h: np.ndarray,
) -> Any:
    from matplotlib.colors import BoundaryNorm
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.6, 7.2), layout="constrained")
    axes = figure.add_subplot()
    levels = np.unique(np.quantile(f, np.linspace(0.0, 1.0, LEVELS)))  # steps of equal area, whatever the scale
    if len(levels) > 1:
        norm = BoundaryNorm(levels, 256)
        shades = axes.contourf(*grid, f, levels=levels, cmap="cividis", norm=norm)
        axes.contour(*grid, f, levels=levels[1:-1], colors="white", linewidths=0.4, alpha=0.5)
        figure.colorbar(shades, ax=axes, label="objective f", format="%.4g")
    handles = _inequalities(axes, grid, g) + _equalities(axes, grid, g, h)
    axes.set_xlim(grid[0][0], grid[0][-1])
    axes.set_ylim(grid[1][0], grid[1][-1])
    inside = all(grid[j][0] <= centre[v] <= grid[j][-1] for j, v in enumerate(variables))
    if hasattr(problem.fun, "shift") and inside:
        at = (centre[variables[0]], centre[variables[1]])
        handles += axes.plot(
            *at, "P", markersize=10, color="white", markeredgecolor="black", linewidth=0, label="shift"
        )
    axes.set_aspect("equal")
    axes.set(xlabel=f"x{variables[0] + 1}", ylabel=f"x{variables[1] + 1}")
    axes.set_title(_title(problem, variables), fontsize=11)
    if handles:
        figure.legend(handles=handles, loc="outside lower center", ncols=2, fontsize=9)
    return figure


def _inequalities(axes: Any, grid: list[np.ndarray], g: np.ndarray) -> list[Any]:
    """Draw a veil over points that violate an inequality, and its edge."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    if g.shape[-1] == 0:
        return []
    worst = g.max(axis=-1)
    if worst.max() <= 0.0:
        return [Line2D([], [], linewidth=0, label="g <= 0 everywhere here")]
    axes.contourf(*grid, worst > 0.0, levels=[0.5, 1.5], colors=["white"], alpha=0.6)
    veil = Patch(facecolor="#C9CBCF", edgecolor=BOUNDARY_COLOUR, label="infeasible: some g > 0")
    if worst.min() > 0.0:
        veil.set_label("infeasible: some g > 0, everywhere here")
    else:
        axes.contour(*grid, worst, levels=[0.0], colors=BOUNDARY_COLOUR, linewidths=1.1)
    return [veil]


def _equalities(axes: Any, grid: list[np.ndarray], g: np.ndarray, h: np.ndarray) -> list[Any]:
    """Draw the zero lines of the equalities: bold where the inequalities hold, faint elsewhere.

    The feasible bands about them are 1e-4 wide in h, too thin to be seen.
    """
    from matplotlib.lines import Line2D

    allowed = (g <= 0.0).all(axis=-1)
    groups = _alike(h)
    width = 2.2 if len(groups) < 3 else 1.2
    handles: list[Any] = []
    for group in groups:
        values = h[..., group[0]]
        colour = EQUALITY_COLOURS[len(handles) % len(EQUALITY_COLOURS)]
        style: Any = EQUALITY_STYLES[len(handles) % len(EQUALITY_STYLES)]
        label = " and ".join(f"h{j + 1}" for j in group)
        if values.min() < 0.0 < values.max():
            level, label = 0.0, f"{label} = 0"
        elif values.min() == values.max():
            handles.append(Line2D([], [], linewidth=0, label=f"{label} = {values.min():.3g} everywhere here"))
            continue
        else:  # a sum of squares has no zero line
            level = float(np.quantile(values, 0.01) if values.min() >= 0.0 else np.quantile(values, 0.99))
            label = f"{label} = {level:.2g} ({label} has one sign here)"
        if not allowed.all():
            label += ", bold where g <= 0" if allowed.any() else ""
            axes.contour(*grid, values, levels=[level], colors=colour, linewidths=0.6, linestyles="solid", alpha=0.7)
        if allowed.any():
            bold = np.ma.masked_where(~allowed, values)
            if bold.min() <= level <= bold.max():
                axes.contour(*grid, bold, levels=[level], colors=colour, linewidths=width, linestyles=[style])
        handles.append(Line2D([], [], color=colour, linewidth=width, linestyle=style, label=label))
    return handles


def _alike(h: np.ndarray) -> list[list[int]]:
    """Group equalities that differ only by their sign, as h5 and h6 of C06 do."""
    groups: list[list[int]] = []
    for j in range(h.shape[-1]):
        for group in groups:
            if np.array_equal(np.abs(h[..., j]), np.abs(h[..., group[0]])):
                group.append(j)
                break
        else:
            groups.append([j])
    return groups


def _title(problem: Problem, variables: tuple[int, int]) -> str:
    facts = problem.properties
    first = problem.name
    if "instance" in facts:
        first += f", instance {facts['instance']}"
    if problem.dimension > 2:
        first += f", slice through x{variables[0] + 1} and x{variables[1] + 1}"
    return f"{first}\nf = {facts['objective']}" if "objective" in facts else first
