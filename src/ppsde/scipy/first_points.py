"""The first population, from what SciPy calls `init`, `x0` and `popsize`."""

from __future__ import annotations

from typing import Any

import numpy as np

from .arguments import count

INITS = ("latinhypercube", "sobol", "halton", "random")
SMALLEST_POPULATION = 8  # of the search; SciPy's is 5


def first_points(
    init: Any, x0: Any, lower: np.ndarray, upper: np.ndarray, integer: np.ndarray, popsize: Any
) -> tuple[np.ndarray | None, int]:
    """The points that the first population must hold, and the size that SciPy's population would have."""
    d = len(lower)
    if isinstance(init, str):
        if init not in INITS:
            raise ValueError(f"init must be one of {', '.join(INITS)} or an array (S, {d}); got {init!r}")
        points = np.empty((0, d))
        size = max(5, count(popsize, 1, "popsize") * max(1, int((lower < upper).sum())))
    else:
        points = np.asarray(init, float)
        if points.ndim != 2 or len(points) < 5 or points.shape[1] != d or not np.isfinite(points).all():
            raise ValueError(f"init must be a finite array (S, {d}) with S > 4; got shape {points.shape}")
        points, size = np.clip(points, lower, upper), len(points)
    if x0 is not None:
        start = np.asarray(x0, float)
        if start.shape != (d,) or not np.all((start >= lower) & (start <= upper)):
            raise ValueError(f"x0 must be a point ({d},) inside the bounds; got {x0!r}")
        points = np.concatenate([start[None], points[1:]])
    if not len(points):
        return None, size
    whole = np.clip(np.round(points), np.ceil(lower), np.floor(upper))
    return np.where(integer, whole, points), size
