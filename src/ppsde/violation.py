"""How far a point is from feasible: two measures that must not be confused, one feasible set.

A point is feasible when every `g <= 0` and every `|h| <= tolerance`; both measures are zero exactly then.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .arrays import Array, namespace

TOLERANCE = 1e-4  # how far an equality may be missed, in the CEC suites and by default


def search_violation(g: Array, h: Array, tolerance: float = TOLERANCE) -> Array:
    """The measure that drives the search: sum max(g, 0) + sum max(|h| - tolerance, 0); shape (n,).

    Examples
    --------
    >>> import numpy as np
    >>> search_violation(np.array([[-1.0, 2.0]]), np.array([[0.5]]), tolerance=0.1)
    array([2.4])
    """
    xp = namespace(g)
    if not h.shape[-1]:
        return xp.maximum(g, 0.0).sum(axis=-1)
    missed = xp.maximum(xp.abs(h) - tolerance, 0.0).sum(axis=-1)
    return missed + xp.maximum(g, 0.0).sum(axis=-1) if g.shape[-1] else missed


def competition_violation(g: Array, h: Array, tolerance: float = TOLERANCE) -> Array:
    """The measure that CEC tables report: (sum max(g, 0) + sum |h| where |h| > tolerance) / m; shape (n,).

    It jumps at the tolerance and is a mean over the m = p + q constraints; 0 where a problem has none.

    Examples
    --------
    >>> import numpy as np
    >>> competition_violation(np.array([[-1.0, 2.0]]), np.array([[0.4]]), tolerance=0.1)
    array([0.8])
    """
    xp = namespace(g)
    missed = xp.abs(h)
    total = xp.sum(xp.maximum(g, 0.0), axis=-1) + xp.sum(xp.where(missed > tolerance, missed, 0.0), axis=-1)
    return total / max(1, g.shape[-1] + h.shape[-1])


def checked_tolerance(tolerance: Any) -> float:
    """How far an equality may be missed."""
    if isinstance(tolerance, bool) or not isinstance(tolerance, int | float) or not 0 <= tolerance < np.inf:
        raise ValueError(f"tolerance must be a finite number >= 0; got {tolerance!r}")
    return float(tolerance)
