"""Populations made by hand from pairs of violation and objective."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ppsde.population import Population, evaluated

LOST = (math.inf, math.inf)  # a point without values


def points(*pairs: tuple[float, float], xp: Any = np) -> Population:
    """Points from (violation, f), with a single inequality that is missed by the violation."""
    violation, f = np.array(pairs, float).reshape(-1, 2).T
    n = len(f)
    x, none = np.arange(n, dtype=float)[:, None], np.zeros((n, 0))
    return Population(*(xp.asarray(column) for column in (x, f, violation, violation[:, None], none)))


def constrained(*rows: tuple[float, ...], h: int = 0, tolerance: float = 0.0) -> Population:
    """Points from (f, constraints ..), of which the last `h` are equalities."""
    table = np.array(rows, float)
    split = table.shape[1] - h
    return evaluated(np.zeros((len(table), 1)), table[:, 0], table[:, 1:split], table[:, split:], tolerance)
