"""What evaluates rows: one protocol for a loop in this process, a pool, an executor, a cluster.

The user's function, called wherever this code runs; whatever it does becomes an outcome.

Evaluation in this process, one point at a time.

Evaluation in this process, all rows by one call.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from time import perf_counter
from types import MappingProxyType, TracebackType
from typing import Any, NamedTuple, Self

import numpy as np

from .values import (
    INVALID,
    MALFORMED,
    MEMORY,
    OK,
    RAISED,
    Columns,
    MalformedValue,
    Outcome,
    point_values,
    row_values,
    with_values,
)

Done = Callable[[int, Outcome], None]
Check = Callable[[], None]
NOTHING_KNOWN: Mapping[int, Outcome] = MappingProxyType({})
PULSE = 0.1  # seconds between two checks while waiting


class Evaluator(ABC):
    """Evaluates rows, in whatever order, and gives one outcome per row, in the order of the rows."""

    at_once = False  # whether all rows are finished together, so that `done` would tell nothing new

    def __init__(self) -> None:
        self.calls = 0  # rows given to the function, those given again counted again
        self.names: Sequence[str] | None = None  # of the constraints, where the function itself has them

    @abstractmethod
    def submit(
        self,
        x: np.ndarray,
        done: Done | None = None,
        known: Mapping[int, Outcome] = NOTHING_KNOWN,
        check: Check | None = None,
    ) -> Sequence[Outcome]:
        """The outcomes of the rows of x (n, d).

        `done(row, outcome)` is called as soon as a row is finished, in whatever order. Rows in `known` are not
        evaluated; their outcomes are taken as they are, and not told to `done`. `check()` is called between
        evaluations, and every tenth of a second where this process only waits; what it or `done` raises passes
        through, and evaluations that still run elsewhere are abandoned.
        """

    def close(self) -> None:  # noqa: B027  # most have nothing to close
        """End whatever was started."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self.close()


def missing(x: np.ndarray, known: Mapping[int, Outcome]) -> list[int]:
    """The rows of x that are not known yet."""
    return [row for row in range(len(x)) if row not in known]


def chunks(rows: Sequence[int], size: int) -> list[list[int]]:
    """The rows in pieces of at most so many, as even as possible.

    Examples
    --------
    >>> chunks(range(7), 3)
    [[0, 1, 2], [3, 4], [5, 6]]
    """
    if not rows:
        return []
    count = -(-len(rows) // size)
    ends = [(k * len(rows) + count - 1) // count for k in range(count + 1)]
    return [list(rows[a:b]) for a, b in pairwise(ends)]


class Reply(NamedTuple):
    """What comes back from wherever the function is."""

    outcomes: Sequence[Outcome]  # one per row
    calls: int  # rows given to the function, those given again counted again
    names: Sequence[str] | None  # of the constraints, where the function itself has them


class Caller:
    """A function of one point, or of rows if `vectorized`."""

    def __init__(self, fun: Callable[[Any], Any], vectorized: bool) -> None:
        self.fun, self.vectorized = fun, vectorized

    @property
    def names(self) -> Sequence[str] | None:
        return getattr(self.fun, "constraint_names", None)

    def __call__(self, x: np.ndarray) -> Reply:
        """The outcomes of the rows of x (n, d), one after another or all at once."""
        if self.vectorized:
            return self.rows(x)
        return Reply([self.point(row) for row in x], len(x), self.names)

    def point(self, x: np.ndarray) -> Outcome:
        """The outcome of one point (d,). The function gets a copy: what it does to it is its own affair."""
        began = perf_counter()
        try:
            value = self.fun(x.copy())
            seconds = perf_counter() - began
            return with_values(*point_values(value), seconds)
        except (Exception, SystemExit) as error:  # a simulator's script that exits is a failure like any other
            return _failed(error, perf_counter() - began)

    def rows(self, x: np.ndarray, first: bool = False, check: Check | None = None) -> Reply:
        """The outcomes of rows by one call; where that fails, row by row, to find those that make it fail.

        `first` says that the function has never returned anything in good form. A form that is wrong then is a
        mistake in the program, and not looked into.
        """
        n = len(x)
        if check is not None:
            check()
        began = perf_counter()
        try:
            value = self.fun(x.copy())
            seconds = (perf_counter() - began) / n
            return Reply(Columns(*row_values(value, n), seconds), n, self.names)
        except (Exception, SystemExit) as error:
            together = _failed(error, (perf_counter() - began) / n)
        if n == 1 or (first and together.status == MALFORMED):
            return Reply([together] * n, n, self.names)
        alone = [self.rows(row[None], check=check).outcomes[0] for row in x]
        if together.status == MALFORMED and all(outcome.status == MALFORMED for outcome in alone):
            alone = [together] * n  # the words on all rows say more than those on one
        return Reply(alone, 2 * n, self.names)


def _failed(error: BaseException, seconds: float) -> Outcome:
    kind, message = type(error).__name__, str(error)
    status = RAISED
    if isinstance(error, MalformedValue):
        status = MALFORMED
    elif isinstance(error, MemoryError):
        status = MEMORY
    return Outcome(status, seconds=seconds, error=f"{kind}: {message}" if message else kind, cause=error)


class Serial(Evaluator):
    """Calls the function row after row. A crash of the function is a crash of this process."""

    def __init__(self, caller: Caller) -> None:
        super().__init__()
        self._caller = caller

    def submit(
        self,
        x: np.ndarray,
        done: Done | None = None,
        known: Mapping[int, Outcome] = NOTHING_KNOWN,
        check: Check | None = None,
    ) -> Sequence[Outcome]:
        outcomes = []
        for row, point in enumerate(x):
            if row in known:
                outcomes.append(known[row])
                continue
            if check is not None:
                check()
            self.calls += 1
            outcome = self._caller.point(point)
            outcomes.append(outcome)
            if self.names is None:
                self.names = self._caller.names  # known from the first call on, if ever
            if done is not None:
                done(row, outcome)
        return outcomes


class Vectorised(Evaluator):
    """Calls the function once; only where that fails row by row, so that a point that fails costs itself alone."""

    at_once = True

    def __init__(self, caller: Caller) -> None:
        super().__init__()
        self._caller = caller
        self._first = True  # nothing in good form was returned yet

    def submit(
        self,
        x: np.ndarray,
        done: Done | None = None,
        known: Mapping[int, Outcome] = NOTHING_KNOWN,
        check: Check | None = None,
    ) -> Sequence[Outcome]:
        rows = [row for row in range(len(x)) if row not in known] if known else range(len(x))
        if not rows:
            return [known[row] for row in range(len(x))]
        outcomes = self._evaluated(x[rows] if known else x, check)
        if done is not None:
            for row, outcome in zip(rows, outcomes, strict=True):
                done(row, outcome)
        if not known:
            return outcomes
        whole = {**known, **dict(zip(rows, outcomes, strict=True))}
        return [whole[row] for row in range(len(x))]

    def _evaluated(self, x: np.ndarray, check: Check | None) -> Sequence[Outcome]:
        self.calls += len(x)
        outcomes, calls, self.names = self._caller.rows(x, self._first, check)
        self.calls += calls - len(x)
        if self._first:
            in_form = isinstance(outcomes, Columns) or any(o.status in (OK, INVALID) for o in outcomes)
            self._first = not in_form
        return outcomes
