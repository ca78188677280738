"""SciPy's constraints, converted to a function that returns (f, g, h) and calls each callable once per point."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .returned import MalformedValue, reals


@dataclass(frozen=True)
class Constraint:
    """The constraint lower <= c(x) <= upper on the components of one callable; equal limits make an equality."""

    fun: Callable[[np.ndarray], Any]
    lower: np.ndarray
    upper: np.ndarray
    label: str

    def split(self, c: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return g and h from the values c (..., k)."""
        lower, upper, equal = self._sides(c.shape[-1])
        above = np.isfinite(upper) & ~equal
        below = np.isfinite(lower) & ~equal
        g = np.concatenate([c[..., above] - upper[above], lower[below] - c[..., below]], axis=-1)
        return g, c[..., equal] - lower[equal]

    def names(self, k: int) -> tuple[list[str], list[str]]:
        """Return the names of the inequalities and equalities of `split`, for k components."""
        lower, upper, equal = self._sides(k)
        part = [self.label if k == 1 else f"{self.label}[{j}]" for j in range(k)]
        above = [f"{part[j]} <= {upper[j]:g}" for j in range(k) if np.isfinite(upper[j]) and not equal[j]]
        below = [f"{part[j]} >= {lower[j]:g}" for j in range(k) if np.isfinite(lower[j]) and not equal[j]]
        return above + below, [f"{part[j]} == {lower[j]:g}" for j in range(k) if equal[j]]

    def _sides(self, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        try:
            lower, upper = np.broadcast_to(self.lower, k), np.broadcast_to(self.upper, k)
        except ValueError:
            raise MalformedValue(
                f"{self.label}: the limits have {max(self.lower.size, self.upper.size)} components, its function {k}"
            ) from None
        return lower, upper, lower == upper


class Combined:
    """An objective and separate constraints as one function that returns (f, g, h)."""

    def __init__(self, fun: Callable[[Any], Any], limits: Sequence[Constraint], vectorized: bool) -> None:
        self._fun, self._limits, self._vectorized = fun, limits, vectorized
        self.constraint_names: tuple[str, ...] | None = None  # known from the first evaluation on

    def __call__(self, x: np.ndarray) -> tuple[Any, np.ndarray, np.ndarray]:
        f = self._fun(x)
        if isinstance(f, tuple | Mapping):
            raise MalformedValue("pass constraints either as `constraints` or by returning (f, g, h), not both")
        values = [self._values(limit, x) for limit in self._limits]
        g, h = zip(*(limit.split(c) for limit, c in zip(self._limits, values, strict=True)), strict=True)
        if self.constraint_names is None:
            pairs = [limit.names(c.shape[-1]) for limit, c in zip(self._limits, values, strict=True)]
            self.constraint_names = tuple(name for kind in (0, 1) for pair in pairs for name in pair[kind])
        return f, np.concatenate(g, axis=-1), np.concatenate(h, axis=-1)

    def _values(self, limit: Constraint, x: np.ndarray) -> np.ndarray:
        c = reals(limit.fun(x), f"constraint {limit.label}")
        if not self._vectorized:
            return c.reshape(-1)
        if c.shape[:1] != x.shape[:1] or c.ndim > 2:
            raise MalformedValue(f"{limit.label}: a vectorised constraint of {len(x)} rows returned shape {c.shape}")
        return c.reshape(len(x), -1)


def as_list(constraints: Any) -> list[Any]:
    """Return one of SciPy's constraints, or several, as a list."""
    one = isinstance(constraints, dict) or hasattr(constraints, "lb") or not hasattr(constraints, "__iter__")
    return [constraints] if one else list(constraints)


def constraints_of(constraints: Any, dimension: int) -> list[Constraint]:
    """Convert SciPy's constraints, one or a sequence, objects or dicts; ValueError if one is not possible."""
    return [_limit(constraint, k, dimension) for k, constraint in enumerate(as_list(constraints))]


def _limit(constraint: Any, k: int, dimension: int) -> Constraint:
    label = f"c{k}"
    if isinstance(constraint, dict):
        return _from_dict(constraint, label)
    if not (hasattr(constraint, "lb") and hasattr(constraint, "ub")):
        raise ValueError(
            "each constraint must be a scipy NonlinearConstraint or LinearConstraint, or a dict; "
            f"got {type(constraint).__name__}"
        )
    if np.any(getattr(constraint, "keep_feasible", False)):
        raise ValueError(f"constraint {k}: keep_feasible=True is not possible with a population; leave it out")
    lower, upper = (np.atleast_1d(reals(limit, f"constraint {k}")) for limit in (constraint.lb, constraint.ub))
    possible = (lower <= upper) & (lower < np.inf) & (upper > -np.inf)  # false for NaN
    if not np.all(possible):
        raise ValueError(
            f"constraint {k}: limits must be numbers with lb <= ub, lb < inf and ub > -inf; got lb={lower}, ub={upper}"
        )
    if not hasattr(constraint, "A"):
        return Constraint(constraint.fun, lower, upper, label)
    matrix = constraint.A.toarray() if hasattr(constraint.A, "toarray") else np.atleast_2d(constraint.A)
    if matrix.shape[1] != dimension:
        raise ValueError(f"constraint {k}: A has {matrix.shape[1]} columns; there are {dimension} variables")
    transposed = np.ascontiguousarray(matrix.T, dtype=float)
    return Constraint(lambda x: x @ transposed, lower, upper, label)


def _from_dict(constraint: dict[str, Any], label: str) -> Constraint:
    kind, fun = constraint.get("type"), constraint.get("fun")
    if kind not in ("eq", "ineq") or not callable(fun):
        raise ValueError(f"a dict constraint needs type 'eq' or 'ineq' and a callable fun; got {constraint!r}")
    args = tuple(constraint.get("args", ()))
    bound: Callable[[np.ndarray], Any] = (lambda x: fun(x, *args)) if args else fun
    return Constraint(bound, np.zeros(1), np.zeros(1) if kind == "eq" else np.full(1, np.inf), label)
