"""Evaluation by a callable like `map`, as `multiprocessing.Pool.map` is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from .calling import Reply
from .evaluator import NOTHING_KNOWN, Check, Done, chunks, missing
from .outcome import EvaluatorLost, Outcome
from .replies import ByReplies


class Mapped(ByReplies):
    """Gives rows, or chunks of them, to the map; outcomes are taken in their order, as early as it gives them."""

    def __init__(
        self,
        over: Callable[[Callable[[np.ndarray], Reply], Iterable[np.ndarray]], Iterable[Reply]],
        task: Callable[[np.ndarray], Reply],
        size: Callable[[int], int],
        end: Callable[[], None],
    ) -> None:
        super().__init__(size, end)
        self._over, self._task = over, task

    def submit(
        self,
        x: np.ndarray,
        done: Done | None = None,
        known: Mapping[int, Outcome] = NOTHING_KNOWN,
        check: Check | None = None,
    ) -> Sequence[Outcome]:
        outcomes = dict(known)
        rows = missing(x, known)
        pieces = chunks(rows, self._size(len(rows)))
        if check is not None:
            check()
        replies = iter(self._guarded(lambda: self._over(self._task, [x[piece] for piece in pieces])))
        for piece in pieces:
            reply = self._guarded(lambda: next(replies, None))
            if not isinstance(reply, Reply) or len(reply.outcomes) != len(piece):
                raise EvaluatorLost(f"the map must give one result per item, in their order; it gave {reply!r}")
            self._received(reply, piece, outcomes, done)
            if check is not None:
                check()
        return [outcomes[row] for row in range(len(x))]

    def _guarded(self, step: Callable[[], Any]) -> Any:
        """User code never raises here: it is caught where it runs. So this is the map's own failure."""
        try:
            return step()
        except Exception as error:
            raise EvaluatorLost(f"the map failed with {type(error).__name__}: {error}") from error
