"""PPS-DE: push and pull search embedded in differential evolution.

Fan, Li, Wang, Yuan, Sun, Yang, Ruan, Li, Goodman, "Embedding Push and Pull Search in the Framework of Differential
Evolution for Solving Constrained Single-objective Optimization Problems", arXiv 1812.06381.

The population, sorted by the feasibility rule, is halved. Each member of the top half makes three trials, one per
strategy, and the best of them competes with it; the strategies' wins decide which one each member of the bottom half
uses. While the lowest objective value falls, constraints are ignored (push); when it stagnates, a shrinking epsilon
leads back to feasibility (pull).

Deviations (the publication says / we do / because)
  sign of g                 g >= 0 in Eq. (1), the sum of max(g, 0) in Eq. (2) / g <= 0 is met / both cannot hold
  three trials, best one    not which rule picks / `pick`: the rule of the stage / its text; "feasibility" is the other
  "best T offsprings"       per target or of all / `pick_from`: per target / of all loses feasibility
  survival of the bottom    two statements / `bottom_survival`: the rule of the stage / Algorithm 1 says so
  memory length H           not given / `memory_size` 6 / LSHADE44 has 6, IUDE's program 100
  what is a success         not given / `success` by the rule of the stage / SHADE's practice, with the rule in hand
  who teaches               not given / `teachers` every trial of the three / IUDE's program; SHADE has one trial only
  tau, alpha, cp, Tc        not given / `tau` 0.1, `alpha` 0.95, `cp` 2 (here 1.5), `closes` 0.9 / PPS papers
  "modified" DE/rand/1      not given / `parents` ranked in the top half / IUDE's program
  components out of bounds  not given / `repair` reflect / the only repair that agrees with the printed C08-C11
  value that stagnates      ambiguous / `stagnation_of` the minimum of f / others miss the printed C04
  p = 5                     ambiguous / `pbest` 5, a count (a float is a share of NP) / IUDE's program
  K in current-to-rand      not given / `K` "F", the same factor twice / IUDE's program
  crossover there           not given / `current_to_rand_crossover` none / LSHADE44
  NP = 5 D                  for D >= 10 / `population_size` 5 D but at least 40 / few variables need room too
  epsilon when pull begins  the largest violation / it shrinks already in that generation / its formula counts from 0
  a push that reaches Tc    not considered / becomes pull with epsilon 0 / the end must be feasible
  Gmax                      overshoots / the last generation is cut at the budget / fairness
Choices that the publication leaves open were made so that `PUBLISHED` fits its printed table best, at D = 10 and, with
fewer problems and runs, at D = 30: its agreement there with that table is a fit and no prediction.
Additions of `pps-de`, which `PUBLISHED` switches off, because the published push can end in a population without
spread at an infeasible point, from where no pull leads out (C15, C24):
  epsilon in the pull       "improved" (two branches) / `schedule` "quantile": the violation that a shrinking share
                            `theta` (1 - elapsed)^cp of the population stays below / does not depend on scales
  length of push and pull   until Tc / `push_limit`, `push_growth`, `pull_length`: shares of the generations, of which a
                            short run leaves less to the push / small budgets end feasible
  when all has stagnated    nothing / a new cycle after `patience` generations in which epsilon is 0, or all members
                            violate alike, so that no epsilon can lead them out / the budget is there to be used
  every second cycle        nothing / `reseed`: when the pull begins, the least violating points seen become the bottom
                            half; for each of its places the best of the trials made in that place was stored
  no feasible point yet     nothing / `rescue`: in the last generations the top half tries points around the least
                            violating one of the run instead of DE/rand/1 / a near miss is the worst of answers
  any rule                  push and pull / `rule`: another technique compares points; stage and cycles go on as a clock
Step numbers (3.1 and so on) are those of the literal version, which follows the publication's pseudocode.
Checked against: a literal version (tests/reference/pps_de.py) fed the same draws.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import Any, Literal

import numpy as np

from ..algorithm import Coroutine, Task
from ..arrays import Array, at_least, namespace, when
from ..checks import check_choices, check_count, check_flag, check_range
from ..parts.handling import Handling, RuleOrName, check_rule, first_handling, handling_of
from ..parts.memory import Memory
from ..parts.push_pull import ByQuantile, Improved, Polynomial, PushPull, Schedule, Stage
from ..parts.rules import Blockwise, Feasibility, Rule, accepts, best_of, gain, ranking
from ..parts.sizing import first_points, inside, size_or_default
from ..parts.strategies import (
    CURRENT_TO_PBEST,
    CURRENT_TO_RAND,
    RAND,
    Competition,
    ThreeStrategies,
    strategy_by_rate,
)
from ..population import Population, best_of_two, better_rows, choose, forgotten, join, join_scores, reseeded
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
    handling: Handling | None = None  # the technique in place of push and pull, if there is one


@dataclass(frozen=True)
class PPSDE:
    """Settings of PPS-DE.

    Parameters
    ----------
    population_size
        NP, the number of members; 5 D but at least 40 if None.
    memory_size
        H, the number of cells in the memories of F and CR, for each strategy.
    pbest
        p: pbest is one of so many best members; a float is a share of NP.
    strategy_window
        Number of generations whose wins decide the strategies of the bottom half.
    switch_window
        L, the number of generations over which the objective must fall, or the push ends.
    switch_threshold
        Relative fall over that window that counts as stagnation.
    switch_guard
        Delta, the least absolute objective that the fall is relative to.
    stagnation_of
        The value that must stagnate: the minimum of f in the population, or f of its best point.
    tau
        Share by which epsilon shrinks per generation (schedule "improved").
    alpha
        Feasible share from which epsilon follows the polynomial instead (schedule "improved").
    closes
        Tc, the share of the generations after which epsilon is 0.
    pick
        The rule that picks the best of three trials: that of the stage, or feasibility.
    pick_from
        Pick the best trial per target, or the best T of all trials.
    bottom_survival
        The rule by which trials of the bottom half replace their targets.
    success
        The rule by which a trial must be better than its target to teach the memory.
    teachers
        The trials of the top half that teach: every one, or only those picked.
    parents
        How parents are drawn: ranked in the top half, ranked for DE/rand/1, the best of three as base, or uniform.
    repair
        How components out of bounds are brought back into the box.
    K
        Factor of the first difference of DE/current-to-rand/1: F, or a uniform number.
    current_to_rand_crossover
        Whether trials of DE/current-to-rand/1 are crossed with their targets.
    schedule
        How epsilon falls in the pull; "improved" is the publication's.
    theta
        Share of the population whose violation epsilon starts from (schedule "quantile").
    cp
        Power by which epsilon closes.
    push_limit
        Share of the generations left that a push may take, in a run as long as the publication's.
    push_growth
        Power by which that share falls with the length of shorter runs; 0: the same share in every run.
    pull_length
        Share of the generations in which epsilon closes after the switch; 0: only at `closes`.
    patience
        Number of generations without progress, epsilon being 0, after which a new cycle begins; 0: never.
    reseed
        Whether in every second cycle the least violating points seen become the bottom half when the pull begins.
    rescue
        Share of the generations, the last ones, that try points near the least violating one if none is feasible.
    rule
        Constraint-handling technique in place of push and pull, a name or your own (see docs/rules.md); None: no other.
    """

    population_size: int | None = None
    memory_size: int = 6
    pbest: int | float = 5
    strategy_window: int = 25
    switch_window: int = 25
    switch_threshold: float = 1e-3
    switch_guard: float = 1e-6
    stagnation_of: Literal["minimum", "best"] = "minimum"
    tau: float = 0.1
    alpha: float = 0.95
    closes: float = 0.9
    pick: Literal["stage", "feasibility"] = "stage"
    pick_from: Literal["target", "all"] = "target"
    bottom_survival: Literal["stage", "feasibility"] = "stage"
    success: Literal["stage", "feasibility"] = "stage"
    teachers: Literal["every-trial", "picked"] = "every-trial"
    parents: Literal["ranked-top", "ranked-rand", "best-of-three", "uniform"] = "ranked-top"
    repair: Literal["reflect", "clamp", "midpoint", "resample"] = "reflect"
    K: Literal["F", "random"] = "F"
    current_to_rand_crossover: bool = False
    # From here on beyond the publication; `PUBLISHED` switches all of it off.
    schedule: Literal["quantile", "improved", "polynomial"] = "quantile"
    theta: float = 0.9
    cp: float = 1.5
    push_limit: float = 0.6
    push_growth: float = 0.5
    pull_length: float = 0.5
    patience: int = 30
    reseed: bool = True
    rescue: float = 0.01
    rule: RuleOrName | None = None

    def __post_init__(self) -> None:
        check_choices(self)
        check_count(self, 0, "patience")
        check_count(self, 1, "memory_size", "strategy_window", "switch_window")
        check_count(self, 8, "population_size")
        check_range(self, 0.0, 1.0, "switch_threshold", "switch_guard", "push_limit", "pull_length", "closes")
        check_range(self, 0.0, 1.0, "tau", "alpha", "theta", "rescue")
        check_range(self, 0.0, 100.0, "cp", "push_growth")
        check_flag(self, "reseed", "current_to_rand_crossover")
        check_count(self, 2, "pbest") if isinstance(self.pbest, int) else check_range(self, 0.0, 1.0, "pbest")
        if self.rule is not None:
            check_rule(self)

    # 2 Initialise

    def start(self, task: Task, rng: Stream) -> Coroutine:
        points = yield first_points(task, size_or_default(self.population_size, task), rng)
        population = points.sorted()
        xp = namespace(points.f)
        seen, none = population.take(slice(0, points.size // 2)), xp.int64(0)
        handling = None if self.rule is None else first_handling(self.rule, population, task)
        return self.begin(population, seen, population.take(slice(0, 1)), none, none, handling)

    def begin(
        self,
        population: Population,
        seen: Population,
        nearest: Population,
        generation: Array,
        cycle: Array,
        handling: Handling | None = None,
    ) -> State:
        """The state at the beginning of a cycle."""
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
            handling=handling,
        )

    # 3 Generation

    def generation(self, state: State, task: Task, rng: Stream) -> Coroutine:
        total = task.max_evaluations // self.evaluations(state.population.size)
        return (yield from self.planned(state, task, rng, total))

    def evaluations(self, n: int) -> int:
        """How many evaluations a generation of n members makes."""
        return n + 2 * ((n + 1) // 2)

    def numbers(self, n: int, d: int) -> int:
        """How many uniform numbers a generation of n members draws with the default settings."""
        return self.evaluations(n) * (d + 8) + n // 2

    def planned(self, state: State, task: Task, rng: Stream, total: Array | int) -> Coroutine:
        """A generation of a run that is planned to have `total` of them."""
        xp = namespace(state.population.f)
        n, d = state.population.x.shape
        top = (n + 1) // 2
        state, beyond = self._additions(state, task, total)
        population, G = state.population, state.cycle.age + 1

        # 3.1 Stage and epsilon: push or pull?
        left = total - state.generation + state.cycle.age  # for this cycle
        stage = state.stage.advance(G, total, left, population, self._push_pull)
        elapsed = (state.generation + 1) / at_least(total, 1)
        rule = stage.rule if state.handling is None else state.handling.rule(population, elapsed, rng)
        rules: dict[str, Rule] = {"stage": rule, "feasibility": Feasibility()}

        # 3.2 Split: ranks 0 .. top - 1 are the top half, the others the bottom half.
        targets, strategy, bottom, every_target = map(xp.asarray, split(n))

        # 3.3-3.5 Top half: three trials per target, strategy after strategy; the best of them goes on.
        make = self._strategies
        u = rng.uniform(3 * top, d)
        x, F, CR = make.trials(population.x, targets, strategy, u, state.memory, task, rng)
        trials = yield beyond.top(x, strategy, u, state.nearest, top, task)
        per_target = self.pick_from == "target"
        pick = rules[self.pick] if state.handling is None else Blockwise(rules[self.pick], top)
        picked = best_of(pick, trials, 3) if per_target else ranking(pick, trials)[:top]

        # 3.6 Strategy rates, from the wins of the last generations, this one included.
        won = ((strategy[picked] == xp.arange(3)[:, None]) & trials.valid[picked]).sum(axis=1)
        competition = state.competition.record(G, won)
        rates = competition.rates(G)

        # 3.7 Bottom half: one trial per target, by a strategy drawn by its rate.
        bottom_strategy = strategy_by_rate(rng.uniform(n - top), rates)
        bottom_u = rng.uniform(n - top, d)
        x, bottom_F, bottom_CR = make.trials(population.x, bottom, bottom_strategy, bottom_u, state.memory, task, rng)
        bottom_trials = yield beyond.bottom(x, bottom_u, task)

        # 3.8 Replacement by the rule of the stage.
        offspring = join(trials.take(picked), bottom_trials)
        accepted = accepts(rules["stage"], offspring, population)
        if self.bottom_survival == "feasibility":
            accepted = xp.where(xp.arange(n) < top, accepted, accepts(rules["feasibility"], offspring, population))
        survivors = choose(accepted, offspring, population)

        # 3.9 Success sets: every trial against its target as it was before the replacement; the gain is its weight.
        if state.handling is None:
            every = join_scores(trials, bottom_trials)
            gains = gain(rules[self.success], every, population.scores(every_target))
        else:  # its rule may read constraints, and judge each row as the member of its place
            success = rules[self.success]
            gains = gain(Blockwise(success, top), trials, population.take(targets))
            gains = xp.concatenate([gains, gain(success, offspring, population)[top:]])
        gains = beyond.gains(gains, top)
        if self.teachers == "picked":
            rows = xp.arange(2 * top + n)[:, None]
            gains = xp.where((rows[:, 0] >= 3 * top) | xp.any(rows == picked, axis=1), gains, 0.0)

        # 3.10 Sort by feasibility.
        pull_begins = stage.pull & ~state.stage.pull
        after = beyond.survivors(survivors, state.seen, pull_begins).sorted()
        return State(
            population=after,
            generation=state.generation + 1,
            cycle=state.cycle.older(after, can_be_idle(stage, after)),
            stage=stage,
            seen=beyond.seen(state.seen, trials, bottom_trials, stage.pull),
            nearest=nearer(state.nearest, trials, bottom_trials),
            competition=competition,
            rates=rates,
            memory=state.memory.learn(  # 3.11 Memories
                xp.concatenate([strategy, bottom_strategy]),
                xp.concatenate([F, bottom_F]),
                xp.concatenate([CR, bottom_CR]),
                gains,
            ),
            handling=None if state.handling is None else state.handling.after(after, elapsed),
        )

    @cached_property
    def _push_pull(self) -> PushPull:
        schedule: Schedule = ByQuantile(self.theta, self.cp)
        if self.schedule == "improved":
            schedule = Improved(self.tau, self.alpha, self.cp)
        elif self.schedule == "polynomial":
            schedule = Polynomial(self.cp)
        return PushPull(
            schedule=schedule,
            switch_threshold=self.switch_threshold,
            switch_guard=self.switch_guard,
            stagnation_of=self.stagnation_of,
            push_limit=self.push_limit,
            push_growth=self.push_growth,
            closes=self.closes,
            pull_length=self.pull_length,
        )

    @cached_property
    def _strategies(self) -> ThreeStrategies:
        return ThreeStrategies(
            parents=self.parents,
            pbest=self.pbest,
            repair=self.repair,
            random_K=self.K == "random",
            cross_current_to_rand=self.current_to_rand_crossover,
        )

    def answer(self, state: State, best_member: Population) -> Population:
        return best_member

    def watch(self, state: State) -> dict[str, Array]:
        return {
            "stage": state.stage.pull,  # 0 push, 1 pull
            "epsilon": state.stage.epsilon,
            "cycle": state.cycle.number,
            "rate_rand": state.rates[RAND],
            "rate_current_to_rand": state.rates[CURRENT_TO_RAND],
            "rate_current_to_pbest": state.rates[CURRENT_TO_PBEST],
        }

    # Beyond the publication

    def _additions(self, state: State, task: Task, total: Array | int) -> tuple[State, Additions]:
        """The state, that of a new cycle if one begins, and what this generation does beyond the publication."""
        xp = namespace(state.population.f)
        idle, ahead = state.cycle.idle, total - state.generation
        new_cycle = (idle >= self.patience) & (ahead > self.patience) & (self.patience > 0)
        state = when(new_cycle, lambda: self._next_cycle(state, task), state)
        return state, Additions(
            new_cycle=new_cycle,
            reseeding=state.cycle.number % 2 == 1 if self.reseed else xp.bool_(False),
            # With rescue = 0 too in a generation that is cut by the budget and comes after all `total` whole ones.
            rescuing=(ahead <= self.rescue * total) & is_near_miss(state.nearest),
        )

    def _next_cycle(self, state: State, task: Task) -> State:
        """A new cycle. Its population has no values, so in its first generation every trial that has some replaces."""
        population, seen = forgotten(state.population), forgotten(state.seen)
        handling = None if self.rule is None else handling_of(self.rule, namespace(population.f), task)
        return self.begin(population, seen, state.nearest, state.generation, state.cycle.number + 1, handling)


@lru_cache(maxsize=64)
def split(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Target and strategy of the three trials per member of the top half (3 top,), the bottom half, and all targets."""
    top = (n + 1) // 2
    trials, bottom = np.arange(3 * top), np.arange(top, n)
    return trials % top, trials // top, bottom, np.concatenate([trials % top, bottom])


PUBLISHED = PPSDE(
    schedule="improved", cp=2.0, push_limit=1.0, push_growth=0.0, pull_length=0.0, patience=0, reseed=False, rescue=0.0
)


@dataclass(frozen=True)
class Additions:
    """The part of a generation that is beyond the publication; `PUBLISHED` does nothing of it."""

    new_cycle: Array  # bool: a cycle begins, so trials are points anywhere in the box
    reseeding: Array  # bool: a second cycle, whose push stores points that become the bottom half when its pull begins
    rescuing: Array  # bool: the end is near and no point is feasible, so points near the best one replace DE/rand/1

    def top(self, x: Array, strategy: Array, u: Array, nearest: Population, top: int, task: Task) -> Array:
        """The trials x (3 top, d) of the top half, or those made from u (3 top, d) in their place."""
        x = when(self.new_cycle, lambda: inside(task, u), x)

        def rescued() -> Array:
            return namespace(x).where((strategy == RAND)[:, None], around(nearest, u, top, task), x)

        return when(self.rescuing, rescued, x)

    def bottom(self, x: Array, u: Array, task: Task) -> Array:
        """The trials x (n - top, d) of the bottom half, or those made from u in their place."""
        return when(self.new_cycle, lambda: inside(task, u), x)

    def gains(self, gains: Array, top: int) -> Array:
        """The gains of all trials, 0 for those that no strategy made."""
        xp = namespace(gains)
        return when(self.rescuing, lambda: xp.where(xp.arange(gains.shape[0]) < top, 0.0, gains), gains)

    def survivors(self, survivors: Population, seen: Population, pull_begins: Array) -> Population:
        """The survivors, their last ones replaced by the points seen if the population is reseeded now."""
        return when(pull_begins & self.reseeding, lambda: reseeded(survivors, seen), survivors)

    def seen(self, seen: Population, trials: Population, bottom_trials: Population, pull: Array) -> Population:
        """The least violating points seen in the push, for each place the best of those tried in that place."""

        def updated() -> Population:
            best = best_of(Feasibility(), trials, 3)[: seen.size]
            return better_rows(better_rows(seen, trials.take(best)), bottom_trials)

        return when(self.reseeding & ~pull, updated, seen)


LEAST_FALL = 1e-9  # share of |f| by which the best must fall to count as progress
LEAST_FALL_OF_VIOLATION = 1e-6
SAME = 1e-9  # relative difference up to which violations count as the same


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
        none, infinite = xp.int64(0), xp.float64(np.inf)
        return cls(number, none, none, infinite, infinite)

    def older(self, population: Population, counts: Array) -> Cycle:
        """The cycle a generation later; the population is sorted best first, and only if `counts` can it be idle."""
        xp = namespace(self.f)
        violation, f = population.violation[0], population.f[0]
        size = when(self.f < np.inf, lambda: abs(self.f), 0.0)
        closer = violation < self.violation * (1.0 - LEAST_FALL_OF_VIOLATION)
        lower = (violation <= self.violation) & (f < self.f - LEAST_FALL * size)
        age, none = self.age + 1, xp.int64(0)
        waiting = Cycle(self.number, age, when(counts, lambda: self.idle + 1, none), self.violation, self.f)
        return when(closer | lower, lambda: Cycle(self.number, age, none, violation, f), waiting)


def can_be_idle(stage: Stage, population: Population) -> Array:
    """Whether the pull can lead no further: epsilon is 0, or all points, sorted best first, violate alike."""
    return stage.closed | when(stage.pull, lambda: violate_alike(population), stage.pull)


def violate_alike(population: Population) -> Array:
    """Whether all points, sorted best first, are infeasible by the same amount, so that no epsilon tells them apart."""
    least = population.violation[0]
    infeasible = (least > 0.0) & (least < np.inf)
    return when(infeasible, lambda: population.largest_violation <= least * (1.0 + SAME), infeasible)


def nearer(nearest: Population, *populations: Population) -> Population:
    """The best point, one row, of `nearest` and the populations; the first feasible one stays."""
    for points in populations:
        nearest = when(nearest.violation[0] > 0.0, partial(best_of_two, nearest, points), nearest)
    return nearest


def is_near_miss(nearest: Population) -> Array:
    """Whether the point, one row, has values and is infeasible."""
    violation = nearest.violation[0]
    return (violation > 0.0) & (violation < np.inf)


WIDEST, NARROWEST = 1, 8  # decades below the width of the box


def around(nearest: Population, u: Array, distances: int, task: Task) -> Array:
    """Points (n, d) around `nearest` from uniform numbers u (n, d), at so many distances in turn, each closer.

    How close is close enough depends on how steep the constraints are, which is not known: so all distances are tried.
    """
    turn = np.arange(u.shape[0]) % distances / distances
    shares = 10.0 ** -(WIDEST + (NARROWEST - WIDEST) * turn)  # NumPy's own: a constant of compiled programs
    step = (task.upper - task.lower) * shares[:, None]
    return namespace(u).clip(nearest.x + step * (2.0 * u - 1.0), task.lower, task.upper)
