"""Evaluation by any `concurrent.futures.Executor`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any

import numpy as np

from .calling import Reply
from .evaluator import NOTHING_KNOWN, PULSE, Check, Done, chunks, missing
from .outcome import EvaluatorLost, Outcome
from .replies import ByReplies


class Futures(ByReplies):
    """Sends rows, or chunks of them, and takes outcomes in the order they come.

    Parameters
    ----------
    send : callable
        Starts the evaluation of several arrays of rows (n, d) and returns a future of a `Reply` for each.
    size : callable
        How many rows go into one array, if so many are to be evaluated.
    again : callable
        Whether what a future raised is no fault of the rows, so that they are to be sent again.
    end : callable
        What `close` does.
    """

    def __init__(
        self,
        send: Callable[[list[np.ndarray]], list[Any]],
        size: Callable[[int], int],
        again: Callable[[BaseException], bool],
        end: Callable[[], None],
    ) -> None:
        super().__init__(size, end)
        self._send, self._again = send, again

    def submit(
        self,
        x: np.ndarray,
        done: Done | None = None,
        known: Mapping[int, Outcome] = NOTHING_KNOWN,
        check: Check | None = None,
    ) -> Sequence[Outcome]:
        outcomes = dict(known)
        rows = missing(x, known)
        finished: SimpleQueue[tuple[list[int], Any]] = SimpleQueue()
        waiting = chunks(rows, self._size(len(rows)))
        running: list[Any] = []
        try:
            while len(outcomes) < len(x):
                if check is not None:
                    check()
                if waiting:
                    running += self._begin(x, waiting, finished)
                    waiting = []
                try:
                    sent, future = finished.get(timeout=PULSE)
                except Empty:
                    continue
                reply = self._reply(future)
                if reply is None:
                    waiting.append(sent)
                    continue
                self._received(reply, sent, outcomes, done)
        except BaseException:
            for future in running:
                future.cancel()  # of those that have begun, this does nothing
            raise
        return [outcomes[row] for row in range(len(x))]

    def _begin(self, x: np.ndarray, pieces: list[list[int]], finished: SimpleQueue[tuple[list[int], Any]]) -> list[Any]:
        try:
            futures = self._send([x[rows] for rows in pieces])
        except Exception as error:  # shut down, broken, closed
            raise EvaluatorLost(f"the executor takes no more work: {type(error).__name__}: {error}") from error
        for rows, future in zip(pieces, futures, strict=True):
            future.add_done_callback(partial(_queue, finished, rows))
        return futures

    def _reply(self, future: Any) -> Reply | None:
        """What came back; None if it must be sent again. User code never raises here: it is caught where it runs."""
        try:
            reply: Reply = future.result()
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            if self._again(error):
                return None
            raise EvaluatorLost(f"the executor failed with {type(error).__name__}: {error}") from error
        return reply


def by_executor(
    executor: Executor, task: Callable[[np.ndarray], Reply], size: Callable[[int], int], end: Callable[[], None]
) -> Futures:
    """An evaluator that gives everything to an executor, which stays the user's: it is not shut down."""

    def send(pieces: list[np.ndarray]) -> list[Any]:
        return [executor.submit(task, x) for x in pieces]

    return Futures(send, size, lambda error: False, end)


def _queue(finished: SimpleQueue[tuple[list[int], Any]], rows: list[int], future: Any) -> None:
    finished.put((rows, future))
