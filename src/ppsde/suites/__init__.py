"""Benchmark problems: `get(name)` returns a suite, a table of problems with official values to test against."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..lookup import MOST_NAMES, Table, did_you_mean
from ..problem import Problem

__all__ = ["SUITES", "MissingData", "Suite", "get"]


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
            hint = did_you_mean(name, self.names)
            raise ValueError(f"unknown problem {name!r} in suite {self.name!r}; it has {known}{hint}")
        return self.build(name, dimension, **options)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)


def _checked(thing: Any, what: str) -> Suite:
    """Return a suite, or the one that a function returns; ValueError if it is none."""
    if callable(thing) and not isinstance(thing, type | Suite):
        thing = thing()
    if not isinstance(thing, Suite):
        raise ValueError(f"{what} must be a ppsde.suites.Suite; got {type(thing).__name__}")
    return thing


SUITES = Table(
    "suite",
    "ppsde.suites",
    {name: f"{name}:SUITE" for name in ("cec2017", "cec2006", "engineering", "cec2020rw")},
    __name__,
    _checked,
)


def get(name: str | Suite) -> Suite:
    """Return the suite of a name in `SUITES`, of FILE.py:NAME or of an entry point; or a suite itself.

    Examples
    --------
    >>> get("cec2017").names[:3]
    ('C01', 'C02', 'C03')
    """
    suite: Suite = SUITES.find(name)
    return suite
