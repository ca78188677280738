"""Several strategies in one generation: how they compete, and how their trials are made.

Two ways to compete: `Competition` counts the wins of the last generations; `SuccessCounts` counts all successes and
starts again when a strategy has become rare (Tvrdik). Two sets of strategies: the three of the unified DE family (UDE,
IUDE, PPS-DE), and the four of LSHADE44.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from ..algorithm import Task
from ..arrays import Array, at_least, gather, mended, namespace, once, when
from ..streams import Stream
from .archive import Archive
from .indices import best_first, best_index, best_to_worst, place, trio, uniform_index
from .memory import Memory
from .repairs import REPAIRS, midpoint, reflect
from .sizing import rounded
from .variation import binomial, binomial_or_one, exponential, guided


@dataclass(frozen=True)
class Competition:
    """Wins of each strategy in each of the last generations, in a ring buffer."""

    wins: Array  # (window, strategies)

    @classmethod
    def fresh(cls, window: int, strategies: int, xp: Any = np) -> Competition:
        return cls(xp.zeros((window, strategies)))

    def record(self, generation: Array | int, won: Array) -> Competition:
        """The same with the wins (strategies,) of this generation in place of the oldest."""
        xp = namespace(self.wins)
        window = self.wins.shape[0]
        return Competition(xp.where((xp.arange(window) == generation % window)[:, None], won, self.wins))

    def rates(self, generation: Array | int) -> Array:
        """Each strategy's share of the wins (strategies,); equal shares while generation 1, 2, .. fill the window."""
        xp = namespace(self.wins)
        window, strategies = self.wins.shape
        each = self.wins.sum(axis=0)
        total = each.sum()
        unknown = (generation <= window) | (total == 0)
        return when(unknown, lambda: xp.full(strategies, 1.0 / strategies), each / at_least(total, 1.0))


def by_success_rate(succeeded: Array, used: Array, least: float) -> Array:
    """The probability of each strategy (strategies,): the share of its trials that succeeded plus `least`, normalised.

    Examples
    --------
    >>> import numpy as np
    >>> by_success_rate(np.array([3, 1, 0]), np.array([5, 5, 0]), 0.1)
    array([0.63636364, 0.27272727, 0.09090909])
    """
    share = succeeded / namespace(used).maximum(used, 1) + least
    return share / share.sum()


def strategy_by_rate(u: Array, rates: Array) -> Array:
    """A strategy (m,) per uniform number, with probabilities `rates`."""
    return (u >= rates.cumsum()[:-1, None]).sum(axis=0)


@dataclass(frozen=True)
class SuccessCounts:
    """Tvrdik's competition: each strategy is used in proportion to its successes so far."""

    counts: Array  # (strategies,), counted from a prior on

    @classmethod
    def fresh(cls, strategies: int, prior: int, xp: Any = np) -> SuccessCounts:
        return cls(xp.full(strategies, prior))

    @property
    def rates(self) -> Array:
        """The probability of each strategy (strategies,)."""
        return self.counts / self.counts.sum()

    def renewed(self, least: float, prior: int) -> SuccessCounts:
        """All counts set back to the prior if the rate of some strategy is below `least`; else the same."""
        xp = namespace(self.counts)
        return SuccessCounts(xp.where(self.rates.min() < least, prior, self.counts))

    def record(self, strategy: Array, success: Array) -> SuccessCounts:
        """The counts with the successes (n,) of trials by these strategies (n,) added."""
        xp = namespace(self.counts)
        won = (strategy == xp.arange(self.counts.shape[0])[:, None]) & success
        return SuccessCounts(self.counts + won.sum(axis=1))


RAND, CURRENT_TO_RAND, CURRENT_TO_PBEST = range(3)


class Parameters(Protocol):
    """The source of F and CR: a `Memory`, or a few pairs."""

    def draw(self, strategy: Array, u_cell: Array, u_F: Array, z_CR: Array) -> tuple[Array, Array]: ...


@dataclass(frozen=True)
class ThreeStrategies:
    """Trials of the unified DE family: DE/rand/1/bin, DE/current-to-rand/1 and DE/current-to-pbest/1/bin."""

    parents: str  # how r1, r2 and r3 are drawn; see `trio`
    pbest: int | float | tuple[int, int]  # see `best_count`
    repair: str  # of components out of bounds; see `REPAIRS`
    random_K: bool = False  # whether K of current-to-rand is a uniform number of its own, not F
    cross_current_to_rand: bool = False  # whether its mutants are crossed too
    certain_component: bool = True  # whether one component comes from the mutant whatever CR is
    top: int | None = None  # the number of members that ranked parents come from; half of them if None

    def trials(
        self, x: Array, i: Array, strategy: Array, u: Array, parameters: Parameters, task: Task, rng: Stream
    ) -> tuple[Array, Array, Array]:
        """One trial (m, d) per target i (m,) with its strategy (m,), and the F and CR (m,) that made it.

        The population x (n, d) is sorted best first; u (m, d) are the uniform numbers of the crossover.
        """
        xp = namespace(x)
        (n, d), m = x.shape, i.shape[0]
        u_cell, u_F, u_best, u_certain, u_K = rng.uniform(5, m)
        u_parents = rng.uniform(3, m)
        F, CR = parameters.draw(strategy, u_cell, u_F, rng.normal(m))
        count = best_count(self.pbest, n, m, rng)
        is_rand = strategy == RAND
        pbest = best_index(u_best, count, i)
        led = strategy == CURRENT_TO_PBEST
        r1, r2, r3 = once(*trio(self.parents, u_parents, i, is_rand, led, pbest, n, self.top))
        K = xp.where(strategy == CURRENT_TO_RAND, u_K, F) if self.random_K else F
        parents = gather(x, i)
        # rand/1             x_r1 + F (x_r2 - x_r3): base and guide are the same
        # current-to-rand/1  x_i + K (x_r1 - x_i) + F (x_r2 - x_r3)
        # current-to-pbest/1 the same with r1 = pbest and K = F
        mutants = guided(x, xp.where(is_rand, r1, i), r1, r2, r3, F, K)
        crossed = CR if self.cross_current_to_rand else xp.where(strategy == CURRENT_TO_RAND, 1.0, CR)
        certain = place(u_certain, d) if self.certain_component else xp.full(m, -1)
        trials = binomial(mutants, parents, crossed, u, certain)
        spare = rng.uniform(m, d) if self.repair == "resample" else u
        outside = (trials < task.lower) | (trials > task.upper)
        repair = REPAIRS[self.repair]
        return mended(outside, lambda: repair(trials, task.lower, task.upper, parents, spare), trials), F, CR


def best_count(pbest: int | float | tuple[int, int], n: int, m: int, rng: Stream) -> Array | int:
    """The number of best members that pbest is one of: a count, a share of n, or (m,) random from a range of counts.

    Numbers from a range are rounded to the nearest, so its ends come half as often as those between.
    """
    if isinstance(pbest, int):
        return min(pbest, n)
    if isinstance(pbest, float):
        return min(max(2, round(pbest * n)), n)
    least, most = min(pbest[0], n), min(pbest[1], n)
    return rounded(least + (most - least) * rng.uniform(m))


STRATEGIES = 4  # pbest/bin, pbest/exp, randrl/bin, randrl/exp


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
    """LSHADE44's four strategies: current-to-pbest/1 and randrl/1, each with binomial and exponential crossover.

    They compete by their success counts. Each has a memory of its own for F and CR; all share the archive.
    """

    successes: Array  # (strategies,), counted from a prior on; see `SuccessCounts`
    memory: Memory
    archive: Archive

    @classmethod
    def fresh(cls, prior: int, memory_size: int, archive_size: int, d: int, xp: Any = np) -> FourStrategies:
        return cls(
            successes=SuccessCounts.fresh(STRATEGIES, prior, xp).counts,
            memory=Memory.fresh(STRATEGIES, memory_size, xp),
            archive=Archive.fresh(archive_size, d, xp),
        )

    def make(
        self,
        x: Array,
        size: Array,
        task: Task,
        rng: Stream,
        *,
        pbest: float,
        prior: int,
        least_share: float,
        CR_deviation: float,
        randrl: str,
    ) -> Made:
        """One trial per row of x (n, d), ranked best first, of which the first `size` are alive."""
        xp = namespace(x)
        n, d = x.shape
        i = xp.arange(n)
        u_strategy, u_cell, u_F, u_start, u_length = rng.uniform(5, n)
        u_parents, u_cross = rng.uniform(3, n), rng.uniform(n, d)
        strategy, successes = self._compete(u_strategy, least_share, prior)  # step 1
        F, CR = self.memory.draw(strategy, u_cell, u_F, rng.normal(n), CR_deviation)  # step 2

        # Step 3, mutation
        # current-to-pbest/1  x_i + F (x_pbest - x_i) + F (x_r1 - x_r2), r2 also from the archive
        # randrl/1            x_best + F (x_second - x_worst) of three members: base and guide are the same
        best = xp.maximum(rounded(pbest * size), 1)
        guide, r1, r2 = self.archive.parents(u_parents, i, best, size, n)
        base, plus, minus = _randrl(u_parents, i, size, randrl)
        local = strategy >= 2
        mutants = guided(
            self.archive.joined(x),
            xp.where(local, base, i),
            xp.where(local, base, guide),
            xp.where(local, plus, r1),
            xp.where(local, minus, r2),
            F,
            F,
        )

        # Step 4, crossover; step 5, boundary repair.
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
        return FourStrategies(
            successes=SuccessCounts(made.successes).record(made.strategy, success).counts,
            memory=self.memory.learn(made.strategy, made.F, made.CR, gain, ties=success, closing=True),
            archive=self.archive.put(x, success, limit, u),
        )

    def cut(self, limit: Array, u: Array) -> FourStrategies:
        """The same with random points removed from the archive until `limit` are left; u (capacity,) uniform."""
        return replace(self, archive=self.archive.cut(limit, u))

    @property
    def rates(self) -> Array:
        """The probability of each strategy (strategies,)."""
        return SuccessCounts(self.successes).rates

    def _compete(self, u: Array, least_share: float, prior: int) -> tuple[Array, Array]:
        """A strategy (n,) for each member, in turn, and the counts after that.

        The counts are set back after the first member's draw, which is therefore by the old rates.
        """
        xp = namespace(u)
        counts = SuccessCounts(self.successes).renewed(least_share, prior)
        first = xp.arange(u.shape[0]) == 0
        later = strategy_by_rate(u, counts.rates)
        return xp.where(first, strategy_by_rate(u, self.rates), later), counts.counts


def _randrl(u: Array, i: Array, size: Array, order: str) -> tuple[Array, Array, Array]:
    """Three members other than i: the best is the base; the other two follow in order of rank, or at random."""
    r1 = uniform_index(u[0], size, i)
    r2 = uniform_index(u[1], size, i, r1)
    r3 = uniform_index(u[2], size, i, r1, r2)
    return best_to_worst(r1, r2, r3) if order == "ranked" else best_first(r1, r2, r3)


def _repaired(trials: Array, x: Array, local: Array, task: Task) -> Array:
    """The trials inside the box: half way to the parent, or mirrored where the strategy is randrl/1."""
    box = task.lower, task.upper
    mirrored, halved = reflect(trials, *box, x, trials), midpoint(trials, *box, x, trials)
    return namespace(x).where(local[:, None], mirrored, halved)
