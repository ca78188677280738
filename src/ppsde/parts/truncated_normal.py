"""Normal numbers drawn again until they lie in [0, 1], by inverse distribution."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Array, namespace


def truncated_normal(location: Array, u: Array, deviation: float) -> Array:
    """Numbers of [0, 1] from a normal law around `location`, itself in [0, 1]; u uniform."""
    xp = namespace(u)
    ndtr, ndtri = _normal_distribution(xp)
    below, above = ndtr((0.0 - location) / deviation), ndtr((1.0 - location) / deviation)
    return xp.clip(location + deviation * ndtri(below + u * (above - below)), 0.0, 1.0)


def _normal_distribution(xp: Any) -> tuple[Any, Any]:
    """The normal distribution function and its inverse, for arrays of the namespace."""
    if xp is np:
        from scipy.special import ndtr, ndtri

        return ndtr, ndtri
    from jax.scipy import special

    return special.ndtr, special.ndtri
