"""Folding: what left the box is mirrored at the bound it crossed, by its distance less whole widths of the box."""

from __future__ import annotations

from ..arrays import Array, namespace


def fold(v: Array, lower: Array, upper: Array) -> Array:
    """Points (.., d) inside the box (d,); components inside stay. What is infinite goes to its bound.

    Within one width of the box this is reflection. Farther out it is not: the wave is a saw, not a triangle.

    Examples
    --------
    >>> import numpy as np
    >>> fold(np.array([-0.5, 2.5, 4.5]), np.zeros(3), np.full(3, 2.0))
    array([0.5, 1.5, 1.5])
    """
    xp = namespace(v)
    width = upper - lower
    width = xp.where(width > 0, width, 1.0)  # a box without width: the clip below has the last word
    below, above = lower + xp.remainder(lower - v, width), upper - xp.remainder(v - upper, width)
    folded = xp.where(v < lower, below, xp.where(v > upper, above, v))
    return xp.clip(xp.where(xp.isfinite(folded), folded, v), lower, upper)
