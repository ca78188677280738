"""Rows evaluated by an evaluator alone, without a run."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ppsde.evaluation.local import Evaluator, no_check
from ppsde.evaluation.values import Noted, Values

Finished = Callable[[int, Noted], None]


def answers(
    evaluator: Evaluator, x: np.ndarray, finished: Finished | None = None, check: Callable[[], None] = no_check
) -> list[Noted]:
    """What comes back for each row of x; `finished(row, answer)` is called when a row has finished."""

    def hear(row: int) -> None:
        if finished is not None:
            finished(row, values.noted(row))

    values = Values(x, apart=True, finished=hear)
    evaluator.submit(values, range(len(x)), check)
    assert all(values.done)
    return [values.noted(row) for row in range(len(x))]
