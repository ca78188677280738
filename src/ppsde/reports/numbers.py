"""Numbers as tables and data show them: five significant digits, nothing that is not a number."""

from __future__ import annotations

import math
from collections.abc import Iterable

DIGITS = 5


def short(value: float | None, digits: int = DIGITS) -> str:
    """A number as text; a dash where there is none.

    Examples
    --------
    >>> short(1234567.0), short(0.5), short(float("nan")), short(3)
    ('1.2346e+06', '0.5', '-', '3')
    """
    if value is None or math.isnan(value):
        return "-"
    return f"{value:.{digits}g}"


def rounded(value: float) -> float | int | None:
    """A number for JSON with five significant digits; None for what is not finite.

    Examples
    --------
    >>> rounded(0.123456789), rounded(2.0), rounded(float("inf"))
    (0.12346, 2, None)
    """
    if not math.isfinite(value):
        return None
    number = float(f"{value:.{DIGITS}g}")
    return int(number) if number.is_integer() and abs(number) < 1e15 else number


def row(values: Iterable[float]) -> list[float | int | None]:
    """Many of them."""
    return [rounded(float(value)) for value in values]


def p_value(p: float) -> str:
    """A p-value as text.

    Examples
    --------
    >>> p_value(0.0123456), p_value(1e-9)
    ('0.0123', '< 0.0001')
    """
    return "< 0.0001" if p < 1e-4 else f"{p:.3g}"


def p_equals(p: float) -> str:
    """A p-value as part of a sentence: 'p = 0.012' or 'p < 0.0001'."""
    text = p_value(p)
    return f"p {text}" if text.startswith("<") else f"p = {text}"
