"""Repairs: what becomes of a component that left the box. Components inside are never touched.

Each takes the trials v (m, d), the box (d,), the parents (m, d) and uniform numbers u (m, d); each uses what it needs.
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
