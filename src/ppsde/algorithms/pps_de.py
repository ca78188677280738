"""PPS-DE: push and pull search embedded in differential evolution.

Fan, Li, Wang, Yuan, Sun, Yang, Ruan, Li, Goodman, "Embedding Push and Pull Search in the Framework of Differential
Evolution for Solving Constrained Single-objective Optimization Problems", arXiv 1812.06381.

The population, sorted by the feasibility rule, is halved. Each member of the top half makes three trials, one per
strategy, and the best of them competes with it; the strategies' wins decide which one each member of the bottom half
uses. While the lowest objective value falls, constraints are ignored (push); when it stagnates, a shrinking epsilon
leads back to feasibility (pull).

Deviations (the publication says / we do / because)
  three trials, best one    not which rule picks / `pick`: the rule of the stage / its text; "feasibility" is the other
  "best T offsprings"       per target or of all / `pick_from`: per target / of all loses feasibility
  survival of the bottom    two statements / `bottom_survival`: the rule of the stage / Algorithm 1 says so
  memory length H           not given / `memory_size` 6 / LSHADE44 has 6, IUDE's program 100
  what is a success         not given / `success` by the rule of the stage, `teachers` every trial / SHADE's practice
  tau, alpha, cp, Tc        not given / `tau` 0.1, `alpha` 0.95, `cp` 2 (here 1.5), `closes` 0.9 / PPS papers
  "modified" DE/rand/1      not given / `parents` ranked in the top half / IUDE's program
  components out of bounds  not given / `repair` reflect / the only repair that agrees with the printed C08-C11
  value that stagnates      ambiguous / `stagnation_of` the minimum of f / others miss the printed C04
  p = 5                     ambiguous / `pbest` 5, a count (a float is a share of NP) / IUDE's program
  K in current-to-rand      not given / `K` "F", the same factor twice / IUDE's program
  crossover there           not given / `current_to_rand_crossover` none / LSHADE44
  NP = 5 D                  for D >= 10 / `population_size` 5 D but at least 40 / few variables need room too
  Gmax                      overshoots / the last generation is cut at the budget / fairness
Additions of the default, which `PUBLISHED` goes without, because the published push can end in a population without
spread at an infeasible point, from where no pull leads out (C15, C24):
  epsilon in the pull       "improved" (two branches) / `schedule` "quantile": the violation that a shrinking share
                            `theta` (1 - elapsed)^cp of the population stays below / does not depend on scales
  length of push and pull   until Tc / `push_limit`, `push_growth`, `pull_length`: shares of the generations, of which a
                            short run leaves less to the push / small budgets end feasible
  when all has stagnated    nothing / begin anew after `patience` generations in which epsilon is 0, or all members
                            violate alike, so that no epsilon can lead them out / the budget is there to be used
  every second cycle        nothing / `reseed`: when the pull begins, the least violating points seen become the bottom
                            half; each of its places has kept the best of the trials made in that place
  no feasible point yet     nothing / `rescue`: in the last generations the top half tries points around the least
                            violating one of the run instead of DE/rand/1 / a near miss is the worst of answers
Checked against: a literal version (tests/reference/pps_de.py) fed the same draws.

Cycles: a search that has found all it will find begins anew with what is left of the budget.

The least violating point of a run that has found none that is feasible, and trials close to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

from ..algorithm import Coroutine, Task
from ..arrays import Array, namespace, when
from ..parts.census import violate_alike
from ..parts.memory import Memory
from ..parts.push_pull import Stage
from ..parts.rules import Feasibility, Rule, accepts, best_of, gain, ranking
from ..parts.settings import check_choices, check_count, check_flag, check_range
from ..parts.sizing import first_points, inside, size_or_default
from ..parts.strategies import CURRENT_TO_PBEST, CURRENT_TO_RAND, RAND, Competition, strategy_by_rate, trials_of
from ..population import Population, better_rows, choose, forgotten, join, join_scores, reseeded
from ..streams import Stream


@dataclass(frozen=True)
class State:
    population: Population  # sorted by the feasibility rule: the index is the rank
    generation: Array  # how many were made
    cycle: Cycle
    stage: Stage
    seen: Population  # the least violating points of this cycle, one for each place of the bottom half
    nearest: Population  # one row, the least violating point of all cycles until one is feasible
    competition: Competition
    rates: Array  # (3,), how often the bottom half used each strategy
    memory: Memory


@dataclass(frozen=True)
class PPSDE:
    """Settings; see the deviations above."""

    population_size: int | None = None
    memory_size: int = 6
    pbest: int | float = 5
    strategy_window: int = 25
    switch_window: int = 25
    switch_threshold: float = 1e-3
    switch_guard: float = 1e-6
    stagnation_of: Literal["minimum", "best"] = "minimum"
    push_limit: float = 0.6  # the share of what is left that a push may take, in a run as long as the publication's
    push_growth: float = 0.5  # of the limit with the length of shorter runs, a power; 0: the same share in every run
    schedule: Literal["quantile", "improved", "polynomial"] = "quantile"
    theta: float = 0.9
    tau: float = 0.1
    alpha: float = 0.95
    cp: float = 1.5
    closes: float = 0.9  # the share of all generations after which epsilon is 0
    pull_length: float = 0.5  # the share in which epsilon closes after the switch; 0: not before `closes`
    patience: int = 30  # 0: never begin anew
    reseed: bool = True
    rescue: float = 0.01  # share of the generations, the last, for trials near the least violating point
    pick: Literal["stage", "feasibility"] = "stage"
    pick_from: Literal["target", "all"] = "target"
    bottom_survival: Literal["stage", "feasibility"] = "stage"
    success: Literal["stage", "feasibility"] = "stage"
    teachers: Literal["every-trial", "picked"] = "every-trial"
    parents: Literal["ranked-top", "ranked-rand", "best-of-three", "uniform"] = "ranked-top"
    repair: Literal["reflect", "clamp", "midpoint", "resample"] = "reflect"
    K: Literal["F", "random"] = "F"
    current_to_rand_crossover: bool = False

    def __post_init__(self) -> None:
        check_choices(self)
        check_count(self, 0, "patience")
        check_count(self, 1, "memory_size", "strategy_window", "switch_window")
        if self.population_size is not None:
            check_count(self, 8, "population_size")
        check_range(self, 0.0, 1.0, "switch_threshold", "switch_guard", "push_limit", "pull_length", "closes")
        check_range(self, 0.0, 1.0, "tau", "alpha", "theta", "rescue")
        check_range(self, 0.0, 100.0, "cp", "push_growth")
        check_flag(self, "reseed", "current_to_rand_crossover")
        check_count(self, 2, "pbest") if isinstance(self.pbest, int) else check_range(self, 0.0, 1.0, "pbest")

    def start(self, task: Task, rng: Stream) -> Coroutine:
        points = yield first_points(task, size_or_default(self.population_size, task), rng)
        population = points.sorted()
        xp = namespace(points.f)
        seen, none = population.take(slice(0, points.size // 2)), xp.asarray(0)
        return self._begin(population, seen, population.take(slice(0, 1)), none, none)

    def _begin(
        self, population: Population, seen: Population, nearest: Population, generation: Array, cycle: Array
    ) -> State:
        xp = namespace(population.f)
        return State(
            population=population,
            generation=generation,
            cycle=Cycle.fresh(cycle, xp),
            stage=Stage.fresh(self.switch_window, xp),
            seen=seen,
            nearest=nearest,
            competition=Competition.fresh(self.strategy_window, 3, xp),
            rates=xp.full(3, 1 / 3),
            memory=Memory.fresh(3, self.memory_size, xp),
        )

    def generation(self, state: State, task: Task, rng: Stream) -> Coroutine:
        xp = namespace(state.population.f)
        n = state.population.size
        top = (n + 1) // 2
        total = task.max_evaluations // (n + 2 * top)

        # Has this cycle found all it will find, and is there time for another?
        idle, ahead = state.cycle.idle, total - state.generation
        anew = (idle >= self.patience) & (ahead > self.patience) & (self.patience > 0)
        state = when(anew, lambda: self._next_cycle(state), state)
        G = state.cycle.age + 1

        # Push or pull?
        left = total - state.generation + state.cycle.age  # for this cycle
        stage = state.stage.advance(G, total, left, state.population, self)
        rules: dict[str, Rule] = {"stage": stage.rule, "feasibility": Feasibility()}
        second = state.cycle.number % 2 == 1 if self.reseed else xp.asarray(False)
        begins = stage.pull & ~state.stage.pull & second
        population = state.population

        # Top half: three trials per target, strategy after strategy; the best of them goes on.
        targets = xp.arange(3 * top) % top
        strategy = xp.arange(3 * top) // top
        u = rng.uniform(3 * top, task.dimension)
        x, F, CR = trials_of(population.x, targets, strategy, u, state.memory, self, task, rng)
        x = when(anew, lambda: inside(task, u), x)
        rescues = (ahead <= self.rescue * total) & is_near_miss(state.nearest)
        near = (strategy == RAND)[:, None]
        trials = yield when(rescues, lambda: xp.where(near, around(state.nearest, u, top, task), x), x)
        per_target = self.pick_from == "target"
        picked = best_of(rules[self.pick], trials, 3) if per_target else ranking(rules[self.pick], trials)[:top]
        won = xp.sum((strategy[picked] == xp.arange(3)[:, None]) & trials.valid[picked], axis=1)
        competition = state.competition.record(G, won)

        # Bottom half: one trial per target, by a strategy that wins.
        rates = competition.rates(G)
        bottom_strategy = strategy_by_rate(rng.uniform(n - top), rates)
        bottom = xp.arange(top, n)
        bottom_u = rng.uniform(n - top, task.dimension)
        x, bottom_F, bottom_CR = trials_of(
            population.x, bottom, bottom_strategy, bottom_u, state.memory, self, task, rng
        )
        bottom_trials = yield when(anew, lambda: inside(task, bottom_u), x)

        # Replacement by the rule of the stage; learning from every trial that improves on its target.
        offspring = join(trials.take(picked), bottom_trials)
        accepted = accepts(rules["stage"], offspring, population)
        if self.bottom_survival == "feasibility":
            accepted = xp.where(xp.arange(n) < top, accepted, accepts(rules["feasibility"], offspring, population))
        survivors = choose(accepted, offspring, population)
        after = when(begins, lambda: reseeded(survivors, state.seen), survivors).sorted()
        every = join_scores(trials, bottom_trials)
        gains = gain(rules[self.success], every, population.scores(xp.concatenate([targets, bottom])))
        gains = when(rescues, lambda: xp.where(xp.arange(2 * top + n) < top, 0.0, gains), gains)
        if self.teachers == "picked":
            rows = xp.arange(2 * top + n)[:, None]
            gains = xp.where((rows[:, 0] >= 3 * top) | xp.any(rows == picked, axis=1), gains, 0.0)
        return State(
            population=after,
            generation=state.generation + 1,
            cycle=state.cycle.older(after, stage.closed | when(stage.pull, lambda: violate_alike(after), stage.pull)),
            stage=stage,
            seen=when(second & ~stage.pull, lambda: self._look(state.seen, trials, bottom_trials), state.seen),
            nearest=nearer(state.nearest, trials, bottom_trials),
            competition=competition,
            rates=rates,
            memory=state.memory.learn(
                xp.concatenate([strategy, bottom_strategy]),
                xp.concatenate([F, bottom_F]),
                xp.concatenate([CR, bottom_CR]),
                gains,
            ),
        )

    def answer(self, state: State, kept: Population) -> Population:
        return kept

    def watch(self, state: State) -> dict[str, Array]:
        return {
            "stage": state.stage.pull,  # 0 push, 1 pull
            "epsilon": state.stage.epsilon,
            "cycle": state.cycle.number,
            "rate_rand": state.rates[RAND],
            "rate_current_to_rand": state.rates[CURRENT_TO_RAND],
            "rate_current_to_pbest": state.rates[CURRENT_TO_PBEST],
        }

    def _look(self, seen: Population, trials: Population, bottom_trials: Population) -> Population:
        """The least violating points seen, each place looking at the trials in the same place."""
        best = best_of(Feasibility(), trials, 3)[: seen.size]
        seen = better_rows(seen, trials.take(best))
        return better_rows(seen, bottom_trials)

    def _next_cycle(self, state: State) -> State:
        """A new cycle. Its population is without values, so the coming generation replaces and learns nothing of it."""
        population, seen = forgotten(state.population), forgotten(state.seen)
        return self._begin(population, seen, state.nearest, state.generation, state.cycle.number + 1)


# The reading of the publication that fits its printed table at D = 10 best.
PUBLISHED = PPSDE(
    push_limit=1.0, push_growth=0.0, schedule="improved", cp=2.0, pull_length=0.0, patience=0, reseed=False, rescue=0.0
)


LEAST_FALL = 1e-9  # share of |f| by which the best must fall to count as progress
LEAST_FALL_OF_VIOLATION = 1e-6


@dataclass(frozen=True)
class Cycle:
    """One search from a fresh population on; a run may hold several."""

    number: Array  # 0, 1, ..
    age: Array  # generations made in this cycle
    idle: Array  # generations without progress
    violation: Array  # of the best point at the last progress
    f: Array

    @classmethod
    def fresh(cls, number: Any = 0, xp: Any = np) -> Cycle:
        infinite = xp.asarray(np.inf)
        return cls(xp.asarray(number), xp.asarray(0), xp.asarray(0), infinite, infinite)

    def older(self, population: Population, counts: Array) -> Cycle:
        """A generation later, with the population sorted best first; only generations where `counts` can be idle."""
        xp = namespace(self.f)
        violation, f = population.violation[0], population.f[0]
        size = when(self.f < np.inf, lambda: abs(self.f), 0.0)
        closer = violation < self.violation * (1.0 - LEAST_FALL_OF_VIOLATION)
        lower = (violation <= self.violation) & (f < self.f - LEAST_FALL * size)
        age, none = self.age + 1, xp.asarray(0)
        waiting = Cycle(self.number, age, when(counts, lambda: self.idle + 1, none), self.violation, self.f)
        return when(closer | lower, lambda: Cycle(self.number, age, none, violation, f), waiting)


WIDEST, NARROWEST = 1, 8  # decades below the width of the box


def nearer(nearest: Population, *populations: Population) -> Population:
    """The best point (one row) of it and the populations; once it is feasible, others are no more looked at."""
    for points in populations:
        nearest = when(nearest.violation[0] > 0.0, partial(_better, nearest, points), nearest)
    return nearest


def _better(nearest: Population, points: Population) -> Population:
    return better_rows(nearest, points.take(points.best()[None]))


def is_near_miss(nearest: Population) -> Array:
    """Whether it is infeasible, and known at all."""
    violation = nearest.violation[0]
    return (violation > 0.0) & (violation < np.inf)


def around(nearest: Population, u: Array, distances: int, task: Task) -> Array:
    """Points (n, d) around it, made of uniform numbers: one far, each of the next closer, and so again.

    How far is enough depends on how steep the constraints are, which nobody knows: so every distance has its turn.
    """
    turn = np.arange(u.shape[0]) % distances / distances
    shares = 10.0 ** -(WIDEST + (NARROWEST - WIDEST) * turn)  # NumPy's own: a constant of compiled programs
    step = (task.upper - task.lower) * shares[:, None]
    return namespace(u).clip(nearest.x + step * (2.0 * u - 1.0), task.lower, task.upper)
