"""LSHADE44+IDE: LSHADE44 searches for feasible points, then IDE for good ones among them.

Tvrdik, Polakova, "A Simple Framework for Constrained Problems with Application of L-SHADE44 and IDE", IEEE Congress on
Evolutionary Computation 2017, pp. 1436-1443. IDE: Tang, Dong, Liu, "Differential Evolution With an
Individual-Dependent Mechanism", IEEE Transactions on Evolutionary Computation 19(4), 2015, pp. 560-574.

First LSHADE44 minimises the violation alone, until enough feasible points were found or its share of the budget is
spent. Then IDE minimises the objective from these points, by the feasibility rule.

Deviations (the publication says / we do / because)
  no program of the authors is public, and the numbers are not given; what follows is a fit to the printed means
  members of IDE            not known / `refined_size` 125 / fits C01, C05 and C20 at three dimensions best
  enough feasible points    not known / as many as IDE has members / they are its first population
  which of them             not known / a random choice of all found / the best ones fit worse
  budget of LSHADE44        not known / `search_share` 0.5 of all / agrees on more D = 10 means than 0.1 and 0.3
  too few feasible points   those of least violation / those, then points without values / the population may be small
  second stage of IDE       when successes are rare / for a tenth of its generations in a row / the same reading
  comparison in IDE         by f / by the feasibility rule, ties accepted / constraints
  violation                 a mean over the constraints, |h| beyond the tolerance / the sum, |h| less the tolerance /
                            one measure for all methods
  budget                    overshot by less than a generation / met exactly / fairness
  and those of LSHADE44
IDE's steps are numbered as in the literal version.
Checked against: a literal version (tests/reference/lshade44_ide.py) fed the same draws; the printed D = 10 means.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from ..algorithm import Ask, Coroutine, Task
from ..arrays import Array, namespace, order, when
from ..checks import check_choices, check_count, check_range
from ..parts.indices import best_index, place, uniform_index
from ..parts.memory import SPREAD, TINY, truncated_normal
from ..parts.repairs import resample
from ..parts.rules import Points, accepts, gain, ranking
from ..parts.sizing import alive, elapsed_share, first_points, inside, linear_size, rounded, shrunk, size_or_default
from ..parts.strategies import FourStrategies
from ..parts.variation import binomial, guided
from ..population import Keys, Population, choose, forgotten, join
from ..streams import Stream


@dataclass(frozen=True)
class Aim:
    """The rule of a stage: violation alone, or the feasibility rule once points are refined."""

    refining: Array

    def keys(self, points: Points) -> Keys:
        return points.violation, namespace(points.f).where(self.refining, points.f, 0.0)


@dataclass(frozen=True)
class State:
    population: Population  # best first: the index is the rank; the first `size` rows are alive
    generation: Array  # how many were made
    evaluations: Array
    size: Array
    refining: Array  # bool: IDE runs
    found: Population  # feasible points found before that, at most as many as IDE has members
    strategies: FourStrategies
    individual: Individual


@dataclass(frozen=True)
class LSHADE44IDE:
    """Settings of LSHADE44+IDE; those from `population_size` on are of LSHADE44.

    Parameters
    ----------
    refined_size
        Number of members of IDE, and of feasible points that LSHADE44 looks for.
    search_share
        Largest share of the budget that LSHADE44 may use.
    population_size
        N_init, the number of members at the start; 18 D if None.
    final_size
        N_min, the number of members at the end of the budget.
    memory_size
        H, the number of cells in the memories of F and CR, for each strategy.
    pbest
        p: pbest is one of this share of best members.
    archive_rate
        Largest size of the archive, in population sizes.
    prior
        n0, the number of successes that every strategy begins with.
    least_share
        delta: when a strategy has a smaller share of the successes, all counts go back to the prior.
    CR_deviation
        Standard deviation of CR around a cell of its memory.
    randrl
        Order of the second and the worst of three in randrl/1: by rank, or random.
    """

    refined_size: int = 125
    search_share: float = 0.5
    population_size: int | None = None
    final_size: int = 4
    memory_size: int = 6
    pbest: float = 0.11
    archive_rate: float = 2.6
    prior: int = 2
    least_share: float = 0.05
    CR_deviation: float = 0.1**0.5
    randrl: Literal["ranked", "random"] = "ranked"

    def __post_init__(self) -> None:
        check_choices(self)
        check_count(self, 10, "refined_size")
        check_count(self, 4, "final_size")
        check_count(self, self.final_size, "population_size")
        check_count(self, 1, "memory_size", "prior")
        check_range(self, 0.0, 1.0, "search_share", "pbest", "CR_deviation")
        check_range(self, 0.0, 0.25, "least_share")
        check_range(self, 0.0, 100.0, "archive_rate")

    def _first_size(self, task: Task) -> int:
        return size_or_default(self.population_size, task, per_variable=18, least=self.final_size)

    def start(self, task: Task, rng: Stream) -> Coroutine:
        n, m = self._first_size(task), self.refined_size
        points = yield first_points(task, n, rng)
        xp = namespace(points.f)
        blank = without_values(inside(task, rng.uniform(max(n, m), task.dimension)[:m]), points)
        population = points.take(ranking(Aim(xp.asarray(False)), points))
        return State(
            population=population if n >= m else join(population, blank.take(slice(n, m))),
            generation=xp.asarray(0),
            evaluations=xp.asarray(n),
            size=xp.asarray(n),
            refining=xp.asarray(False),
            found=some_feasible(m, blank, points, rng.uniform(m + n)),
            strategies=FourStrategies.fresh(
                self.prior, self.memory_size, int(rounded(self.archive_rate * n)), task.dimension, xp
            ),
            individual=Individual.fresh(task.max_evaluations, m, xp),
        )

    def generation(self, state: State, task: Task, rng: Stream) -> Coroutine:
        xp = namespace(state.population.f)
        n, m = state.population.size, self.refined_size

        # Transition to IDE: are there enough feasible points, or is the share of LSHADE44 spent?
        spent = state.evaluations >= self.search_share * task.max_evaluations
        ready = ~state.refining & ((state.found.valid.sum() == m) | spent)
        state = when(ready, lambda: self._hand_over(state, task), state)
        population, size, refining, rule = state.population, state.size, state.refining, Aim(state.refining)

        # One trial per living member, by LSHADE44 on the violation or by IDE.
        made = state.strategies.make(
            population.x,
            size,
            task,
            rng,
            pbest=self.pbest,
            prior=self.prior,
            least_share=self.least_share,
            CR_deviation=self.CR_deviation,
            randrl=self.randrl,
        )
        refined = state.individual.trials(population.x, m, task, rng)
        trial_x = xp.concatenate([xp.where(refining, refined, made.x[:m]), made.x[m:]])
        trials = yield Ask(trial_x, alive(n, size))

        # A trial that is not worse replaces its parent.
        accepted = accepts(rule, trials, population)
        offspring = choose(accepted, trials, population)
        offspring = offspring.take(ranking(rule, offspring))
        evaluations = state.evaluations + size
        fewer = linear_size(self._first_size(task), self.final_size, elapsed_share(evaluations, task))
        u_put, u_cut, u_found = rng.uniform(n), rng.uniform(state.strategies.archive.x.shape[0]), rng.uniform(m + n)

        def learned() -> FourStrategies:
            success, gains = accepted & population.valid, gain(rule, trials, population)
            limit = rounded(self.archive_rate * size)
            after = state.strategies.learn(made, population.x, success, gains, limit, u_put)
            return after.cut(rounded(self.archive_rate * fewer), u_cut)

        return State(
            population=when(refining, lambda: offspring, shrunk(offspring, fewer)),
            generation=state.generation + 1,
            evaluations=evaluations,
            size=xp.where(refining, m, fewer),
            refining=refining,
            found=when(~refining, lambda: some_feasible(m, state.found, trials, u_found), state.found),
            strategies=when(~refining, learned, state.strategies),
            individual=when(refining, lambda: state.individual.after(accepted.sum() / m), state.individual),
        )

    def _hand_over(self, state: State, task: Task) -> State:
        """IDE's first population: the feasible points found, then those of least violation."""
        xp = namespace(state.population.f)
        n, m = state.population.size, self.refined_size
        others = choose(state.population.feasible, forgotten(state.population), state.population)
        first = join(state.found, others).sorted().take(slice(0, m))
        return replace(
            state,
            population=join(first, forgotten(state.population).take(slice(m, n))),
            size=xp.asarray(m),
            refining=xp.asarray(True),
            individual=Individual.fresh(task.max_evaluations - state.evaluations, m, xp),
        )

    def answer(self, state: State, best_member: Population) -> Population:
        """The best of the last population."""
        return state.population.take(state.population.best()[None])

    def watch(self, state: State) -> dict[str, Array]:
        return {
            "stage": namespace(state.refining).where(state.refining, 1 + state.individual.random_base, 0),
            "size": state.size,
            "found": state.found.valid.sum(),
        }


FEWEST_SUPERIOR = 5  # so that one of them is always left to draw
LATE_THRESHOLD = 0.1  # of the share of successes, in the second half; 0 before
PATIENCE = 0.1  # of all generations, with too few successes, before bases are drawn at random


@dataclass(frozen=True)
class Individual:
    """The state of IDE: how far it has come, and which base its mutants have."""

    made: Array  # generations
    total: Array  # generations that it will have
    idle: Array  # generations in a row with too few successes
    random_base: Array  # bool: its second stage, in which the base is a random member and not the target

    @classmethod
    def fresh(cls, evaluations: Array | float, n: int, xp: Any = np) -> Individual:
        """An IDE with n members that has so many evaluations left."""
        total = xp.maximum(rounded(evaluations / n), 1)
        return cls(xp.asarray(0), xp.asarray(total), xp.asarray(0), xp.asarray(False))

    @property
    def superior_share(self) -> Array:
        """ps, the share of superior members: about a tenth for most of the run, all at the end."""
        return 0.1 + 0.9 * 10.0 ** (5.0 * (self.made / self.total - 1.0))

    def trials(self, population_x: Array, n: int, task: Task, rng: Stream) -> Array:
        """Trials (n, d) of the first n rows of the population, ranked best first; the others are dead."""
        rows, d = population_x.shape
        u_base, u_1, u_2, u_3, u_superior, u_F, u_CR, u_certain = rng.uniform(8, rows)[:, :n]
        u_where, u_value, u_cross, u_repair = rng.uniform(4, rows, d)[:, :n]
        xp, x = namespace(population_x), population_x[:n]
        i = xp.arange(n)

        # Steps 1 and 2: four distinct members; the base is the target, or in the second stage a random member.
        other = uniform_index(u_base, n, i)
        r1 = uniform_index(u_1, n, i, other)
        r2 = uniform_index(u_2, n, i, other, r1)
        r3 = uniform_index(u_3, n, i, other, r1, r2)
        base = xp.where(self.random_base, other, i)
        superior = xp.maximum((self.superior_share * n).astype(int), FEWEST_SUPERIOR)
        led = (base >= superior) & (r1 >= superior)  # an inferior base is led by a superior member
        r1 = xp.where(led, best_index(u_superior, superior, i, other, r2, r3), r1)

        # Steps 3-6: x_base + F (x_r1 - x_base) + F (x_r2 - d), d a perturbed x_r3; crossover; resampling out of bounds.
        perturbed = xp.where(u_where < 0.1 * self.superior_share, inside(task, u_value), x[r3])
        F, CR = by_rank(base, n, u_F), by_rank(i, n, u_CR)
        mutants = guided(xp.concatenate([x, perturbed]), base, r1, r2, n + i, F, F)
        trials = binomial(mutants, x, CR, u_cross, place(u_certain, d))
        return resample(trials, task.lower, task.upper, x, u_repair)

    def after(self, success_share: Array) -> Individual:
        """The state a generation later, in which that share of the trials replaced their parents (stage switch)."""
        xp = namespace(success_share)
        threshold = xp.where(self.made >= self.total // 2, LATE_THRESHOLD, 0.0)
        idle = xp.where(success_share <= threshold, self.idle + 1, 0)
        switch = idle >= PATIENCE * self.total
        return Individual(self.made + 1, self.total, idle, self.random_base | switch)


def by_rank(rank: Array, n: Array | int, u: Array) -> Array:
    """F or CR per rank 0 .. n - 1, the better the smaller: normal around (rank + 1) / n, in (0, 1]; u uniform."""
    return truncated_normal((rank + 1) / n, u, SPREAD, least=TINY, falling=True)


def without_values(x: Array, points: Population) -> Population:
    """Points x (k, d) without values, with as many constraints as `points` have."""
    xp = namespace(x)
    infinite = xp.full(x.shape[0], np.inf)
    g, h = (xp.full((x.shape[0], values.shape[1]), np.nan) for values in (points.g, points.h))
    return Population(x, infinite, infinite, g, h)


def some_feasible(count: int, found: Population, points: Population, u: Array) -> Population:
    """The feasible points of both, a random `count` of them if there are more, filled up with points without values."""
    together, xp = join(found, points), namespace(u)
    feasible = together.feasible
    some = together.take(order(~feasible, xp.where(feasible, u, xp.arange(u.shape[0])))[:count])
    return choose(some.feasible, some, forgotten(some))
