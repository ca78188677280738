"""IUDE: improved unified differential evolution, the winner of the CEC2018 competition on constrained problems.

Trivedi, Srinivasan, Biswas, "An Improved Unified Differential Evolution Algorithm for Constrained Optimization
Problems", CEC 2018.

The population, sorted by the feasibility rule, is halved. Each member of the top half makes three trials, one per
strategy, and the best of them by feasibility competes with it under a shrinking epsilon; the strategies' wins decide
which one each member of the bottom half uses. F and CR come from success-history memories that the top half teaches.

Deviations (the paper or its program says / we do / because)
  population size        100 in a copy of the program / `population_size` 5 D, at least 40 / 100 misses C04, C07, C21
  p of pbest             5 in older lines / any count from `pbest_least` 5 to `pbest_most` 20 / the program draws it
  crossover              one component surely from the mutant / `certain_component` False / its successor's program
                         overwrites that component; the printed C04, C07 and C20 fit only so
  equal rates at first   25 generations in the paper, 99 in the program / `equal_generations` 99 / the program's results
  violation              a mean over the constraints / their sum / one measure for all methods
  gain in violation      divided by the number of constraints once more / not / likewise
  equal violations > 0   no success / f decides / the order is then total
  epsilon that starts    below exp(-6): grows to it / stays / an epsilon that grows makes no sense
  redrawing              parents and F until they fit / by inverse distribution / the same laws
  budget                 overshot by less than a generation / met exactly / fairness
The first three were settled by the printed D = 10 means, so that agreement with these is a fit and no prediction.
Steps are numbered as in the literal version.
Checked against: a literal version (tests/reference/iude.py) fed the same draws; the printed D = 10 means.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..algorithm import Coroutine, Task
from ..arrays import Array, namespace
from ..checks import check_choices, check_count, check_flag, check_range
from ..parts.epsilon import ClosingEpsilon
from ..parts.memory import Memory
from ..parts.rules import Epsilon, Feasibility, best_of, gain
from ..parts.sizing import first_points, size_or_default
from ..parts.strategies import (
    CURRENT_TO_PBEST,
    CURRENT_TO_RAND,
    RAND,
    Competition,
    ThreeStrategies,
    strategy_by_rate,
)
from ..population import Population, better, choose, join
from ..streams import Stream


@dataclass(frozen=True)
class State:
    population: Population  # sorted by the feasibility rule: the index is the rank
    generation: Array  # how many were made
    closing: ClosingEpsilon
    competition: Competition
    memory: Memory


@dataclass(frozen=True)
class IUDE:
    """Settings of IUDE.

    Parameters
    ----------
    population_size
        NP, the number of members; 5 D but at least 40 if None.
    memory_size
        H, the number of cells in the memories of F and CR, for each strategy.
    pbest_least
        Least p: pbest is one of the p best members, p being drawn for each trial.
    pbest_most
        Largest p; see `pbest_least`.
    strategy_window
        Lp, the number of generations whose wins decide the strategies of the bottom half.
    equal_generations
        Number of generations, the first ones, in which the strategies of the bottom half are equally likely.
    closes
        pc, the share of the generations after which epsilon is 0.
    parents
        How parents are drawn: ranked in the top half, ranked for DE/rand/1, the best of three as base, or uniform.
    repair
        How components out of bounds are brought back into the box.
    certain_component
        Whether crossover takes one component from the mutant whatever CR is.
    """

    population_size: int | None = None
    memory_size: int = 100
    pbest_least: int = 5
    pbest_most: int = 20
    strategy_window: int = 25
    equal_generations: int = 99
    closes: float = 0.5
    parents: Literal["ranked-top", "ranked-rand", "best-of-three", "uniform"] = "ranked-top"
    repair: Literal["clamp", "reflect", "midpoint", "resample"] = "clamp"
    certain_component: bool = False

    def __post_init__(self) -> None:
        check_choices(self)
        check_count(self, 1, "memory_size", "strategy_window")
        check_count(self, 0, "equal_generations")
        check_count(self, 2, "pbest_least")
        check_count(self, self.pbest_least, "pbest_most")
        check_count(self, 8, "population_size")
        check_range(self, 0.01, 0.99, "closes")
        check_flag(self, "certain_component")

    def start(self, task: Task, rng: Stream) -> Coroutine:
        points = yield first_points(task, size_or_default(self.population_size, task), rng)
        xp = namespace(points.f)
        return State(
            population=points.sorted(),
            generation=xp.asarray(0),
            closing=ClosingEpsilon.of(points),
            competition=Competition.fresh(self.strategy_window, 3, xp),
            memory=Memory.fresh(3, self.memory_size, xp),
        )

    def generation(self, state: State, task: Task, rng: Stream) -> Coroutine:
        population = state.population
        xp = namespace(population.f)
        n = population.size
        top = (n + 1) // 2
        G = state.generation + 1

        # Step 1: epsilon.
        closing = state.closing.at(G / max(task.max_evaluations // (n + 2 * top), 1))

        # Steps 2 and 3, top half: three trials per target, strategy after strategy; the best by feasibility goes on.
        targets = xp.arange(3 * top) % top
        strategy = xp.arange(3 * top) // top
        u = rng.uniform(3 * top, task.dimension)
        make = self._strategies()
        x, F, CR = make.trials(population.x, targets, strategy, u, state.memory, task, rng)
        trials = yield x
        picked = best_of(Feasibility(), trials, 3)
        won = xp.sum((strategy[picked] == xp.arange(3)[:, None]) & trials.valid[picked], axis=1)

        # Steps 5 and 6, bottom half: one trial per target, by a strategy that won in the generations before this one.
        bottom_strategy = strategy_by_rate(rng.uniform(n - top), self._rates(state))
        u = rng.uniform(n - top, task.dimension)
        x, _, _ = make.trials(population.x, xp.arange(top, n), bottom_strategy, u, state.memory, task, rng)
        bottom_trials = yield x

        # Step 7: replacement by epsilon, if strictly better.
        offspring = join(trials.take(picked), bottom_trials)
        rule = Epsilon(closing.epsilon(self.closes))
        accepted = better(rule.keys(offspring), rule.keys(population))

        # Step 4: successes by feasibility, each trial of the top half against its target.
        gains = gain(Feasibility(), trials, population.scores(targets))
        return State(
            population=choose(accepted, offspring, population).sorted(),  # step 8
            generation=G,
            closing=closing,
            competition=state.competition.record(G, won),
            memory=state.memory.learn(strategy, F, CR, gains),  # step 9
        )

    def answer(self, state: State, best_member: Population) -> Population:
        """The best point that ever was in a population, which the program stores separately."""
        return best_member

    def watch(self, state: State) -> dict[str, Array]:
        rates = self._rates(state)
        return {
            "epsilon": state.closing.epsilon(self.closes),
            "rate_rand": rates[RAND],
            "rate_current_to_rand": rates[CURRENT_TO_RAND],
            "rate_current_to_pbest": rates[CURRENT_TO_PBEST],
        }

    def _strategies(self) -> ThreeStrategies:
        least, most = self.pbest_least, self.pbest_most
        return ThreeStrategies(
            parents=self.parents,
            pbest=least if least == most else (least, most),
            repair=self.repair,
            certain_component=self.certain_component,
        )

    def _rates(self, state: State) -> Array:
        """The probability of each strategy (3,) in the bottom half of the next generation."""
        G = state.generation + 1
        return namespace(G).where(self.equal_generations < G, state.competition.rates(G), 1 / 3)
