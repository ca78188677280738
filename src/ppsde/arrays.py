"""Array functions that work with NumPy and with JAX; every difference between the two that matters is handled here."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import Field, field, fields, is_dataclass, replace
from functools import lru_cache, partial
from typing import Any

import numpy as np

Array = Any  # numpy.ndarray, or a jax array or tracer

_NDARRAY = np.ndarray
_OF_NUMPY = frozenset((np.ndarray, np.bool_, np.int64, np.float64, bool, int, float))  # most arrays and numbers
HUGE = float(np.finfo(np.float64).max)  # larger than every finite value, smaller than the infinity of a failed point


def setting(default: Any) -> Any:
    """A field, with a default, of a dataclass of arrays that has a plain value: a constant of compiled programs.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Counting:
    ...     generation: Array
    ...     window: int = setting(10)
    >>> [is_setting(entry) for entry in fields(Counting)]
    [False, True]
    """
    return field(default=default, metadata={"setting": True})


def is_setting(entry: Field[Any]) -> bool:
    """Whether a field was made by `setting`."""
    return bool(entry.metadata.get("setting"))


def namespace(array: Array) -> Any:
    """The module that computes with `array`: jax.numpy for JAX arrays and tracers, NumPy for everything else."""
    if type(array) in _OF_NUMPY:
        return np
    jax = sys.modules.get("jax")  # an array can be JAX's only if JAX is loaded already
    if jax is not None and isinstance(array, jax.Array):
        return jax.numpy
    return np


def is_traced(array: Array) -> bool:
    """Whether `array` stands for numbers that are not known yet, because JAX traces a program."""
    return namespace(array) is not np and isinstance(array, sys.modules["jax"].core.Tracer)


def order(first: Array, second: Array) -> Array:
    """The rows that sort by `first`, ties by `second`, further ties by position."""
    return namespace(first).lexsort((second, first))


def ascending(values: Array, axis: int = -1) -> Array:
    """The indices that sort along an axis, ties by position. NumPy and JAX have different words for it in `argsort`."""
    return namespace(values).lexsort((values,), axis=axis)


def places(rows: Array) -> Array:
    """The place of each of the rows 0 .. n - 1 in `rows` (n,), which has each of them once."""
    xp = namespace(rows)
    numbers = xp.arange(rows.shape[0])
    if xp is np:
        found = np.empty_like(numbers)
        found[rows] = numbers
        return found
    return xp.zeros_like(numbers).at[rows].set(numbers, unique_indices=True)  # faster than sorting


def smallest(values: Array) -> Array:
    """The smallest of the values (n,)."""
    return values[values.argmin()] if type(values) is _NDARRAY else values.min()  # a third of the time of NumPy's min


def at_least(number: Array, least: Array | float) -> Array:
    """A single number, but no less than `least`; Python compares two numbers twice as fast as NumPy."""
    return max(number, least) if type(number) in _OF_NUMPY else namespace(number).maximum(number, least)


def at_most(number: Array, most: Array | float) -> Array:
    """A single number, but no more than `most`."""
    return min(number, most) if type(number) in _OF_NUMPY else namespace(number).minimum(number, most)


def gather(table: Array, rows: Array) -> Array:
    """The rows (m,) of a table (n, k), as (m, k)."""
    return table.take(rows, axis=0) if type(table) is _NDARRAY else table[rows]  # NumPy's take is three times faster


def rows_of(table: Array) -> Callable[[Array], Array]:
    """The function that gathers rows (m,) of a table (n, k), as (m, k)."""
    return partial(table.take, axis=0) if type(table) is _NDARRAY else table.__getitem__


def one_of_each(columns: Array, d: int) -> Array:
    """Whether each component (m, d) is the one that `columns` (m,) says, -1 for none."""
    if type(columns) is _NDARRAY:  # NumPy reads rows of a table twice as fast as it compares
        return _units(d).take(columns, axis=0)
    return namespace(columns).arange(d) == columns[:, None]


@lru_cache(maxsize=64)
def _units(d: int) -> np.ndarray:
    """Rows (d + 1, d) in each of which one component holds, none in the last."""
    return np.eye(d + 1, d, dtype=bool)


def when(condition: Array, first: Callable[[], Any], second: Any) -> Any:
    """`first()` where a single condition holds, else `second`: like trees of arrays (dataclasses may hold dataclasses).

    NumPy calls `first` only when it is needed. JAX computes both and selects, since a batch has runs of both kinds.
    So `first` must not draw random numbers.
    """
    if type(condition) in _OF_NUMPY or namespace(condition) is np:  # nearly always the first
        return first() if condition else second
    return _select(condition, first(), second)


def seldom(condition: Array, first: Callable[[], Any], second: Any) -> Any:
    """As `when`, for what is long and seldom needed: a batch computes `first()` only if some run of it needs it."""
    if namespace(condition) is np:
        return first() if condition else second
    import jax

    count = jax.numpy.where(condition, 1, 0)
    found = jax.lax.fori_loop(0, count, lambda k, _: tuple(_leaves(first())), tuple(_leaves(second)))
    return _rebuilt(second, iter(found))


def mended(wrong: Array, mend: Callable[[], Any], values: Any) -> Any:
    """`mend()`, which must change only rows where `wrong` holds; or the values themselves if it holds nowhere.

    NumPy looks first, since most often nothing is wrong. JAX always calls `mend`: looking would cost more.
    """
    if type(wrong) is _NDARRAY:
        return mend() if np.count_nonzero(wrong) else values  # counting is faster than `any`
    return mend()


def once(*values: Array) -> tuple[Array, ...]:
    """The values themselves; a compiled program computes them once, not again in every place that uses them."""
    if namespace(values[0]) is np:
        return values
    import jax

    return tuple(jax.lax.optimization_barrier(values))


def if_needed(needed: Array, compute: Callable[[], Array], otherwise: Array) -> Array:
    """`compute()` if a single condition holds, else an array like it, at no cost where no run of a batch needs it."""
    if namespace(otherwise) is np:
        return compute() if needed else otherwise
    import jax

    # Not a conditional: in a batch, both branches of one would be computed.
    return jax.lax.fori_loop(0, jax.numpy.where(needed, 1, 0), lambda k, value: compute(), otherwise)


def repeated(count: int, step: Callable[[Any, Array], Array], start: Array) -> Array:
    """The value after `step(k, value)` for k = 0 .. count - 1; a loop in JAX, where it would compile long unrolled."""
    if namespace(start) is not np:
        import jax

        return jax.lax.fori_loop(0, count, step, start)
    value = start
    for k in range(count):
        value = step(k, value)
    return value


def repeated_while(going: Callable[[Any], Array], step: Callable[[Any], Any], start: Any) -> Any:
    """The value after as many steps as `going(value)` holds before; values are arrays or tuples of arrays."""
    if namespace(start[0] if isinstance(start, tuple) else start) is not np:
        import jax

        return jax.lax.while_loop(going, step, start)
    value = start
    while going(value):
        value = step(value)
    return value


def each_matrix(function: Callable[..., Array], *stacks: Array) -> Array:
    """The function of matrices, such as `linalg.solve`, applied to stacks (n, ...) of them.

    NumPy takes stacks as they are, and so does JAX on a GPU. On a CPU it computes one after another: two programs at a
    time that both call LAPACK with a stack can wait for each other's threads for ever.
    """
    if namespace(stacks[0]) is np or _device().platform != "cpu":
        return function(*stacks)
    import jax

    return jax.lax.map(lambda matrices: function(*matrices), stacks)


def _device() -> Any:
    """The device that JAX computes on, or compiles for, at the moment."""
    import jax

    device = getattr(jax.config, "jax_default_device", None) or jax.devices()[0]
    return jax.devices(device)[0] if isinstance(device, str) else device


def special_functions(xp: Any) -> Any:
    """The module of special functions for arrays of the namespace: scipy.special or jax.scipy.special."""
    if xp is np:
        from scipy import special
    else:
        from jax.scipy import special
    return special


def _select(condition: Array, first: Any, second: Any) -> Any:
    where = namespace(condition).where
    return _rebuilt(second, (where(condition, a, b) for a, b in zip(_leaves(first), _leaves(second), strict=True)))


def _leaves(tree: Any) -> Iterator[Array]:
    """The arrays of a tuple or dataclass, which may hold others, or the array itself; settings are left out."""
    if isinstance(tree, tuple):
        for part in tree:
            yield from _leaves(part)
    elif is_dataclass(tree):
        for entry in fields(tree):
            if not is_setting(entry):
                yield from _leaves(getattr(tree, entry.name))
    elif tree is not None:
        yield tree


def _rebuilt(tree: Any, leaves: Iterator[Array]) -> Any:
    """A tree like `tree` with other arrays."""
    if isinstance(tree, tuple):
        return tuple(_rebuilt(part, leaves) for part in tree)
    if is_dataclass(tree) and not isinstance(tree, type):
        names = [entry.name for entry in fields(tree) if not is_setting(entry)]
        return replace(tree, **{name: _rebuilt(getattr(tree, name), leaves) for name in names})
    return None if tree is None else next(leaves)


def bits(array: Array) -> bytes:
    """The exact content of an array, for comparing two of them to the last bit."""
    return np.ascontiguousarray(array).tobytes()
