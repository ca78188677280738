"""Evaluation in this process, one point at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from .calling import Caller
from .evaluator import NOTHING_KNOWN, Check, Done, Evaluator
from .outcome import Outcome


class Serial(Evaluator):
    """Calls the function row after row. A crash of the function is a crash of this process."""

    def __init__(self, caller: Caller) -> None:
        super().__init__()
        self._caller = caller

    def submit(
        self,
        x: np.ndarray,
        done: Done | None = None,
        known: Mapping[int, Outcome] = NOTHING_KNOWN,
        check: Check | None = None,
    ) -> Sequence[Outcome]:
        outcomes = []
        for row, point in enumerate(x):
            if row in known:
                outcomes.append(known[row])
                continue
            if check is not None:
                check()
            self.calls += 1
            outcome = self._caller.point(point)
            outcomes.append(outcome)
            if self.names is None:
                self.names = self._caller.names  # known from the first call on, if ever
            if done is not None:
                done(row, outcome)
        return outcomes
