"""Strategies with two difference vectors: DE/best/2, DE/rand/2, DE/current-to-best/2, and one formula for all.

Each takes the population's x (n, d), one index (m,) per role, and factors that are columns (m, 1), or (m, d) where
every component has its own; each gives mutants (m, d).
"""

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

    Rows may have different strategies: a row whose base is its guide has no pull, one whose second factor is 0 has one
    difference.
    """
    base, guide, plus, minus, second_plus, second_minus = (gather(x, role) for role in roles)
    return base + K * (guide - base) + F * (plus - minus) + second_F * (second_plus - second_minus)


def best_2(x: Array, best: Array, r1: Array, r2: Array, r3: Array, r4: Array, F: Array) -> Array:
    """DE/best/2: x_best + F (x_r1 - x_r2) + F (x_r3 - x_r4)."""
    return two_differences(x, Roles(best, best, r1, r2, r3, r4), F, F, F)


def rand_2(x: Array, r1: Array, r2: Array, r3: Array, r4: Array, r5: Array, F: Array) -> Array:
    """DE/rand/2: x_r1 + F (x_r2 - x_r3) + F (x_r4 - x_r5)."""
    return two_differences(x, Roles(r1, r1, r2, r3, r4, r5), F, F, F)


def current_to_best_2(x: Array, i: Array, best: Array, r1: Array, r2: Array, r3: Array, r4: Array, F: Array) -> Array:
    """DE/current-to-best/2: x_i + F (x_best - x_i) + F (x_r1 - x_r2) + F (x_r3 - x_r4)."""
    return two_differences(x, Roles(i, best, r1, r2, r3, r4), F, F, F)


def distinct(u: Array, n: int, i: Array) -> list[Array]:
    """For uniform numbers u (count, m) as many indices (m,), different from each other and from i (m,)."""
    taken = [i]
    for row in u:
        taken.append(uniform_index(row, n, *taken))
    return taken[1:]
