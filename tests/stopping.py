"""Tiny algorithms for both engines: `Halving`, which can converge, and `Stairs`, whose points are known beforehand."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import ppsde
from ppsde.algorithm import Ask, Coroutine, Task
from ppsde.arrays import Array, namespace
from ppsde.parts.sizing import first_points
from ppsde.population import Population, better_rows
from ppsde.streams import Stream

SIZE = 10
NAME = "halving"


@dataclass(frozen=True)
class State:
    population: Population
    generation: Array
    reach: Array  # of the steps, as a share of the box
    short: Array  # whether that is as small as tol


@dataclass(frozen=True)
class Halving:
    """Samples around the best member, half as far in each generation: after k of them tol = 2**-k is reached."""

    def start(self, task: Task, rng: Stream) -> Coroutine:
        points = yield first_points(task, SIZE, rng)
        reach = namespace(points.f).asarray(1.0)
        return State(points, namespace(points.f).asarray(0), reach, reach <= task.tol)

    def generation(self, state: State, task: Task, rng: Stream) -> Coroutine:
        population, reach = state.population, state.reach / 2
        xp = namespace(population.f)
        steps = reach * (task.upper - task.lower) * (rng.uniform(SIZE, task.dimension) - 0.5)
        trials = yield xp.clip(population.x[population.best()] + steps, task.lower, task.upper)
        return State(better_rows(population, trials), state.generation + 1, reach, reach <= task.tol)

    def answer(self, state: State, best_member: Population) -> Population:
        return best_member

    def watch(self, state: State) -> dict[str, Array]:
        return {"reach": state.reach}

    def converged(self, state: State) -> Array:
        return state.short


@dataclass(frozen=True)
class Steps:
    population: Population
    generation: Array


@dataclass(frozen=True)
class Stairs:
    """In generation k it asks for ten points at k / 10, and then for five of ten points at k / 10 + 0.05."""

    def start(self, task: Task, rng: Stream) -> Coroutine:
        points = yield 0 * first_points(task, SIZE, rng)
        return Steps(points, namespace(points.f).asarray(0))

    def generation(self, state: Steps, task: Task, rng: Stream) -> Coroutine:
        xp, generation = namespace(state.population.f), state.generation + 1
        first = yield xp.zeros((SIZE, task.dimension)) + generation / 10
        second = yield Ask(first.x + 0.05, xp.arange(SIZE) % 2 == 0)
        return Steps(better_rows(first, second), generation)

    def answer(self, state: Steps, best_member: Population) -> Population:
        return best_member

    def watch(self, state: Steps) -> dict[str, Array]:
        return {}


@contextmanager
def in_the_table(algorithm: Any, name: str = NAME) -> Iterator[None]:
    """Add an algorithm to the table inside the block."""
    ppsde.ALGORITHMS[name] = algorithm
    try:
        yield
    finally:
        del ppsde.ALGORITHMS[name]
