"""A suite: a named table of benchmark problems."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..problem import Problem


@dataclass(frozen=True)
class Suite:
    """A named table of problems; `build(name, dimension, **options)` makes one of them."""

    name: str
    description: str
    names: tuple[str, ...]
    build: Callable[..., Problem]
    budget: Callable[[int], int]  # evaluations per run that the suite prescribes at dimension d
    dimensions: tuple[int, ...] = ()  # those the suite prescribes; empty where each problem has its own

    def problem(self, name: str, dimension: int | None = None, **options: Any) -> Problem:
        """One problem, by name; `dimension` only where the suite leaves a choice."""
        if name not in self.names:
            raise ValueError(f"unknown problem {name!r} in suite {self.name!r}; it has {_spread(self.names)}")
        return self.build(name, dimension, **options)

    def __iter__(self) -> Any:
        return iter(self.names)


def _spread(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= 30 else f"{names[0]} .. {names[-1]}"
