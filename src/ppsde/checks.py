"""Checks of values that users pass; a wrong one raises a ValueError that names the value and what was expected."""

from __future__ import annotations

import functools
import typing
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

P = typing.ParamSpec("P")
R = typing.TypeVar("R")


def takes_seed(function: Callable[P, R]) -> Callable[P, R]:
    """Return a function with an argument `rng` so that it takes `seed`, the old word for it, with a warning."""
    name = function.__qualname__.removesuffix(".__init__")

    @functools.wraps(function)
    def called(*args: P.args, **given: P.kwargs) -> R:
        if "seed" in given:
            given["rng"] = either(given.get("rng"), given.pop("seed"))
            warnings.warn(f"{name}(seed=) is called rng, as everywhere", DeprecationWarning, stacklevel=2)
        return function(*args, **given)

    return called


def either(rng: Any, seed: Any) -> Any:
    """Return the one of two arguments for one thing that was given."""
    if rng is not None and seed is not None:
        raise ValueError("rng and seed are two words for one thing; give rng alone")
    return seed if rng is None else rng


def check_int(name: str, value: Any, least: int, *, numpy: bool = True) -> int:
    """Return `value` as an int if it is a whole number, not a bool, and at least `least`; else raise ValueError.

    NumPy's integers and floats such as 1e4 are accepted unless `numpy` is False.

    Examples
    --------
    >>> check_int("max_evaluations", 1e4, 1)
    10000
    >>> check_int("population_size", 2.5, 8)
    Traceback (most recent call last):
        ...
    ValueError: population_size must be an int >= 8; got 2.5
    """
    if numpy and isinstance(value, float | np.floating) and float(value).is_integer():
        value = int(value)
    integer = isinstance(value, int | np.integer) if numpy else isinstance(value, int)
    if isinstance(value, bool) or not integer or value < least:
        raise ValueError(f"{name} must be an int >= {least}; got {value!r}")
    return int(value)


def number(value: Any) -> float | None:
    """Return a real number of Python or NumPy as a float; None if it is no such number, or too large for a float.

    Examples
    --------
    >>> import numpy as np
    >>> number(np.float32(0.5)), number(True), number("1"), number(10**400)
    (0.5, None, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def check_target(target: Any) -> float | None:
    """Return the target as a float; None stays None. ValueError unless it is a number above -inf, or None."""
    if target is None:
        return None
    goal = number(target)
    if goal is None or not goal > -np.inf:
        raise ValueError(f"target must be a number > -inf, or None; got {shortened(target)}")
    return goal


def check_seconds(name: str, value: Any) -> float | None:
    """Return seconds as a float; None stays None. ValueError unless it is a finite number above 0, or None."""
    if value is None:
        return None
    seconds = number(value)
    if seconds is None or not 0 < seconds < np.inf:
        raise ValueError(f"{name} must be a number of seconds > 0; got {shortened(value)}")
    return seconds


def shortened(value: Any, letters: int = 200) -> str:
    """Return `repr(value)`, cut where it is long."""
    try:
        text = repr(value)
    except Exception as error:  # an object of a user's class may raise anything, and so do very large ints
        return f"<{type(value).__name__} whose repr raises {type(error).__name__}>"
    return text if len(text) <= letters else text[:letters] + "..."


def check_choices(settings: Any) -> None:
    """Raise ValueError unless every setting declared as a `Literal` is one of its choices."""
    kind: Any = type(settings)  # mypy does not take a class for hashable
    for name, choices in _choices(kind).items():
        value = getattr(settings, name)
        if value not in choices:
            raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}; got {value!r}")


@functools.lru_cache(maxsize=256)
def _choices(kind: type) -> dict[str, tuple[Any, ...]]:
    """Return the choices of each setting that a class declares as a `Literal`; resolving its hints takes long."""
    hints = typing.get_type_hints(kind).items()
    return {name: typing.get_args(hint) for name, hint in hints if typing.get_origin(hint) is typing.Literal}


def check_range(settings: Any, low: float, high: float, *names: str) -> None:
    """Raise ValueError unless every named setting is a number from low to high."""
    for name in names:
        value = getattr(settings, name)
        if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
            raise ValueError(f"{name} must be a number from {low:g} to {high:g}; got {value!r}")


def check_count(settings: Any, least: int, *names: str) -> None:
    """Raise ValueError unless every named setting is an int >= `least`, or None where that is its default."""
    for name in names:
        value = getattr(settings, name)
        if value is not None or getattr(type(settings), name, 0) is not None:
            check_int(name, value, least, numpy=False)


def check_flag(settings: Any, *names: str) -> None:
    """Raise ValueError unless every named setting is True or False."""
    for name in names:
        if not isinstance(getattr(settings, name), bool):
            raise ValueError(f"{name} must be True or False; got {getattr(settings, name)!r}")
