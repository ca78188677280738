"""A drawing: lines, areas, boxes, markers and text in plain units, which SVG and PDF are made from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

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
