"""The user's function, called wherever this code runs; whatever it does becomes an outcome."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from .evaluator import Check
from .outcome import MALFORMED, MEMORY, RAISED, Columns, Outcome, with_values
from .values import MalformedValue, point_values, row_values


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
