"""Benchmark problems: `get(name)` gives a suite, a table of problems with official values to test against."""

from __future__ import annotations

from importlib import import_module

from .suite import Suite

__all__ = ["SUITES", "Suite", "get"]

SUITES = ("cec2017", "cec2006", "engineering")  # each a module of that name here, holding SUITE


def get(name: str) -> Suite:
    """The suite of that name.

    Examples
    --------
    >>> get("cec2017").names[:3]
    ('C01', 'C02', 'C03')
    """
    if name not in SUITES:
        raise ValueError(f"unknown suite {name!r}; expected one of {', '.join(SUITES)}")
    suite: Suite = import_module(f".{name}", __package__).SUITE
    return suite
