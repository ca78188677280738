"""Strategies: how a trial vector is made from members of the population (mutation), and from its parent (crossover).

Each takes the population's x (n, d), one index (m,) per role, and F (m,); each gives mutants (m, d).
"""

from __future__ import annotations

from ..arrays import Array, gather, namespace


def guided(x: Array, base: Array, guide: Array, plus: Array, minus: Array, F: Array, K: Array) -> Array:
    """x_base + K (x_guide - x_base) + F (x_plus - x_minus): DE/current-to-rand/1 and others by one formula.

    Rows may have different strategies: a row whose base is its guide is DE/rand/1.
    """
    start = gather(x, base)
    pull = gather(x, guide) - start
    return start + K[:, None] * pull + F[:, None] * (gather(x, plus) - gather(x, minus))


def rand_1(x: Array, r1: Array, r2: Array, r3: Array, F: Array) -> Array:
    """DE/rand/1: x_r1 + F (x_r2 - x_r3)."""
    return gather(x, r1) + F[:, None] * (gather(x, r2) - gather(x, r3))


def current_to_pbest_1(x: Array, i: Array, pbest: Array, r1: Array, r2: Array, F: Array) -> Array:
    """DE/current-to-pbest/1: x_i + F (x_pbest - x_i) + F (x_r1 - x_r2)."""
    return guided(x, i, pbest, r1, r2, F, F)


def binomial(mutants: Array, parents: Array, CR: Array, u: Array, kept: Array) -> Array:
    """Binomial crossover: each component from the mutant where u <= CR, and always component `kept` (m,)."""
    xp = namespace(mutants)
    from_mutant = (u <= CR[:, None]) | (xp.arange(mutants.shape[1]) == kept[:, None])
    return xp.where(from_mutant, mutants, parents)


def binomial_or_one(mutants: Array, parents: Array, CR: Array, u: Array, spare: Array) -> Array:
    """Each component from the mutant where u < CR; component `spare` (m,) only where that takes none."""
    xp = namespace(mutants)
    from_mutant = u < CR[:, None]
    none = ~from_mutant.any(axis=1, keepdims=True)
    from_mutant = from_mutant | (none & (xp.arange(mutants.shape[1]) == spare[:, None]))
    return xp.where(from_mutant, mutants, parents)


def exponential(mutants: Array, parents: Array, CR: Array, u: Array, start: Array) -> Array:
    """Exponential crossover: component `start` (m,) from the mutant, then the next ones, round and round, by chance.

    Going on k times has probability CR^k, so one uniform number u (m,) per row decides how far it goes.
    """
    xp = namespace(mutants)
    d = mutants.shape[1]
    steps = (xp.arange(d) - start[:, None]) % d
    return xp.where(u[:, None] < CR[:, None] ** steps, mutants, parents)
