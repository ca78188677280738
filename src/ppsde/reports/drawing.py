"""A drawing: lines, areas, boxes, markers and text in plain units, which SVG and PDF are made from.

A drawing as SVG: short paths, colours by class, every text escaped.

A drawing as PDF, by matplotlib, which need not be installed for anything else.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape as escaped
from pathlib import Path
from typing import Any

from . import palette

Point = tuple[float, float]
TEXT_SIZE = 21.0
SMALL_SIZE = 18.0
MARKER_SIZE = 7.0


@dataclass(frozen=True)
class Line:
    points: tuple[Point, ...]
    kind: str  # 'curve', 'axis', 'grid' or 'bar'
    series: int | None = None


@dataclass(frozen=True)
class Area:
    """Between quartiles: a closed outline, faintly filled."""

    points: tuple[Point, ...]
    series: int


@dataclass(frozen=True)
class Box:
    x: float
    y: float
    width: float
    height: float
    strength: float  # from 0, empty, to 1
    series: int | None = None  # its colour; that of heat maps if None
    tip: str = ""
    of: int | None = None  # the series that it belongs to, where it has not its colour


@dataclass(frozen=True)
class Marker:
    x: float
    y: float
    series: int


@dataclass(frozen=True)
class Text:
    x: float
    y: float  # of the baseline
    text: str
    anchor: str = "start"  # or 'middle', 'end'
    small: bool = False
    bold: bool = False
    series: int | None = None
    turned: bool = False  # read from below


Item = Line | Area | Box | Marker | Text


@dataclass
class Drawing:
    """Items in the order in which they are drawn, in a frame of that size."""

    width: float
    height: float
    title: str  # what it shows, for those who cannot see it
    items: list[Item] = field(default_factory=list)
    plot: tuple[float, float] | None = None  # left and right end of the panels, where a pointer may ask for values

    def line(self, points: Sequence[Point], kind: str = "curve", series: int | None = None) -> None:
        if len(points) > 1:
            self.items.append(Line(tuple(points), kind, series))

    def area(self, points: Sequence[Point], series: int) -> None:
        if len(points) > 2:
            self.items.append(Area(tuple(points), series))

    def text(self, x: float, y: float, text: str, anchor: str = "start", **more: object) -> None:
        self.items.append(Text(x, y, text, anchor, **more))  # type: ignore[arg-type]

    def marker(self, x: float, y: float, series: int) -> None:
        self.items.append(Marker(x, y, series))

    def box(self, x: float, y: float, width: float, height: float, strength: float, **more: object) -> None:
        self.items.append(Box(x, y, width, height, strength, **more))  # type: ignore[arg-type]


_FORBIDDEN = re.compile("[^\\t\\n\\x20-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")

# What every drawing needs; the colours come from variables, so that a page can change them in the dark.
RULES = f"""
svg text {{ font: {TEXT_SIZE:g}px system-ui, sans-serif; fill: var(--ink) }}
svg text.small {{ font-size: {SMALL_SIZE:g}px }} svg text.bold {{ font-weight: 600 }}
.curve {{ fill: none; stroke-width: 2.6; stroke-linejoin: round }} .area {{ opacity: .16 }}
.axis {{ fill: none; stroke: var(--ink); stroke-width: 1.4 }}
.grid {{ fill: none; stroke: var(--rule); stroke-width: 1 }}
.bar {{ fill: none; stroke: var(--ink); stroke-width: 7; stroke-linecap: round }} .heat {{ fill: {palette.HEAT} }}
"""


def escape(text: str) -> str:
    """Text for XML: its special letters escaped, letters that XML does not allow replaced."""
    return escaped("".join(letter if _FORBIDDEN.match(letter) is None else "?" for letter in text))


def svg(drawing: Drawing, attributes: str = "") -> str:
    """The drawing as an element of a page, which must have RULES and the rules of the palette."""
    parts = [
        f'<svg viewBox="0 0 {drawing.width:g} {drawing.height:g}" role="img" aria-label="{escape(drawing.title)}"'
        f"{attributes}>"
    ]
    open_series: int | None = None
    for item in drawing.items:
        series = item.of if isinstance(item, Box) and item.of is not None else item.series
        if series != open_series:
            parts.append("</g>" * (open_series is not None))
            parts.append(f'<g data-a="{series}">' if series is not None else "")
            open_series = series
        parts.append(_element(item))
    parts.append("</g>" * (open_series is not None) + "</svg>")
    return "".join(parts)


def svg_file(drawing: Drawing, series: int) -> str:
    """The drawing as a file of its own, on white."""
    style = f"svg {{ --ink: #000; --rule: #ddd; {palette.stylesheet(series)} }}{RULES}{palette.series_rules(series)}"
    size = f' xmlns="http://www.w3.org/2000/svg" width="{drawing.width:g}" height="{drawing.height:g}"'
    body = svg(drawing, size)
    head, rest = body.split(">", 1)
    white = f'<rect width="{drawing.width:g}" height="{drawing.height:g}" fill="#fff"/>'
    return f'<?xml version="1.0" encoding="utf-8"?>\n{head}><style>{escaped(style, quote=False)}</style>{white}{rest}\n'


def _element(item: Item) -> str:
    if isinstance(item, Line):
        colour = f" l{item.series}" if item.kind == "curve" and item.series is not None else ""
        return f'<path class="{item.kind}{colour}" d="{_path(item.points)}"/>'
    if isinstance(item, Area):
        return f'<path class="area b{item.series}" d="{_path(item.points)}z"/>'
    if isinstance(item, Marker):
        outline = [(item.x + MARKER_SIZE * x, item.y + MARKER_SIZE * y) for x, y in palette.marker(item.series)]
        return f'<path class="m{item.series}" d="{_path(outline)}z"/>'
    if isinstance(item, Box):
        colour = "heat" if item.series is None else f"b{item.series}"
        where = f'x="{_n(item.x)}" y="{_n(item.y)}" width="{_n(item.width)}" height="{_n(item.height)}"'
        tip = f"<title>{escape(item.tip)}</title>" if item.tip else ""
        shown = f'<rect class="{colour}" {where} fill-opacity="{item.strength:.3g}"'
        return f"{shown}>{tip}</rect>" if tip else f"{shown}/>"
    return _text(item)


def _text(item: Text) -> str:
    kinds = " ".join(["small"] * item.small + ["bold"] * item.bold)
    kind = f' class="{kinds}"' if kinds else ""
    anchor = "" if item.anchor == "start" else f' text-anchor="{item.anchor}"'
    turned = f' transform="rotate(-90 {_n(item.x)} {_n(item.y)})"' if item.turned else ""
    return f'<text x="{_n(item.x)}" y="{_n(item.y)}"{kind}{anchor}{turned}>{escape(item.text)}</text>'


def _path(points: Sequence[Point]) -> str:
    """From point to point in whole units, each told from the one before: the shortest way to write many."""
    x, y = (round(value) for value in points[0])
    steps = [f"M{x} {y}l"]
    for further in points[1:]:
        u, v = (round(value) for value in further)
        steps.append(f"{u - x} {v - y} " if v >= y else f"{u - x}{v - y} ")
        x, y = u, v
    return "".join(steps).rstrip()


def _n(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


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
