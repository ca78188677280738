"""The box a search may not leave, from whatever form a user has it in."""

from __future__ import annotations

from typing import Any

import numpy as np


def box(bounds: Any) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper limits (d,) from a SciPy `Bounds`, a sequence of pairs, or two arrays.

    Two sequences of length two are read as two (low, high) pairs, as SciPy reads them.

    Examples
    --------
    >>> box([(0, 1), (-2, 2), (5, 6)])
    (array([ 0., -2.,  5.]), array([1., 2., 6.]))
    >>> box(([0, -2, 5], [1, 2, 6]))
    (array([ 0., -2.,  5.]), array([1., 2., 6.]))
    """
    if hasattr(bounds, "lb") and hasattr(bounds, "ub"):
        lower, upper = np.broadcast_arrays(_floats(bounds.lb), _floats(bounds.ub))
    else:
        table = _floats(bounds)
        if table.ndim == 2 and table.shape[1] == 2:
            lower, upper = table[:, 0], table[:, 1]
        elif table.ndim == 2 and table.shape[0] == 2:
            lower, upper = table
        else:
            raise ValueError(
                f"bounds must be a scipy Bounds, pairs (low, high) or two arrays (lows, highs); got shape {table.shape}"
            )
    lower, upper = np.array(lower, float).reshape(-1), np.array(upper, float).reshape(-1)
    if lower.size == 0:
        raise ValueError("bounds must hold at least one variable; got none")
    for j, (low, high) in enumerate(zip(lower, upper, strict=True)):
        if not (np.isfinite(low) and np.isfinite(high)):
            raise ValueError(f"bounds must be finite numbers; variable {j} has ({low}, {high})")
        if low > high:
            raise ValueError(f"each lower bound must not exceed its upper bound; variable {j} has ({low}, {high})")
        if not np.isfinite(high - low):
            raise ValueError(f"bounds must be at most 1.8e308 apart; variable {j} has ({low}, {high})")
    lower.flags.writeable = upper.flags.writeable = False
    return lower, upper


def _floats(values: Any) -> np.ndarray:
    try:
        array = np.asarray(values)
        if np.iscomplexobj(array):
            raise ValueError("complex")
        return array.astype(float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"bounds must be real numbers in a regular table; got {values!r} ({error})") from None
