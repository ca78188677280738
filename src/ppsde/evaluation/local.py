"""`Evaluator`, the interface of all evaluators, and those that call the function in this process."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from itertools import pairwise
from time import perf_counter
from types import TracebackType
from typing import Any, NamedTuple, Self

import numpy as np

from ..problem.returned import MalformedValue, row_values
from .arrivals import Arrivals
from .values import MALFORMED, Values

Check = Callable[[], None]
PULSE = 0.1  # seconds between two checks while waiting


def no_check() -> None:
    """Do nothing: a check that never ends the run."""


class Evaluator(ABC):
    """Evaluates rows of points, in any order."""

    def __init__(self) -> None:
        self.calls = 0  # rows passed to the function, retries included
        self.names: Sequence[str] | None = None  # of the constraints, where the function itself has them

    @abstractmethod
    def submit(self, values: Values, rows: Sequence[int], check: Check = no_check) -> None:
        """Evaluate some rows of `values.x` and store the results in `values`, each row when it has finished.

        `check()` is called between evaluations, and every tenth of a second while this process waits. Exceptions that
        it or `values` raises pass through, and evaluations that still run elsewhere are abandoned.
        """

    def stream(self, arrivals: Arrivals, check: Check = no_check) -> None:
        """Evaluate points one by one while `arrivals` has some, and store the values of each when it has finished.

        No worker waits for another. Exceptions pass through, as from `submit`.
        """
        while numbers := arrivals.begin(1):
            for number in numbers:
                values = Values(arrivals.x[numbers], apart=True)
                self.submit(values, [0], check)
                arrivals.merge([number], values)

    def close(self) -> None:  # noqa: B027  # most have nothing to close
        """End the processes and threads that the evaluator started."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self.close()


class _Forks:
    """How often the process was forked to become this one; counted without asking the system for its id each time."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self) -> None:
        self.count += 1


forks = _Forks()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=forks)


def end_if_forked(before: int) -> None:
    """End this process if the function has forked it: the parent evaluates the same point, and goes on."""
    if forks.count != before:
        os._exit(1)


class Serial(Evaluator):
    """Calls a function of one point, row after row. If the function crashes, so does this process."""

    def __init__(self, fun: Callable[[Any], Any]) -> None:
        super().__init__()
        self._fun = fun

    def submit(self, values: Values, rows: Sequence[int], check: Check = no_check) -> None:
        """Call the function for one row after the other."""
        fun, x, put, before = self._fun, values.x, values.put, forks.count
        for row in rows:
            check()
            self.calls += 1
            began = perf_counter()
            try:
                value = fun(x[row].copy())  # a copy, because the function may change it
                if forks.count != before:
                    end_if_forked(before)
            except (Exception, SystemExit) as error:  # a script that exits is a failure like any other
                end_if_forked(before)
                values.fail(row, error, perf_counter() - began)
            else:
                put(row, value, perf_counter() - began)
        self.names = getattr(fun, "constraint_names", None)


class Vectorised(Evaluator):
    """Calls a vectorised function once; if that fails, row by row, so that only the failing points have no values."""

    def __init__(self, fun: Callable[[Any], Any]) -> None:
        super().__init__()
        self._fun = fun

    def submit(self, values: Values, rows: Sequence[int], check: Check = no_check) -> None:
        """Call the function with all rows, then with single rows if that failed."""
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
        for row in rows:  # the error for all rows says more than the errors for single rows
            values.fail(row, together, 0.0)

    def _call(self, values: Values, rows: Sequence[int], check: Check) -> BaseException | None:
        """Evaluate rows by one call; return the exception if it failed."""
        check()
        x = values.x.copy() if len(rows) == len(values.x) else values.x[list(rows)]
        self.calls += len(rows)
        began, before = perf_counter(), forks.count
        try:
            returned = self._fun(x)
            end_if_forked(before)
            f, g, h = row_values(returned, len(rows))
        except (Exception, SystemExit) as error:
            end_if_forked(before)
            return error
        values.put_rows(rows, f, g, h, (perf_counter() - began) / len(rows))
        return None


class Reply(NamedTuple):
    """Values that another process or thread sends back, and the number of calls that they took."""

    values: Values
    calls: int  # rows passed to the function, retries included
    names: Sequence[str] | None  # of the constraints, where the function itself has them


class Caller:
    """A function of one point, or of rows if `vectorized`, that can be sent to other processes and called there."""

    def __init__(self, fun: Callable[[Any], Any], vectorized: bool) -> None:
        self.fun, self.vectorized = fun, vectorized

    def evaluator(self) -> Evaluator:
        """Return the evaluator that calls the function in this process."""
        return Vectorised(self.fun) if self.vectorized else Serial(self.fun)

    def __call__(self, x: np.ndarray) -> Reply:
        """Evaluate the rows of x (n, d) and return their values."""
        evaluator, values = self.evaluator(), Values(x, apart=True)
        evaluator.submit(values, range(len(x)))
        return Reply(values, evaluator.calls, evaluator.names)


def chunks(rows: Sequence[int], size: int) -> list[list[int]]:
    """Split rows into lists of at most `size`, as equal in length as possible.

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
