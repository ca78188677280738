"""Bounds, names and allowed values of variables, as users pass them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..checks import check_int
from ..lookup import did_you_mean
from .returned import MalformedValue, reals


def box(bounds: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return lower and upper bounds (d,) from a SciPy `Bounds`, a sequence of pairs, or two arrays.

    Two sequences of length two are read as two (low, high) pairs, as SciPy does. None and infinity mean that there is
    no bound. ValueError if they are not numbers or not in order.

    Examples
    --------
    >>> box([(0, 1), (-2, 2), (5, 6)])
    (array([ 0., -2.,  5.]), array([1., 2., 6.]))
    >>> box(([0, -2, 5], [1, 2, 6]))
    (array([ 0., -2.,  5.]), array([1., 2., 6.]))
    >>> box([(0, None), (None, None)])
    (array([  0., -inf]), array([inf, inf]))
    """
    if hasattr(bounds, "lb") and hasattr(bounds, "ub"):
        lower, upper = np.broadcast_arrays(_floats(bounds.lb), _floats(bounds.ub))
    else:
        table = _floats(_without_none(bounds))
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
        if np.isnan(low) or np.isnan(high) or low == np.inf or high == -np.inf:
            raise ValueError(f"bounds must be numbers, None or infinite; variable {j} has ({low}, {high})")
        if low > high:
            raise ValueError(f"each lower bound must not exceed its upper bound; variable {j} has ({low}, {high})")
        if np.isfinite(low) and np.isfinite(high) and not np.isfinite(high - low):
            raise ValueError(f"bounds must be at most 1.8e308 apart; variable {j} has ({low}, {high})")
    lower.flags.writeable = upper.flags.writeable = False
    return lower, upper


def _without_none(bounds: Any) -> Any:
    """Return pairs with infinities in place of None."""
    if not isinstance(bounds, list | tuple):
        return bounds
    ends = (-np.inf, np.inf)
    lengths = [len(pair) if isinstance(pair, list | tuple) else 0 for pair in bounds]
    for j, length in enumerate(lengths):
        if length != 2 and 2 in lengths:  # not two arrays (lows, highs)
            raise ValueError(
                f"bounds of variable {j} must be a pair (low, high); got {bounds[j]!r}; "
                f"allowed values are given as choices={{{j}: [...]}}"
            )
    return [
        [end if value is None else value for value, end in zip(pair, ends, strict=True)]
        if isinstance(pair, list | tuple) and len(pair) == 2
        else pair
        for pair in bounds
    ]


def _floats(values: Any) -> np.ndarray:
    try:
        return reals(values, "bounds")
    except MalformedValue as error:
        raise ValueError(str(error)) from None


def names_of(name: str, given: Any) -> tuple[str, ...] | None:
    """Return the names given as argument `name`; ValueError if they are not a sequence of texts."""
    if given is None:
        return None
    if isinstance(given, str) or not isinstance(given, Sequence | np.ndarray):
        raise ValueError(f"{name} must be a sequence of names; got {given!r}")
    for each in given:
        if not isinstance(each, str):
            raise ValueError(f"{name} must be texts; got {each!r}")
    return tuple(map(str, given))


def choices_by_place(choices: Any, names: Sequence[str] | None) -> dict[int, Any]:
    """Return the allowed values by the place of their variable."""
    if choices is None:
        return {}
    if isinstance(choices, Mapping):
        found = {}
        for key, values in choices.items():
            if isinstance(key, str):
                if names is None or key not in names:
                    hint = did_you_mean(key, names or ())
                    raise ValueError(f"choices: there is no variable {key!r} in variable_names{hint}")
                key = names.index(key)
            found[check_int("the place of a variable in choices", key, 0)] = values
        return found
    if isinstance(choices, str) or not isinstance(choices, Sequence):
        raise ValueError(f"choices must be a mapping, or a sequence of lists and None; got {choices!r}")
    return {j: values for j, values in enumerate(choices) if values is not None}


def bounds_with_choices(bounds: Any, choices: Mapping[int, Any]) -> Any:
    """Return the bounds with a pair for each variable that has allowed values in place of its bounds."""
    if bounds is None and choices and set(choices) == set(range(len(choices))):
        bounds = [None] * len(choices)
    if not isinstance(bounds, list | tuple):
        return bounds
    for j, pair in enumerate(bounds):
        if pair is None and j not in choices:
            raise ValueError(f"bounds of variable {j} must be a pair (low, high), unless it has choices; got None")
    return [(None, None) if pair is None else pair for pair in bounds]


def allowed_values(
    choices: Mapping[int, Any], lower: np.ndarray, upper: np.ndarray
) -> tuple[tuple[np.ndarray | None, ...], dict[int, tuple[str, ...]]]:
    """Return the allowed numbers of each variable, ascending, and the texts of categories by variable."""
    if not choices:
        return (), {}
    found: list[np.ndarray | None] = [None] * len(lower)
    labels: dict[int, tuple[str, ...]] = {}
    for j, given in choices.items():
        if j >= len(lower):
            raise ValueError(f"choices: there is no variable {j}; there are {len(lower)}")
        if isinstance(given, str) or not isinstance(given, Sequence | np.ndarray) or len(given) == 0:
            raise ValueError(f"choices of variable {j} must be a list of values; got {given!r}")
        values = list(given)
        if len(set(map(str, values))) < len(values):
            raise ValueError(f"choices of variable {j} must differ; got {values}")
        if all(isinstance(value, int | float | np.number) and not isinstance(value, bool) for value in values):
            numbers = np.sort(np.array(values, float))
            if not np.isfinite(numbers).all() or not ((numbers >= lower[j]) & (numbers <= upper[j])).all():
                raise ValueError(f"choices of variable {j} must be finite and inside its bounds; got {values}")
            found[j] = numbers
        elif all(isinstance(value, str) for value in values):
            labels[j] = tuple(map(str, values))
            found[j] = np.arange(float(len(values)))
        else:
            raise ValueError(f"choices of variable {j} must be all numbers or all texts; got {values}")
    return tuple(found), labels
