"""Evaluation in this process, one point or all rows at a time; a point that fails costs itself alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..problem import Problem
from .values import MalformedValue, point_values, row_values

Values = tuple[np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Failure:
    """An evaluation that gave no values."""

    x: np.ndarray  # (d,)
    kind: str  # the exception's type
    message: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}"


class InProcess:
    """Calls the problem's function; what raises is recorded and comes back as NaN.

    Something malformed (complex, text, a wrong shape) at the first evaluation is an error, because it is a mistake in
    the program; later it is a failure of that point, and nothing is lost.
    """

    KEPT = 1000  # failures remembered in full

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._counts: tuple[int, int] | None = None  # (p, q), once known
        if problem.n_ineq is not None and problem.n_eq is not None:
            self._counts = (problem.n_ineq, problem.n_eq)
        self._seen = False  # something well-formed was returned
        self.failures: list[Failure] = []

    def __call__(self, x: np.ndarray) -> Values:
        """f (n,), g (n, p), h (n, q) of the rows of x (n, d); NaN rows where the function failed."""
        if self._problem.vectorized:
            try:
                return self._checked(row_values(self._problem.fun(x.copy()), len(x)))
            except MalformedValue:
                if not self._seen:
                    raise
            except Exception as error:
                if len(x) == 1:
                    self._note(x[0], error)
                    return self._gather([None])
        return self._gather([self._one(row) for row in x])

    def _one(self, row: np.ndarray) -> Values | None:
        try:
            if self._problem.vectorized:  # row by row only to find the one that fails
                return self._checked(row_values(self._problem.fun(row[None].copy()), 1))
            f, g, h = point_values(self._problem.fun(row.copy()))
            return self._checked((np.array([f]), g[None], h[None]))
        except MalformedValue as error:
            if not self._seen:
                raise
            self._note(row, error)
        except Exception as error:
            self._note(row, error)
        return None

    def _checked(self, values: Values) -> Values:
        counts = (values[1].shape[1], values[2].shape[1])
        if self._counts is None:
            self._counts = counts
        if counts != self._counts:
            raise MalformedValue(
                "the function must return {} inequalities and {} equalities; got {} and {}".format(
                    *self._counts, *counts
                )
            )
        self._seen = True
        return values

    def _note(self, row: np.ndarray, error: Exception) -> None:
        if len(self.failures) < self.KEPT:
            self.failures.append(Failure(row.copy(), type(error).__name__, str(error)))

    def _gather(self, outcomes: list[Values | None]) -> Values:
        p, q = self._counts or (0, 0)
        nothing: Any = (np.full(1, np.nan), np.full((1, p), np.nan), np.full((1, q), np.nan))
        f, g, h = zip(*(nothing if values is None else values for values in outcomes), strict=True)
        return np.concatenate(f), np.concatenate(g), np.concatenate(h)
