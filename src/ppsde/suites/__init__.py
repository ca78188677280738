"""Benchmark problems: `get(name)` returns a suite, a table of problems with official values to test against."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from ..problem import Problem

__all__ = ["SUITES", "MissingData", "Suite", "get"]

SUITES = ("cec2017", "cec2006", "engineering", "cec2020rw")  # each a module of that name here, holding SUITE
MOST_NAMES = 30  # listed in an error message


class MissingData(ValueError):
    """Raised for a problem whose data is not on this machine; the message says where to get it."""


@dataclass(frozen=True)
class Suite:
    """A named table of problems; `build(name, dimension, **options)` makes one of them."""

    name: str
    description: str
    names: tuple[str, ...]
    build: Callable[..., Problem]
    budget: Callable[[int], int]  # evaluations per run that the suite prescribes at dimension d
    dimensions: tuple[int, ...] = ()  # those the suite prescribes; empty where each problem has its own
    aliases: Mapping[str, str] = field(default_factory=dict)  # further names of problems -> those of `names`

    def official(self, name: str) -> str:
        """Return the name that a problem has in `names`; other names than `aliases` are returned as they are."""
        return self.aliases.get(name, name)

    def problem(self, name: str, dimension: int | None = None, **options: Any) -> Problem:
        """Return one problem by name; `dimension` only where the suite leaves a choice."""
        name = self.official(name)
        if name not in self.names:
            few = len(self.names) <= MOST_NAMES
            known = ", ".join(self.names) if few else f"{self.names[0]} .. {self.names[-1]}"
            raise ValueError(f"unknown problem {name!r} in suite {self.name!r}; it has {known}")
        return self.build(name, dimension, **options)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)


def get(name: str) -> Suite:
    """Return the suite of that name.

    Examples
    --------
    >>> get("cec2017").names[:3]
    ('C01', 'C02', 'C03')
    """
    if name not in SUITES:
        raise ValueError(f"unknown suite {name!r}; expected one of {', '.join(SUITES)}")
    suite: Suite = import_module(f".{name}", __package__).SUITE
    return suite
