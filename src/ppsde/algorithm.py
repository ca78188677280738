"""The interface of algorithms: `Algorithm`, the `Task` that it gets, and the `Ask` by which it wants only some rows.

An algorithm is a frozen dataclass of settings with two coroutines. `start` makes the first state, `generation` the
next one; each asks for evaluations with `points = yield x` and gets a `Population` with the same rows. States are
frozen dataclasses of arrays with at least the fields `population` and `generation` (how many were made). An algorithm
never sees the objective, draws random numbers from `rng` alone, and stores nothing outside its state. One that can
tell when to end a run also has `converged`; see `Converging`.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from .arrays import Array, namespace
from .population import TOLERANCE, Population
from .streams import Stream

State = Any  # a frozen dataclass per algorithm


@dataclass(frozen=True)
class Task:
    """The problem as an algorithm knows it before the first evaluation."""

    lower: Array  # (d,)
    upper: Array  # (d,)
    max_evaluations: int
    x0: Array | None = None  # (k, d), points that the first population must contain
    tol: float = 0.0  # how exact the result must be before a run may end by itself; 0: it never does
    tolerance: Array | float = TOLERANCE  # how far an equality may be missed

    @property
    def dimension(self) -> int:
        """Number of variables."""
        return int(self.lower.shape[0])

    def real(self, points: Population) -> Array:
        """Whether each column of g, then of h, is a constraint (m,); a compiled program may have added columns of 0."""
        return namespace(points.f).ones(points.g.shape[1] + points.h.shape[1], dtype=bool)


@dataclass(frozen=True)
class Ask:
    """A request to evaluate only the rows where `wanted` is True; the others cost nothing and are not valid."""

    x: Array  # (n, d)
    wanted: Array  # (n,) bool


Wanted = Any  # an array (n, d), all rows wanted, or an Ask
Coroutine = Generator[Wanted, Population, State]


class Algorithm(Protocol):
    """The methods of an algorithm, whose settings are its fields."""

    def start(self, task: Task, rng: Stream) -> Coroutine:
        """Make the first state."""

    def generation(self, state: State, task: Task, rng: Stream) -> Coroutine:
        """Make the next state from this one."""

    def answer(self, state: State, best_member: Population) -> Population:
        """Return the point (one row) that the original program reports after this state.

        `best_member` is the best point that ever was in a population. It serves to compare with published tables; the
        result of a run is the best point ever evaluated.
        """

    def watch(self, state: State) -> dict[str, Array]:
        """Return numbers to record after each generation, by name, such as the stage and epsilon."""


@runtime_checkable
class Converging(Algorithm, Protocol):
    """An algorithm that can end a run before the budget is spent.

    Its coroutines see `task.tol`, and what it means is for the algorithm to define; smaller is more exact. A state must
    contain all that `converged` needs.
    """

    def converged(self, state: State) -> Array:
        """Return whether to end the run, a single bool; asked after the start and each generation if task.tol > 0."""
