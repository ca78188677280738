"""Push and pull: ignore the constraints until the objective stagnates, then let a shrinking epsilon lead back.

Fan, Li, Cai, Li, Wei, Zhang, Deb, Goodman, "Push and pull search for solving constrained multi-objective
optimization problems", Swarm and Evolutionary Computation 44 (2019); here for one objective.

`PushPull` holds the numbers, `Stage` says where a run stands, and `PushAndPull` is the technique for any algorithm.

Deviations of the technique (the publication says / we do / because)
  length of the push        until the objective stagnates / that, or 0.3 of the budget / small budgets
  generations               counted, of a known number / a share of the budget / populations may shrink, so that the
                            number is not known
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from ..arrays import HUGE, Array, at_least, at_most, namespace, order, smallest, when
from ..population import Population
from ..streams import Stream
from .epsilon import closing, improved, quantile
from .rules import Epsilon, by_keys

LONG = 2000  # generations of a run with the publication's budget, at any dimension


class Schedule(Protocol):
    """The way epsilon goes from its start to 0 in the pull."""

    def epsilon(self, stage: Stage, elapsed: Array, population: Population) -> Array:
        """Epsilon after a share `elapsed` of the pull; the population is sorted best first."""


@dataclass(frozen=True)
class Improved:
    """(1 - tau) epsilon while the feasible share is below alpha, else the polynomial of power cp."""

    tau: float = 0.1
    alpha: float = 0.95
    cp: float = 2.0

    def epsilon(self, stage: Stage, elapsed: Array, population: Population) -> Array:
        share = population.feasible.mean()
        return improved(stage.epsilon, stage.start, elapsed, share, self.tau, self.alpha, self.cp)


@dataclass(frozen=True)
class Polynomial:
    """start (1 - elapsed)^cp."""

    cp: float

    def epsilon(self, stage: Stage, elapsed: Array, population: Population) -> Array:
        return closing(stage.start, elapsed, self.cp)


@dataclass(frozen=True)
class ByQuantile:
    """The violation that a share theta (1 - elapsed)^cp of the population stays below."""

    theta: float
    cp: float

    def epsilon(self, stage: Stage, elapsed: Array, population: Population) -> Array:
        return quantile(population.violation, elapsed, self.theta, self.cp)


@dataclass(frozen=True)
class PushPull:
    """When the push ends and how the pull goes; the defaults are those published."""

    schedule: Schedule = Improved()
    switch_threshold: float = 1e-3  # relative fall that counts as stagnation
    switch_guard: float = 1e-6  # least |value| that falls are relative to
    stagnation_of: str = "minimum"  # of all objective values, or "best": that of the best point
    push_limit: float = 1.0  # share of the generations left that a push may take
    push_growth: float = 0.0  # power by which that share falls with the length of runs shorter than `LONG`
    closes: float = 0.9  # share of the generations after which epsilon is 0
    pull_length: float = 0.0  # share of the generations in which epsilon closes after the switch; 0: until `closes`

    def push_ends(self, stage: Stage, G: Array, total: int, left: Array, value: Array) -> Array:
        """Whether the push ends in generation G: the value stagnates, or the push has lasted too long."""
        stagnates = stage.lowest.fall(G, value, self.switch_guard) <= self.switch_threshold
        limit = self.push_limit
        if self.push_growth:
            limit = limit * at_most(total / LONG, 1.0) ** self.push_growth
        return stagnates | (at_least(limit * left, 1.0) < G)


@dataclass(frozen=True)
class Progress:
    """A value of each of the last generations, in a ring buffer."""

    values: Array  # (window,)

    @classmethod
    def fresh(cls, window: int, xp: Any = np) -> Progress:
        return cls(xp.full(window, np.inf))

    def fall(self, generation: Array | int, value: Array, guard: float) -> Array:
        """(old - value) / max(|old|, guard), old from `window` generations ago; inf before there is one."""
        xp = namespace(self.values)
        old = self.values[generation % self.values.shape[0]]
        known = xp.isfinite(old) & xp.isfinite(value)
        return when(known, lambda: (old - value) / at_least(abs(old), guard), np.inf)

    def record(self, generation: Array | int, value: Array) -> Progress:
        """The same with the value of this generation in place of the oldest."""
        xp = namespace(self.values)
        window = self.values.shape[0]
        return Progress(xp.where(xp.arange(window) == generation % window, value, self.values))


@dataclass(frozen=True)
class Stage:
    """Where a run stands between push and pull."""

    pull: Array  # bool: the push is over, for good
    epsilon: Array
    start: Array  # epsilon when the pull began
    began: Array  # the generation of that
    lowest: Progress  # the value whose stagnation ends the push

    @classmethod
    def fresh(cls, window: int, xp: Any = np) -> Stage:
        none = xp.float64(0.0)  # NumPy computes with its numbers ten times faster than with arrays of no dimension
        return cls(xp.bool_(False), none, none, xp.int64(0), Progress.fresh(window, xp))

    @property
    def rule(self) -> Epsilon:
        """The rule of the stage. In the push, every point that has values counts as feasible."""
        return Epsilon(when(self.pull, lambda: self.epsilon, HUGE))

    @property
    def closed(self) -> Array:
        """Whether the pull is at its end: epsilon is 0."""
        return self.pull & (self.epsilon == 0.0)

    def advance(self, G: Array, total: int, left: Array, population: Population, by: PushPull) -> Stage:
        """The stage of generation G = 1, 2, .. of a cycle that has `left` of a run's `total` generations.

        The population is sorted best first. From generation `closes` times `left` on it is pull with epsilon 0.
        """
        xp = namespace(self.epsilon)
        closing_generation = by.closes * left
        still_open = closing_generation > G
        pushing = ~self.pull & still_open
        value = smallest(population.f) if by.stagnation_of == "minimum" else population.f[0]
        push_ends = pushing & when(pushing, lambda: by.push_ends(self, G, total, left, value), pushing)
        lowest = when(pushing, lambda: self.lowest.record(G, value), self.lowest)
        stage = when(push_ends, lambda: self.begin_pull(G, population), self)
        if by.pull_length:
            elapsed = (G - stage.began) / at_least(by.pull_length * total, 1.0)
        else:
            elapsed = G / at_least(closing_generation, 1.0)
        pulling = stage.pull & still_open
        return Stage(
            pull=stage.pull | ~still_open,
            epsilon=when(pulling, lambda: by.schedule.epsilon(stage, elapsed, population), xp.float64(0.0)),
            start=stage.start,
            began=stage.began,
            lowest=lowest,
        )

    def begin_pull(self, G: Array, population: Population) -> Stage:
        """The pull that begins in generation G."""
        xp = namespace(self.epsilon)
        largest = population.largest_violation
        return replace(self, pull=~xp.zeros_like(self.pull), epsilon=largest, start=largest, began=G)


TECHNIQUE = PushPull(push_limit=0.3)
WINDOW = 25  # generations over which the minimum must fall, or the push ends
LEAST = float(np.finfo(float).eps)  # the smallest share of the budget that counts as some


@dataclass(frozen=True)
class PushAndPull:
    """By the objective alone while its minimum falls, then by the improved epsilon."""

    stage: Stage
    generation: Array  # how many were made

    @classmethod
    def fresh(cls, xp: Any = np) -> PushAndPull:
        return cls(Stage.fresh(WINDOW, xp), xp.asarray(0))

    def rule(self, population: Population, elapsed: Array, rng: Stream) -> Epsilon:
        return self.stage.rule

    rank = by_keys

    def after(self, population: Population, elapsed: Array) -> PushAndPull:
        G = self.generation + 1
        total = G / namespace(population.f).maximum(elapsed, LEAST)  # generations, at the rate of those made so far
        return PushAndPull(self.stage.advance(G, 0, total, filled(population), TECHNIQUE), G)


def filled(population: Population) -> Population:
    """A population of the same size without the rows that have no values: the others fill it, evenly repeated."""
    xp = namespace(population.violation)
    n = population.size
    places = xp.arange(n)
    rows = order(~population.valid, places)
    return population.take(rows[places * population.valid.sum() // n])
