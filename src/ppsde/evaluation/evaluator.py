"""What evaluates rows: one protocol for a loop in this process, a pool, an executor, a cluster."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType, TracebackType
from typing import Self

import numpy as np

from .outcome import Outcome

Done = Callable[[int, Outcome], None]
Check = Callable[[], None]
NOTHING_KNOWN: Mapping[int, Outcome] = MappingProxyType({})
PULSE = 0.1  # seconds between two checks while waiting


class Evaluator(ABC):
    """Evaluates rows, in whatever order, and gives one outcome per row, in the order of the rows."""

    at_once = False  # whether all rows are finished together, so that `done` would tell nothing new

    def __init__(self) -> None:
        self.calls = 0  # rows given to the function, those given again counted again
        self.names: Sequence[str] | None = None  # of the constraints, where the function itself has them

    @abstractmethod
    def submit(
        self,
        x: np.ndarray,
        done: Done | None = None,
        known: Mapping[int, Outcome] = NOTHING_KNOWN,
        check: Check | None = None,
    ) -> Sequence[Outcome]:
        """The outcomes of the rows of x (n, d).

        `done(row, outcome)` is called as soon as a row is finished, in whatever order. Rows in `known` are not
        evaluated; their outcomes are taken as they are, and not told to `done`. `check()` is called between
        evaluations, and every tenth of a second where this process only waits; what it or `done` raises passes
        through, and evaluations that still run elsewhere are abandoned.
        """

    def close(self) -> None:  # noqa: B027  # most have nothing to close
        """End whatever was started."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self.close()


def missing(x: np.ndarray, known: Mapping[int, Outcome]) -> list[int]:
    """The rows of x that are not known yet."""
    return [row for row in range(len(x)) if row not in known]


def chunks(rows: Sequence[int], size: int) -> list[list[int]]:
    """The rows in pieces of at most so many, as even as possible.

    Examples
    --------
    >>> chunks(range(7), 3)
    [[0, 1, 2], [3, 4], [5, 6]]
    """
    if not rows:
        return []
    count = -(-len(rows) // size)
    ends = [(k * len(rows) + count - 1) // count for k in range(count + 1)]
    return [list(rows[a:b]) for a, b in pairwise(ends)]
