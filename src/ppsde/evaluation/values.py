"""What a user's function returned, as plain numbers of known shape, or a clear word on what is wrong with it.

What became of one evaluation: its values, or why there are none.
"""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, overload

import numpy as np


class MalformedValue(ValueError):
    """A function returned something that is not f or (f, g, h) made of real numbers in the expected shape."""


def parts(value: Any) -> tuple[Any, Any, Any]:
    """(f, g, h) of what the function returned; () for constraints that are not there."""
    if not isinstance(value, tuple):
        return value, (), ()
    if len(value) != 3:
        raise MalformedValue(f"the function must return f or a tuple (f, g, h); got a tuple of {len(value)}")
    f, g, h = value
    return f, () if g is None else g, () if h is None else h


def reals(value: Any, what: str) -> np.ndarray:
    """The value as an array of real numbers."""
    try:
        array = np.asarray(value)
    except ValueError as error:  # a ragged nest of lists
        raise MalformedValue(f"{what} must be real numbers in a regular shape; got {value!r} ({error})") from None
    if array.dtype.kind not in "fiub":
        if array.size == 0:  # np.asarray([]) is float, but np.asarray of an empty object array is not
            return array.astype(float)
        kind = "complex numbers" if array.dtype.kind == "c" else type(value).__name__
        raise MalformedValue(f"{what} must be real numbers; got {kind}: {value!r}")
    return array if array.dtype == np.float64 else array.astype(float)


def point_values(value: Any) -> tuple[float, np.ndarray, np.ndarray]:
    """f, g (p,), h (q,) of one point."""
    f, g, h = parts(value)
    objective = reals(f, "the objective")
    if objective.size != 1:
        raise MalformedValue(f"the objective must be one number; got shape {objective.shape}")
    return float(objective.reshape(())), reals(g, "g").reshape(-1), reals(h, "h").reshape(-1)


def row_values(value: Any, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """f (n,), g (n, p), h (n, q) of n rows."""
    f, g, h = parts(value)
    objective = reals(f, "the objective")
    if objective.shape != (n,) and objective.shape != (n, 1):
        raise MalformedValue(
            f"a vectorised objective of {n} rows must have shape ({n},); got {objective.shape}. "
            "It is called with points as rows (n, d)"
        )
    return objective.reshape(n), _columns(g, n, "g"), _columns(h, n, "h")


def _columns(value: Any, n: int, what: str) -> np.ndarray:
    array = reals(value, what)
    if array.ndim == 2 and array.shape[0] == n:
        return array
    if array.size == 0:
        return np.empty((n, 0))
    if array.shape == (n,):
        return array.reshape(n, 1)
    raise MalformedValue(
        f"vectorised {what} of {n} rows must have shape ({n}, number of constraints); got {array.shape}"
    )


OK = "ok"
INVALID = "invalid"  # NaN, f = -inf or an infinite constraint: returned in good form, yet no values to search with
RAISED = "raised"
MALFORMED = "malformed"  # not f or (f, g, h) made of real numbers in the expected shape
TIMEOUT = "timeout"  # ran longer than it may, and was killed
MEMORY = "memory"  # wanted more memory than it may
CRASHED = "crashed"  # took its process with it

NO_CONSTRAINTS = np.empty(0)
NO_CONSTRAINTS.flags.writeable = False


@dataclass(frozen=True, eq=False)
class Outcome:
    """The outcome of one evaluation; only those with status 'ok' have values to search with."""

    status: str
    f: float = np.nan
    g: np.ndarray = field(default_factory=lambda: NO_CONSTRAINTS)  # (p,)
    h: np.ndarray = field(default_factory=lambda: NO_CONSTRAINTS)  # (q,)
    seconds: float = 0.0  # what the evaluation took, without the way to it and back
    error: str = ""  # such as 'RuntimeError: the mesh collapsed'
    cause: BaseException | None = field(default=None, repr=False)  # for whoever debugs; never kept

    @property
    def ok(self) -> bool:
        return self.status == OK

    def __reduce__(self) -> tuple[Any, ...]:
        """An exception may be anything, also something that cannot be pickled; the text of it always can."""
        cause = self.cause
        if cause is not None and not isinstance(cause, ElsewhereError):
            cause = ElsewhereError("".join(traceback.format_exception(cause)))
        return Outcome, (self.status, self.f, self.g, self.h, self.seconds, self.error, cause)


class ElsewhereError(Exception):
    """An exception in another process, as the text of its traceback."""

    def __str__(self) -> str:
        return "\n" + super().__str__()


class Columns(Sequence[Outcome]):
    """Outcomes of rows that were evaluated together, kept as columns; an `Outcome` is made when one is looked at."""

    def __init__(self, f: np.ndarray, g: np.ndarray, h: np.ndarray, seconds: float) -> None:
        self.f, self.g, self.h, self.seconds = f, g, h, seconds  # (n,), (n, p), (n, q); seconds of one row

    def failed(self) -> list[int]:
        """The rows whose values are not to be searched with."""
        if _finite(self.f) and _finite(self.g) and _finite(self.h):
            return []  # as nearly always, and quickly found out
        sound = (self.f > -np.inf) & np.isfinite(self.g).all(axis=1) & np.isfinite(self.h).all(axis=1)
        rows: list[int] = np.flatnonzero(~sound).tolist()
        return rows

    def __len__(self) -> int:
        return len(self.f)

    @overload
    def __getitem__(self, row: int) -> Outcome: ...
    @overload
    def __getitem__(self, row: slice) -> list[Outcome]: ...
    def __getitem__(self, row: int | slice) -> Outcome | list[Outcome]:
        if isinstance(row, slice):
            return [self[k] for k in range(*row.indices(len(self)))]
        return with_values(float(self.f[row]), self.g[row], self.h[row], self.seconds)


def with_values(f: float, g: np.ndarray, h: np.ndarray, seconds: float) -> Outcome:
    """The outcome that values in good form make: ok, unless one of them is not to be searched with."""
    if f > -np.inf and _finite(g) and _finite(h):  # false for NaN
        return Outcome(OK, f, g, h, seconds)
    return Outcome(INVALID, f, g, h, seconds, "NotFinite: " + _not_finite(f, g, h))


def _finite(values: np.ndarray) -> bool:
    return not values.size or np.count_nonzero(np.isfinite(values)) == values.size


def _not_finite(f: float, g: np.ndarray, h: np.ndarray) -> str:
    """The first value that is in the way, by name."""
    if not f > -np.inf:
        return f"f is {f}"
    name, values = ("g", g) if not _finite(g) else ("h", h)
    k = int(np.argmin(np.isfinite(values)))
    return f"{name}[{k}] is {values[k]}"


@dataclass(frozen=True, eq=False)
class Failure:
    """An evaluation that gave no values to search with."""

    x: np.ndarray  # (d,)
    status: str  # 'raised', 'timeout' and so on, as in `Outcome`
    kind: str  # the exception's type, or Timeout, Crashed, NotFinite
    message: str
    seconds: float

    @property
    def reason(self) -> str:
        return f"{self.kind}: {self.message}" if self.message else self.kind

    def __str__(self) -> str:
        return self.reason


def failure_of(x: np.ndarray, outcome: Outcome) -> Failure:
    kind, _, message = outcome.error.partition(": ")
    return Failure(x.copy(), outcome.status, kind, message, outcome.seconds)


class EvaluationError(RuntimeError):
    """A run was given up because of an evaluation; what was found until then is in `result`.

    `x` is the point and `outcome` what became of it; both are None where not a point is to blame but whatever was to
    evaluate it.
    """

    def __init__(self, message: str, x: np.ndarray | None = None, outcome: Outcome | None = None) -> None:
        super().__init__(message)
        self.x, self.outcome = x, outcome
        self.result: Any = None


class EvaluatorLost(RuntimeError):
    """Whatever evaluates is gone for good: an executor that broke, workers that cannot be started."""
