"""Values that a user's function returned: checked, and put into the shapes of f, g and h."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..arrays import Array, namespace
from ..checks import shortened
from ..lookup import did_you_mean

FGH = tuple[Array, Array, Array]  # f (n,), g (n, p), h (n, q)
PLAIN = frozenset((np.ndarray, list, tuple, type(None)))  # types of constraints without names


class MalformedValue(ValueError):
    """Raised when a function does not return f or (f, g, h) made of real numbers in the expected shapes."""


def check_names(names: Sequence[str] | None, there: int) -> None:
    """Raise `MalformedValue` unless there is a name for each constraint, or none at all."""
    if names is not None and len(names) != there:
        raise MalformedValue(f"constraint_names must have a name for each of the {there} constraints; got {len(names)}")


def point_values(value: Any) -> tuple[float, np.ndarray, np.ndarray]:
    """Return f, g (p,), h (q,) from the value of a function of one point; `MalformedValue` if that is not possible."""
    f, g, h = _point(value, reals)
    return float(f), g, h


def traced_point_values(value: Any) -> FGH:
    """Return the same from the value of a function of a tracer of JAX, as arrays of JAX."""
    return _point(value, _traced_reals)


def _point(value: Any, reals: Callable[[Any, str], Array]) -> FGH:
    f, g, h = parts_of(value)
    objective = reals(f, "the objective")
    if objective.size != 1:
        raise MalformedValue(f"the objective must be one number; got shape {objective.shape}")
    return objective.reshape(()), reals(g, "g").reshape(-1), reals(h, "h").reshape(-1)


def row_values(value: Any, n: int) -> FGH:
    """Return f (n,), g (n, p), h (n, q) from the value of a vectorised function of n rows; or `MalformedValue`."""
    return _rows(value, n, reals)


def traced_row_values(value: Any, n: int) -> FGH:
    """Return the same from the value of a vectorised function of a tracer of JAX, as arrays of JAX."""
    return _rows(value, n, _traced_reals)


def _rows(value: Any, n: int, reals: Callable[[Any, str], Array]) -> FGH:
    f, g, h = parts_of(value)
    objective = reals(f, "the objective")
    if objective.shape != (n,) and objective.shape != (n, 1):
        raise MalformedValue(
            f"a vectorised objective of {n} rows must have shape ({n},); got {objective.shape}. "
            "It is called with points as rows (n, d)"
        )
    return objective.reshape(n), _columns(reals(g, "g"), n, "g"), _columns(reals(h, "h"), n, "h")


def parts_of(value: Any) -> tuple[Any, Any, Any]:
    """Return (f, g, h) from the value of a function; () for constraints that it does not have.

    The value is f, a tuple (f, g, h), or a mapping with f and, if there are any, g and h.
    """
    if not isinstance(value, tuple) and isinstance(value, Mapping):  # the first is a tenth of the second's time
        for key in value:
            if key not in ("f", "g", "h"):
                raise MalformedValue(
                    f"a mapping must have f and perhaps g and h; got {shortened(key)}, {shortened(value)}"
                )
        if "f" not in value:
            raise MalformedValue(f"a mapping must have f, the objective; got {shortened(value)}")
        value = value["f"], value.get("g"), value.get("h")
    if isinstance(value, list) and len(value) == 3 and not np.ndim(value[0]) and any(map(np.ndim, value[1:])):
        raise MalformedValue("the function must return f or a tuple (f, g, h); got a list: write (f, g, h)")
    if not isinstance(value, tuple):
        return value, (), ()
    if len(value) != 3:
        raise MalformedValue(f"the function must return f or a tuple (f, g, h); got a tuple of {len(value)}")
    f, g, h = value
    return f, _in_order(g), _in_order(h)


def _in_order(part: Any) -> Any:
    """Return constraints as an array; those of a mapping in the order of their names."""
    if part is None:
        return ()
    if not _is_mapping(part):
        return part
    columns = [part[name] for name in sorted(part)]
    if not columns:
        return ()
    return namespace(columns[0]).stack(columns, axis=-1)


def _is_mapping(part: Any) -> bool:
    """Return whether constraints are a mapping; of most others the type alone says that they are not."""
    return type(part) not in PLAIN and isinstance(part, Mapping)


class ByName:
    """A function whose constraints may come in mappings, by name, and whose names are then known.

    Parameters
    ----------
    fun : callable
    names : sequence of str, optional
        The names in their order, inequalities first; by default those of a mapping are sorted.

    Examples
    --------
    >>> fun = ByName(lambda x: {"f": x[0], "g": {"stress": x[0] - 1, "mass": 2.0}})
    >>> f, g, h = fun([3.0])
    >>> g, fun.constraint_names
    ([2.0, 2.0], ('mass', 'stress'))
    """

    def __init__(self, fun: Callable[..., Any], names: Sequence[str] | None = None) -> None:
        self._fun, self._order = fun, None if names is None else tuple(map(str, names))
        self._names: tuple[tuple[str, ...], tuple[str, ...]] | None = None  # of g and of h, once they were returned

    @property
    def constraint_names(self) -> Sequence[str] | None:
        """The names of the constraints, if the function has returned them."""
        if self._names is not None:
            return (*self._names[0], *self._names[1])
        return getattr(self._fun, "constraint_names", None)

    def __call__(self, x: Any) -> Any:
        value = self._fun(x)
        if not isinstance(value, tuple) and isinstance(value, Mapping):
            parts_of({key: None if isinstance(part, Mapping) else part for key, part in value.items()})
            value = value["f"], value.get("g"), value.get("h")
        if not isinstance(value, tuple) or len(value) != 3:
            return value
        f, g, h = value
        if (type(g) in PLAIN and type(h) in PLAIN) or not (_is_mapping(g) or _is_mapping(h)):
            return value
        for part, word in ((g, "g"), (h, "h")):
            if not (part is None or isinstance(part, Mapping) or np.size(part) == 0):
                raise MalformedValue(f"g and h must both be mappings if one is; {word} is a {type(part).__name__}")
        names = self._sorted(g), self._sorted(h)
        if self._names is None:
            self._names = names
        elif names != self._names:
            known = ", ".join(self.constraint_names or ())
            raise MalformedValue(f"the function must always return the constraints {known}; got {names}")
        return f, self._values(g, names[0]), self._values(h, names[1])

    def _sorted(self, part: Any) -> tuple[str, ...]:
        there = sorted(map(str, part)) if isinstance(part, Mapping) else []
        if self._order is None:
            return tuple(there)
        for name in there:
            if name not in self._order:
                raise MalformedValue(f"unknown constraint {name!r}{did_you_mean(name, self._order)}")
        return tuple(sorted(there, key=self._order.index))

    def _values(self, part: Any, names: tuple[str, ...]) -> Any:
        if not names:
            return ()
        by_name = {str(name): value for name, value in part.items()}
        columns = [by_name[name] for name in names]
        return namespace(columns[0]).stack(columns, axis=-1) if np.ndim(columns[0]) else columns


def reals(value: Any, name: str) -> np.ndarray:
    """Return the value as an array of 64-bit floats; `MalformedValue` if it is not made of real numbers."""
    if type(value) is np.ndarray and value.dtype == np.float64:
        return value  # nearly always
    if type(value) is tuple and not value:
        return np.empty(0)
    if _masked(value):
        raise MalformedValue(f"{name} must be real numbers; got masked values: {shortened(value)}")
    try:
        array = np.asarray(value)
    except ValueError as error:  # a ragged nest of lists
        words = f"real numbers in a regular shape; got {shortened(value)} ({error})"
        raise MalformedValue(f"{name} must be {words}") from None
    if array.dtype.kind not in "fiub":
        if array.size == 0:  # np.asarray([]) is float, but np.asarray of an empty object array is not
            return array.astype(float)
        if array.dtype.kind == "O" and all(type(item) in (int, float) for item in array.flat):
            return _large_integers(array, name)
        kind = "complex numbers" if array.dtype.kind == "c" else type(value).__name__
        raise MalformedValue(f"{name} must be real numbers; got {kind}: {shortened(value)}")
    return array if array.dtype == np.float64 else array.astype(float)


def _traced_reals(value: Any, name: str) -> Array:
    """Return the value as an array of JAX; `MalformedValue` if it is masked or complex, which JAX would convert."""
    import jax.numpy as jnp

    if _masked(value):
        raise MalformedValue(f"{name} must be real numbers; got masked values: {shortened(value)}")
    if _complex(value):
        raise MalformedValue(f"{name} must be real numbers; got complex numbers")
    return jnp.asarray(value, float)


def _complex(value: Any) -> bool:
    """Return whether a value is complex, or contains something that is."""
    if isinstance(value, list | tuple):
        return any(_complex(item) for item in value)
    return isinstance(value, complex) or getattr(getattr(value, "dtype", None), "kind", None) == "c"


def _masked(value: Any) -> bool:
    """Return whether a value is masked, wholly or in part, or contains something that is."""
    if isinstance(value, list | tuple):
        return any(_masked(item) for item in value if type(item) is not float)
    return isinstance(value, np.ma.MaskedArray) and bool(np.ma.getmaskarray(value).any())


def _large_integers(array: np.ndarray, name: str) -> np.ndarray:
    """Return an array of objects that are ints, too large for NumPy's, as floats."""
    try:
        return array.astype(float)
    except OverflowError:
        raise MalformedValue(f"{name} must be numbers of at most 1.8e308; got an int that is larger") from None


def _columns(array: Array, n: int, name: str) -> Array:
    if array.ndim == 2 and array.shape[0] == n:
        return array
    if array.size == 0:
        return namespace(array).empty((n, 0))
    if array.shape == (n,):
        return array.reshape(n, 1)
    raise MalformedValue(
        f"vectorised {name} of {n} rows must have shape ({n}, number of constraints); got {array.shape}"
    )
