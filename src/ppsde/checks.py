"""Checks of values that users pass; a wrong one raises a ValueError that names it and what was expected."""

from __future__ import annotations

from typing import Any

import numpy as np


def check_int(name: str, value: Any, least: int, *, numpy: bool = True) -> int:
    """Return `value` as an int if it is an integer, not a bool, and at least `least`; else raise ValueError.

    NumPy's integers are accepted unless `numpy` is False.

    Examples
    --------
    >>> check_int("population_size", 40, 8)
    40
    >>> check_int("population_size", 2.5, 8)
    Traceback (most recent call last):
        ...
    ValueError: population_size must be an int >= 8; got 2.5
    """
    integer = isinstance(value, int | np.integer) if numpy else isinstance(value, int)
    if isinstance(value, bool) or not integer or value < least:
        raise ValueError(f"{name} must be an int >= {least}; got {value!r}")
    return int(value)
