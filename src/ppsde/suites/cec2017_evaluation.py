"""What a CEC2017 problem computes: its formula at shifted and transformed rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array, namespace
from .cec2017_formulas import Values


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What a problem computes: the formula at the shifted and transformed rows. It can be pickled and traced."""

    formula: Callable[..., Values]
    shift: np.ndarray  # (d,)
    matrices: tuple[np.ndarray, ...]  # each (d, d)
    everything_rotated: bool

    def __call__(self, x: Array) -> tuple[Array, Array, Array]:
        xp = namespace(x)
        # NumPy sums rows in another order when they do not lie one after the other, hence order="C".
        y = np.subtract(x, self.shift, order="C") if xp is np else x - self.shift
        z = tuple(_transform(y, matrix) for matrix in self.matrices)
        f, g, h = self.formula(*z) if self.everything_rotated else self.formula(y, *z)
        return f, _columns(xp, g, f), _columns(xp, h, f)


def _transform(y: Array, matrix: np.ndarray) -> Array:
    """The rows M y of all rows y; in NumPy each the same to the last bit whatever rows stand beside it."""
    xp = namespace(y)
    if xp is np:
        # One product per row: a product of the whole would sum in an order that depends on the number of rows.
        return np.matmul(y[:, None, :], matrix.T)[:, 0, :]
    return xp.matmul(y, matrix.T, precision="highest")


def _columns(xp: Any, columns: tuple[Array, ...], like: Array) -> Array:
    return xp.stack(columns, axis=-1) if columns else xp.zeros((*like.shape, 0), like.dtype)
