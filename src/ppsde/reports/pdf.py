"""A drawing as PDF, by matplotlib, which need not be installed for anything else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from . import palette
from .drawing import MARKER_SIZE, SMALL_SIZE, TEXT_SIZE, Area, Box, Drawing, Item, Line, Marker

POINTS_PER_UNIT = 0.5
WIDTHS = {"curve": 1.3, "axis": 0.7, "grid": 0.5, "bar": 3.0}
COLOURS = {"axis": "#000", "grid": "#ddd", "bar": "#000", "curve": "#000"}


def can_write_pdf() -> bool:
    """Whether matplotlib is installed."""
    from importlib.util import find_spec

    return find_spec("matplotlib") is not None


def write_pdf(drawing: Drawing, path: Path) -> None:
    """Write the drawing to a file."""
    from matplotlib.backends.backend_pdf import FigureCanvasPdf
    from matplotlib.figure import Figure

    inches = POINTS_PER_UNIT / 72
    figure = Figure(figsize=(drawing.width * inches, drawing.height * inches))
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_xlim(0, drawing.width)
    axes.set_ylim(drawing.height, 0)
    axes.axis("off")
    for item in drawing.items:
        _draw(axes, item)
    FigureCanvasPdf(figure).print_pdf(path, metadata={"CreationDate": None, "Title": drawing.title})


def _draw(axes: Any, item: Item) -> None:
    if isinstance(item, Line):
        coloured = item.kind == "curve" and item.series is not None
        gaps = palette.dash(item.series or 0) if coloured else ()
        style = (0, tuple(gap * POINTS_PER_UNIT for gap in gaps)) if gaps else "solid"
        colour = palette.colour(item.series or 0) if coloured else COLOURS[item.kind]
        x, y = zip(*item.points, strict=True)
        axes.add_line(_line(x, y, colour, WIDTHS[item.kind], style))
    elif isinstance(item, Area):
        axes.add_patch(_outline(item.points, palette.colour(item.series), 0.16))
    elif isinstance(item, Marker):
        outline = [(item.x + MARKER_SIZE * x, item.y + MARKER_SIZE * y) for x, y in palette.marker(item.series)]
        axes.add_patch(_outline(outline, palette.colour(item.series), 1.0))
    elif isinstance(item, Box):
        colour = palette.HEAT if item.series is None else palette.colour(item.series)
        right, bottom = item.x + item.width, item.y + item.height
        corners = [(item.x, item.y), (right, item.y), (right, bottom), (item.x, bottom)]
        axes.add_patch(_outline(corners, colour, item.strength))
    else:
        axes.text(
            item.x,
            item.y,
            item.text.replace("$", r"\$"),
            ha={"start": "left", "middle": "center", "end": "right"}[item.anchor],
            va="baseline",
            fontsize=(SMALL_SIZE if item.small else TEXT_SIZE) * POINTS_PER_UNIT,
            fontweight="bold" if item.bold else "normal",
            rotation=90 if item.turned else 0,
            rotation_mode="anchor",
        )


def _line(x: Any, y: Any, colour: str, width: float, style: Any) -> Any:
    from matplotlib.lines import Line2D

    return Line2D(x, y, color=colour, linewidth=width, linestyle=style)


def _outline(points: Any, colour: str, alpha: float) -> Any:
    from matplotlib.patches import Polygon

    return Polygon(points, closed=True, facecolor=colour, alpha=alpha, edgecolor="none")
