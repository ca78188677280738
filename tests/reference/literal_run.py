"""What every literal version has: settings, a judge, a box, points from anywhere in it and ways back into it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .single_points import Evaluate, Judge, Point, anywhere

Vector = list[float]


class LiteralRun:
    """One run before its start. `settings` is any object with the settings of the algorithm by their names."""

    def __init__(
        self,
        settings: Any,
        evaluate: Evaluate,
        lower: Sequence[float],
        upper: Sequence[float],
        max_evaluations: int,
        tolerance: float,
    ) -> None:
        self.settings = settings
        self.judge = Judge(evaluate, max_evaluations, tolerance)
        self.max_evaluations = max_evaluations
        self.lower, self.upper, self.d = list(lower), list(upper), len(lower)
        self.population: list[Point] = []

    def points_anywhere(self, n: int, rng: Any) -> list[Point]:
        u = rng.uniform(n, self.d)
        return [self.judge(anywhere(u[i], self.lower, self.upper)) for i in range(n)]

    def in_box(self, repair: str, v: Vector, parent: Vector | None = None, u: Sequence[float] | None = None) -> Vector:
        """Each component repaired; "midpoint" needs the parent, "resample" uniform numbers."""
        x = parent or [math.nan] * self.d
        anew = [math.nan] * self.d if u is None else anywhere(u, self.lower, self.upper)
        return [repaired(repair, v[j], self.lower[j], self.upper[j], x[j], anew[j]) for j in range(self.d)]


def repaired(repair: str, v: float, low: float, high: float, parent: float, anew: float) -> float:
    """A component where it was if that is in bounds, else where the repair puts it."""
    if low <= v <= high:
        return v
    if repair == "clamp":
        return low if v < low else high
    if repair == "midpoint":
        return (low + parent) / 2 if v < low else (high + parent) / 2
    if repair == "resample":
        return anew
    if repair == "mirror":  # once; from beyond the other bound, to that bound
        return min(2 * low - v, high) if v < low else max(2 * high - v, low)
    assert repair == "reflect", repair
    if low == high:
        return low
    while not low <= v <= high:
        v = 2 * low - v if v < low else 2 * high - v
    return v
