"""What a user's function returned, as plain numbers of known shape, or a clear word on what is wrong with it."""

from __future__ import annotations

from typing import Any

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
