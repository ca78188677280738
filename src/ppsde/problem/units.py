"""The values of a search and those of the user: sign, sizes and tolerances of constraints, kinds of variables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..lookup import did_you_mean
from ..population import TOLERANCE, Population, checked_tolerance
from .returned import FGH, MalformedValue, point_values, row_values, traced_point_values, traced_row_values
from .variables import Variables

if TYPE_CHECKING:
    from . import Problem


@dataclass(frozen=True, eq=False)
class Units:
    """How the values of a search are converted to those of the user, and back.

    The search minimises `sign` f, and divides constraints, less what inequalities may be missed by, by `scale`.
    """

    tolerance: Any = TOLERANCE  # of the equalities in the search: a number, or an array (q,)
    variables: Variables | None = None
    sign: float = 1.0
    slack: np.ndarray | None = None  # (p,), by how much inequalities may be missed
    scale: np.ndarray | None = None  # (p + q,)

    @property
    def is_plain(self) -> bool:
        """Whether values are the same in both."""
        return self.sign == 1.0 and self.slack is None and self.scale is None

    def to_search(self, f: Any, g: Any, h: Any) -> FGH:
        """Convert values f (...), g (..., p), h (..., q) of the user."""
        p = g.shape[-1]
        if self.slack is not None:
            g = g - self.slack
        if self.scale is not None:
            g, h = g / self.scale[:p], h / self.scale[p:]
        return self.sign * f, g, h

    def points(self, points: Population | None) -> Population | None:
        """Convert the points of a search; the violation stays that of the search."""
        if points is None or (self.variables is None and self.is_plain):
            return points
        x = points.x if self.variables is None else self.variables.to_user(points.x)
        g, h = points.g, points.h
        if self.scale is not None:
            g, h = g * self.scale[: g.shape[1]], h * self.scale[g.shape[1] :]
        if self.slack is not None:
            g = g + self.slack
        return replace(points, x=x, f=self.sign * points.f, g=g, h=h)

    def x(self, x: np.ndarray) -> np.ndarray:
        """Convert points (d,) or (n, d) of a search; NaN stays NaN."""
        if self.variables is None:
            return x
        known = ~np.isnan(x).any(axis=-1, keepdims=True)
        user: np.ndarray = np.where(known, self.variables.to_user(np.where(known, x, self.variables.box[:, 0])), np.nan)
        return user

    def history(self, columns: Mapping[str, Any]) -> dict[str, Any]:
        """Convert the columns of a history."""
        return {name: self.sign * column if name == "f" else column for name, column in columns.items()}


def units_of(problem: Problem) -> Units:
    """Return the units of a problem, from its tolerance, scale and sense."""
    sign = -1.0 if problem.maximize else 1.0
    simple = not isinstance(problem.tolerance, Mapping | list | tuple | np.ndarray)
    tolerance = checked_tolerance(problem.tolerance) if simple else None
    if simple and problem.scale is None:
        return Units(tolerance, problem.variables, sign)
    if problem.counts is None:
        raise ValueError("tolerance or scale of single constraints needs their numbers, n_ineq and n_eq")
    p, q = problem.counts
    allowed = np.concatenate([np.zeros(p), np.full(q, TOLERANCE if tolerance is None else tolerance)])
    if not simple:
        allowed = _by_constraint("tolerance", problem.tolerance, problem.constraint_names, allowed, 0.0)
    scale = np.ones(p + q)
    if problem.scale is not None:
        scale = _by_constraint("scale", problem.scale, problem.constraint_names, scale, np.finfo(float).tiny)
    in_search = allowed[p:] / scale[p:]
    alike = q == 0 or bool((in_search == in_search[0]).all())
    return Units(
        tolerance=(float(in_search[0]) if q else TOLERANCE) if alike else in_search,
        variables=problem.variables,
        sign=sign,
        slack=allowed[:p] if allowed[:p].any() else None,
        scale=scale if (scale != 1.0).any() else None,
    )


def _by_constraint(word: str, given: Any, names: Sequence[str] | None, usual: np.ndarray, least: float) -> np.ndarray:
    """Return a number for each constraint, from a sequence, or from a mapping by name with the usual one for others."""
    if isinstance(given, Mapping):
        if names is None or len(names) != len(usual):
            raise ValueError(f"{word} by name needs constraint_names, {len(usual)} of them")
        found = usual.copy()
        for name, value in given.items():
            if name not in names:
                raise ValueError(f"{word}: unknown constraint {name!r}{did_you_mean(name, names)}")
            found[list(names).index(name)] = _number(word, value, least)
        return found
    values = list(given) if isinstance(given, list | tuple | np.ndarray) else []
    if len(values) != len(usual):
        raise ValueError(f"{word} must have a number for each of the {len(usual)} constraints; got {given!r}")
    return np.array([_number(word, value, least) for value in values])


def _number(word: str, value: Any, least: float) -> float:
    sound = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not sound or not least <= value < np.inf:
        limit = "> 0" if least > 0 else ">= 0"
        raise ValueError(f"{word} of a constraint must be a finite number {limit}; got {value!r}")
    return float(value)


class Converted:
    """A function whose values are converted to those of the search."""

    def __init__(self, fun: Callable[..., Any], units: Units, vectorized: bool) -> None:
        self._fun, self._units, self._vectorized = fun, replace(units, variables=None), vectorized

    @property
    def constraint_names(self) -> Sequence[str] | None:
        """Names of the constraints, if the user's function has them."""
        return getattr(self._fun, "constraint_names", None)

    def __call__(self, x: Any) -> Any:
        value = self._fun(x)
        if hasattr(x, "at"):  # an array or a tracer of JAX
            traced = traced_row_values(value, len(x)) if self._vectorized else traced_point_values(value)
            return self._units.to_search(*traced)
        f, g, h = row_values(value, len(x)) if self._vectorized else point_values(value)
        for part, count in ((g, self._units.scale), (g, self._units.slack)):
            expected = None if count is None else len(count) - (h.shape[-1] if count is self._units.scale else 0)
            if expected is not None and part.shape[-1] != expected:
                raise MalformedValue(f"there must be {expected} inequalities, as n_ineq says; got {part.shape[-1]}")
        return self._units.to_search(f, g, h)


class InUserSpace:
    """A function of points of the search, which calls the user's function with the user's points."""

    def __init__(self, fun: Callable[[np.ndarray], Any], variables: Variables) -> None:
        self._fun, self._variables = fun, variables

    @property
    def constraint_names(self) -> Sequence[str] | None:
        """Names of the constraints, if the user's function has them."""
        return getattr(self._fun, "constraint_names", None)

    def __call__(self, x: np.ndarray) -> Any:
        return self._fun(self._variables.to_user(x))
