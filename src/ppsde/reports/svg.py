"""A drawing as SVG: short paths, colours by class, every text escaped."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape as escaped

from . import palette
from .drawing import MARKER_SIZE, SMALL_SIZE, TEXT_SIZE, Area, Box, Drawing, Item, Line, Marker, Point, Text

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
