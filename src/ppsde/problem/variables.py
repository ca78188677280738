"""Kinds of variables: the box that is searched, and the conversion of its points to the user's.

A variable may be an integer, one of some allowed values, searched in its logarithm, or have no bound on a side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..arrays import Array, namespace

LARGEST = 2**52 - 1  # beyond it there is no number halfway between two integers
SPAN = 1e9  # how far a variable without a bound is searched, in units of its other bound, or of 1
EDGE = float(np.arcsinh(SPAN))
FARTHEST = 1e290  # so that nothing overflows


@dataclass(frozen=True, eq=False)
class Variables:
    """Kinds of the variables, and the box in which a search can treat all of them as real numbers.

    The box of an integer variable extends half a unit beyond its first and last integer, so that each integer has the
    same share of it. A log-scaled variable is searched in its decimal logarithm. A variable may be both. One of k
    allowed values is searched as an integer from 0 to k - 1, the place of the value.

    A variable x without a bound is searched in t, with x = b + s sinh(t): b is its other bound, or 0, and s the larger
    of |b| and 1. Near b the two are nearly proportional, farther away t is a logarithm. The search goes as far as
    `SPAN` times s from b. With `log`, a missing upper bound is `SPAN` times the larger of the lower one and 1.

    Parameters
    ----------
    lower, upper : array (d,)
        The user's bounds, in order; -inf and inf where there is none.
    integrality : bool or array (d,)
        True or 1 where a variable is an integer.
    log : bool or array (d,)
        True or 1 where a variable is searched in its logarithm; its bounds must be positive.
    choices : sequence of d entries, optional
        The allowed values of a variable, an array in ascending order, or None.

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
    choices: Sequence[np.ndarray | None] = ()
    box: np.ndarray = field(init=False)  # (d, 2), the bounds of the search
    open: np.ndarray = field(init=False)  # (d,) bool, those without a bound, which are searched in t
    origin: np.ndarray = field(init=False)  # (d,), b of these
    unit: np.ndarray = field(init=False)  # (d,), s of these

    def __post_init__(self) -> None:
        lower, upper = np.array(self.lower, float), np.array(self.upper, float)
        if lower.ndim != 1 or lower.shape != upper.shape:
            raise ValueError(f"lower and upper must have one shape (d,); got {lower.shape} and {upper.shape}")
        d = len(lower)
        integer, log = mask(self.integrality, d, "integrality"), mask(self.log, d, "log")
        chosen = np.array([values is not None for values in self.choices or [None] * d], bool)
        for j in np.flatnonzero(chosen & (integer | log)):
            raise ValueError(f"variable {j} has allowed values; it must not be an integer or log-scaled variable too")
        for j in np.flatnonzero(log & ~(lower > 0)):
            raise ValueError(f"a log-scaled variable needs positive bounds; variable {j} has ({lower[j]}, {upper[j]})")
        upper = np.where(log & (upper == np.inf), SPAN * np.clip(lower, 1.0, FARTHEST), upper)
        unbounded = ~(np.isfinite(lower) & np.isfinite(upper))
        for j in np.flatnonzero(integer & unbounded):
            raise ValueError(f"an integer variable needs both bounds; variable {j} has ({lower[j]}, {upper[j]})")
        with np.errstate(invalid="ignore"):
            first, last = np.ceil(lower), np.floor(upper)
        for j in np.flatnonzero(integer & (first > last)):
            raise ValueError(f"there is no integer within the bounds of variable {j}: ({lower[j]}, {upper[j]})")
        for j in np.flatnonzero(integer & (np.maximum(np.abs(first), np.abs(last)) > LARGEST)):
            raise ValueError(f"integers must lie within +-{LARGEST}; variable {j} has ({lower[j]}, {upper[j]})")
        lower, upper = np.where(integer, first, lower) + 0.0, np.where(integer, last, upper) + 0.0  # no negative zero
        margin = np.where(integer & (lower < upper), 0.5, 0.0)  # a fixed variable stays fixed
        box = np.stack([lower - margin, upper + margin], axis=1)
        box[log] = np.log10(box[log])
        below, above = np.isfinite(lower), np.isfinite(upper)
        origin = np.where(unbounded, np.where(below, lower, np.where(above, upper, 0.0)), 0.0)
        unit = np.where(unbounded, np.clip(np.abs(origin), 1.0, FARTHEST), 1.0)
        box[unbounded] = np.stack([np.where(below, 0.0, -EDGE), np.where(above, 0.0, EDGE)], axis=1)[unbounded]
        for place, values in enumerate(self.choices):
            if values is not None:
                box[place] = (-0.5, len(values) - 0.5) if len(values) > 1 else (0.0, 0.0)
        made = {"lower": lower, "upper": upper, "integrality": integer, "log": log, "box": box}
        for name, value in {**made, "open": unbounded, "origin": origin, "unit": unit}.items():
            value.flags.writeable = False
            object.__setattr__(self, name, value)
        object.__setattr__(self, "choices", tuple(self.choices) if chosen.any() else ())

    def to_user(self, x: Any) -> Array:
        """Convert points of the search (d,) or (n, d) to the user's, which are always inside the user's bounds.

        Halves are rounded up, but never out of the bounds. The ends of the box become exactly the bounds; if the
        logarithms of two close bounds are the same number, it becomes the upper one.
        """
        x = self._shaped(x, "x")
        xp = namespace(x)
        if xp is np:
            user = x.copy()
            with np.errstate(over="ignore"):  # only for points outside the box, which are clipped below
                user[..., self.log] = 10.0 ** user[..., self.log]
        else:
            user = xp.where(self.log, 10.0 ** xp.where(self.log, x, 0.0), x)
        if self.open.any():
            t = xp.clip(xp.where(self.open, x, 0.0), -EDGE, EDGE)
            user = xp.where(self.open, self.origin + self.unit * xp.sinh(t), user)
        below = xp.floor(user)
        user = xp.where(self.integrality, below + (user - below >= 0.5), user)
        user = xp.clip(user, self.lower, self.upper)
        # 10 ** log10(bound) may miss the bound by a rounding error.
        finite = ~self.open
        user = xp.where(finite & (x <= self.box[:, 0]), self.lower, user)
        user = xp.where(finite & (x >= self.box[:, 1]), self.upper, user)
        for j, values in enumerate(self.choices):
            if values is not None:
                place = xp.clip(xp.floor(x[..., j] + 0.5), 0, len(values) - 1).astype(int)
                user = xp.where(xp.arange(len(self.lower)) == j, xp.asarray(values)[place][..., None], user)
        return user

    def to_search(self, x: Any) -> np.ndarray:
        """Convert the user's points (d,) or (n, d) to points of the search; logarithms have rounding errors.

        ValueError if a point is outside the bounds, not whole where a variable is an integer, or not an allowed value.
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
        searched[..., self.open] = np.arcsinh((x - self.origin)[..., self.open] / self.unit[self.open])
        for j, values in enumerate(self.choices):
            if values is None:
                continue
            place = np.searchsorted(values, x[..., j]).clip(0, len(values) - 1)
            wrong = np.flatnonzero(np.atleast_1d(values[place] != x[..., j]))
            if len(wrong):
                got = np.atleast_1d(x[..., j])[wrong[0]]
                raise ValueError(f"x0 must have an allowed value of variable {j}, {values.tolist()}; got {got}")
            searched[..., j] = place
        return np.where(self.open, np.clip(searched, self.box[:, 0], self.box[:, 1]), searched)

    def _shaped(self, x: Any, name: str) -> Array:
        points = x if hasattr(x, "at") else np.asarray(x, float)  # JAX arrays and tracers pass as they are
        d = len(self.lower)
        if points.ndim not in (1, 2) or points.shape[-1] != d:
            raise ValueError(f"{name} must be one point ({d},) or rows (k, {d}); got {points.shape}")
        return points


def variables_of(
    lower: np.ndarray,
    upper: np.ndarray,
    integrality: Any = None,
    log: Any = None,
    choices: Sequence[np.ndarray | None] = (),
) -> Variables | None:
    """Return the variables with these bounds; None if all are plain real numbers, which need no conversion."""
    integer = mask(False if integrality is None else integrality, len(lower), "integrality")
    logarithmic = mask(False if log is None else log, len(lower), "log")
    bounded = bool(np.isfinite(lower).all() and np.isfinite(upper).all())
    if not integer.any() and not logarithmic.any() and not choices and bounded:
        return None
    return Variables(lower, upper, integer, logarithmic, choices)


def mask(value: Any, d: int, name: str) -> np.ndarray:
    """Return a mask (d,) from a bool, or from an array of bools or of 0 and 1; ValueError for anything else."""
    array = np.asarray(value)
    if array.dtype.kind not in "biuf" or not np.isin(array, (0, 1)).all():
        raise ValueError(f"{name} must be True, False or an array of 0 and 1; got {value!r}")
    if array.shape not in ((), (1,), (d,)):
        raise ValueError(f"{name} must have one entry for each of the {d} variables; got shape {array.shape}")
    return np.broadcast_to(array.astype(bool), d).copy()
