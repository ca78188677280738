"""Strategies with two difference vectors, DE/best/2, DE/rand/2, DE/current-to-best/2 and others, by one formula."""

from __future__ import annotations

from typing import NamedTuple

from ..arrays import Array, gather
from .indices import uniform_index


class Roles(NamedTuple):
    """Who takes part in a mutant, an index (m,) each."""

    base: Array
    guide: Array
    plus: Array
    minus: Array
    second_plus: Array
    second_minus: Array


def two_differences(x: Array, roles: Roles, K: Array, F: Array, second_F: Array) -> Array:
    """x_base + K (x_guide - x_base) + F (x_plus - x_minus) + second_F (x_second_plus - x_second_minus).

    Of the population's x (n, d) and factors that are columns (m, 1), or (m, d) where every component has its own.
    Rows may have different strategies: a row whose base is its guide has no pull, one whose second factor is 0 has one
    difference.
    """
    base, guide, plus, minus, second_plus, second_minus = (gather(x, role) for role in roles)
    return base + K * (guide - base) + F * (plus - minus) + second_F * (second_plus - second_minus)


def distinct(u: Array, n: int, i: Array) -> list[Array]:
    """For uniform numbers u (count, m) as many indices (m,), different from each other and from i (m,)."""
    taken = [i]
    for row in u:
        taken.append(uniform_index(row, n, *taken))
    return taken[1:]
