"""The interface of algorithms: `Algorithm`, what it may know (`Task`) and what it may request (`Ask`).

An algorithm is a frozen dataclass of settings with two coroutines. `start` makes the first state, `generation` the
next one; each asks for evaluations with `points = yield x` and gets a `Population` back, row for row. States are
frozen dataclasses of arrays holding at least `population` and `generation` (how many were made). An algorithm never
sees the objective, draws random numbers from `rng` alone, and stores nothing outside its state.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, Protocol

from .arrays import Array
from .population import Population
from .streams import Stream

State = Any  # a frozen dataclass per algorithm


@dataclass(frozen=True)
class Task:
    """The problem as an algorithm knows it before the first evaluation."""

    lower: Array  # (d,)
    upper: Array  # (d,)
    max_evaluations: int
    x0: Array | None = None  # (k, d), points that the first population must hold

    @property
    def dimension(self) -> int:
        return int(self.lower.shape[0])


@dataclass(frozen=True)
class Ask:
    """A request to evaluate the rows where `wanted` holds; the others cost nothing and come back not valid."""

    x: Array  # (n, d)
    wanted: Array  # (n,) bool


Wanted = Any  # an array (n, d), all rows wanted, or an Ask
Coroutine = Generator[Wanted, Population, State]


class Algorithm(Protocol):
    """Settings, and the two coroutines that use them."""

    def start(self, task: Task, rng: Stream) -> Coroutine:
        """Make the first state."""

    def generation(self, state: State, task: Task, rng: Stream) -> Coroutine:
        """Make the next state from this one."""

    def answer(self, state: State, best_member: Population) -> Population:
        """The one point (a row) that the original program reports after this state.

        `best_member` is the best point that ever was in a population. Users get the best point ever evaluated; this one
        is for comparing with published tables.
        """

    def watch(self, state: State) -> dict[str, Array]:
        """Numbers worth recording along a run, such as the stage and epsilon."""
