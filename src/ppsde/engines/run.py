"""One run of an algorithm on the host engine, step by step: it asks for points and is supplied with their values."""

from __future__ import annotations

import copy
from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from ..algorithm import Algorithm, Ask, Converging, State, Task
from ..arrays import smallest
from ..evaluation.evaluate import GIVE_UP
from ..population import Population, evaluated, quietly_evaluated
from ..problem import FGH
from ..streams import NumpyStream
from .ending import CONVERGED, FAILED, INFEASIBLE, RUNNING, SPENT, TARGET, Ending


@dataclass(frozen=True)
class Snapshot:
    """A run as plain data: its state when the current generation began, and the values supplied since.

    With the defaults it is a new run. Checkpoints store the fields by name.
    """

    algorithm: Algorithm
    task: Task
    seed: int
    run: int
    tolerance: float
    state: State | None = None  # None: there is no first population yet
    generation: int = 0  # number of the current generation
    attempt: int = 0  # number of first populations that failed
    requests: int = 0  # answered before this generation
    evaluations: int = 0  # made before this generation
    failed: int = 0  # evaluations that failed before this generation
    best: Population | None = None  # one row: the best point evaluated before this generation
    best_member: Population | None = None  # one row: the best that ever was in a population
    columns: tuple[str, ...] = ()  # of the history
    rows: np.ndarray = field(default_factory=lambda: np.empty((0, 0)))  # (generations, columns)
    given: tuple[FGH, ...] = ()  # the values supplied in this generation, one entry per request
    target: float | None = None  # a feasible point with an objective as small as this ends the run
    x0_values: FGH | None = None  # the values of `task.x0`, if they are known


class Run:
    """One run of an algorithm: evaluate the rows of `wanted` and `supply` their values, until `wanted` is None.

    The budget is met exactly: the last request is cut, and the algorithm gets the rows that were cut as not valid.
    If every point of a first population fails, another one is drawn, until `GIVE_UP` points have failed.

    A run ends early if a feasible point reaches the `target`: nothing more is evaluated then, as if the budget were
    spent. It also ends after a generation with which the algorithm has `converged`, if `task.tol` is not 0.

    The points of `task.x0` whose `x0_values` are passed, as f (k,), g (k, p) and h (k, q), are not evaluated where the
    first population contains them. Another attempt at a first population does without them.
    """

    begun_again = False  # with the points of an earlier one, whose state its method cannot use any more

    def __init__(
        self,
        algorithm: Algorithm,
        task: Task,
        *,
        seed: int,
        run: int = 0,
        tolerance: float,
        target: float | None = None,
        x0_values: FGH | None = None,
    ) -> None:
        best = None
        if x0_values is not None:
            x0_values = _copied(*x0_values)
            best = better_point(None, evaluated(task.x0, *x0_values, tolerance))
        task = replace(task, tolerance=tolerance)
        first = Snapshot(algorithm, task, seed, run, tolerance, best=best, target=target, x0_values=x0_values)
        self._continue_from(first)

    @classmethod
    def restored(cls, snapshot: Snapshot) -> Run:
        """Return the run of a snapshot, which continues with the same bits as the original."""
        run = cls.__new__(cls)
        run._continue_from(snapshot)
        return run

    def snapshot(self) -> Snapshot:
        """Return the run as plain data, at any moment. Arrays are shared with the run, which overwrites none."""
        requests, evaluations, failed, best = self._at_start_of_generation
        return Snapshot(
            self.algorithm,
            self.task,
            self.seed,
            self.run,
            self.tolerance,
            state=self.state,
            generation=self.generation,
            attempt=self._attempt,
            requests=requests,
            evaluations=evaluations,
            failed=failed,
            best=best,
            best_member=self.best_member,
            columns=self._columns,
            rows=self.table,
            given=tuple(self._supplied),
            target=self.target,
            x0_values=self.x0_values,
        )

    @property
    def between_generations(self) -> bool:
        """Whether no values were supplied in the current generation yet, or the run is over."""
        return not self._supplied

    def _continue_from(self, snapshot: Snapshot) -> None:
        self.algorithm, self.task, self.tolerance = snapshot.algorithm, snapshot.task, snapshot.tolerance
        self.seed, self.run = snapshot.seed, snapshot.run
        self.target, self.x0_values = snapshot.target, snapshot.x0_values
        self._can_converge = self.task.tol > 0 and isinstance(self.algorithm, Converging)
        self._known: Population | None = None  # the points of x0, if their values are known
        if self.x0_values is not None:
            self._known = evaluated(self.task.x0, *self.x0_values, self.tolerance)
        self.state: State | None = snapshot.state
        self.generation = snapshot.generation
        self.requests = snapshot.requests  # answered so far, which is also the number of the current request
        self.evaluations = snapshot.evaluations
        self.failed = snapshot.failed
        self.best: Population | None = snapshot.best  # one row: the best point ever evaluated
        self.best_member: Population | None = snapshot.best_member  # one row: the best that ever was in a population
        self.wanted: np.ndarray | None = None  # (n, d)
        self.allowance: int | None = None  # its evaluations in all, from the next generation on; None: as in the task
        self._attempt = snapshot.attempt
        self._request = np.empty((0, 0))  # (n, d), all points of the current request
        self._rows = np.empty(0, int)  # the rows of it that are in `wanted`
        self._answered: tuple[np.ndarray, Population] | None = None  # the rows of it that are known, and their points
        self._columns = snapshot.columns
        self._recorded = array("d", snapshot.rows.ravel())  # the history, row after row
        self._begin()
        if not self._over:
            with np.errstate(all="ignore"):
                self._step(None)
        for values in snapshot.given:
            self.supply(*values)

    def supply(self, f: np.ndarray, g: np.ndarray, h: np.ndarray) -> None:
        """Continue the run with the values of `wanted`: f (n,), g (n, p), h (n, q), NaN where an evaluation failed."""
        if self.wanted is None:
            raise ValueError("the run is over; no values are wanted")
        values = _copied(f, g, h)
        with np.errstate(all="ignore"):  # differences of points without values are NaN: this is expected
            points = quietly_evaluated(self.wanted, *values, self.tolerance)
            self.requests += 1
            self.evaluations += len(self.wanted)
            self.failed += len(self.wanted) - int(np.count_nonzero(points.valid))
            self.best = better_point(self.best, points)
            self._supplied.append(values)
            self._step(self._whole(points))

    @property
    def hopeless(self) -> bool:
        """Whether the run ended because no evaluation succeeded."""
        _, evaluations, failed, _ = self._at_start_of_generation
        return failed == evaluations >= GIVE_UP

    @property
    def status(self) -> int:
        """Whether the run is over, and why."""
        if self.wanted is not None:
            return RUNNING
        if self._reached:
            return TARGET
        if self.hopeless or self.best is None:
            return FAILED
        if self._left > 0:
            return CONVERGED
        return SPENT if self.best.feasible[0] else INFEASIBLE

    @property
    def counts(self) -> tuple[int, int] | None:
        """Numbers of inequalities and equalities, if the values of x0 show them."""
        return None if self._known is None else (self._known.g.shape[1], self._known.h.shape[1])

    @property
    def _reached(self) -> bool:
        """Whether a point as good as the target is known."""
        best = self.best
        return best is not None and self.target is not None and bool(best.feasible[0] and best.f[0] <= self.target)

    @property
    def _left(self) -> int:
        """Number of evaluations that may still be made."""
        return 0 if self.target is not None and self._reached else self.task.max_evaluations - self.evaluations

    @property
    def _over(self) -> bool:
        """Whether no generation follows the state, after which none has begun yet."""
        return self.hopeless or (self.state is not None and (self._left <= 0 or self._converged))

    @property
    def _converged(self) -> bool:
        if not self._can_converge:
            return False
        with np.errstate(all="ignore"):
            return bool(self.algorithm.converged(self.state))  # type: ignore[attr-defined]  # it is `Converging`

    @property
    def completed(self) -> int:
        """Number of completed generations; the start is not counted."""
        return max(0, self._recorded_rows - 1)

    @property
    def history(self) -> dict[str, np.ndarray]:
        """Columns with a row for the start and for each completed generation."""
        return {name: column.copy() for name, column in zip(self._columns, self.table.T, strict=True)}

    @property
    def answer(self) -> Population | None:
        """The point (one row) that the method's original program would report now; None if there is none yet."""
        if self.state is None or self.best_member is None:
            return None
        return self.algorithm.answer(self.state, self.best_member)

    def ending(self, status: int | None = None, more: Population | None = None, **costs: Any) -> Ending:
        """Return the record of the run at its end, or so far.

        `more` are points that were evaluated but not supplied; `costs` are further fields of `Ending`. Without a
        status, it is that of the run itself.
        """
        if status is None:
            status = self.status
        best = self.best if more is None else better_point(self.best, more)
        last = 0 if more is None else more.size
        failed = 0 if more is None else last - int(np.count_nonzero(more.valid))
        return Ending(
            status=status,
            dimension=self.task.dimension,
            best=best,
            answer=self.answer,
            population=self.state.population if self.state is not None else None,
            evaluations=self.evaluations + last,
            failed=self.failed + failed,
            generations=self.completed,
            history=self.history,
            **costs,
        )

    @property
    def latest(self) -> Mapping[str, float]:
        """The last row of the history, by column."""
        return dict(zip(self._columns, self._recorded[len(self._recorded) - len(self._columns) :], strict=True))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the history."""
        return self._columns

    @property
    def table(self) -> np.ndarray:
        """The history as an array (generations, columns)."""
        return np.array(self._recorded).reshape(self._recorded_rows, len(self._columns))

    @property
    def _recorded_rows(self) -> int:
        return len(self._recorded) // len(self._columns) if self._columns else 0

    def _step(self, points: Population | None) -> None:
        """Continue the coroutine until it asks for points within the budget, or the run ends."""
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
            points = self._whole(None)

    def _ask(self, request: Any) -> bool:
        """Set `wanted` to the rows of a request to evaluate, as many as the budget allows; return if there are any."""
        x, wanted = (request.x, request.wanted) if isinstance(request, Ask) else (request, None)
        rows = np.arange(len(x)) if wanted is None else np.flatnonzero(wanted)
        self._request, self._answered = x, None
        if self._known is not None and self.state is None and self._attempt == 0:
            same = (x[rows][:, None] == self._known.x).all(axis=2)  # (rows, k)
            known = same.any(axis=1)
            self._answered = rows[known], self._known.take(same[known].argmax(axis=1))
            rows = rows[~known]
        self._rows = rows[: self._left]
        self.wanted = x[self._rows] if len(self._rows) < len(x) else x
        return len(self._rows) > 0

    def _finish(self, state: State) -> bool:
        """Store the state that a coroutine returned and begin the next one; return False if the run is over."""
        self.wanted = None
        spent = self._left <= 0
        if self.state is None and not state.population.valid.any() and not spent:
            self._attempt += 1
            self.task = replace(self.task, x0=None)  # a method may ask for nothing else, for ever
        else:
            self.state = contiguous(state)
            if not self._is_best(self.best_member):
                self.best_member = better_point(self.best_member, self.state.population)
            self._record(self.state)
            self.generation += not spent
        self._begin()
        return not self._over

    def _is_best(self, point: Population | None) -> bool:
        """Return whether a point is as good as the best ever evaluated, so that no member can be better."""
        best = self.best
        return (
            point is not None
            and best is not None
            and point.violation[0] == best.violation[0]
            and point.f[0] == best.f[0]
        )

    def _begin(self) -> None:
        """Begin a generation, or another attempt at the first population."""
        self._at_start_of_generation = (self.requests, self.evaluations, self.failed, self.best)
        self._supplied: list[FGH] = []
        if self.allowance is not None:
            self.task = replace(self.task, max_evaluations=self.allowance)
        rng = NumpyStream(self.seed, self.run, self.generation, self._attempt if self.state is None else 0)
        if self.state is None:
            self._coroutine = self.algorithm.start(self.task, rng)
        else:
            self._coroutine = self.algorithm.generation(self.state, self.task, rng)

    def _whole(self, points: Population | None) -> Population:
        """Return all points of the request, with the values of those evaluated or known; the others are not valid."""
        n = len(self._request)
        if points is not None and len(points.x) == n:
            return points
        found = [] if self._answered is None else [self._answered]
        if points is not None:
            found.append((self._rows, points))
        like = found[0][1] if found else self.best
        p, q = (0, 0) if like is None else (like.g.shape[1], like.h.shape[1])
        f, violation, g, h = (np.full(shape, np.inf) for shape in (n, n, (n, p), (n, q)))
        g.fill(np.nan)
        h.fill(np.nan)
        for rows, part in found:
            f[rows], violation[rows], g[rows], h[rows] = part.f, part.violation, part.g, part.h
        return Population(self._request, f, violation, g, h)

    def _record(self, state: State) -> None:
        """Add a row to the history."""
        row = self._row(state)
        if not self._columns:
            self._columns = tuple(row)
        self._recorded.extend(map(float, row.values()))

    def _row(self, state: State) -> dict[str, Any]:
        best, population = self.best, state.population
        return {
            "evaluations": self.evaluations,
            "f": best.f[0] if best is not None else np.nan,
            "violation": best.violation[0] if best is not None else np.nan,
            "feasible_share": population.feasible_share,
            **self.algorithm.watch(state),
        }

    def recorded_columns(self, state: State) -> tuple[str, ...]:
        """Return the columns of the history, as a run in this state has them."""
        return tuple(self._row(state))


def _copied(f: np.ndarray, g: np.ndarray, h: np.ndarray) -> FGH:
    """Return copies: the caller may change its arrays, and the rounding of sums depends on the memory layout."""
    return np.array(f, float, order="C"), np.array(g, float, order="C"), np.array(h, float, order="C")


def better_point(best: Population | None, points: Population) -> Population | None:
    """Return the better of `best` and the best of `points`, `best` if they tie; points without values do not count."""
    violation = smallest(points.violation)
    if violation == np.inf or (best is not None and violation > best.violation[0]):
        return best
    row = points.best()
    if best is not None and (violation, points.f[row]) >= (best.violation[0], best.f[0]):
        return best
    return points.take(row[None])


NUMBERS = frozenset((np.bool_, np.int64, np.float64, bool, int, float, type(None)))  # and none


def contiguous(tree: Any) -> Any:
    """Return the state with contiguous arrays, so that sums round the same before and after it was in a file."""
    if type(tree) is np.ndarray:
        return tree if tree.flags.forc else tree.copy()
    if type(tree) is tuple:
        return tuple(map(contiguous, tree))
    copied = tree
    kind: Any = type(tree)
    for name in _names_of(kind):
        old = getattr(tree, name)
        if type(old) in NUMBERS or (type(old) is np.ndarray and old.flags.forc):
            continue  # nearly always
        new = contiguous(old)
        if new is not old:
            copied = copy.copy(tree) if copied is tree else copied
            object.__setattr__(copied, name, new)
    return copied


@cache
def _names_of(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind)) if is_dataclass(kind) else ()
