"""LSHADE44's four strategies: current-to-pbest/1 and randrl/1, each with binomial and exponential crossover.

They compete: the more successes a strategy has had, the more often it is used. Each has a memory of its own for F and
CR; all share the archive.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from ..algorithm import Task
from ..arrays import Array, mended, namespace
from ..streams import Stream
from .archive import Archive
from .bounds import midpoint, reflect
from .competition import strategy_by_rate
from .indices import best_first, best_to_worst, place, uniform_index
from .memory import Memory
from .sizing import rounded
from .variation import binomial_or_one, exponential, guided

STRATEGIES = 4  # pbest/bin, pbest/exp, randrl/bin, randrl/exp


class Settings(Protocol):
    """What an algorithm must say of its strategies."""

    @property
    def memory_size(self) -> int: ...
    @property
    def pbest(self) -> float: ...
    @property
    def archive_rate(self) -> float: ...
    @property
    def prior(self) -> int: ...
    @property
    def least_share(self) -> float: ...
    @property
    def CR_deviation(self) -> float: ...
    @property
    def randrl(self) -> str: ...


@dataclass(frozen=True)
class Made:
    """How the trials of a generation were made, a row each."""

    x: Array  # (n, d)
    strategy: Array  # (n,)
    F: Array
    CR: Array
    successes: Array  # (strategies,), the counts that the next generation goes on from


@dataclass(frozen=True)
class FourStrategies:
    """What has been learned of the strategies."""

    successes: Array  # (strategies,), counted from a prior on
    memory: Memory
    archive: Archive

    @classmethod
    def fresh(cls, settings: Settings, n: int, d: int, xp: Any = np) -> FourStrategies:
        return cls(
            successes=xp.full(STRATEGIES, settings.prior),
            memory=Memory.fresh(STRATEGIES, settings.memory_size, xp),
            archive=Archive.fresh(int(rounded(settings.archive_rate * n)), d, xp),
        )

    def make(self, x: Array, size: Array, settings: Settings, task: Task, rng: Stream) -> Made:
        """One trial per row of x (n, d), ranked best first, of which the first `size` are alive."""
        xp = namespace(x)
        n, d = x.shape
        i = xp.arange(n)
        u_strategy, u_cell, u_F, u_start, u_length = rng.uniform(5, n)
        u_parents, u_cross = rng.uniform(3, n), rng.uniform(n, d)
        strategy, successes = self._compete(u_strategy, settings)
        F, CR = self.memory.draw(strategy, u_cell, u_F, rng.normal(n), settings.CR_deviation)

        best = xp.maximum(rounded(settings.pbest * size), 1)
        pbest, r1, r2 = self.archive.parents(u_parents, i, best, size, n)
        base, plus, minus = _randrl(u_parents, i, size, settings.randrl)
        local = strategy >= 2  # a base that is its guide makes it DE/randrl/1
        mutants = guided(
            self.archive.joined(x),
            xp.where(local, base, i),
            xp.where(local, base, pbest),
            xp.where(local, plus, r1),
            xp.where(local, minus, r2),
            F,
            F,
        )
        start = place(u_start, d)
        by_row = (strategy % 2 == 1)[:, None]
        trials = xp.where(
            by_row,
            exponential(mutants, x, CR, u_length, start),
            binomial_or_one(mutants, x, CR, u_cross, start),
        )
        outside = (trials < task.lower) | (trials > task.upper)
        return Made(mended(outside, lambda: _repaired(trials, x, local, task), trials), strategy, F, CR, successes)

    def learn(self, made: Made, x: Array, success: Array, gain: Array, limit: Array, u: Array) -> FourStrategies:
        """From the rows that succeeded (n,), those without gain too; their parents' x (n, d) go to the archive."""
        xp = namespace(gain)
        won = xp.sum((made.strategy == xp.arange(STRATEGIES)[:, None]) & success, axis=1)
        return FourStrategies(
            successes=made.successes + won,
            memory=self.memory.learn(made.strategy, made.F, made.CR, gain, ties=success, closing=True),
            archive=self.archive.put(x, success, limit, u),
        )

    def cut(self, limit: Array, u: Array) -> FourStrategies:
        """Random points leave the archive until there are at most `limit`; u (capacity of the archive,)."""
        return replace(self, archive=self.archive.cut(limit, u))

    @property
    def rates(self) -> Array:
        """The probability of each strategy (strategies,)."""
        return self.successes / self.successes.sum()

    def _compete(self, u: Array, settings: Settings) -> tuple[Array, Array]:
        """A strategy for each member, in turn, and the counts after that.

        When a strategy has become too rare, all counts go back to the prior; seen first after the first member's draw.
        """
        xp = namespace(u)
        rates = self.rates
        rare = rates.min() < settings.least_share
        successes = xp.where(rare, settings.prior, self.successes)
        first = xp.arange(u.shape[0]) == 0
        later = strategy_by_rate(u, successes / successes.sum())
        return xp.where(first, strategy_by_rate(u, rates), later), successes


def _randrl(u: Array, i: Array, size: Array, order: str) -> tuple[Array, Array, Array]:
    """Three members, not i: the best is the base; of the other two the better comes first, or either."""
    r1 = uniform_index(u[0], size, i)
    r2 = uniform_index(u[1], size, i, r1)
    r3 = uniform_index(u[2], size, i, r1, r2)
    return best_to_worst(r1, r2, r3) if order == "ranked" else best_first(r1, r2, r3)


def _repaired(trials: Array, x: Array, local: Array, task: Task) -> Array:
    """Out of bounds: half way to the parent, or mirrored where the strategy is a local one."""
    box = task.lower, task.upper
    mirrored, halved = reflect(trials, *box, x, trials), midpoint(trials, *box, x, trials)
    return namespace(x).where(local[:, None], mirrored, halved)
