"""Points evaluated, compared and drawn one at a time: what literal versions of algorithms share, in plain Python."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

Evaluate = Callable[[Sequence[float]], tuple[float, list[float], list[float]]]


@dataclass
class Point:
    x: list[float]
    f: float = math.inf
    phi: float = math.inf  # f = phi = inf for a point without values
    g: list[float] = field(default_factory=list)
    h: list[float] = field(default_factory=list)

    @property
    def failed(self) -> bool:
        return self.phi == math.inf


class Judge:
    """Gives points their values while the budget lasts."""

    def __init__(self, evaluate: Evaluate, max_evaluations: int, tolerance: float) -> None:
        self.evaluate, self.max_evaluations, self.tolerance = evaluate, max_evaluations, tolerance
        self.evaluations = 0
        self.best: Point | None = None  # of all points with values, by the feasibility rule

    def __call__(self, x: list[float]) -> Point:
        if self.evaluations == self.max_evaluations:
            return Point(x)
        self.evaluations += 1
        f, g, h = self.evaluate(x)
        if any(math.isnan(v) for v in [f, *g, *h]) or f == -math.inf or any(math.isinf(v) for v in [*g, *h]):
            return Point(x)
        phi = sum(max(0.0, g_i) for g_i in g) + sum(max(0.0, abs(h_j) - self.tolerance) for h_j in h)
        point = Point(x, float(f), float(phi), list(g), list(h))
        if self.best is None or (point.phi, point.f) < (self.best.phi, self.best.f):
            self.best = point
        return point


def not_worse(y: Point, x: Point) -> bool:
    """By the feasibility rule, ties of violation broken by f; a point without values is worse than any other."""
    return not y.failed and (y.phi, y.f) <= (x.phi, x.f)


def in_order(points: Iterable[Point]) -> list[Point]:
    """By the feasibility rule, best first."""
    return sorted(points, key=lambda p: (p.phi, p.f))


def draw_index(u: float, n: int, forbidden: set[int]) -> int:
    """One of the allowed indices 0 .. n - 1, all alike, from one uniform number."""
    allowed = [r for r in range(n) if r not in forbidden]
    return allowed[math.floor(u * len(allowed))]


def draw_others(u: Iterable[float], n: int, i: int) -> list[int]:
    """An index for each number, different from i and from each other."""
    drawn: list[int] = []
    for number in u:
        drawn.append(draw_index(float(number), n, {i, *drawn}))
    return drawn


def anywhere(u: Sequence[float], lower: Sequence[float], upper: Sequence[float]) -> list[float]:
    return [lower[j] + float(u[j]) * (upper[j] - lower[j]) for j in range(len(lower))]
