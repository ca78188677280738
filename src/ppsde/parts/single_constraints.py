"""Violations of single constraints, for techniques that judge by more than their sum.

Such a technique has `needs_constraint_values` and a field `tolerance`, which becomes that of the problem. Where several
problems are compiled together, those with fewer constraints have columns of zeros added: a column that is 0 for all
members is no constraint.
"""

from __future__ import annotations

from ..arrays import Array, namespace
from ..population import Population


def violations(points: Population, tolerance: Array | float) -> Array:
    """How far each constraint is missed (n, constraints), inequalities first; 0 for points without values."""
    xp = namespace(points.f)
    missed = xp.concatenate([points.g, xp.abs(points.h) - tolerance], axis=1)
    return xp.maximum(xp.where(points.valid[:, None], missed, 0.0), 0.0)


def constraint_count(points: Population) -> Array:
    """How many constraints there are, columns that are 0 for all points not counted; at least 1."""
    xp = namespace(points.f)
    columns = xp.concatenate([points.g, points.h], axis=1)
    return xp.maximum(((columns != 0.0) & points.valid[:, None]).any(axis=0).sum(), 1)


def largest_violations(points: Population, tolerance: Array | float) -> Array:
    """The largest violation of each constraint (constraints,)."""
    return violations(points, tolerance).max(axis=0, initial=0.0)
