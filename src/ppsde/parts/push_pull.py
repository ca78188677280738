"""Push and pull: ignore the constraints until the objective stagnates, then let a shrinking epsilon lead back.

Fan, Li, Cai, Li, Wei, Zhang, Deb, Goodman, "Push and pull search for solving constrained multi-objective
optimization problems", Swarm and Evolutionary Computation 44 (2019); here for one objective.

Push and pull as a technique for any algorithm: the stages of `push_pull.py`, told of the budget instead of a count.

Deviations from "Push and pull search" (the publication says / we do / because)
  length of the push        until the objective stagnates / that, or 0.3 of the budget / small budgets
  generations               counted, of a known number / a share of the budget / populations may shrink, so that the
                            number is not known
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from ..arrays import HUGE, Array, namespace, when
from ..population import Population
from ..streams import Stream
from .census import filled, largest_violation, quantile
from .epsilon import closing, improved
from .rules import Epsilon, by_keys

LONG = 2000  # generations of a run with the publication's budget, at any dimension


@dataclass(frozen=True)
class Progress:
    """A value of each of the last generations, a ring; tells by how much it fell over the window."""

    values: Array  # (window,)

    @classmethod
    def fresh(cls, window: int, xp: Any = np) -> Progress:
        return cls(xp.full(window, np.inf))

    def fall(self, generation: Array | int, value: Array, guard: float) -> Array:
        """(old - value) / max(|old|, guard), old from `window` generations ago; inf before there is one."""
        xp = namespace(self.values)
        old = self.values[generation % self.values.shape[0]]
        known = xp.isfinite(old) & xp.isfinite(value)
        old = xp.where(known, old, 0.0)
        return xp.where(known, (old - xp.where(known, value, 0.0)) / xp.maximum(xp.abs(old), guard), np.inf)

    def record(self, generation: Array | int, value: Array) -> Progress:
        xp = namespace(self.values)
        window = self.values.shape[0]
        return Progress(xp.where(xp.arange(window) == generation % window, value, self.values))


class Schedule(Protocol):
    """When the push ends and how the pull goes: the settings an algorithm must have."""

    @property
    def switch_threshold(self) -> float: ...
    @property
    def switch_guard(self) -> float: ...
    @property
    def stagnation_of(self) -> str: ...
    @property
    def push_limit(self) -> float: ...
    @property
    def push_growth(self) -> float: ...
    @property
    def schedule(self) -> str: ...
    @property
    def theta(self) -> float: ...
    @property
    def tau(self) -> float: ...
    @property
    def alpha(self) -> float: ...
    @property
    def cp(self) -> float: ...
    @property
    def closes(self) -> float: ...
    @property
    def pull_length(self) -> float: ...


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
        return cls(xp.asarray(False), xp.asarray(0.0), xp.asarray(0.0), xp.asarray(0), Progress.fresh(window, xp))

    @property
    def rule(self) -> Epsilon:
        """The rule of the stage. Pushing, every point that has values counts as feasible."""
        return Epsilon(namespace(self.epsilon).where(self.pull, self.epsilon, HUGE))

    def advance(self, G: Array, total: int, left: Array, population: Population, settings: Schedule) -> Stage:
        """The stage of generation G = 1, 2, .. of a cycle that has `left` of a run's `total` generations.

        From generation `closes` times `left` on it is pull with epsilon 0. The population is sorted best first.
        """
        xp = namespace(self.epsilon)
        last = settings.closes * left
        pushing = ~self.pull & (last > G)
        value = population.f.min() if settings.stagnation_of == "minimum" else population.f[0]
        switch = pushing & when(pushing, lambda: self._ends(G, total, left, value, settings), pushing)
        lowest = when(pushing, lambda: self.lowest.record(G, value), self.lowest)
        now = when(switch, lambda: self._pull(G, population), self)
        length = settings.pull_length * total
        elapsed = (G - now.began) / max(length, 1.0) if settings.pull_length else G / xp.maximum(last, 1.0)
        open_ = now.pull & (last > G)
        epsilon = when(open_, lambda: now._epsilon(elapsed, population, settings), xp.asarray(0.0))
        return Stage(now.pull | (last <= G), epsilon, now.start, now.began, lowest)

    def _pull(self, G: Array, population: Population) -> Stage:
        """The pull that begins in generation G."""
        xp = namespace(self.epsilon)
        largest = largest_violation(population)
        return replace(self, pull=~xp.zeros_like(self.pull), epsilon=largest, start=largest, began=G)

    def _ends(self, G: Array, total: int, left: Array, value: Array, settings: Schedule) -> Array:
        """Whether the push is to end: the value stagnates, or the push has lasted too long."""
        stagnates = self.lowest.fall(G, value, settings.switch_guard) <= settings.switch_threshold
        limit = settings.push_limit
        if settings.push_growth:
            limit = limit * min(1.0, total / LONG) ** settings.push_growth
        return stagnates | (namespace(stagnates).maximum(limit * left, 1.0) < G)

    def _epsilon(self, elapsed: Array, population: Population, settings: Schedule) -> Array:
        if settings.schedule == "quantile":
            return quantile(population.violation, elapsed, settings.theta, settings.cp)
        if settings.schedule == "polynomial":
            return closing(self.start, elapsed, settings.cp)
        share = population.feasible.mean()
        return improved(self.epsilon, self.start, elapsed, share, settings.tau, settings.alpha, settings.cp)

    @property
    def closed(self) -> Array:
        """Whether the pull has come to its end: only feasible points count as feasible."""
        return self.pull & (self.epsilon == 0.0)


@dataclass(frozen=True)
class Settings:
    """When the push ends and how the pull goes, as published, but for the limit of the push."""

    switch_window: int = 25
    switch_threshold: float = 1e-3
    switch_guard: float = 1e-6
    stagnation_of: str = "minimum"
    push_limit: float = 0.3
    push_growth: float = 0.0
    schedule: str = "improved"
    theta: float = 0.8  # unused by this schedule
    tau: float = 0.1
    alpha: float = 0.95
    cp: float = 2.0
    closes: float = 0.9
    pull_length: float = 0.0  # not before `closes`


SETTINGS = Settings()
LEAST = float(np.finfo(float).eps)  # the smallest share of the budget that counts as some


@dataclass(frozen=True)
class PushAndPull:
    """By the objective alone while its minimum falls, then by the improved epsilon."""

    stage: Stage
    generation: Array  # how many were made

    @classmethod
    def fresh(cls, xp: Any = np) -> PushAndPull:
        return cls(Stage.fresh(SETTINGS.switch_window, xp), xp.asarray(0))

    def rule(self, population: Population, elapsed: Array, rng: Stream) -> Epsilon:
        return self.stage.rule

    rank = by_keys

    def after(self, population: Population, elapsed: Array) -> PushAndPull:
        G = self.generation + 1
        total = G / namespace(population.f).maximum(elapsed, LEAST)  # generations, if they go on as up to now
        return PushAndPull(self.stage.advance(G, 0, total, filled(population), SETTINGS), G)
