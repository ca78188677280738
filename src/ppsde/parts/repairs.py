"""Repairs: how components out of bounds are brought back into the box. Components inside never change.

Those of the table `REPAIRS` have one signature: trials v (m, d), the box (d,), parents (m, d), uniform numbers (m, d).
`fold` is that of eMAg-ES; `mirrored` and `mirrored_or_put` are those of CoDE and C2oDE, which mirror once and differ in
what they do with a component that is then beyond the other bound.
"""

from __future__ import annotations

from collections.abc import Callable

from ..arrays import Array, namespace

Repair = Callable[[Array, Array, Array, Array, Array], Array]


def clamp(v: Array, lower: Array, upper: Array, parents: Array, u: Array) -> Array:
    """Components out of bounds set to the bound that was crossed."""
    return namespace(v).clip(v, lower, upper)


def midpoint(v: Array, lower: Array, upper: Array, parents: Array, u: Array) -> Array:
    """Components out of bounds set half way between the parent and the bound that was crossed."""
    xp = namespace(v)
    v = xp.where(v < lower, lower / 2 + parents / 2, v)
    v = xp.where(v > upper, upper / 2 + parents / 2, v)
    return xp.clip(v, lower, upper)  # halves of the smallest numbers are rounded to 0


def reflect(v: Array, lower: Array, upper: Array, parents: Array, u: Array) -> Array:
    """Components out of bounds mirrored at the bounds until inside, a triangular wave; infinite ones are clamped."""
    xp = namespace(v)
    width = upper - lower
    beyond = xp.remainder(v / 2 - lower / 2, xp.where(width > 0, width, 1.0))  # halved, so that nothing overflows
    wave = lower + 2 * xp.minimum(beyond, width - beyond)
    inside = (v >= lower) & (v <= upper)
    return xp.where(inside, v, xp.clip(xp.where(xp.isfinite(v), wave, v), lower, upper))


def resample(v: Array, lower: Array, upper: Array, parents: Array, u: Array) -> Array:
    """Components out of bounds replaced by uniform ones."""
    inside = (v >= lower) & (v <= upper)
    xp = namespace(v)
    return xp.where(inside, v, xp.minimum(lower + u * (upper - lower), upper))


REPAIRS: dict[str, Repair] = {"clamp": clamp, "midpoint": midpoint, "reflect": reflect, "resample": resample}


def part_way(v: Array, lower: Array, upper: Array, parents: Array, share: Array | float) -> Array:
    """Components out of bounds set a share of the way from the parent to the bound that was crossed (RDEx, COLSHADE).

    Examples
    --------
    >>> import numpy as np
    >>> part_way(np.array([[-3.0, 5.0]]), np.zeros(2), np.full(2, 4.0), np.ones((1, 2)), 0.25)
    array([[0.75, 1.75]])
    """
    xp = namespace(v)
    v = xp.where(v < lower, (1 - share) * parents + share * lower, v)
    v = xp.where(v > upper, (1 - share) * parents + share * upper, v)
    return xp.clip(v, lower, upper)  # rounding may leave the box


def fold(v: Array, lower: Array, upper: Array) -> Array:
    """Components out of bounds mirrored by their distance less whole widths of the box; v (.., d), the box (d,).

    Within one width of the box this is reflection; farther out the wave is a saw, not a triangle. Infinite components
    are clamped, and those that are NaN are put to the lower bound.

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
    v = xp.where(xp.isnan(v), lower, v)
    return xp.clip(xp.where(xp.isfinite(folded), folded, v), lower, upper)


def mirrored(v: Array, lower: Array, upper: Array) -> Array:
    """Components mirrored once, and set to the other bound if then beyond it (CoDE); v (m, d), the box (d,)."""
    xp = namespace(v)
    v = xp.where(v < lower, xp.minimum(2 * lower - v, upper), v)
    return xp.where(v > upper, xp.maximum(2 * upper - v, lower), v)


def mirrored_or_put(v: Array, lower: Array, upper: Array, below: Array, above: Array) -> Array:
    """Components mirrored once, and set to the lower bound if then out of bounds (C2oDE's program); v (m, d).

    `below` and `above` (m,) say whether a row's components below and above the box are mirrored; else they are set to
    the upper bound.
    """
    xp = namespace(v)
    image = 2 * xp.where(v < lower, lower, upper) - v
    image = xp.where((image < lower) | (image > upper), lower, image)
    mirror = xp.where(v < lower, below[:, None], above[:, None])
    return xp.where((v < lower) | (v > upper), xp.where(mirror, image, upper), v)
