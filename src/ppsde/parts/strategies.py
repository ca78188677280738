"""Strategy competition: who won how often over the last generations decides who is tried.

Success counts: operators compete, each used in proportion to its successes so far (Tvrdik's competition).

When one has become rare, all begin again from equal counts, so that none is ever lost.

Trials by DE/rand/1, DE/current-to-rand/1 and DE/current-to-pbest/1, as the unified DE family makes them.

LSHADE44's four strategies: current-to-pbest/1 and randrl/1, each with binomial and exponential crossover.

They compete: the more successes a strategy has had, the more often it is used. Each has a memory of its own for F and
CR; all share the archive.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from ..algorithm import Task
from ..arrays import Array, gather, mended, namespace, once, when
from ..streams import Stream
from .archive import Archive
from .indices import best_first, best_index, best_to_worst, place, trio, uniform_index
from .memory import Memory
from .repairs import REPAIRS, midpoint, reflect
from .sizing import rounded
from .variation import binomial, binomial_or_one, exponential, guided


@dataclass(frozen=True)
class Competition:
    """Wins of each strategy in each of the last generations, a ring."""

    wins: Array  # (window, strategies)

    @classmethod
    def fresh(cls, window: int, strategies: int, xp: object = np) -> Competition:
        return cls(xp.zeros((window, strategies)))  # type: ignore[attr-defined]

    def record(self, generation: Array | int, won: Array) -> Competition:
        """Put the wins (strategies,) of this generation in the place of the oldest."""
        xp = namespace(self.wins)
        window = self.wins.shape[0]
        return Competition(xp.where((xp.arange(window) == generation % window)[:, None], won, self.wins))

    def rates(self, generation: Array | int) -> Array:
        """Each strategy's share of the wins (strategies,); equal shares while generation 1, 2, .. fill the window."""
        xp = namespace(self.wins)
        window, strategies = self.wins.shape
        each = self.wins.sum(axis=0)
        total = each.sum()
        known = (generation > window) & (total > 0)
        return when(known, lambda: each / xp.maximum(total, 1.0), xp.full(strategies, 1.0 / strategies))


def strategy_by_rate(u: Array, rates: Array) -> Array:
    """A strategy (m,) per uniform number, with probabilities `rates`."""
    return (u >= rates.cumsum()[:-1, None]).sum(axis=0)


@dataclass(frozen=True)
class SuccessCounts:
    counts: Array  # (operators,), from a prior on

    @classmethod
    def fresh(cls, operators: int, prior: int, xp: Any = np) -> SuccessCounts:
        return cls(xp.full(operators, prior))

    @property
    def rates(self) -> Array:
        """The probability of each operator (operators,)."""
        return self.counts / self.counts.sum()

    def renewed(self, least: float, prior: int) -> SuccessCounts:
        """From the prior again where the rate of some operator is below `least`."""
        xp = namespace(self.counts)
        return SuccessCounts(xp.where(self.rates.min() < least, prior, self.counts))

    def record(self, operator: Array, success: Array) -> SuccessCounts:
        """With the successes (n,) of the operators (n,) counted."""
        xp = namespace(self.counts)
        won = (operator == xp.arange(self.counts.shape[0])[:, None]) & success
        return SuccessCounts(self.counts + won.sum(axis=1))


RAND, CURRENT_TO_RAND, CURRENT_TO_PBEST = range(3)


class ThreeSettings(Protocol):
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
    settings: ThreeSettings,
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


STRATEGIES = 4  # pbest/bin, pbest/exp, randrl/bin, randrl/exp


class FourSettings(Protocol):
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
    def fresh(cls, settings: FourSettings, n: int, d: int, xp: Any = np) -> FourStrategies:
        return cls(
            successes=xp.full(STRATEGIES, settings.prior),
            memory=Memory.fresh(STRATEGIES, settings.memory_size, xp),
            archive=Archive.fresh(int(rounded(settings.archive_rate * n)), d, xp),
        )

    def make(self, x: Array, size: Array, settings: FourSettings, task: Task, rng: Stream) -> Made:
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

    def _compete(self, u: Array, settings: FourSettings) -> tuple[Array, Array]:
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
