"""Checks of values that users pass; a wrong one raises a ValueError that names the value and what was expected."""

from __future__ import annotations

import typing
from typing import Any

import numpy as np


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
    for name, kind in typing.get_type_hints(type(settings)).items():
        value = getattr(settings, name)
        if typing.get_origin(kind) is typing.Literal and value not in typing.get_args(kind):
            raise ValueError(f"{name} must be one of {', '.join(map(repr, typing.get_args(kind)))}; got {value!r}")


def check_range(settings: Any, low: float, high: float, *names: str) -> None:
    """Raise ValueError unless every named setting is a number from low to high."""
    for name in names:
        value = getattr(settings, name)
        if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
            raise ValueError(f"{name} must be a number from {low:g} to {high:g}; got {value!r}")


def check_count(settings: Any, least: int, *names: str) -> None:
    """Raise ValueError unless every named setting is an int >= `least`."""
    for name in names:
        check_int(name, getattr(settings, name), least, numpy=False)


def check_flag(settings: Any, *names: str) -> None:
    """Raise ValueError unless every named setting is True or False."""
    for name in names:
        if not isinstance(getattr(settings, name), bool):
            raise ValueError(f"{name} must be True or False; got {getattr(settings, name)!r}")
