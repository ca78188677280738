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
Checked against: a literal version (tests/reference/iude.py) fed the same draws; the printed D = 10 means.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from ..algorithm import Coroutine, Task
from ..arrays import Array, namespace
from ..parts.epsilon import ClosingEpsilon
from ..parts.memory import Memory
from ..parts.rules import Epsilon, Feasibility, best_of, better, gain
from ..parts.settings import check_choices, check_count, check_flag, check_range
from ..parts.sizing import first_points, size_or_default
from ..parts.strategies import CURRENT_TO_PBEST, CURRENT_TO_RAND, RAND, Competition, strategy_by_rate, trials_of
from ..population import Population, choose, join
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
    """Settings; see the deviations above."""

    population_size: int | None = None
    memory_size: int = 100
    pbest_least: int = 5
    pbest_most: int = 20
    strategy_window: int = 25
    equal_generations: int = 99
    closes: float = 0.5  # the share of all generations after which epsilon is 0
    parents: Literal["ranked-top", "ranked-rand", "best-of-three", "uniform"] = "ranked-top"
    repair: Literal["clamp", "reflect", "midpoint", "resample"] = "clamp"
    certain_component: bool = False  # whether a crossover takes one from the mutant whatever CR is
    K: ClassVar[str] = "F"
    current_to_rand_crossover: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_choices(self)
        check_count(self, 1, "memory_size", "strategy_window")
        check_count(self, 0, "equal_generations")
        check_count(self, 2, "pbest_least")
        check_count(self, self.pbest_least, "pbest_most")
        if self.population_size is not None:
            check_count(self, 8, "population_size")
        check_range(self, 0.01, 0.99, "closes")
        check_flag(self, "certain_component")

    @property
    def pbest(self) -> int | tuple[int, int]:
        return self.pbest_least if self.pbest_least == self.pbest_most else (self.pbest_least, self.pbest_most)

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
        closing = state.closing.at(G / max(task.max_evaluations // (n + 2 * top), 1))

        # Top half: three trials per target, strategy after strategy; the best of them goes on.
        targets = xp.arange(3 * top) % top
        strategy = xp.arange(3 * top) // top
        u = rng.uniform(3 * top, task.dimension)
        x, F, CR = self._trials(state, targets, strategy, u, task, rng)
        trials = yield x
        picked = best_of(Feasibility(), trials, 3)
        won = xp.sum((strategy[picked] == xp.arange(3)[:, None]) & trials.valid[picked], axis=1)

        # Bottom half: one trial per target, by a strategy that won in the generations before this one.
        bottom_strategy = strategy_by_rate(rng.uniform(n - top), self._rates(state))
        u = rng.uniform(n - top, task.dimension)
        x, _, _ = self._trials(state, xp.arange(top, n), bottom_strategy, u, task, rng)
        bottom_trials = yield x

        # Replacement by epsilon; learning by feasibility, from each trial of the top half that beats its target.
        offspring = join(trials.take(picked), bottom_trials)
        rule = Epsilon(closing.epsilon(self.closes))
        accepted = better(rule.keys(offspring), rule.keys(population))
        gains = gain(Feasibility(), trials, population.scores(targets))
        return State(
            population=choose(accepted, offspring, population).sorted(),
            generation=G,
            closing=closing,
            competition=state.competition.record(G, won),
            memory=state.memory.learn(strategy, F, CR, gains),
        )

    def answer(self, state: State, kept: Population) -> Population:
        """The best point that ever was in a population: the program keeps it aside."""
        return kept

    def watch(self, state: State) -> dict[str, Array]:
        rates = self._rates(state)
        return {
            "epsilon": state.closing.epsilon(self.closes),
            "rate_rand": rates[RAND],
            "rate_current_to_rand": rates[CURRENT_TO_RAND],
            "rate_current_to_pbest": rates[CURRENT_TO_PBEST],
        }

    def _trials(self, state: State, i: Array, strategy: Array, u: Array, task: Task, rng: Stream) -> tuple[Array, ...]:
        x, memory = state.population.x, state.memory
        return trials_of(x, i, strategy, u, memory, self, task, rng, certain=self.certain_component)

    def _rates(self, state: State) -> Array:
        """How often the next generation's bottom half uses each strategy (3,)."""
        G = state.generation + 1
        return namespace(G).where(self.equal_generations < G, state.competition.rates(G), 1 / 3)
