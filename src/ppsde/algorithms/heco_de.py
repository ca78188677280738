"""HECO-DE: constrained optimisation by helper and equivalent objectives.

Xu, He, Shang, "Helper and Equivalent Objectives: Efficient Approach for Constrained Optimization", IEEE Transactions on
Cybernetics; arXiv 1903.04886.

The problem becomes one of three objectives: the helpers f and v, the violation, and an equivalent objective e whose
minimum is the best member so far. They are summed with weights that differ from subproblem to subproblem and move along
the run until only e counts. In each generation some members are drawn, one a subproblem; each makes a child by one of
the four strategies of LSHADE44, and child and parent compete in the objective of their subproblem.

This is a reconstruction: neither a program nor the text of the publication could be read, only notes of its contents,
so the figures of this file are its own. Known of its strength: first of nine on the CEC 2017 problems, with C03, C06,
C13, C16 and C25 solved at D = 30.

Readings (not known / we do / consequence)
  sizes                  450 members and 45 subproblems, not whether at every D / `population_size` 15 D, the same at
                         D = 30, but at least 60, `subproblems` a tenth / 450 at every D are too slow with few variables
  equivalent objective   e = |f - f*| + v, f* of the best member by feasibility / both parts are then normalised
  weights of i = 1 .. L  e t^(c i), f (1 - i / L) (1 - t)^(c i), v (i / L) (1 - t)^(c i), `bias` c 0.7 / large i reach
                         neither end for most of the run: their sums are small, not their order
  normalisation          of e, f and v by least and largest over parents and children / one of the two alone would
                         let a child leave the scale
  children               compete with their own parent only, and win ties / others would need all objectives of all
  best members           of those drawn, by e, a share `pbest` / a larger share slows
  shrinking              linear; the worst by e leave / by feasibility it would be nearly the same
  bounds, archive        as LSHADE44 / -
Checked against: a literal version (tests/reference/heco_de.py) fed the same draws.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..algorithm import Coroutine, Task
from ..arrays import Array, namespace, order
from ..checks import check_count, check_range
from ..parts.archive import last_sent
from ..parts.sizing import elapsed_share, first_points, rounded, shrunk
from ..parts.strategies import FourStrategies
from ..population import Population, choose, join
from ..streams import Stream


@dataclass(frozen=True)
class State:
    population: Population  # the first `size` rows are alive
    generation: Array  # how many were made
    evaluations: Array
    size: Array
    strategies: FourStrategies


@dataclass(frozen=True)
class HECODE:
    """Settings of HECO-DE.

    Parameters
    ----------
    population_size
        N_0, the number of members at the start; 15 D but at least 60 if None.
    subproblems
        lambda, the number of subproblems: of members drawn in a generation, and of members at the end; a tenth of N_0,
        but at least 4, if None.
    bias
        gamma, how fast the weights of the subproblems move.
    memory_size
        H, the number of cells in the memories of F and CR, for each strategy.
    pbest
        Share of the drawn members, the best, that current-to-pbest/1 follows one of.
    archive_rate
        Largest size of the archive, in numbers of subproblems.
    prior
        n0, the number of successes that every strategy begins with.
    least_share
        delta: when a strategy has a smaller share of the successes, all counts go back to the prior.
    """

    population_size: int | None = None
    subproblems: int | None = None
    bias: float = 0.7
    memory_size: int = 5
    pbest: float = 0.1
    archive_rate: float = 2.6
    prior: int = 2
    least_share: float = 0.05

    def __post_init__(self) -> None:
        check_count(self, 4, "subproblems")
        check_count(self, self.subproblems or 4, "population_size")
        check_count(self, 1, "memory_size", "prior")
        check_range(self, 0.0, 100.0, "bias", "archive_rate")
        check_range(self, 0.0, 1.0, "pbest")
        check_range(self, 0.0, 0.25, "least_share")

    def start(self, task: Task, rng: Stream) -> Coroutine:
        n, count = self._sizes(task)
        points = yield first_points(task, n, rng)
        xp = namespace(points.f)
        return State(
            population=points,
            generation=xp.asarray(0),
            evaluations=xp.asarray(n),
            size=xp.asarray(n),
            strategies=FourStrategies.fresh(
                self.prior, self.memory_size, self._most_archived(count), task.dimension, xp
            ),
        )

    def generation(self, state: State, task: Task, rng: Stream) -> Coroutine:
        population, size = state.population, state.size
        xp = namespace(population.f)
        n, count = population.size, self._sizes(task)[1]

        # As many members as there are subproblems, the k-th of them for subproblem k + 1; in order by e.
        drawn = order(xp.arange(n) >= size, rng.uniform(n))[:count]
        best_f = population.f[population.best()]
        e = equivalent(population.take(drawn), best_f)
        rank = order(e, xp.arange(count))
        drawn, subproblem = drawn[rank], rank + 1
        parents = population.take(drawn)

        # A child of each by one of four strategies.
        made = state.strategies.make(
            parents.x,
            xp.asarray(count),
            task,
            rng,
            pbest=self.pbest,
            prior=self.prior,
            least_share=self.least_share,
            CR_deviation=0.1,
            randrl="ranked",
        )
        children = yield made.x

        # Weighted sums of the normalised objectives; the smaller one stays, the child where they tie.
        evaluations = state.evaluations + count
        t = elapsed_share(evaluations, task)
        sums = weighted(join(parents, children), best_f, xp.concatenate([subproblem, subproblem]), t, self.bias, count)
        accepted = children.valid & (sums[count:] <= sums[:count])
        success = accepted & parents.valid
        gains = xp.where(success, xp.where(success, sums[:count], 0.0) - xp.where(success, sums[count:], 0.0), 0.0)
        limit = self._most_archived(count)
        strategies = state.strategies.learn(made, parents.x, success, gains, xp.asarray(limit), rng.uniform(count))

        # Back into the population; the worst by e leave.
        row, written = last_sent(drawn, n)
        after = choose(written, choose(accepted, children, parents).take(row), population)
        used = xp.minimum(evaluations, task.max_evaluations)
        fewer = n - (n - count) * used // task.max_evaluations  # integers: no rounding decides
        e = equivalent(after, after.f[after.best()])
        return State(
            population=shrunk(after.take(order(e, ~after.valid)), fewer),
            generation=state.generation + 1,
            evaluations=evaluations,
            size=fewer,
            strategies=strategies,
        )

    def answer(self, state: State, best_member: Population) -> Population:
        return best_member

    def watch(self, state: State) -> dict[str, Array]:
        rates = state.strategies.rates
        return {
            "size": state.size,
            "rate_pbest_bin": rates[0],
            "rate_pbest_exp": rates[1],
            "rate_randrl_bin": rates[2],
            "rate_randrl_exp": rates[3],
        }

    def _sizes(self, task: Task) -> tuple[int, int]:
        """The numbers of members at the start and of subproblems."""
        wanted = self.population_size or max(15 * task.dimension, 60, self.subproblems or 0)
        return wanted, self.subproblems or max(wanted // 10, 4)

    def _most_archived(self, count: int) -> int:
        return int(rounded(self.archive_rate * count))


def equivalent(points: Population, best_f: Array) -> Array:
    """e (n,): |f - f*| + v, inf for points without values or with an infinite f."""
    xp = namespace(points.f)
    known = points.valid & (points.f < np.inf)
    e = xp.abs(xp.where(known, points.f, 0.0) - best_f) + xp.where(known, points.violation, 0.0)
    return xp.where(known, e, np.inf)


def weighted(points: Population, best_f: Array, i: Array, t: Array, bias: float, count: int) -> Array:
    """The sums (n,) of e, f and v of the points, normalised over all of them, for their subproblems i (n,) of `count`.

    inf for points without values.
    """
    e, f, v = (normalised(values) for values in (equivalent(points, best_f), points.f, points.violation))
    late, early = t ** (bias * i), (1.0 - t) ** (bias * i)
    sums = late * e + (1.0 - i / count) * early * f + i / count * early * v
    return namespace(t).where(points.valid, sums, np.inf)


def normalised(values: Array) -> Array:
    """The finite values (n,) on a scale from 0, the least, to 1, the largest; 1 for infinite ones."""
    xp = namespace(values)
    known = values < np.inf
    halves = xp.where(known, values, 0.0) / 2  # so that no difference overflows
    least, largest = xp.where(known, halves, np.inf).min(), xp.where(known, halves, -np.inf).max()
    width = xp.where(largest > least, largest - least, 1.0)
    return xp.where(known, (halves - xp.where(known.any(), least, 0.0)) / width, 1.0)
