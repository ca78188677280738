"""The box a search may not leave, from whatever form a user has it in.

A problem: a box, a function giving objective and constraints together, and what is known about them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .arrays import Array
from .population import TOLERANCE, checked_tolerance


def box(bounds: Any) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper limits (d,) from a SciPy `Bounds`, a sequence of pairs, or two arrays.

    Two sequences of length two are read as two (low, high) pairs, as SciPy reads them.

    Examples
    --------
    >>> box([(0, 1), (-2, 2), (5, 6)])
    (array([ 0., -2.,  5.]), array([1., 2., 6.]))
    >>> box(([0, -2, 5], [1, 2, 6]))
    (array([ 0., -2.,  5.]), array([1., 2., 6.]))
    """
    if hasattr(bounds, "lb") and hasattr(bounds, "ub"):
        lower, upper = np.broadcast_arrays(_floats(bounds.lb), _floats(bounds.ub))
    else:
        table = _floats(bounds)
        if table.ndim == 2 and table.shape[1] == 2:
            lower, upper = table[:, 0], table[:, 1]
        elif table.ndim == 2 and table.shape[0] == 2:
            lower, upper = table
        else:
            raise ValueError(
                f"bounds must be a scipy Bounds, pairs (low, high) or two arrays (lows, highs); got shape {table.shape}"
            )
    lower, upper = np.array(lower, float).reshape(-1), np.array(upper, float).reshape(-1)
    if lower.size == 0:
        raise ValueError("bounds must hold at least one variable; got none")
    for j, (low, high) in enumerate(zip(lower, upper, strict=True)):
        if not (np.isfinite(low) and np.isfinite(high)):
            raise ValueError(f"bounds must be finite numbers; variable {j} has ({low}, {high})")
        if low > high:
            raise ValueError(f"each lower bound must not exceed its upper bound; variable {j} has ({low}, {high})")
        if not np.isfinite(high - low):
            raise ValueError(f"bounds must be at most 1.8e308 apart; variable {j} has ({low}, {high})")
    lower.flags.writeable = upper.flags.writeable = False
    return lower, upper


def _floats(values: Any) -> np.ndarray:
    try:
        array = np.asarray(values)
        if np.iscomplexobj(array):
            raise ValueError("complex")
        return array.astype(float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"bounds must be real numbers in a regular table; got {values!r} ({error})") from None


@dataclass(frozen=True)
class Optimum:
    """What is known of the best value: `status` is 'proved', 'best known' or 'infeasible problem'."""

    value: float
    status: str
    violation: float = 0.0  # of the competition's measure, where no feasible point exists
    x: np.ndarray | None = None


@dataclass(frozen=True)
class Problem:
    """Minimise f(x) subject to g(x) <= 0, |h(x)| <= tolerance and the box.

    Parameters
    ----------
    fun : callable
        `fun(x)` returns `(f, g, h)`, or only `f` where there are no constraints. With `vectorized=True` it takes
        points as rows (n, d) and returns arrays (n,), (n, p), (n, q); otherwise one point (d,), a number and
        sequences of p and q numbers.
    bounds : scipy Bounds, pairs, or two arrays
    n_ineq, n_eq : int, optional
        How many constraints; found at the first evaluation when not given.
    constraint_names : sequence of str, optional
        One per constraint, inequalities first.

    Examples
    --------
    >>> disc = Problem(lambda x: (x[0] + x[1], [x[0] ** 2 + x[1] ** 2 - 1], []), [(-2, 2), (-2, 2)], name="disc")
    >>> f, g, h = disc.evaluate([[0.0, 1.0]])
    >>> f, g, h.shape
    (array([1.]), array([[0.]]), (1, 0))
    """

    fun: Callable[..., Any]
    bounds: Any
    n_ineq: int | None = None
    n_eq: int | None = None
    vectorized: bool = False
    tolerance: float = TOLERANCE
    name: str = "problem"
    constraint_names: Sequence[str] | None = None
    optimum: Optimum | None = None
    properties: Mapping[str, Any] = field(default_factory=dict)  # free facts: separable, rotated, source ...
    lower: np.ndarray = field(init=False)  # (d,)
    upper: np.ndarray = field(init=False)  # (d,)

    def __post_init__(self) -> None:
        if not callable(self.fun):
            raise ValueError(f"fun must be callable; got {type(self.fun).__name__}")
        checked_tolerance(self.tolerance)
        for name in ("n_ineq", "n_eq"):
            count = getattr(self, name)
            if count is None:
                continue
            if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 0:
                raise ValueError(f"{name} must be an int >= 0; got {count!r}")
        lower, upper = box(self.bounds)
        object.__setattr__(self, "lower", lower)
        object.__setattr__(self, "upper", upper)

    @property
    def dimension(self) -> int:
        return len(self.lower)

    @property
    def counts(self) -> tuple[int, int] | None:
        """How many inequalities and equalities there are; None where that is found at the first evaluation."""
        return None if self.n_ineq is None or self.n_eq is None else (self.n_ineq, self.n_eq)

    def evaluate(self, x: Array) -> tuple[Array, Array, Array]:
        """Objective (n,), inequalities (n, p) and equalities (n, q) of the rows of `x` (n, d).

        Errors of the function itself pass through. A vectorised function of array code also takes JAX arrays.
        """
        if not isinstance(x, np.ndarray) and not hasattr(x, "at"):  # JAX arrays and tracers pass as they are
            x = np.asarray(x, float)
        if x.ndim != 2 or x.shape[1] != self.dimension:
            raise ValueError(f"{self.name}: points must be rows of shape (n, {self.dimension}); got {x.shape}")
        if isinstance(x, np.ndarray) and np.isnan(x).any():
            raise ValueError(f"{self.name}: points must not hold NaN; row {int(np.isnan(x).any(1).argmax())} does")
        if self.vectorized:
            return self.fun(x)
        f, g, h = zip(*(parts_of(self.fun(row.copy())) for row in x), strict=True)
        return np.array(f, float), np.array(g, float).reshape(len(x), -1), np.array(h, float).reshape(len(x), -1)


def parts_of(value: Any) -> tuple[Any, Any, Any]:
    """(f, g, h) of what a function returned; () for constraints that are not there."""
    if not isinstance(value, tuple):
        return value, (), ()
    f, g, h = value
    return f, () if g is None else g, () if h is None else h
