"""Which members of a ranked population make a trial: distinct indices, by one of several schemes."""

from __future__ import annotations

from ..arrays import Array, namespace
from .indices import best_first, ranked_pool, uniform_index


def trio(scheme: str, u: Array, i: Array, is_rand: Array, guide: Array, n: int) -> tuple[Array, Array, Array]:
    """r1, r2, r3 (m,) for the targets i (m,) in a population of n sorted best first; u (3, m) uniform numbers.

    All are distinct and differ from i. Where `guide` (m,) is not negative, r1 is that index. r3 is always uniform.
    The schemes, in which "rand" means rows where `is_rand` (m,) holds, those of DE/rand/1:
    ranked-top     r1 and r2 from the top half, rank r with weight n - r (IUDE's modified ranking)
    ranked-rand    r1 and r2 of rand so, from all ranks (Gong and Cai); of the others uniform
    best-of-three  uniform; of rand the best of the three becomes the base r1 (DE/randrl/1)
    uniform        uniform
    """
    xp = namespace(i)

    def parent(u: Array, *taken: Array) -> Array:
        if scheme == "ranked-top":
            return ranked_pool(n, (n + 1) // 2).draw(u, *taken)
        index = uniform_index(u, n, *taken)
        return xp.where(is_rand, ranked_pool(n, n).draw(u, *taken), index) if scheme == "ranked-rand" else index

    r1 = xp.where(guide >= 0, guide, parent(u[0], i))
    r2 = parent(u[1], i, r1)
    r3 = uniform_index(u[2], n, i, r1, r2)
    if scheme != "best-of-three":
        return r1, r2, r3
    b1, b2, b3 = best_first(r1, r2, r3)
    return xp.where(is_rand, b1, r1), xp.where(is_rand, b2, r2), xp.where(is_rand, b3, r3)
