"""Distinct random indices without rejection: uniform, by weight, or as the parents of a trial by some scheme.

To draw one of n indices but none of k taken ones, draw one of n - k places and step over each taken index at or
below it, in rising order. With integer weights the same is done in places of cumulated weight, so all is exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ..arrays import Array, namespace

LONGEST_INDEX = 2**20  # places looked up in a table; beyond, they are searched for


def place(u: Array, count: Array | int) -> Array:
    """Integers in 0 .. count - 1 from uniform numbers u in [0, 1)."""
    return (u * count).astype(int)


def uniform_index(u: Array, n: Array | int, *taken: Array) -> Array:
    """An index in 0 .. n - 1 per row, uniform over those not taken; u and each of `taken` (m,), taken distinct.

    Examples
    --------
    >>> import numpy as np
    >>> uniform_index(np.array([0.0, 0.4, 0.9]), 4, np.array([0, 1, 3]))
    array([1, 2, 2])
    """
    return _uniform(u, n, _rising(taken))


def _uniform(u: Array, n: Array | int, rising: list[Array]) -> Array:
    """An index in 0 .. n - 1 per row, uniform over those not taken, which are in rising order."""
    return _stepped(place(u, n - len(rising)), rising)


def _stepped(index: Array, rising: list[Array]) -> Array:
    """The index of each place among those that are not taken, which are in rising order."""
    for step in rising:
        index = index + (index >= step)
    return index


@dataclass(frozen=True)
class WeightedIndices:
    """Indices that are drawn with probabilities proportional to integer weights."""

    weights: np.ndarray  # (n,)
    starts: np.ndarray  # (n,), the weights before each index
    ends: np.ndarray  # (n,), the weights up to it: cumulated weights
    others: np.ndarray  # (n,), the weights of all other indices
    index: np.ndarray | None  # (ends[-1],), the index of each place; None where that would be long

    def draw(self, u: Array, *taken: Array) -> Array:
        """An index per row, by weight over those not taken; u and each of `taken` (m,), taken distinct.

        Some index not taken must have weight.

        Examples
        --------
        >>> import numpy as np
        >>> ranked_indices(4, 3).draw(np.array([0.0, 0.7, 0.99]), np.array([0, 0, 1]))
        array([1, 2, 2])
        """
        return self._draw(u, _rising(taken), namespace(u))

    def _draw(self, u: Array, rising: list[Array], xp: Any) -> Array:
        """An index per row, by weight over those not taken, which are in rising order."""
        weights, starts = xp.asarray(self.weights), xp.asarray(self.starts)
        free = xp.asarray(self.others)[rising[0]] if rising else self.ends[-1]
        for t in rising[1:]:
            free = free - weights[t]
        position = place(u, free)
        for t in rising:
            position = position + weights[t] * (position >= starts[t])
        if self.index is None:
            return xp.searchsorted(xp.asarray(self.ends), position, side="right")
        return xp.asarray(self.index)[position]


@lru_cache(maxsize=64)
def ranked_indices(n: int, size: int) -> WeightedIndices:
    """Ranks r = 1 .. size of n with weight n - r, as accepting a uniform rank with probability (n - r) / n gives."""
    weights = np.where(np.arange(1, n + 1) <= size, n - np.arange(1, n + 1), 0)
    ends = np.cumsum(weights)
    index = np.repeat(np.arange(n), weights) if ends[-1] <= LONGEST_INDEX else None
    return WeightedIndices(weights, ends - weights, ends, ends[-1] - weights, index)


def geometric_rank(u: Array, n: Array, pressure: float, taken: Array) -> Array:
    """A rank in 0 .. n - 1 per row with weight exp(-pressure rank / n), not the one taken; u and `taken` (m,).

    The weights are powers q^rank, so those of the ranks before r add up to 1 - q^r in units of 1 / (1 - q).
    """
    xp = namespace(u)
    steepness = pressure / n
    before, through = -xp.expm1(-steepness * taken), -xp.expm1(-steepness * (taken + 1))
    position = u * (-xp.expm1(-steepness * n) - (through - before))
    position = position + xp.where(position >= before, through - before, 0.0)
    rank = (-xp.log1p(-position) / steepness).astype(int)
    return xp.minimum(rank, n - 1)


def linear_rank(u: Array, n: Array, size: Array, *taken: Array) -> Array:
    """A rank in 0 .. size - 1 per row with weight n - rank, none of those taken; u and each of `taken` (m,), distinct.

    Taken ranks may lie beyond `size`. The weights of the ranks before r add up to r n - r (r - 1) / 2; all numbers are
    integers, so that the square root below is exact where it decides.

    Examples
    --------
    >>> import numpy as np
    >>> linear_rank(np.array([0.0, 0.5, 0.6, 0.9]), 4, 4, np.array([1, 1, 1, 1]))  # weights 4, 0, 2, 1
    array([0, 0, 2, 3])
    """
    xp = namespace(u)
    rising = _rising(taken)
    free = _weight_before(size, n)
    for t in rising:
        free = free - xp.where(t < size, n - t, 0)
    position = place(u, free)
    for t in rising:
        position = position + xp.where(position >= _weight_before(t, n), n - t, 0)
    return ((2 * n + 1 - xp.sqrt((2 * n + 1.0) ** 2 - 8.0 * position)) / 2).astype(int)


def _weight_before(rank: Array, n: Array) -> Array:
    """The sum of the weights n - r of the ranks r = 0 .. rank - 1."""
    return rank * n - rank * (rank - 1) // 2


def best_index(u: Array, count: Array | int, *taken: Array) -> Array:
    """An index in 0 .. count - 1 per row, uniform over those not taken; `taken` (m,) each, distinct, may lie beyond."""
    free = count
    for t in taken:
        free = free - (t < count)
    return _stepped(place(u, free), _rising(taken))


def _rising(taken: tuple[Array, ...]) -> list[Array]:
    """The taken indices of each row in rising order."""
    if len(taken) < 2:
        return list(taken)
    xp = namespace(taken[0])
    if len(taken) > 3:
        return list(xp.sort(xp.stack(taken), axis=0))
    return _inserted(_rising(taken[:-1]), taken[-1], xp)


def _inserted(rising: list[Array], t: Array, xp: Any) -> list[Array]:
    """The indices of each row, which are in rising order, and one more in its place."""
    longer = []
    for r in rising:
        longer.append(xp.minimum(r, t))
        t = xp.maximum(r, t)
    return [*longer, t]


def best_first(r1: Array, r2: Array, r3: Array) -> tuple[Array, Array, Array]:
    """Three ranks with the best exchanged with the first (the base of DE/randrl/1)."""
    xp = namespace(r1)
    best = xp.minimum(xp.minimum(r1, r2), r3)
    return best, xp.where(r2 == best, r1, r2), xp.where(r3 == best, r1, r3)


def best_to_worst(r1: Array, r2: Array, r3: Array) -> tuple[Array, Array, Array]:
    """Three ranks, the best first and the worst last."""
    best, second, worst = _rising((r1, r2, r3))
    return best, second, worst


def trio(
    scheme: str, u: Array, i: Array, is_rand: Array, led: Array, guide: Array, n: int, top: int | None = None
) -> tuple[Array, Array, Array]:
    """r1, r2, r3 (m,) for the targets i (m,) in a population of n sorted best first; u (3, m) uniform numbers.

    All are distinct and differ from i. Where `led` (m,) holds, r1 is the index `guide` (m,). r3 is always uniform.
    The schemes, in which "rand" means rows where `is_rand` (m,) holds, those of DE/rand/1:
    ranked-top     r1 and r2 from the first `top`, by default half, rank r with weight n - r (IUDE's modified ranking)
    ranked-rand    r1 and r2 of rand so, from all ranks (Gong and Cai); of the others uniform
    best-of-three  uniform; of rand the best of the three becomes the base r1 (DE/randrl/1)
    uniform        uniform
    """
    xp = namespace(i)

    def parent(u: Array, taken: list[Array]) -> Array:
        if scheme == "ranked-top":
            return ranked_indices(n, top or (n + 1) // 2)._draw(u, taken, xp)
        index = _uniform(u, n, taken)
        return xp.where(is_rand, ranked_indices(n, n)._draw(u, taken, xp), index) if scheme == "ranked-rand" else index

    r1 = xp.where(led, guide, parent(u[0], [i]))
    taken = _inserted([i], r1, xp)
    r2 = parent(u[1], taken)
    r3 = _uniform(u[2], n, _inserted(taken, r2, xp))
    if scheme != "best-of-three":
        return r1, r2, r3
    b1, b2, b3 = best_first(r1, r2, r3)
    return xp.where(is_rand, b1, r1), xp.where(is_rand, b2, r2), xp.where(is_rand, b3, r3)
