"""Violations that do not depend on the units of constraints, for the search alone.

Each constraint is divided by its size: the median of its absolute value at points that were seen. A point is feasible
by the normalised violation exactly where it is by the raw one; which of two infeasible points is better may differ.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..arrays import Array, namespace
from ..population import Population, search_violation


def constraint_values(points: Population) -> Any:
    """All constraints (n, m), g then h."""
    return namespace(points.f).concatenate([points.g, points.h], axis=1)


def constraint_sizes(points: Population) -> Array:
    """The size of each constraint (m,): the median of its absolute values at points that have values; 1 if it is 0.

    Examples
    --------
    >>> import numpy as np
    >>> from ppsde.population import evaluated
    >>> g = np.array([[1.0, 0.0], [-200.0, 0.0], [30.0, 0.0]])
    >>> constraint_sizes(evaluated(np.zeros((3, 1)), np.zeros(3), g, np.zeros((3, 0)), 0.0))
    array([30.,  1.])
    """
    xp = namespace(points.f)
    values = xp.abs(constraint_values(points))
    if not values.shape[1]:
        return xp.ones(0)
    ordered = xp.sort(xp.where(points.valid[:, None], values, np.inf), axis=0)
    count = xp.maximum(points.valid.sum(), 1)
    middle = 0.5 * (ordered[(count - 1) // 2] + ordered[count // 2])
    return xp.where((middle > 0.0) & (middle < np.inf), middle, 1.0)


def normalised(points: Population, sizes: Array, tolerance: Array | float) -> Population:
    """The points with violations of constraints divided by their sizes (m,)."""
    xp = namespace(points.f)
    p = points.g.shape[1]
    missed = xp.maximum(xp.abs(points.h) - tolerance, 0.0)
    violation = (xp.maximum(points.g, 0.0) / sizes[:p]).sum(axis=1) + (missed / sizes[p:]).sum(axis=1)
    return replace(points, violation=xp.where(points.valid, violation, np.inf))


def raw(points: Population, tolerance: Array | float) -> Population:
    """The points with the violations of their constraints as they are."""
    xp = namespace(points.f)
    violation = search_violation(points.g, points.h, tolerance)
    return replace(points, violation=xp.where(points.valid, violation, np.inf))
