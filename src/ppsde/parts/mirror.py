"""Repairs of the composite DE family, which mirror once at the bound that was crossed. Inside nothing is touched.

Far outside, the mirrored component lies beyond the other bound; the two differ in what becomes of it then.
"""

from __future__ import annotations

from ..arrays import Array, namespace


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
