"""Integer and log-scaled variables: the box that is searched, and the conversion of its points to the user's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .problem import Problem

LARGEST = 2**52 - 1  # beyond it there is no number halfway between two integers


@dataclass(frozen=True, eq=False)
class Variables:
    """Kinds of the variables, and the box in which a search can treat all of them as real numbers.

    The box of an integer variable extends half a unit beyond its first and last integer, so that each integer has the
    same share of it. A log-scaled variable is searched in its decimal logarithm. A variable may be both.

    Parameters
    ----------
    lower, upper : array (d,)
        The user's bounds, finite and in order.
    integrality : bool or array (d,)
        True or 1 where a variable is an integer.
    log : bool or array (d,)
        True or 1 where a variable is searched in its logarithm; its bounds must be positive.

    Examples
    --------
    >>> variables = Variables([1, 0.01], [6, 100.0], integrality=[1, 0], log=[0, 1])
    >>> variables.box
    array([[ 0.5,  6.5],
           [-2. ,  2. ]])
    >>> variables.to_user([[0.5, 0.0], [3.4, 2.0], [6.5, -2.0]])
    array([[1.e+00, 1.e+00],
           [3.e+00, 1.e+02],
           [6.e+00, 1.e-02]])
    """

    lower: np.ndarray  # (d,); whole numbers for integer variables
    upper: np.ndarray  # (d,)
    integrality: np.ndarray  # (d,) bool
    log: np.ndarray  # (d,) bool
    box: np.ndarray = field(init=False)  # (d, 2), the bounds of the search

    def __post_init__(self) -> None:
        lower, upper = np.array(self.lower, float), np.array(self.upper, float)
        if lower.ndim != 1 or lower.shape != upper.shape:
            raise ValueError(f"lower and upper must have one shape (d,); got {lower.shape} and {upper.shape}")
        integer, log = mask(self.integrality, len(lower), "integrality"), mask(self.log, len(lower), "log")
        for j in np.flatnonzero(log & ~(lower > 0)):
            raise ValueError(f"a log-scaled variable needs positive bounds; variable {j} has ({lower[j]}, {upper[j]})")
        first, last = np.ceil(lower), np.floor(upper)
        for j in np.flatnonzero(integer & (first > last)):
            raise ValueError(f"there is no integer within the bounds of variable {j}: ({lower[j]}, {upper[j]})")
        for j in np.flatnonzero(integer & (np.maximum(np.abs(first), np.abs(last)) > LARGEST)):
            raise ValueError(f"integers must lie within +-{LARGEST}; variable {j} has ({lower[j]}, {upper[j]})")
        lower, upper = np.where(integer, first, lower) + 0.0, np.where(integer, last, upper) + 0.0  # no negative zero
        margin = np.where(integer & (lower < upper), 0.5, 0.0)  # a fixed variable stays fixed
        box = np.stack([lower - margin, upper + margin], axis=1)
        box[log] = np.log10(box[log])
        for name, value in (("lower", lower), ("upper", upper), ("integrality", integer), ("log", log), ("box", box)):
            value.flags.writeable = False
            object.__setattr__(self, name, value)

    def to_user(self, x: Any) -> np.ndarray:
        """Convert points of the search (d,) or (n, d) to the user's, which are always inside the user's bounds.

        Halves are rounded up, but never out of the bounds. The ends of the box become exactly the bounds; if the
        logarithms of two close bounds are the same number, it becomes the upper one.
        """
        x = self._shaped(x, "x")
        user = x.copy()
        with np.errstate(over="ignore"):  # only for points outside the box, which are clipped below
            user[..., self.log] = 10.0 ** user[..., self.log]
        below = np.floor(user)
        user = np.where(self.integrality, below + (user - below >= 0.5), user)
        user = np.clip(user, self.lower, self.upper)
        # 10 ** log10(bound) may miss the bound by a rounding error.
        user = np.where(x <= self.box[:, 0], self.lower, user)
        return np.where(x >= self.box[:, 1], self.upper, user)

    def to_search(self, x: Any) -> np.ndarray:
        """Convert the user's points (d,) or (n, d) to points of the search; logarithms have rounding errors.

        ValueError if a point is outside the bounds, or not whole where a variable is an integer.
        """
        x = self._shaped(x, "x0")
        inside = (x >= self.lower) & (x <= self.upper)  # false for NaN
        whole = ~self.integrality | (x == np.floor(x))
        for good, words in ((inside, "lie inside the bounds"), (whole, "be whole where a variable is an integer")):
            rows = np.atleast_2d(good).all(axis=1)
            if not rows.all():
                row = int(np.argmin(rows))
                raise ValueError(f"x0 must {words}; point {row} does not: {np.atleast_2d(x)[row]}")
        searched: np.ndarray = x.copy()
        searched[..., self.log] = np.log10(searched[..., self.log])
        return searched

    def _shaped(self, x: Any, name: str) -> np.ndarray:
        points = np.asarray(x, float)
        d = len(self.lower)
        if points.ndim not in (1, 2) or points.shape[-1] != d:
            raise ValueError(f"{name} must be one point ({d},) or rows (k, {d}); got {points.shape}")
        return points


def variables_of(lower: np.ndarray, upper: np.ndarray, integrality: Any = None, log: Any = None) -> Variables | None:
    """Return the variables with these bounds; None if all are plain real numbers, which need no conversion."""
    integer = mask(False if integrality is None else integrality, len(lower), "integrality")
    logarithmic = mask(False if log is None else log, len(lower), "log")
    if not integer.any() and not logarithmic.any():
        return None
    return Variables(lower, upper, integer, logarithmic)


def mask(value: Any, d: int, name: str) -> np.ndarray:
    """Return a mask (d,) from a bool, or from an array of bools or of 0 and 1; ValueError for anything else."""
    array = np.asarray(value)
    if array.dtype.kind not in "biuf" or not np.isin(array, (0, 1)).all():
        raise ValueError(f"{name} must be True, False or an array of 0 and 1; got {value!r}")
    if array.shape not in ((), (1,), (d,)):
        raise ValueError(f"{name} must have one entry for each of the {d} variables; got shape {array.shape}")
    return np.broadcast_to(array.astype(bool), d).copy()


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


def wrapped(problem: Problem, variables: Variables) -> Problem:
    """Return the problem that is searched: in the box of the variables, with a function that converts the points.

    Examples
    --------
    >>> dice = Problem(lambda x: (x[0] - 4.2) ** 2, [(1, 6)])
    >>> searched = wrapped(dice, Variables(dice.lower, dice.upper, True, False))
    >>> searched.lower, searched.upper, searched.evaluate([[4.4]])[0].round(2)
    (array([0.5]), array([6.5]), array([0.04]))
    """
    return replace(problem, fun=InUserSpace(problem.fun, variables), bounds=variables.box)
