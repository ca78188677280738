"""`Problem`: a function that returns objective and constraints, and its bounds; and checks of the returned values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .arrays import Array
from .checks import check_int
from .markup import Markup, tag
from .population import TOLERANCE, checked_tolerance


def box(bounds: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return lower and upper bounds (d,) from a SciPy `Bounds`, a sequence of pairs, or two arrays.

    Two sequences of length two are read as two (low, high) pairs, as SciPy does. ValueError if they are not finite or
    not in order.

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
        raise ValueError("bounds must have at least one variable; got none")
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


FGH = tuple[Array, Array, Array]  # f (n,), g (n, p), h (n, q)
LONGEST_TEXT = 200  # letters of a value that a message shows
SHOWN_VARIABLES = 12  # in a notebook


class MalformedValue(ValueError):
    """Raised when a function does not return f or (f, g, h) made of real numbers in the expected shapes."""


@dataclass(frozen=True)
class Optimum:
    """The best value known of a problem; `status` is 'proved', 'best known' or 'infeasible problem'."""

    value: float
    status: str
    violation: float = 0.0  # by the competition's measure, if no feasible point exists
    x: np.ndarray | None = None


@dataclass(frozen=True)
class Problem:
    """Minimise f(x) subject to g(x) <= 0, |h(x)| <= tolerance and the box.

    Parameters
    ----------
    fun : callable
        `fun(x)` returns `(f, g, h)`, or only `f` if there are no constraints. With `vectorized=True` it takes
        points as rows (n, d) and returns arrays (n,), (n, p), (n, q); otherwise one point (d,), a number and
        sequences of p and q numbers.
    bounds : scipy Bounds, pairs, or two arrays
    n_ineq, n_eq : int, optional
        Numbers of constraints; found at the first evaluation if None.
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
    properties: Mapping[str, Any] = field(default_factory=dict)  # any further facts: separable, rotated, source ...
    lower: np.ndarray = field(init=False)  # (d,)
    upper: np.ndarray = field(init=False)  # (d,)

    def __post_init__(self) -> None:
        if not callable(self.fun):
            raise ValueError(f"fun must be callable; got {type(self.fun).__name__}")
        checked_tolerance(self.tolerance)
        for name in ("n_ineq", "n_eq"):
            count = getattr(self, name)
            if count is not None:
                check_int(name, count, 0)
        lower, upper = box(self.bounds)
        object.__setattr__(self, "lower", lower)
        object.__setattr__(self, "upper", upper)

    def __repr__(self) -> str:
        return f"Problem {self.name!r}: {', '.join(self._facts())}"

    def _repr_html_(self) -> str:
        """Return the problem as HTML, for notebooks: what it has, and the bounds of the first variables."""
        heads = [tag("th", text, style="text-align:right") for text in ("variable", "lower", "upper")]
        rows = [
            tag("tr", *(tag("td", text, style="text-align:right") for text in (f"x[{k}]", f"{low:g}", f"{high:g}")))
            for k, (low, high) in enumerate(zip(self.lower.tolist(), self.upper.tolist(), strict=True))
        ]
        more = len(rows) - SHOWN_VARIABLES
        return tag(
            "div",
            tag("b", str(self.name)),
            f": {', '.join(self._facts())}",
            tag("table", tag("thead", tag("tr", *heads)), tag("tbody", *rows[:SHOWN_VARIABLES])),
            tag("div", f"and {more} more variables") if more > 0 else Markup(),
        )

    def _facts(self) -> list[str]:
        def count(number: int, one: str, many: str) -> str:
            return f"{number} {one if number == 1 else many}"

        facts = [count(self.dimension, "variable", "variables")]
        if self.counts is None:
            facts.append("constraints counted at the first evaluation")
        else:
            facts.append(count(self.counts[0], "inequality", "inequalities"))
            facts.append(count(self.counts[1], "equality", "equalities"))
        if self.optimum is not None:
            facts.append(f"{self.optimum.status} {self.optimum.value:.10g}")
        return facts

    @property
    def dimension(self) -> int:
        """Number of variables."""
        return len(self.lower)

    @property
    def counts(self) -> tuple[int, int] | None:
        """Numbers of inequalities and equalities; None if they are found at the first evaluation."""
        return None if self.n_ineq is None or self.n_eq is None else (self.n_ineq, self.n_eq)

    def evaluate(self, x: Array) -> tuple[Array, Array, Array]:
        """Return objective (n,), inequalities (n, p) and equalities (n, q) of the rows of `x` (n, d).

        Exceptions of the function pass through. `x` may be a JAX array if the function is vectorised array code.
        """
        if not isinstance(x, np.ndarray) and not hasattr(x, "at"):  # JAX arrays and tracers pass as they are
            x = np.asarray(x, float)
        if x.ndim != 2 or x.shape[1] != self.dimension:
            raise ValueError(f"{self.name}: points must be rows of shape (n, {self.dimension}); got {x.shape}")
        if isinstance(x, np.ndarray) and np.isnan(x).any():
            raise ValueError(f"{self.name}: points must not contain NaN; row {int(np.isnan(x).any(1).argmax())} does")
        if self.vectorized:
            value = self.fun(x)
            return row_values(value, len(x)) if isinstance(x, np.ndarray) else parts_of(value)
        f, g, h = zip(*(point_values(self.fun(row.copy())) for row in x), strict=True)
        return np.array(f), np.array(g).reshape(len(x), -1), np.array(h).reshape(len(x), -1)


def point_values(value: Any) -> tuple[float, np.ndarray, np.ndarray]:
    """Return f, g (p,), h (q,) from the value of a function of one point; `MalformedValue` if that is not possible."""
    f, g, h = parts_of(value)
    objective = reals(f, "the objective")
    if objective.size != 1:
        raise MalformedValue(f"the objective must be one number; got shape {objective.shape}")
    return float(objective.reshape(())), reals(g, "g").reshape(-1), reals(h, "h").reshape(-1)


def row_values(value: Any, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return f (n,), g (n, p), h (n, q) from the value of a vectorised function of n rows; or `MalformedValue`."""
    f, g, h = parts_of(value)
    objective = reals(f, "the objective")
    if objective.shape != (n,) and objective.shape != (n, 1):
        raise MalformedValue(
            f"a vectorised objective of {n} rows must have shape ({n},); got {objective.shape}. "
            "It is called with points as rows (n, d)"
        )
    return objective.reshape(n), _columns(g, n, "g"), _columns(h, n, "h")


def parts_of(value: Any) -> tuple[Any, Any, Any]:
    """Return (f, g, h) from the value of a function; () for constraints that it does not have."""
    if not isinstance(value, tuple):
        return value, (), ()
    if len(value) != 3:
        raise MalformedValue(f"the function must return f or a tuple (f, g, h); got a tuple of {len(value)}")
    f, g, h = value
    return f, () if g is None else g, () if h is None else h


def reals(value: Any, name: str) -> np.ndarray:
    """Return the value as an array of 64-bit floats; `MalformedValue` if it is not made of real numbers."""
    if isinstance(value, np.ma.MaskedArray) and np.ma.getmaskarray(value).any():
        raise MalformedValue(f"{name} must be real numbers; got masked values: {_short(value)}")
    try:
        array = np.asarray(value)
    except ValueError as error:  # a ragged nest of lists
        raise MalformedValue(f"{name} must be real numbers in a regular shape; got {_short(value)} ({error})") from None
    if array.dtype.kind not in "fiub":
        if array.size == 0:  # np.asarray([]) is float, but np.asarray of an empty object array is not
            return array.astype(float)
        kind = "complex numbers" if array.dtype.kind == "c" else type(value).__name__
        raise MalformedValue(f"{name} must be real numbers; got {kind}: {_short(value)}")
    return array if array.dtype == np.float64 else array.astype(float)


def _columns(value: Any, n: int, name: str) -> np.ndarray:
    array = reals(value, name)
    if array.ndim == 2 and array.shape[0] == n:
        return array
    if array.size == 0:
        return np.empty((n, 0))
    if array.shape == (n,):
        return array.reshape(n, 1)
    raise MalformedValue(
        f"vectorised {name} of {n} rows must have shape ({n}, number of constraints); got {array.shape}"
    )


def _short(value: Any) -> str:
    try:
        text = repr(value)
    except Exception as error:  # an object of a user's class may raise anything
        return f"<{type(value).__name__} whose repr raises {type(error).__name__}>"
    return text if len(text) <= LONGEST_TEXT else text[:LONGEST_TEXT] + "..."
