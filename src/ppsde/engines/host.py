"""The host engine: drives one run step by step on NumPy. It never evaluates; it says what to, and is told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..algorithm import Algorithm, Ask, Coroutine, State, Task
from ..population import Population, evaluated
from ..streams import NumpyStream

GIVE_UP = 100  # evaluations that must fail, none succeeding, before a run is called hopeless


class Run:
    """One run of an algorithm: `wanted` rows to evaluate now, `supply` their values, until `wanted` is None.

    The budget is met exactly: the last request is cut, and what was cut comes back to the algorithm as not valid.
    If every point of a first population fails, another is drawn, until `GIVE_UP` points have failed.
    """

    def __init__(self, algorithm: Algorithm, task: Task, *, seed: int, run: int = 0, tolerance: float) -> None:
        self.algorithm, self.task, self.seed, self.run, self.tolerance = algorithm, task, seed, run, tolerance
        self.state: State | None = None
        self.generation = 0
        self.evaluations = 0
        self.failed = 0
        self.best: Population | None = None  # one row: the best point ever evaluated
        self.kept: Population | None = None  # one row: the best point that ever was in a population
        self.hopeless = False
        self.wanted: np.ndarray | None = None  # (n, d)
        self._attempt = 0
        self._rows = np.empty(0, int)  # of the request, those that `wanted` holds
        self._request = np.empty((0, 0))  # (n, d), all rows
        self._recorded: list[dict[str, Any]] = []  # a row per generation
        self._coroutine = self._begin()
        self._step(None)

    def supply(self, f: np.ndarray, g: np.ndarray, h: np.ndarray) -> None:
        """The values of the wanted rows: f (n,), g (n, p), h (n, q); NaN where an evaluation failed."""
        if self.wanted is None:
            raise ValueError("the run is over; no values are wanted")
        points = evaluated(self.wanted, f, g, h, self.tolerance)
        self.evaluations += points.size
        self.failed += int(points.size - np.count_nonzero(points.valid))
        self.best = _better(self.best, points)
        self._step(self._spread(points))

    @property
    def completed(self) -> int:
        """Generations made to their end, the start not counted."""
        return max(0, len(self._recorded) - 1)

    @property
    def history(self) -> dict[str, np.ndarray]:
        """What was recorded after each generation, the start included, column by column."""
        return {name: np.array([row[name] for row in self._recorded], float) for name in self.latest}

    @property
    def answer(self) -> Population | None:
        """The one point (a row) that the method's original program would report now; None before there is one."""
        if self.state is None or self.kept is None:
            return None
        return self.algorithm.answer(self.state, self.kept)

    @property
    def latest(self) -> Mapping[str, float]:
        """The last row of the history."""
        return {name: float(value) for name, value in self._recorded[-1].items()} if self._recorded else {}

    def _step(self, points: Population | None) -> None:
        """Drive the coroutine until it wants values that the budget still allows, or the run ends."""
        with np.errstate(all="ignore"):  # points without values are infinite: differences of those are no accident
            while True:
                try:
                    request = self._coroutine.send(points)  # type: ignore[arg-type]  # the first send is of None
                except StopIteration as end:
                    if not self._finish(end.value):
                        return
                    points = None
                    continue
                if self._ask(request):
                    return
                points = self._nothing()

    def _ask(self, request: Any) -> bool:
        """Put up the request; false if the budget leaves nothing of it."""
        x, wanted = (request.x, request.wanted) if isinstance(request, Ask) else (request, None)
        rows = np.arange(len(x)) if wanted is None else np.flatnonzero(wanted)
        self._request = x
        self._rows = rows[: self.task.max_evaluations - self.evaluations]
        self.wanted = x[self._rows] if len(self._rows) < len(x) else x
        return len(self._rows) > 0

    def _finish(self, state: State) -> bool:
        """Take the state a coroutine ended with; false if the run ends with it."""
        self.wanted = None
        spent = self.evaluations >= self.task.max_evaluations
        if self.state is None and not state.population.valid.any() and not spent:
            self.hopeless = self.evaluations >= GIVE_UP
            self._attempt += 1
            self._coroutine = self._begin()
            return not self.hopeless
        self.state = state
        self.kept = _better(self.kept, state.population)
        self._record(state)
        if spent:
            return False
        self.generation += 1
        self._coroutine = self.algorithm.generation(state, self.task, NumpyStream(self.seed, self.run, self.generation))
        return True

    def _begin(self) -> Coroutine:
        return self.algorithm.start(self.task, NumpyStream(self.seed, self.run, 0, self._attempt))

    def _spread(self, points: Population) -> Population:
        """The points back in the places of the whole request; what was not evaluated is not valid."""
        n = len(self._request)
        if points.size == n:
            return points
        whole = self._nothing()
        f, violation = whole.f, whole.violation
        g, h = np.full((n, points.g.shape[1]), np.nan), np.full((n, points.h.shape[1]), np.nan)
        f[self._rows], violation[self._rows], g[self._rows], h[self._rows] = (
            points.f,
            points.violation,
            points.g,
            points.h,
        )
        return Population(self._request, f, violation, g, h)

    def _nothing(self) -> Population:
        """The request with no row evaluated."""
        n = len(self._request)
        p, q = (self.best.g.shape[1], self.best.h.shape[1]) if self.best is not None else (0, 0)
        infinite = np.full(n, np.inf)
        return Population(self._request, infinite, infinite.copy(), np.full((n, p), np.nan), np.full((n, q), np.nan))

    def _record(self, state: State) -> None:
        best, population = self.best, state.population
        row = {
            "evaluations": self.evaluations,
            "f": best.f[0] if best is not None else np.nan,
            "violation": best.violation[0] if best is not None else np.nan,
            "feasible_share": np.count_nonzero(population.feasible) / population.size,
            **self.algorithm.watch(state),
        }
        self._recorded.append(row)


def _better(best: Population | None, points: Population) -> Population | None:
    """The best single point of both, the first where they tie; points without values do not count."""
    row = points.best()
    if points.violation[row] == np.inf:
        return best
    if best is None or (points.violation[row], points.f[row]) < (best.violation[0], best.f[0]):
        return points.take([row])
    return best
