"""Polynomial mutation: small changes of single components that never leave the box.

Deb and Agrawal, "A niched-penalty approach for constraint handling in genetic algorithms" (1999), in the form that
knows how far a component is from its bounds.
"""

from __future__ import annotations

from ..arrays import Array, namespace


def polynomial_mutation(x: Array, lower: Array, upper: Array, index: float, u: Array, chosen: Array) -> Array:
    """The points x (n, d) of the box with their `chosen` (n, d) components moved, by uniform numbers u (n, d).

    The larger the index, the smaller the moves: a share of the box's width with density (1 - share)^index.
    """
    xp = namespace(x)
    width = upper - lower
    safe = xp.where(width > 0, width, 1.0)
    down = u < 0.5
    tail = xp.where(down, 2.0 * u, 2.0 * (1.0 - u))  # 1 for no move, 0 for a move to the bound
    room = xp.where(down, x - lower, upper - x) / safe
    share = 1.0 - (tail + (1.0 - tail) * (1.0 - room) ** (index + 1.0)) ** (1.0 / (index + 1.0))
    moved = xp.clip(xp.where(down, x - share * width, x + share * width), lower, upper)
    return xp.where(chosen, moved, x)
