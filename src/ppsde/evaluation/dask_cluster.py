"""Evaluation by a Dask cluster."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np

from .futures import Futures
from .isolation import Isolated, end_children

ATTEMPTS = 3  # after the scheduler has given a task up, each of which it repeats by itself several times


class DaskCluster(Futures):
    """Sends rows to a Dask client, which stays the user's.

    Every evaluation runs in a child of the Dask worker that got it. So a poisonous one fails alone, and a worker that
    dies was killed by something else: its tasks are run again elsewhere, by the scheduler and if need be by us.
    """

    def __init__(self, client: Any, task: Isolated) -> None:
        if getattr(client, "asynchronous", False):
            raise ValueError("workers must be a Dask Client that is not asynchronous")
        self._client, self._task = client, task
        self._sent = 0
        self._given_up = 0

        def send(pieces: list[np.ndarray]) -> list[Any]:
            keys = [f"ppsde-{task.name}-{self._sent + k}" for k in range(len(pieces))]
            self._sent += len(pieces)
            futures: list[Any] = client.map(task, pieces, key=keys, pure=False)
            return futures

        def size(rows: int) -> int:
            return -(-rows // max(1, sum(client.nthreads().values()))) if task.rows_together else 1

        super().__init__(send, size, self._to_be_sent_again, self._end_children)

    def _to_be_sent_again(self, error: BaseException) -> bool:
        from distributed import KilledWorker

        if not isinstance(error, KilledWorker):
            return False
        self._given_up += 1
        return self._given_up <= ATTEMPTS

    def _end_children(self) -> None:
        end_children(self._task.name)  # the workers of a cluster may be threads of this process
        with suppress(Exception):  # a cluster that is gone has no children either
            self._client.run(_end_children, self._task.name, wait=False)


async def _end_children(name: str) -> None:  # what is not waited for must be a coroutine
    end_children(name)
