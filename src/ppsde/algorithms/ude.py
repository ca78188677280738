"""UDE: unified differential evolution, second in the CEC2017 competition on constrained problems.

Trivedi, Sanyal, Verma, Srinivasan, "A Unified Differential Evolution Algorithm for Constrained Optimization Problems",
CEC 2017.

The population, ranked by penalised fitness, is halved. Each member of the top half makes three trials, one a strategy,
and the best of them competes with it; the strategies' wins decide which one each member of the bottom half uses. F and
CR are one of two pairs. A local step tries a point around the best member in every generation.

This is a reconstruction: no program of it is public, only remarks in its successor's, whose skeleton it shares. What
is not known was chosen to fit the means that others printed for D = 10: a small population that converges early, and a
light penalty. With a weight of 100 the penalised optimum of C11 has the printed objective, -6.00.

Deviations (known of it / we do / because)
  penalty                not its weight / `penalty_weight` 100 of `rule` "static-penalty" / C11, and C03 and C06
  violation              not its measure / the sum over the constraints / one measure for all methods
  population size        not known / `population_size` D, at least 12 / more solves C04, C05, C13, C14, C20 too well
  p of pbest             not known / `pbest` 3 / a quarter of so small a population
  ranked parents         by their ranks / `parents` "ranked-rand": of DE/rand/1, among all / Gong and Cai, whom it cites
  bounds                 not known / `repair` clamp / its successor
  local search           by mutation of good points / `local_steps` 1 trial a generation around the best / a guess
  its bounds             not known / mirrored, whatever `repair` says / a step that ends on a bound searches one side
So its rank in a field is that of this fit: UDE was second in its competition, and such a population is last at D = 10.
Checked against: a literal version (tests/reference/ude.py) fed the same draws; the printed D = 10 means.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..algorithm import Coroutine, Task
from ..arrays import Array, namespace
from ..checks import check_choices, check_count, check_range
from ..parts.handling import Handling, RuleOrName, check_rule, first_ranked, handling_of
from ..parts.indices import place, uniform_index
from ..parts.memory import any_pair
from ..parts.repairs import mirrored
from ..parts.rules import Blockwise, Fixed, Penalty, Rule, accepts, best_of, ranking
from ..parts.sizing import elapsed_share, first_points, size_or_default
from ..parts.strategies import (
    CURRENT_TO_PBEST,
    CURRENT_TO_RAND,
    RAND,
    Competition,
    ThreeStrategies,
    strategy_by_rate,
)
from ..parts.variation import binomial, rand_1
from ..population import Population, choose, join
from ..streams import Stream


@dataclass(frozen=True)
class State:
    population: Population  # ranked by the rule: the index is the rank
    generation: Array  # how many were made
    competition: Competition
    handling: Handling


@dataclass(frozen=True)
class UDE:
    """Settings of UDE.

    Parameters
    ----------
    population_size
        NP, the number of members; D but at least 12 if None.
    pbest
        pbest is one of so many best members.
    strategy_window
        Number of generations whose wins decide the strategies of the bottom half.
    parents
        How parents are drawn: ranked in the top half, ranked for DE/rand/1, the best of three as base, or uniform.
    repair
        How components out of bounds are brought back into the box.
    local_steps
        Number of trials around the best member in a generation.
    rule
        Constraint-handling technique, a name or your own; see docs/rules.md.
    penalty_weight
        Weight of the violation in the rule "static-penalty".
    """

    population_size: int | None = None
    pbest: int = 3
    strategy_window: int = 25
    parents: Literal["ranked-rand", "ranked-top", "best-of-three", "uniform"] = "ranked-rand"
    repair: Literal["clamp", "reflect", "midpoint", "resample"] = "clamp"
    local_steps: int = 1
    rule: RuleOrName = "static-penalty"
    penalty_weight: float = 100.0

    def __post_init__(self) -> None:
        check_choices(self)
        check_count(self, 1, "strategy_window")
        check_count(self, 2, "pbest")
        check_count(self, 0, "local_steps")
        check_count(self, 8, "population_size")
        check_range(self, 0.0, 1e300, "penalty_weight")
        check_rule(self)

    def start(self, task: Task, rng: Stream) -> Coroutine:
        points = yield first_points(task, size_or_default(self.population_size, task, per_variable=1, least=12), rng)
        xp = namespace(points.f)
        penalty = Fixed(Penalty(xp.asarray(self.penalty_weight)))
        fresh = penalty if self.rule == "static-penalty" else handling_of(self.rule, xp, task)
        population, handling = first_ranked(fresh, points, rng)
        return State(
            population=population,
            generation=xp.asarray(0),
            competition=Competition.fresh(self.strategy_window, 3, xp),
            handling=handling,
        )

    def generation(self, state: State, task: Task, rng: Stream) -> Coroutine:
        population = state.population
        xp = namespace(population.f)
        n = population.size
        top = (n + 1) // 2
        G = state.generation + 1
        elapsed = elapsed_share(n + state.generation * (n + 2 * top + self.local_steps), task)
        rule = state.handling.rule(population, elapsed, rng)

        # Top half: three trials per target, strategy after strategy; the best of them goes on.
        make = ThreeStrategies(self.parents, self.pbest, self.repair)
        targets = xp.arange(3 * top) % top
        strategy = xp.arange(3 * top) // top
        u = rng.uniform(3 * top, task.dimension)
        trials = yield make.trials(population.x, targets, strategy, u, Pairs(), task, rng)[0]
        picked = best_of(Blockwise(rule, top), trials, 3)
        won = xp.sum((strategy[picked] == xp.arange(3)[:, None]) & trials.valid[picked], axis=1)

        # Bottom half: one trial per target, by a strategy that won in the generations before this one.
        bottom_strategy = strategy_by_rate(rng.uniform(n - top), state.competition.rates(G))
        u = rng.uniform(n - top, task.dimension)
        bottom = xp.arange(top, n)
        bottom_trials = yield make.trials(population.x, bottom, bottom_strategy, u, Pairs(), task, rng)[0]

        # Replacement, new ranks, and local search around the best.
        offspring = join(trials.take(picked), bottom_trials)
        after = choose(accepts(rule, offspring, population), offspring, population)
        after = after.take(state.handling.rank(rule, after, rng))
        if self.local_steps:
            steps = yield around_the_best(after.x, self.local_steps, task, rng)
            after = with_best_replaced(rule, steps, after)
        return State(
            population=after,
            generation=G,
            competition=state.competition.record(G, won),
            handling=state.handling.after(after, elapsed),
        )

    def answer(self, state: State, best_member: Population) -> Population:
        """The first of the last population: the best by the rule, feasible or not."""
        return state.population.take(slice(0, 1))

    def watch(self, state: State) -> dict[str, Array]:
        rates = state.competition.rates(state.generation + 1)
        return {
            "rate_rand": rates[RAND],
            "rate_current_to_rand": rates[CURRENT_TO_RAND],
            "rate_current_to_pbest": rates[CURRENT_TO_PBEST],
        }


@dataclass(frozen=True)
class Pairs:
    """Pairs of F and CR in place of a memory: nothing is learned."""

    pairs: tuple[tuple[float, float], ...] = ((0.9, 0.9), (0.5, 0.5))

    def draw(self, strategy: Array, u_cell: Array, u_F: Array, z_CR: Array) -> tuple[Array, Array]:
        """F and CR (m,), the pair drawn with the number that would draw a cell of a memory."""
        return any_pair(self.pairs, u_cell)


def around_the_best(x: Array, count: int, task: Task, rng: Stream) -> Array:
    """Trials (count, d) x_best + F (x_r1 - x_r2), crossed with the best, F and CR uniform; x (n, d) is best first."""
    xp = namespace(x)
    n, d = x.shape
    F, CR, u1, u2, u_certain = rng.uniform(5, count)
    best = xp.zeros(count, dtype=int)
    r1 = uniform_index(u1, n, best)
    r2 = uniform_index(u2, n, best, r1)
    mutants = mirrored(rand_1(x, best, r1, r2, F), task.lower, task.upper)
    return binomial(mutants, xp.broadcast_to(x[0], (count, d)), CR, rng.uniform(count, d), place(u_certain, d))


def with_best_replaced(rule: Rule, steps: Population, population: Population) -> Population:
    """The population, best first, with its best member replaced by the best of the steps unless that is worse."""
    xp = namespace(population.f)
    step = steps.take(ranking(rule, steps)[:1])
    better = accepts(rule, step, population.take(slice(0, 1)))
    first = xp.arange(population.size) == 0
    return choose(first & better, step, population)
