"""Repairs: what becomes of a component that left the box. Components inside are never touched.

Each takes the trials v (m, d), the box (d,), the parents (m, d) and uniform numbers u (m, d); each uses what it needs.

Folding: what left the box is mirrored at the bound it crossed, by its distance less whole widths of the box.

Repairs of the composite DE family, which mirror once at the bound that was crossed. Inside nothing is touched.

Far outside, the mirrored component lies beyond the other bound; the two differ in what becomes of it then.
"""

from __future__ import annotations

from collections.abc import Callable

from ..arrays import Array, namespace

Repair = Callable[[Array, Array, Array, Array, Array], Array]


def clamp(v: Array, lower: Array, upper: Array, parents: Array, u: Array) -> Array:
    """To the bound that was crossed."""
    return namespace(v).clip(v, lower, upper)


def midpoint(v: Array, lower: Array, upper: Array, parents: Array, u: Array) -> Array:
    """Half way between the parent and the bound that was crossed."""
    xp = namespace(v)
    v = xp.where(v < lower, lower / 2 + parents / 2, v)
    v = xp.where(v > upper, upper / 2 + parents / 2, v)
    return xp.clip(v, lower, upper)  # halves of the smallest numbers are rounded to 0


def reflect(v: Array, lower: Array, upper: Array, parents: Array, u: Array) -> Array:
    """Mirrored at the bound, again and again until inside: a triangular wave. What is infinite is clamped."""
    xp = namespace(v)
    width = upper - lower
    beyond = xp.remainder(v / 2 - lower / 2, xp.where(width > 0, width, 1.0))  # halved, so that nothing overflows
    wave = lower + 2 * xp.minimum(beyond, width - beyond)
    inside = (v >= lower) & (v <= upper)
    return xp.where(inside, v, xp.clip(xp.where(xp.isfinite(v), wave, v), lower, upper))


def resample(v: Array, lower: Array, upper: Array, parents: Array, u: Array) -> Array:
    """Anywhere in the box, uniformly."""
    inside = (v >= lower) & (v <= upper)
    xp = namespace(v)
    return xp.where(inside, v, xp.minimum(lower + u * (upper - lower), upper))


REPAIRS: dict[str, Repair] = {"clamp": clamp, "midpoint": midpoint, "reflect": reflect, "resample": resample}


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


def mirrored(v: Array, lower: Array, upper: Array) -> Array:
    """To the other bound then (CoDE); v (m, d), the box (d,)."""
    xp = namespace(v)
    v = xp.where(v < lower, xp.minimum(2 * lower - v, upper), v)
    return xp.where(v > upper, xp.maximum(2 * upper - v, lower), v)


def mirrored_or_put(v: Array, lower: Array, upper: Array, below: Array, above: Array) -> Array:
    """To the lower bound then, and to the upper bound in rows that are not mirrored (C2oDE's program).

    Whether a row is mirrored is said for its components `below` the box and `above` it, each (m,).
    """
    xp = namespace(v)
    image = 2 * xp.where(v < lower, lower, upper) - v
    image = xp.where((image < lower) | (image > upper), lower, image)
    mirror = xp.where(v < lower, below[:, None], above[:, None])
    return xp.where((v < lower) | (v > upper), xp.where(mirror, image, upper), v)
