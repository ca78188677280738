"""Scales, ticks and axes of a drawing."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from .drawing import Drawing, Point

LEAST = 1e-10  # values nearer to zero than this are drawn as zero
DECADES_FOR_LOG = 1.5
LEAST_SPAN = 5.0  # of the ends of a logarithmic scale: two of 1, 2, 5, 10 ... lie between them


@dataclass(frozen=True)
class Scale:
    """A map from values to places between `start` and `end`: linear, or logarithmic on one or both sides of zero."""

    low: float
    high: float
    start: float
    end: float
    kind: str = "linear"  # 'log', 'both' (logarithmic on both sides of zero), 'zero' (log, with room for 0 below)

    def __call__(self, value: float) -> float:
        share = (self._inner(value) - self._inner(self.low)) / (self._inner(self.high) - self._inner(self.low))
        if self.kind == "zero":  # the lowest tenth is for 0
            share = 0.0 if value < self.low else 0.12 + 0.88 * share
        return self.start + (self.end - self.start) * min(max(share, 0.0), 1.0)

    def _inner(self, value: float) -> float:
        if self.kind in ("log", "zero"):
            return math.log10(max(value, self.low))
        return math.asinh(value) if self.kind == "both" else value

    def ticks(self, most: int = 6) -> list[float]:
        """Return the values to write beside the axis: powers of ten, or round steps."""
        if self.kind in ("log", "zero"):
            first, last = math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9)
            if last - first < 2:
                return self._between_decades(first, most)
            step = -(-(last - first + 1) // most)
            return [10.0**e for e in range(last, first - 1, -step)]
        if self.kind == "both":
            top = math.floor(math.log10(max(abs(self.low), abs(self.high), 10.0)))
            step = max(1, -(-top // 3))
            sizes = [10.0**e for e in range(step, top + 1, step)]
            found = [v for v in (*(-s for s in reversed(sizes)), 0.0, *sizes) if self.low <= v <= self.high]
            return found if len(found) > 1 else self._round_steps(most)
        return self._round_steps(most)

    def _between_decades(self, first: int, most: int) -> list[float]:
        """Return ticks for a scale of few decades: 1, 2 and 5, or 1 and 3, or its two ends."""
        for steps in ((1, 2, 5), (1, 3)):
            sizes = [m * 10.0**e for e in range(first - 1, first + 3) for m in steps]
            inside = [size for size in sizes if self.low <= size <= self.high]
            if 1 < len(inside) <= most:
                return inside
        return [self.low, self.high]

    def _round_steps(self, most: int) -> list[float]:
        span = self.high - self.low
        raw = span / max(most - 1, 1)
        power = 10.0 ** math.floor(math.log10(raw))
        step = next(power * m for m in (1, 2, 2.5, 5, 10) if power * m >= raw * 0.999)
        first = math.ceil(self.low / step - 1e-9)
        return [k * step for k in range(first, math.floor(self.high / step + 1e-9) + 1)]


def tick(value: float, more: int = 0) -> str:
    """Return a number as it is written beside an axis, with so many more digits than are usual."""
    if value and (abs(value) >= 1e5 or abs(value) < 1e-3):
        mantissa, _, exponent = f"{value:.{2 + more}g}".partition("e")
        return f"{mantissa}e{int(exponent)}" if exponent else mantissa
    return f"{value:.{3 + more}g}" if abs(value) < 100 else f"{value:.{5 + more}g}"


def ticks(scale: Scale, most: int = 6) -> list[tuple[float, str]]:
    """Return the values beside an axis and their texts, with as many digits as tell them apart.

    Examples
    --------
    >>> [text for _, text in ticks(Scale(5126.4967, 5126.4982, 0.0, 1.0))]
    ['5126.497', '5126.4975', '5126.498']
    >>> [text for _, text in ticks(Scale(0.0, 200_000.0, 0.0, 1.0))]
    ['0', '50000', '100000', '150000', '200000']
    """
    values = scale.ticks(most)
    if scale.kind == "linear" and all(float(value).is_integer() and abs(value) < 1e7 for value in values):
        return [(value, f"{value:.0f}") for value in values]
    near = 0.01 * min((abs(b - a) for a, b in pairwise(values)), default=np.inf)
    for more in range(12):
        texts = [tick(value, more) for value in values]
        if all(abs(float(text) - value) <= near for text, value in zip(texts, values, strict=True)):
            break
    return list(zip(values, texts, strict=True))


def objective_scale(values: np.ndarray, start: float, end: float) -> Scale | None:
    """Return a scale for objectives, logarithmic where they span decades; None where there is nothing to draw."""
    finite = values[np.isfinite(values)]
    if not finite.size:
        return None
    finite = np.where(np.abs(finite) < LEAST, 0.0, finite)
    low, high = float(finite.min()), float(finite.max())
    if low >= 0 and high > 0:
        floor = float(finite[finite > 0].min())
        if math.log10(high / floor) > DECADES_FOR_LOG:
            return Scale(floor, high, start, end, "log" if low > 0 else "zero")
    if low < 0 and max(high, -low) > 300 and math.asinh(high) - math.asinh(low) > DECADES_FOR_LOG * math.log(10):
        return Scale(low, high, start, end, "both")
    room = 0.06 * (high - low) or 0.5 * max(abs(high), 1e-6)
    if high - low < 1e-9 * max(abs(high), abs(low)):
        room = max(abs(high) * 1e-3, 1e-9)
    return Scale(low - room, high + room, start, end)


def violation_scale(values: np.ndarray, start: float, end: float) -> Scale | None:
    """Return a scale for violations or errors, logarithmic, with 0 at its foot; None where all are 0."""
    positive = values[np.isfinite(values) & (values > 0)]
    if not positive.size:
        return None
    low, high = max(float(positive.min()), LEAST), max(float(positive.max()), LEAST)
    if high < LEAST_SPAN * low:
        middle = math.sqrt(low * high)
        low, high = middle / math.sqrt(LEAST_SPAN), middle * math.sqrt(LEAST_SPAN)
    return Scale(low, high, start, end, "zero")


def frame(drawing: Drawing, x: Scale, y: Scale, *, numbers_below: bool, label: str, most: int = 6) -> None:
    """Draw axes with ticks, numbers and a faint grid; no numbers beside the vertical axis where `most` is 0."""
    left, right, bottom, top = x.start, x.end, y.start, y.end
    for value, text in ticks(y, most) if most else ():
        at = y(value)
        drawing.line([(left, at), (right, at)], "grid")
        drawing.text(left - 8, at + 6, text, "end", small=True)
    if y.kind == "zero":
        drawing.text(left - 8, bottom + 6, "0", "end", small=True)
    for value, text in ticks(x):
        at = x(value)
        drawing.line([(at, bottom), (at, bottom + 6)], "axis")
        if numbers_below:
            drawing.text(at, bottom + 26, text, "middle", small=True)
    drawing.line([(left, top), (left, bottom), (right, bottom)], "axis")
    drawing.text(left, top - 14, label, small=True)


def pieces(x: Scale, y: Scale, at: np.ndarray, values: np.ndarray) -> list[list[Point]]:
    """Return the stretches of a curve where its values are finite."""
    found: list[list[Point]] = [[]]
    for where, value in zip(at, values, strict=True):
        if np.isfinite(value):
            found[-1].append((x(float(where)), y(float(value))))
        elif found[-1]:
            found.append([])
    return [piece for piece in found if piece]


def markers_along(drawing: Drawing, stretches: list[list[Point]], series: int, of: int) -> None:
    """Draw a few markers on a curve, shifted from series to series so that they do not hide each other."""
    points = [point for stretch in stretches for point in stretch]
    if not points:
        return
    step = max(1, len(points) // 4)
    first = (step * (series % of)) // max(of, 1)
    for point in points[first::step]:
        drawing.marker(*point, series)
