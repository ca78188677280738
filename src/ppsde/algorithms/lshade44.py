"""LSHADE44: L-SHADE with four competing strategies, for constrained problems.

Polakova, "L-SHADE with Competing Strategies Applied to Constrained Optimization", IEEE Congress on Evolutionary
Computation 2017, pp. 1683-1689.

Every member makes one trial, by one of four strategies: current-to-pbest/1 with an archive or randrl/1, with binomial
or exponential crossover. The more successes a strategy has had, the more often it is used; each has its own memory for
F and CR. The population shrinks linearly, the archive with it.

Deviations (the author's program does / we do / because)
  violation                 a mean over the constraints, |h| beyond the tolerance / the sum, |h| less the tolerance /
                            one measure for all methods
  equal violations > 0      accepts whatever f is / f decides / the order is then total
  comparison                the feasibility rule / `rule` / constraint handling is a setting
  inequality of C09         not counted / counted / it is part of the problem
  CR around its cell        deviation sqrt(0.1), 0.1 by L-SHADE's convention / `CR_deviation` sqrt(0.1) / the program
  randrl: second and worst  a swap by chance has two equal arms / `randrl` "ranked", no swap; "random" / the program
  only ties succeed         0 / 0 / they weigh alike / no NaN
  terminal value of CR      -1 / minus infinity, which stays 0 after any draw / no special case
  budget                    overshot by less than a generation / met exactly / fairness
  answer                    the first of the least violation / the best of those / the program's order is an accident
Steps are numbered as in the literal version.
Checked against: a literal version (tests/reference/lshade44.py) fed the same draws; the printed D = 10 means.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..algorithm import Ask, Coroutine, Task
from ..arrays import Array, namespace
from ..checks import check_choices, check_count, check_range
from ..parts.handling import Handling, RuleOrName, check_rule, first_ranked, handling_of
from ..parts.rules import accepts, gain
from ..parts.sizing import alive, elapsed_share, first_points, linear_size, rounded, shrunk, size_or_default
from ..parts.strategies import FourStrategies
from ..population import Population, choose
from ..streams import Stream


@dataclass(frozen=True)
class State:
    population: Population  # best first: the index is the rank; the first `size` rows are alive
    generation: Array  # how many were made
    evaluations: Array
    size: Array
    strategies: FourStrategies
    handling: Handling


@dataclass(frozen=True)
class LSHADE44:
    """Settings of LSHADE44.

    Parameters
    ----------
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
    rule
        Constraint-handling technique, a name or your own; see docs/rules.md.
    """

    population_size: int | None = None
    final_size: int = 4
    memory_size: int = 6
    pbest: float = 0.11
    archive_rate: float = 2.6
    prior: int = 2
    least_share: float = 0.05
    CR_deviation: float = 0.1**0.5
    randrl: Literal["ranked", "random"] = "ranked"
    rule: RuleOrName = "feasibility"

    def __post_init__(self) -> None:
        check_choices(self)
        check_count(self, 4, "final_size")
        check_count(self, self.final_size, "population_size")
        check_count(self, 1, "memory_size", "prior")
        check_range(self, 0.0, 1.0, "pbest", "CR_deviation")
        check_range(self, 0.0, 0.25, "least_share")
        check_range(self, 0.0, 100.0, "archive_rate")
        check_rule(self)

    def start(self, task: Task, rng: Stream) -> Coroutine:
        n = size_or_default(self.population_size, task, per_variable=18, least=self.final_size)
        points = yield first_points(task, n, rng)
        xp = namespace(points.f)
        population, handling = first_ranked(handling_of(self.rule, xp, task), points, rng)
        return State(
            population=population,
            generation=xp.asarray(0),
            evaluations=xp.asarray(n),
            size=xp.asarray(n),
            strategies=FourStrategies.fresh(
                self.prior, self.memory_size, int(rounded(self.archive_rate * n)), task.dimension, xp
            ),
            handling=handling,
        )

    def generation(self, state: State, task: Task, rng: Stream) -> Coroutine:
        population, size = state.population, state.size
        n = population.size
        elapsed = elapsed_share(state.evaluations, task)
        rule = state.handling.rule(population, elapsed, rng)

        # Steps 1-5: one trial per living member, by a strategy drawn by its success rate.
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
        trials = yield Ask(made.x, alive(n, size))

        # Selection and bookkeeping: a trial that is not worse replaces its parent, counts for its strategy and teaches
        # its memory; the parent goes to the archive.
        accepted = accepts(rule, trials, population)
        offspring = choose(accepted, trials, population)
        success = accepted & population.valid
        gains = gain(rule, trials, population)
        limit = rounded(self.archive_rate * size)
        learned = state.strategies.learn(made, population.x, success, gains, limit, rng.uniform(n))
        u_cut = rng.uniform(learned.archive.x.shape[0])

        # Population and archive reduction: the worst members and random points of the archive are removed.
        evaluations = state.evaluations + size
        fewer = linear_size(n, self.final_size, elapsed_share(evaluations, task))
        after = shrunk(offspring.take(state.handling.rank(rule, offspring, rng)), fewer)
        return State(
            population=after,
            generation=state.generation + 1,
            evaluations=evaluations,
            size=fewer,
            strategies=learned.cut(rounded(self.archive_rate * fewer), u_cut),
            handling=state.handling.after(after, elapsed),
        )

    def answer(self, state: State, best_member: Population) -> Population:
        """The best of the last population."""
        return state.population.take(state.population.best()[None])

    def watch(self, state: State) -> dict[str, Array]:
        rates = state.strategies.rates
        return {
            "size": state.size,
            "rate_pbest_bin": rates[0],
            "rate_pbest_exp": rates[1],
            "rate_randrl_bin": rates[2],
            "rate_randrl_exp": rates[3],
        }
