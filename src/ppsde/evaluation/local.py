"""Evaluators: one protocol for a loop in this process, a pool, an executor, a cluster; here those of this process."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from itertools import pairwise
from time import perf_counter
from types import TracebackType
from typing import Any, NamedTuple, Self

import numpy as np

from ..problem import MalformedValue, row_values
from .values import MALFORMED, Values

Check = Callable[[], None]
PULSE = 0.1  # seconds between two checks while waiting


def no_check() -> None:
    """Let the run go on."""


class Evaluator(ABC):
    """Evaluates rows of points, in any order."""

    def __init__(self) -> None:
        self.calls = 0  # rows given to the function, those given again counted again
        self.names: Sequence[str] | None = None  # of the constraints, where the function itself has them

    @abstractmethod
    def submit(self, values: Values, rows: Sequence[int], check: Check = no_check) -> None:
        """Evaluate some rows of `values.x` and store what comes back in `values`, each row when it has finished.

        `check()` is called between evaluations, and every tenth of a second where this process only waits. Exceptions
        of it and of `values` pass through, and evaluations that still run elsewhere are abandoned.
        """

    def close(self) -> None:  # noqa: B027  # most have nothing to close
        """End whatever was started."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self.close()


class Serial(Evaluator):
    """Calls a function of one point row after row. A crash of the function is a crash of this process."""

    def __init__(self, fun: Callable[[Any], Any]) -> None:
        super().__init__()
        self._fun = fun

    def submit(self, values: Values, rows: Sequence[int], check: Check = no_check) -> None:
        fun, x, put = self._fun, values.x, values.put
        for row in rows:
            check()
            self.calls += 1
            began = perf_counter()
            try:
                value = fun(x[row].copy())  # whatever the function does to it is its own affair
            except (Exception, SystemExit) as error:  # a simulator's script that exits is a failure like any other
                values.fail(row, error, perf_counter() - began)
            else:
                put(row, value, perf_counter() - began)
        self.names = getattr(fun, "constraint_names", None)


class Vectorised(Evaluator):
    """Calls a function of rows once; row by row only where that fails, so that a failing point costs itself alone."""

    def __init__(self, fun: Callable[[Any], Any]) -> None:
        super().__init__()
        self._fun = fun

    def submit(self, values: Values, rows: Sequence[int], check: Check = no_check) -> None:
        together = self._call(values, rows, check)
        self.names = getattr(self._fun, "constraint_names", None)
        if together is None:
            return
        malformed = isinstance(together, MalformedValue)
        if len(rows) > 1 and not (malformed and values.first_decides):
            alone = Values(values.x[list(rows)], apart=True)
            for k in range(len(rows)):
                error = self._call(alone, [k], check)
                if error is not None:
                    alone.fail(k, error, 0.0)
            if not (
                malformed
                and all(failure.status == MALFORMED for failure in alone.failures.values())
                and len(alone.failures) == len(rows)
            ):
                values.merge(rows, alone)
                return
        for row in rows:  # the words on all rows say more than those on one
            values.fail(row, together, 0.0)

    def _call(self, values: Values, rows: Sequence[int], check: Check) -> BaseException | None:
        """Evaluate rows by one call; the exception if that failed."""
        check()
        x = values.x.copy() if len(rows) == len(values.x) else values.x[list(rows)]
        self.calls += len(rows)
        began = perf_counter()
        try:
            f, g, h = row_values(self._fun(x), len(rows))
        except (Exception, SystemExit) as error:
            return error
        values.put_rows(rows, f, g, h, (perf_counter() - began) / len(rows))
        return None


class Reply(NamedTuple):
    """Values that come back from another process or thread, and what they cost."""

    values: Values
    calls: int  # rows given to the function, those given again counted again
    names: Sequence[str] | None  # of the constraints, where the function itself has them


class Caller:
    """A function of one point, or of rows if `vectorized`, to be called wherever this object is sent."""

    def __init__(self, fun: Callable[[Any], Any], vectorized: bool) -> None:
        self.fun, self.vectorized = fun, vectorized

    def evaluator(self) -> Evaluator:
        """The evaluator that calls it in this process."""
        return Vectorised(self.fun) if self.vectorized else Serial(self.fun)

    def __call__(self, x: np.ndarray) -> Reply:
        """Evaluate the rows of x (n, d)."""
        evaluator, values = self.evaluator(), Values(x, apart=True)
        evaluator.submit(values, range(len(x)))
        return Reply(values, evaluator.calls, evaluator.names)


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
