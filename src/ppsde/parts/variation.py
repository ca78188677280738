"""Mutation and crossover of differential evolution.

A mutation takes the population's x (n, d), one index (m,) per role and F (m,), and gives mutants (m, d). `guided` is
the formula of strategies with one difference vector, `two_differences` that of strategies with two.
"""

from __future__ import annotations

from typing import NamedTuple

from ..arrays import Array, namespace, one_of_each, rows_of
from .indices import uniform_index


def guided(x: Array, base: Array, guide: Array, plus: Array, minus: Array, F: Array, K: Array) -> Array:
    """x_base + K (x_guide - x_base) + F (x_plus - x_minus): DE/current-to-rand/1 and others by one formula.

    Rows may have different strategies: a row whose base is its guide is DE/rand/1.
    """
    x_of = rows_of(x)
    start = x_of(base)
    return start + K[:, None] * (x_of(guide) - start) + F[:, None] * (x_of(plus) - x_of(minus))


def rand_1(x: Array, r1: Array, r2: Array, r3: Array, F: Array) -> Array:
    """DE/rand/1: x_r1 + F (x_r2 - x_r3)."""
    x_of = rows_of(x)
    return x_of(r1) + F[:, None] * (x_of(r2) - x_of(r3))


def current_to_pbest_1(x: Array, i: Array, pbest: Array, r1: Array, r2: Array, F: Array) -> Array:
    """DE/current-to-pbest/1: x_i + F (x_pbest - x_i) + F (x_r1 - x_r2)."""
    return guided(x, i, pbest, r1, r2, F, F)


def from_mutant(CR: Array, u: Array, certain: Array) -> Array:
    """Whether binomial crossover takes each component (m, d) from the mutant; CR (m,), u (m, d) uniform numbers.

    Component `certain` (m,) always comes from it, -1 for none.
    """
    return (u <= CR[:, None]) | one_of_each(certain, u.shape[1])


def binomial(mutants: Array, parents: Array, CR: Array, u: Array, certain: Array) -> Array:
    """Binomial crossover: each component from the mutant where u <= CR, and always `certain` (m,), -1 for none."""
    return namespace(mutants).where(from_mutant(CR, u, certain), mutants, parents)


def binomial_or_one(mutants: Array, parents: Array, CR: Array, u: Array, spare: Array) -> Array:
    """Binomial crossover: each component from the mutant where u < CR, or component `spare` (m,) if there is none."""
    xp = namespace(mutants)
    from_mutant = u < CR[:, None]
    none = ~from_mutant.any(axis=1, keepdims=True)
    from_mutant = from_mutant | (none & (xp.arange(mutants.shape[1]) == spare[:, None]))
    return xp.where(from_mutant, mutants, parents)


def exponential(mutants: Array, parents: Array, CR: Array, u: Array, start: Array) -> Array:
    """Exponential crossover: component `start` (m,) from the mutant, then the next ones, cyclically, by chance.

    k more components have probability CR^k, so one uniform number u (m,) per row decides how many.
    """
    xp = namespace(mutants)
    d = mutants.shape[1]
    steps = (xp.arange(d) - start[:, None]) % d
    return xp.where(u[:, None] < CR[:, None] ** steps, mutants, parents)


class Roles(NamedTuple):
    """The members that a mutant is made of, an index (m,) each."""

    base: Array
    guide: Array
    plus: Array
    minus: Array
    second_plus: Array
    second_minus: Array


def two_differences(x: Array, roles: Roles, K: Array, F: Array, second_F: Array) -> Array:
    """x_base + K (x_guide - x_base) + F (x_plus - x_minus) + second_F (x_second_plus - x_second_minus).

    Factors are columns (m, 1), or (m, d) where every component has its own. Rows may have different strategies: a row
    whose base is its guide has no first term, one whose second factor is 0 has one difference.
    """
    base, guide, plus, minus, second_plus, second_minus = map(rows_of(x), roles)
    return base + K * (guide - base) + F * (plus - minus) + second_F * (second_plus - second_minus)


def distinct(u: Array, n: int, i: Array) -> list[Array]:
    """`count` indices (m,), different from each other and from i (m,), for uniform numbers u (count, m)."""
    taken = [i]
    for row in u:
        taken.append(uniform_index(row, n, *taken))
    return taken[1:]
