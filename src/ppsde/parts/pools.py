"""Pools: a few values of F and CR, of which each trial takes any."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..arrays import Array, namespace
from .indices import place


def any_of(values: Sequence[float], u: Array) -> Array:
    """One of the values per uniform number (m,)."""
    return namespace(u).asarray(values)[place(u, len(values))]


def any_pair(pairs: Sequence[tuple[float, float]], u: Array) -> tuple[Array, Array]:
    """One of the pairs per uniform number (m,), as F and CR."""
    F, CR = zip(*pairs, strict=True)
    return any_of(F, u), any_of(CR, u)


@dataclass(frozen=True)
class ParameterPool:
    """Pairs of F and CR in the place of a memory: nothing is learned."""

    pairs: tuple[tuple[float, float], ...]

    def draw(self, strategy: Array, u_cell: Array, u_F: Array, z_CR: Array) -> tuple[Array, Array]:
        """F and CR (m,), a pair drawn with the number that would draw a cell of a memory."""
        return any_pair(self.pairs, u_cell)
