"""Trials by DE/current-to-pbest/1/bin with an archive, as JADE makes them, and SHADE after it."""

from __future__ import annotations

from ..algorithm import Task
from ..arrays import Array, namespace
from ..streams import Stream
from .archive import Archive
from .bounds import midpoint
from .indices import place
from .variation import binomial, current_to_pbest_1


def pbest_trials(
    x: Array, archive: Archive, F: Array, CR: Array, best: Array | int, size: Array | int, task: Task, rng: Stream
) -> Array:
    """One trial (n, d) per row of x (n, d), ranked best first, of which the first `size` are alive.

    pbest is one of the first `best` rows, a number for all or one per row. Components out of bounds go half way back
    to the parent.
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
