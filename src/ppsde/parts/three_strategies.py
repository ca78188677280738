"""Trials by DE/rand/1, DE/current-to-rand/1 and DE/current-to-pbest/1, as the unified DE family makes them."""

from __future__ import annotations

from typing import Protocol

from ..algorithm import Task
from ..arrays import Array, gather, mended, namespace, once
from ..streams import Stream
from .bounds import REPAIRS
from .indices import best_index, place
from .parents import trio
from .sizing import rounded
from .variation import binomial, guided

RAND, CURRENT_TO_RAND, CURRENT_TO_PBEST = range(3)


class Settings(Protocol):
    """What an algorithm must say of its trials."""

    @property
    def parents(self) -> str: ...
    @property
    def pbest(self) -> int | float | tuple[int, int]: ...
    @property
    def repair(self) -> str: ...
    @property
    def K(self) -> str: ...
    @property
    def current_to_rand_crossover(self) -> bool: ...


class Parameters(Protocol):
    """Where F and CR come from: a `Memory`, or a `ParameterPool`."""

    def draw(self, strategy: Array, u_cell: Array, u_F: Array, z_CR: Array) -> tuple[Array, Array]: ...


def trials_of(
    x: Array,
    i: Array,
    strategy: Array,
    u: Array,
    parameters: Parameters,
    settings: Settings,
    task: Task,
    rng: Stream,
    certain: bool = True,
) -> tuple[Array, Array, Array]:
    """One trial (m, d) per target i (m,) with its strategy (m,), and the F and CR (m,) that made it.

    The population x (n, d) is sorted best first; u (m, d) are the uniform numbers of the crossover. Unless it is
    `certain` that one component comes from the mutant, a trial may be its target over again.
    """
    xp = namespace(x)
    (n, d), m = x.shape, i.shape[0]
    u_cell, u_F, u_best, u_kept, u_K = rng.uniform(5, m)
    u_parents = rng.uniform(3, m)
    F, CR = parameters.draw(strategy, u_cell, u_F, rng.normal(m))
    count = best_count(settings.pbest, n, m, rng)
    pbest = xp.where(strategy == CURRENT_TO_PBEST, best_index(u_best, count, i), -1)
    r1, r2, r3 = once(*trio(settings.parents, u_parents, i, strategy == RAND, pbest, n))
    K = F if settings.K == "F" else xp.where(strategy == CURRENT_TO_RAND, u_K, F)
    parents = gather(x, i)
    mutants = guided(x, xp.where(strategy == RAND, r1, i), r1, r2, r3, F, K)
    crossed = CR if settings.current_to_rand_crossover else xp.where(strategy == CURRENT_TO_RAND, 1.0, CR)
    kept = place(u_kept, d) if certain else xp.full(m, -1)
    trials = binomial(mutants, parents, crossed, u, kept)
    spare = rng.uniform(m, d) if settings.repair == "resample" else u
    outside = (trials < task.lower) | (trials > task.upper)
    repair = REPAIRS[settings.repair]
    return mended(outside, lambda: repair(trials, task.lower, task.upper, parents, spare), trials), F, CR


def best_count(pbest: int | float | tuple[int, int], n: int, m: int, rng: Stream) -> Array | int:
    """Of how many best a row draws its pbest: a count, a share of n, or (m,) any from one count to another.

    Numbers of a range are rounded to the nearest, so that its ends come half as often as what lies between.
    """
    if isinstance(pbest, int):
        return min(pbest, n)
    if isinstance(pbest, float):
        return min(max(2, round(pbest * n)), n)
    least, most = min(pbest[0], n), min(pbest[1], n)
    return rounded(least + (most - least) * rng.uniform(m))
