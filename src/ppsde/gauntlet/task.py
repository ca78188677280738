"""What a library is given to do in a job, what it answers, and how its calls are counted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

TOLERANCE = 1e-4  # how far an equality may be missed


@dataclass(frozen=True)
class Task:
    """Minimise `f` inside a box; constraints are functions of their own, as most libraries want them."""

    f: Callable[[np.ndarray], Any]  # of one point, or of rows if `rows`
    low: tuple[float, ...]
    high: tuple[float, ...]
    evaluations: int
    g: Callable[[np.ndarray], list[float]] | None = None  # <= 0
    h: Callable[[np.ndarray], list[float]] | None = None  # = 0
    counts: tuple[int, int] = (0, 0)  # of g and h
    rows: bool = False
    workers: int = 1


@dataclass(frozen=True)
class Answer:
    """What a library said at the end."""

    x: np.ndarray | None
    fun: float | None = None
    success: bool | None = None  # where the library has such a word
    nfev: int | None = None


class NotOffered(Exception):
    """The library has no such thing."""


@dataclass
class Counted:
    """A function that counts the points it was asked for."""

    f: Callable[[np.ndarray], Any]
    rows: bool
    points: int = field(default=0)

    def __deepcopy__(self, memory: dict[int, Any]) -> Counted:
        return self  # pygmo copies what it is given, and the count would be lost

    def __call__(self, x: np.ndarray) -> Any:
        self.points += len(x) if self.rows else 1
        return self.f(x)
