"""A problem: a box, a function giving objective and constraints together, and what is known about them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .arrays import Array
from .bounds import box
from .violation import TOLERANCE, checked_tolerance


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
