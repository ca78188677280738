"""Evaluation by executors, maps and Dask clusters, which are sent rows and return replies.

If there is a limit on time or memory, or the worker must survive, a row is evaluated in a child process of the worker
that got it (`Isolated`). We cannot kill the workers of executors and clusters themselves: they are the user's, and the
death of one may lose the work of others.
"""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from math import inf
from queue import Empty, SimpleQueue
from time import monotonic, sleep
from typing import Any

import numpy as np

from .arrivals import Arrivals, Points
from .local import PULSE, Check, Evaluator, Reply, chunks, no_check
from .pool import Pool
from .sending import add_to_path, refuse_other
from .values import EvaluatorLost, Values


class ByReplies(Evaluator):
    """An evaluator that receives values as replies.

    `size(rows)` returns how many rows to send together if `rows` are to be evaluated. `close` calls `end`.
    """

    def __init__(self, size: Callable[[int], int], end: Callable[[], None]) -> None:
        super().__init__()
        self._size, self._end = size, end

    def close(self) -> None:
        """End the children of the run, if it has any; executors and clusters stay open."""
        self._end()

    def _receive(self, reply: Reply, rows: Sequence[int], values: Values | Arrivals) -> None:
        """Store the reply to some rows."""
        self.calls += reply.calls
        self.names = reply.names or self.names
        values.merge(rows, reply.values)


class Futures(ByReplies):
    """Sends rows, or chunks of them, and stores the replies in the order in which they arrive.

    Parameters
    ----------
    send : callable
        Starts the evaluation of several arrays of rows (n, d) and returns a future of a `Reply` for each.
    size : callable
        Returns how many rows to put into one array, given how many are to be evaluated.
    again : callable
        Returns whether rows must be sent again, given the exception of their future.
    end : callable
        Called by `close`.
    at_once : callable
        Returns how many points can be evaluated at the same time.
    """

    def __init__(
        self,
        send: Callable[[list[np.ndarray]], list[Any]],
        size: Callable[[int], int],
        again: Callable[[BaseException], bool],
        end: Callable[[], None],
        at_once: Callable[[], int],
    ) -> None:
        super().__init__(size, end)
        self._send, self._again, self._at_once = send, again, at_once

    def submit(self, values: Values, rows: Sequence[int], check: Check = no_check) -> None:
        """Send the rows and wait for all replies; if anything is raised, futures that have not begun are cancelled."""
        finished: SimpleQueue[tuple[list[int], Any]] = SimpleQueue()
        waiting = chunks(rows, self._size(len(rows)))
        running: list[Any] = []
        left = len(rows)
        try:
            while left:
                check()
                if waiting:
                    running += self._begin(values.x, waiting, finished)
                    waiting = []
                try:
                    sent, future = finished.get(timeout=PULSE)
                except Empty:
                    continue
                reply = self._reply(future)
                if reply is None:
                    waiting.append(sent)
                    continue
                self._receive(reply, sent, values)
                left -= len(sent)
        except BaseException:
            for future in running:
                future.cancel()  # no effect on those that have begun
            raise

    def stream(self, arrivals: Arrivals, check: Check = no_check) -> None:
        """Send as many points as can be evaluated at the same time, and another whenever a reply has come."""
        finished: SimpleQueue[tuple[list[int], Any]] = SimpleQueue()
        running: dict[int, Any] = {}
        waiting: list[list[int]] = []
        try:
            while True:
                check()
                waiting += [[number] for number in arrivals.begin(self._places() - len(running) - len(waiting))]
                if waiting:
                    futures = self._begin(arrivals.x, waiting, finished)
                    running |= {number: future for (number,), future in zip(waiting, futures, strict=True)}
                    waiting = []
                if not running:
                    return
                try:
                    sent, future = finished.get(timeout=PULSE)
                except Empty:
                    continue
                del running[sent[0]]
                reply = self._reply(future)
                if reply is None:
                    waiting.append(sent)
                else:
                    self._receive(reply, sent, arrivals)
        except BaseException:
            for future in running.values():
                future.cancel()
            raise

    def _places(self) -> int:
        """Return how many points can be evaluated at the same time."""
        try:
            return self._at_once()
        except Exception as error:  # a cluster that is closed
            raise EvaluatorLost(f"the executor takes no more work: {type(error).__name__}: {error}") from error

    def _begin(
        self, x: np.ndarray | Points, pieces: list[list[int]], finished: SimpleQueue[tuple[list[int], Any]]
    ) -> list[Any]:
        try:
            futures = self._send([x[rows] for rows in pieces])
        except Exception as error:  # shut down, broken, closed
            raise EvaluatorLost(f"the executor takes no more work: {type(error).__name__}: {error}") from error
        for rows, future in zip(pieces, futures, strict=True):
            future.add_done_callback(partial(_queue, finished, rows))
        return futures

    def _reply(self, future: Any) -> Reply | None:
        """Return the reply, or None if the rows must be sent again.

        Exceptions of the user's function are caught in the worker, so this one is of the executor.
        """
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
    executor: Executor,
    task: Callable[[np.ndarray], Reply],
    size: Callable[[int], int],
    end: Callable[[], None],
    at_once: int,
) -> Futures:
    """Return an evaluator that submits rows to the user's executor, which is not shut down at the end."""

    def send(pieces: list[np.ndarray]) -> list[Any]:
        return [executor.submit(task, x) for x in pieces]

    return Futures(send, size, lambda error: False, end, lambda: at_once)


def _queue(finished: SimpleQueue[tuple[list[int], Any]], rows: list[int], future: Any) -> None:
    finished.put((rows, future))


class Mapped(ByReplies):
    """Passes rows, or chunks of them, to a callable like `map` and stores the replies in the order of the rows."""

    def __init__(
        self,
        over: Callable[[Callable[[np.ndarray], Reply], Iterable[np.ndarray]], Iterable[Reply]],
        task: Callable[[np.ndarray], Reply],
        size: Callable[[int], int],
        end: Callable[[], None],
    ) -> None:
        super().__init__(size, end)
        self._over, self._task = over, task

    def submit(self, values: Values, rows: Sequence[int], check: Check = no_check) -> None:
        """Pass all rows to the map; `check` is called after each reply."""
        pieces = chunks(rows, self._size(len(rows)))
        check()
        replies = self._guarded(lambda: iter(self._over(self._task, [values.x[piece] for piece in pieces])))
        for piece in pieces:
            reply = self._guarded(lambda: next(replies, None))
            if not isinstance(reply, Reply) or len(reply.values.done) != len(piece):
                raise EvaluatorLost(f"the map must return one result per item, in their order; it returned {reply!r}")
            self._receive(reply, piece, values)
            check()

    def stream(self, arrivals: Arrivals, check: Check = no_check) -> None:
        """Raise ValueError: a map returns its values in their order, so that its workers wait for each other."""
        raise ValueError("asynchronous=True needs workers that are an int, an Executor or a Dask Client; got a map")

    def _guarded(self, step: Callable[[], Any]) -> Any:
        """Call `step`; an exception is the map's own, because those of the user's function are caught in the worker."""
        try:
            return step()
        except Exception as error:
            raise EvaluatorLost(f"the map failed with {type(error).__name__}: {error}") from error


ATTEMPTS = 3  # how often tasks that the scheduler has given up, after several attempts of its own, are sent again


class DaskCluster(Futures):
    """Sends rows to the user's Dask client, which is not closed at the end.

    Every evaluation runs in a child process of the Dask worker that got it. So an evaluation that crashes harms nothing
    else, and if a worker dies, no evaluation was the cause: its tasks are run again elsewhere, by the scheduler or, if
    that gives up, by this class.
    """

    def __init__(self, client: Any, task: Isolated) -> None:
        if getattr(client, "asynchronous", False):
            raise ValueError("workers must be a Dask Client that is not asynchronous")
        self._client, self._task = client, task
        self._sent = 0
        self._given_up = 0
        self._counted, self._count = -inf, 1  # when the threads of the cluster were counted, and how many there were

        def send(pieces: list[np.ndarray]) -> list[Any]:
            keys = [f"ppsde-{task.name}-{self._sent + k}" for k in range(len(pieces))]
            self._sent += len(pieces)
            futures: list[Any] = client.map(task, pieces, key=keys, pure=False)
            return futures

        def size(rows: int) -> int:
            return -(-rows // self._threads()) if task.rows_together else 1

        super().__init__(send, size, self._to_be_sent_again, self._end_children, self._threads)

    def _threads(self) -> int:
        """Return how many threads the cluster has, at least 1, as known for a second."""
        now = monotonic()
        if now - self._counted > 1.0:
            self._counted, self._count = now, max(1, sum(self._client.nthreads().values()))
        return self._count

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


async def _end_children(name: str) -> None:  # Dask runs only coroutines without waiting for them
    end_children(name)


FREE_SECONDS = 8.0  # a child process without work is ended after so long


@dataclass(frozen=True)
class Isolated:
    """A packed `Caller` that is called in a child process of the worker to which it is sent."""

    name: str  # of the run, whose children are ended together
    function: bytes
    path: tuple[str, ...]
    versions: str  # of the program
    timeout: float | None
    memory: int | None
    rows_together: bool

    def __call__(self, x: np.ndarray) -> Reply:
        """Evaluate the rows of x (n, d) in a free child, or in a new one."""
        refuse_other(self.versions)
        child = _CHILDREN.take(self)
        try:
            before, values = child.calls, Values(x, apart=True)
            child.submit(values, range(len(x)), lambda: _CHILDREN.raise_if_ended(self.name))
        except BaseException:
            child.close()
            raise
        _CHILDREN.give(self, child)
        return Reply(values, child.calls - before, child.names)


class Ended(RuntimeError):
    """The run that this evaluation belongs to is over."""


class _Children:
    """The free child processes of each task. All methods may be called from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._free: dict[Isolated, list[tuple[float, Pool]]] = {}  # since when, and which
        self._ended: set[str] = set()
        self._sweeping = False

    def take(self, task: Isolated) -> Pool:
        self.raise_if_ended(task.name)
        with self._lock:
            free = self._free.get(task)
            if free:
                return free.pop()[1]
        add_to_path(task.path)
        return Pool(task.function, 1, task.timeout, task.memory, task.rows_together)

    def give(self, task: Isolated, child: Pool) -> None:
        with self._lock:
            if task.name not in self._ended:
                self._free.setdefault(task, []).append((monotonic(), child))
                if not self._sweeping:
                    self._sweeping = True
                    threading.Thread(target=self._sweep, name="ppsde-children", daemon=True).start()
                return
        child.close()

    def end(self, name: str | None = None) -> None:
        """End the free children of a run, or of all runs; busy ones end at their next check."""
        with self._lock:
            if name is not None:
                self._ended.add(name)
            over = [self._free.pop(task) for task in list(self._free) if name in (None, task.name)]
        for _, child in (pair for group in over for pair in group):
            child.close()

    def raise_if_ended(self, name: str) -> None:
        if name in self._ended:
            raise Ended(f"run {name} is over")

    def forget(self) -> None:
        """Drop all children after a fork, because they belong to the parent process."""
        for _, child in (pair for group in self._free.values() for pair in group):
            child.forget()
        self.__init__()  # type: ignore[misc]

    def _sweep(self) -> None:
        """End children that have been free for a while: the end of a run is not reported to an executor's workers."""
        while True:
            sleep(FREE_SECONDS / 4)
            with self._lock:
                old = []
                for task, free in list(self._free.items()):
                    old += [child for since, child in free if monotonic() - since > FREE_SECONDS]
                    self._free[task] = [pair for pair in free if pair[1] not in old]
                    if not self._free[task]:
                        del self._free[task]
                self._sweeping = bool(self._free)
                going_on = self._sweeping
            for child in old:
                child.close()
            if not going_on:
                return


_CHILDREN = _Children()
atexit.register(_CHILDREN.end)
os.register_at_fork(after_in_child=_CHILDREN.forget)


def end_children(name: str) -> None:
    """End the children of a run in this process, including the busy ones."""
    _CHILDREN.end(name)
