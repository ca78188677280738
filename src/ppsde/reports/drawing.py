"""A drawing of lines, areas, boxes, markers and text, written as SVG or, where matplotlib is installed, as PDF."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Any

from ..display.markup import Markup, tag
from ..files import MADE_BY, write_own

Point = tuple[float, float]
TEXT_SIZE = 21.0
SMALL_SIZE = 18.0
MARKER_SIZE = 7.0


@dataclass(frozen=True)
class Line:
    points: tuple[Point, ...]
    kind: str  # 'curve', 'box', 'axis', 'grid' or 'bar'
    series: int | None = None


@dataclass(frozen=True)
class Area:
    """A closed outline, faintly filled, such as the area between quartiles."""

    points: tuple[Point, ...]
    series: int


@dataclass(frozen=True)
class Rectangle:
    x: float
    y: float
    width: float
    height: float
    strength: float  # from 0, empty, to 1
    series: int | None = None  # gives its colour; None for that of heat maps
    tip: str = ""
    of: int | None = None  # the series that it belongs to, where it does not have its colour


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


Item = Line | Area | Rectangle | Marker | Text
COLOURED = ("curve", "box")  # kinds of lines that have the colour of their series


def text_width(text: str, *, small: bool = False) -> float:
    """Return how wide a text is drawn, at most, in the usual fonts without serifs."""
    ems = sum(
        1.0 if ord(c) > 0x2E7F else 0.9 if c in "mwMW%@" else 0.34 if c in " .,:;'|ijl!()[]" else 0.64 for c in text
    )
    return ems * (SMALL_SIZE if small else TEXT_SIZE)


def shortened(text: str, width: float, *, small: bool = False) -> str:
    """Return the text, or its beginning and three dots, no wider than that."""
    if text_width(text, small=small) <= width:
        return text
    while text and text_width(text + "…", small=small) > width:
        text = text[:-1]
    return text.rstrip() + "…"


@dataclass
class Drawing:
    """Items in the order in which they are drawn, in a frame of that size."""

    width: float
    height: float
    title: str  # a description for readers who cannot see it
    items: list[Item] = field(default_factory=list)
    plot: tuple[float, float] | None = None  # left and right end of the panels, where the pointer shows values

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

    def rectangle(self, x: float, y: float, width: float, height: float, strength: float, **more: object) -> None:
        self.items.append(Rectangle(x, y, width, height, strength, **more))  # type: ignore[arg-type]


# --- series: a colour, a dash and a marker each ----------------------------------------------------------------------

# The colours of Okabe and Ito, distinct with every kind of colour vision. Yellow, faint on white, is last and darkened.
LIGHT = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9", "#B8A60B")
DARK = ("#56A8E0", "#F0803C", "#2FC79A", "#E39CC6", "#F2F2F2", "#E69F00", "#9AD4F5", "#F0E442")
DASHES = ((), (14, 6), (4, 5), (16, 5, 4, 5), (22, 7), (9, 4), (2, 4, 8, 4), (18, 4, 2, 4, 2, 4))
HEAT = "#0072B2"

PLUS = (
    *((-1, -0.35), (-0.35, -0.35), (-0.35, -1), (0.35, -1), (0.35, -0.35), (1, -0.35)),
    *((1, 0.35), (0.35, 0.35), (0.35, 1), (-0.35, 1), (-0.35, 0.35), (-1, 0.35)),
)

# Outlines of the markers, one per series, within a box from -1 to 1.
MARKERS = (
    ((-0.8, -0.8), (0.8, -0.8), (0.8, 0.8), (-0.8, 0.8)),  # square
    ((0, -1), (1, 0.8), (-1, 0.8)),  # triangle
    ((0, -1.1), (1.1, 0), (0, 1.1), (-1.1, 0)),  # diamond
    ((0, 1), (1, -0.8), (-1, -0.8)),  # triangle, downwards
    ((-0.4, -1), (0.4, -1), (1, -0.4), (1, 0.4), (0.4, 1), (-0.4, 1), (-1, 0.4), (-1, -0.4)),  # octagon
    PLUS,
    ((-1, -1), (1, 1), (1, -1), (-1, 1)),  # hourglass
    ((-1, 0.9), (0, -1), (1, 0.9), (0, 0.4)),  # arrow head
)

COUNT = len(LIGHT)


def series_colour(series: int) -> str:
    """Return the colour of a series on white paper."""
    return LIGHT[series % COUNT]


def series_dash(series: int) -> tuple[int, ...]:
    """Return the dash of a series; from the ninth series on, colours repeat with another dash."""
    return DASHES[(series + series // COUNT * 3) % COUNT]


def series_marker(series: int) -> tuple[tuple[float, float], ...]:
    """Return the outline of the marker of a series."""
    return MARKERS[(series + series // COUNT * 5) % COUNT]


def colour_variables(series: int, colours: tuple[str, ...] = LIGHT) -> str:
    """Return CSS that defines the colours of so many series as variables."""
    return " ".join(f"--c{k}: {colours[k % COUNT]};" for k in range(series))


def series_rules(series: int) -> str:
    """Return CSS rules for so many series: curves by stroke, areas and markers by fill."""
    rules = []
    for k in range(series):
        gaps = ",".join(map(str, series_dash(k)))
        dashes = f"; stroke-dasharray: {gaps}" if gaps else ""
        rules.append(f".l{k} {{ stroke: var(--c{k}){dashes} }} .m{k}, .b{k} {{ fill: var(--c{k}) }}")
    return "\n".join(rules)


# --- as SVG: short paths, colours by class --------------------------------------------------------------------------

# Rules that every drawing needs. The colours come from variables, so that a page can change them in the dark.
RULES = f"""
svg text {{ font: {TEXT_SIZE:g}px system-ui, sans-serif; fill: var(--ink) }}
svg text.small {{ font-size: {SMALL_SIZE:g}px }} svg text.bold {{ font-weight: 600 }}
.curve {{ fill: none; stroke-width: 2.6; stroke-linejoin: round }} .area {{ opacity: .16 }}
path.box {{ fill: none; stroke-width: 2.2; stroke-dasharray: none }}
.axis {{ fill: none; stroke: var(--ink); stroke-width: 1.4 }}
.grid {{ fill: none; stroke: var(--rule); stroke-width: 1 }}
.bar {{ fill: none; stroke: var(--ink); stroke-width: 7; stroke-linecap: round }} .heat {{ fill: {HEAT} }}
"""


def svg(drawing: Drawing, *content: Markup, **attributes: object) -> Markup:
    """Return the drawing as an element of a page, which must have RULES and the rules of the series.

    `content` comes before the items of the drawing.
    """
    parts = list(content)
    for series, items in groupby(drawing.items, _series):
        elements = [_element(item) for item in items]
        parts.append(Markup("".join(elements)) if series is None else tag("g", *elements, data_a=series))
    size = f"0 0 {drawing.width:g} {drawing.height:g}"
    return tag("svg", *parts, viewBox=size, role="img", aria_label=drawing.title, **attributes)


def svg_file(drawing: Drawing, series: int) -> str:
    """Return the drawing as a file of its own, on white."""
    style = f"svg {{ --ink: #000; --rule: #ddd; {colour_variables(series)} }}{RULES}{series_rules(series)}"
    size = {"width": f"{drawing.width:g}", "height": f"{drawing.height:g}"}
    rules, white = tag("style", Markup(escape(style, quote=False))), tag("rect", **size, fill="#fff")
    element = svg(drawing, rules, white, xmlns="http://www.w3.org/2000/svg", **size)
    return f'<?xml version="1.0" encoding="utf-8"?>\n<!-- {MADE_BY} -->\n{element}\n'


def _series(item: Item) -> int | None:
    return item.of if isinstance(item, Rectangle) and item.of is not None else item.series


def _element(item: Item) -> Markup:
    if isinstance(item, Line):
        colour = f" l{item.series}" if item.kind in COLOURED and item.series is not None else ""
        return tag("path", class_=f"{item.kind}{colour}", d=_path(item.points))
    if isinstance(item, Area):
        return tag("path", class_=f"area b{item.series}", d=f"{_path(item.points)}z")
    if isinstance(item, Marker):
        outline = [(item.x + MARKER_SIZE * x, item.y + MARKER_SIZE * y) for x, y in series_marker(item.series)]
        return tag("path", class_=f"m{item.series}", d=f"{_path(outline)}z")
    if isinstance(item, Rectangle):
        return tag(
            "rect",
            *([tag("title", item.tip)] if item.tip else []),
            class_="heat" if item.series is None else f"b{item.series}",
            x=_n(item.x),
            y=_n(item.y),
            width=_n(item.width),
            height=_n(item.height),
            fill_opacity=f"{item.strength:.3g}",
        )
    return tag(
        "text",
        item.text,
        x=_n(item.x),
        y=_n(item.y),
        class_=" ".join(["small"] * item.small + ["bold"] * item.bold) or None,
        text_anchor=None if item.anchor == "start" else item.anchor,
        transform=f"rotate(-90 {_n(item.x)} {_n(item.y)})" if item.turned else None,
    )


def _path(points: Sequence[Point]) -> str:
    """Return the steps from point to point in whole units, the shortest way to write many points."""
    x, y = (round(value) for value in points[0])
    steps = [f"M{x} {y}l"]
    for further in points[1:]:
        u, v = (round(value) for value in further)
        steps.append(f"{u - x} {v - y} " if v >= y else f"{u - x}{v - y} ")
        x, y = u, v
    return "".join(steps).rstrip()


def _n(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


# --- as PDF, by matplotlib ----------------------------------------------------------------------------------------

POINTS_PER_UNIT = 0.5
WIDTHS = {"curve": 1.3, "box": 1.1, "axis": 0.7, "grid": 0.5, "bar": 3.0}
COLOURS = {"axis": "#000", "grid": "#ddd", "bar": "#000", "curve": "#000", "box": "#000"}


def can_write_pdf() -> bool:
    """Return whether matplotlib is installed."""
    from importlib.util import find_spec

    return find_spec("matplotlib") is not None


def write_pdf(drawing: Drawing, path: Path) -> None:
    """Write the drawing to a PDF file."""
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
    picture = io.BytesIO()
    about = {"CreationDate": None, "Title": drawing.title, "Creator": MADE_BY}
    FigureCanvasPdf(figure).print_pdf(picture, metadata=about)
    write_own(path, picture.getvalue(), "pdf")


def _draw(axes: Any, item: Item) -> None:
    if isinstance(item, Line):
        coloured = item.kind in COLOURED and item.series is not None
        gaps = series_dash(item.series or 0) if coloured and item.kind == "curve" else ()
        style = (0, tuple(gap * POINTS_PER_UNIT for gap in gaps)) if gaps else "solid"
        colour = series_colour(item.series or 0) if coloured else COLOURS[item.kind]
        x, y = zip(*item.points, strict=True)
        axes.add_line(_line(x, y, colour, WIDTHS[item.kind], style))
    elif isinstance(item, Area):
        axes.add_patch(_outline(item.points, series_colour(item.series), 0.16))
    elif isinstance(item, Marker):
        outline = [(item.x + MARKER_SIZE * x, item.y + MARKER_SIZE * y) for x, y in series_marker(item.series)]
        axes.add_patch(_outline(outline, series_colour(item.series), 1.0))
    elif isinstance(item, Rectangle):
        colour = HEAT if item.series is None else series_colour(item.series)
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
