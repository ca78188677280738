"""Populations made by hand from pairs of violation and objective."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ppsde.population import Population

LOST = (math.inf, math.inf)  # a point without values


def points(*pairs: tuple[float, float], xp: Any = np) -> Population:
    """Points from (violation, f)."""
    violation, f = np.array(pairs, float).reshape(-1, 2).T
    n = len(f)
    x, none = np.arange(n, dtype=float)[:, None], np.zeros((n, 0))
    return Population(*(xp.asarray(column) for column in (x, f, violation, none, none)))
