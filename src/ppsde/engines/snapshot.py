"""A run as plain data: enough to take it up again and end with the same bits."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..algorithm import Algorithm, State, Task
from ..population import Population

Values = tuple[np.ndarray, np.ndarray, np.ndarray]  # f (n,), g (n, p), h (n, q)


@dataclass(frozen=True)
class Snapshot:
    """A run where its current generation began, and the values it got since. With nothing but settings: a new run."""

    algorithm: Algorithm
    task: Task
    seed: int
    run: int
    tolerance: float
    state: State | None = None  # None: the first population is still to be made
    generation: int = 0  # the one in progress
    attempt: int = 0  # at a first population
    requests: int = 0  # answered before this generation
    evaluations: int = 0  # likewise
    failed: int = 0  # likewise
    best: Population | None = None  # likewise
    kept: Population | None = None
    columns: tuple[str, ...] = ()  # of the history
    rows: np.ndarray = field(default_factory=lambda: np.empty((0, 0)))  # (generations, columns)
    given: tuple[Values, ...] = ()  # the answers of this generation so far
