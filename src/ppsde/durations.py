"""Durations, as people give and read them."""

from __future__ import annotations

from math import inf
from typing import Any


def check_seconds(name: str, value: Any) -> None:
    """A limit of that name is None or a number of seconds."""
    if value is not None and (isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < inf):
        raise ValueError(f"{name} must be a number of seconds > 0; got {value!r}")


def duration(seconds: float) -> str:
    """A duration in the unit that suits it.

    Examples
    --------
    >>> duration(0.0000123), duration(0.0456), duration(7.26), duration(7260.0)
    ('12.3 us', '45.6 ms', '7.26 s', '2.02 h')
    """
    for limit, unit, scale in ((1e-3, "us", 1e6), (1.0, "ms", 1e3), (120.0, "s", 1.0), (7200.0, "min", 1 / 60)):
        if seconds < limit:
            return f"{seconds * scale:.3g} {unit}"
    return f"{seconds / 3600:.3g} h"


def times(total: float, mean: float, longest: float) -> str:
    """What a run took in all, per evaluation and for the longest one; the last is NaN where nobody can know.

    Examples
    --------
    >>> times(75.0, 0.0123, 0.5)
    '75 s; 12.3 ms per evaluation, 500 ms at most'
    """
    most = f", {duration(longest)} at most" if longest == longest else ""
    return f"{duration(total)}; {duration(mean)} per evaluation{most}"
