"""Evaluation in this process, all rows by one call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from .calling import Caller
from .evaluator import NOTHING_KNOWN, Check, Done, Evaluator
from .outcome import INVALID, OK, Columns, Outcome


class Vectorised(Evaluator):
    """Calls the function once; only where that fails row by row, so that a point that fails costs itself alone."""

    at_once = True

    def __init__(self, caller: Caller) -> None:
        super().__init__()
        self._caller = caller
        self._first = True  # nothing in good form was returned yet

    def submit(
        self,
        x: np.ndarray,
        done: Done | None = None,
        known: Mapping[int, Outcome] = NOTHING_KNOWN,
        check: Check | None = None,
    ) -> Sequence[Outcome]:
        rows = [row for row in range(len(x)) if row not in known] if known else range(len(x))
        if not rows:
            return [known[row] for row in range(len(x))]
        outcomes = self._evaluated(x[rows] if known else x, check)
        if done is not None:
            for row, outcome in zip(rows, outcomes, strict=True):
                done(row, outcome)
        if not known:
            return outcomes
        whole = {**known, **dict(zip(rows, outcomes, strict=True))}
        return [whole[row] for row in range(len(x))]

    def _evaluated(self, x: np.ndarray, check: Check | None) -> Sequence[Outcome]:
        self.calls += len(x)
        outcomes, calls, self.names = self._caller.rows(x, self._first, check)
        self.calls += calls - len(x)
        if self._first:
            in_form = isinstance(outcomes, Columns) or any(o.status in (OK, INVALID) for o in outcomes)
            self._first = not in_form
        return outcomes
