"""The archive of replaced parents (JADE), and trials by DE/current-to-pbest/1/bin with it (JADE, SHADE, L-SHADE)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..algorithm import Task
from ..arrays import Array, gather, namespace, order, when
from ..streams import Stream
from .indices import place, uniform_index
from .repairs import midpoint
from .variation import binomial, current_to_pbest_1


@dataclass(frozen=True)
class Archive:
    """Points, of which the first `size` are in use; callers give a limit of that, which may change."""

    x: Array  # (capacity, d)
    size: Array

    @classmethod
    def fresh(cls, capacity: int, d: int, xp: Any = np) -> Archive:
        return cls(xp.zeros((capacity, d)), xp.asarray(0))

    def put(self, x: Array, chosen: Array, limit: Array | int, u: Array) -> Archive:
        """The archive with the chosen (m,) rows of x (m, d) added one after the other; u (m,) uniform numbers.

        Each is appended while there are fewer than `limit`, and replaces a random one from then on. There must not be
        more than `limit` before.
        """
        xp = namespace(x)
        capacity = self.x.shape[0]
        behind = self.size + xp.cumsum(chosen) - 1
        slot = xp.where(behind < limit, behind, place(u, limit))
        row, written = last_sent(xp.where(chosen, slot, capacity), capacity)
        return Archive(
            x=xp.where(written[:, None], gather(x, row), self.x),
            size=xp.minimum(self.size + chosen.sum(), limit),
        )

    def cut(self, limit: Array | int, u: Array) -> Archive:
        """The archive with random points removed until at most `limit` are left; u (capacity,) uniform numbers."""
        xp = namespace(self.x)

        def fewer() -> Archive:
            unused = xp.arange(self.x.shape[0]) >= self.size
            return Archive(gather(self.x, order(unused, u)), xp.asarray(limit))

        return when(self.size > limit, fewer, self)

    def joined(self, x: Array) -> Array:
        """The population's x (n, d), then the archive's: the table that the rows of `parents` refer to."""
        return namespace(x).concatenate([x, self.x])

    def parents(self, u: Array, i: Array, best: Array | int, size: Array | int, n: int) -> tuple[Array, Array, Array]:
        """pbest, r1 and r2 (m,) of DE/current-to-pbest/1 with archive for the targets i (m,); u (3, m) uniform.

        The population has n rows ranked best first, `size` of them alive. pbest is one of the first `best` and may be
        i; r1 is in the population, not i; r2 is in the population or the archive, neither i nor r1.
        """
        pbest = place(u[0], best)
        r1 = uniform_index(u[1], size, i)
        r2 = uniform_index(u[2], size + self.size, i, r1)
        return pbest, r1, namespace(u).where(r2 < size, r2, r2 - size + n)


def last_sent(slot: Array, capacity: int) -> tuple[Array, Array]:
    """For each slot 0 .. capacity - 1, the last row sent there and whether there is one; `slot` (m,) of each row.

    Examples
    --------
    >>> import numpy as np
    >>> row, written = last_sent(np.array([2, 0, 2]), 3)
    >>> row[written].tolist(), written.tolist()
    ([1, 2], [True, False, True])
    """
    xp = namespace(slot)
    m = slot.shape[0]
    sent = xp.sort(slot * m + xp.arange(m))  # by slot, and by row within a slot
    last = sent[xp.searchsorted(sent, xp.arange(1, capacity + 1) * m) - 1]
    return last % m, last // m == xp.arange(capacity)


def pbest_trials(
    x: Array, archive: Archive, F: Array, CR: Array, best: Array | int, size: Array | int, task: Task, rng: Stream
) -> Array:
    """One trial (n, d) per row of x (n, d), ranked best first, of which the first `size` are alive.

    pbest is one of the first `best` rows, a number for all or one per row. Components out of bounds are set half way
    between the parent and the bound.
    """
    xp = namespace(x)
    n, d = x.shape
    i = xp.arange(n)
    u = rng.uniform(4, n)
    pbest, r1, r2 = archive.parents(u[:3], i, best, size, n)
    mutants = current_to_pbest_1(archive.joined(x), i, pbest, r1, r2, F)
    u_cross = rng.uniform(n, d)
    trials = binomial(mutants, x, CR, u_cross, place(u[3], d))
    return midpoint(trials, task.lower, task.upper, x, u_cross)
