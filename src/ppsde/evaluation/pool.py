"""What a worker process does: load the function once, evaluate what it is sent, end when nobody is there any more.

Evaluation in processes of our own: one that hangs, crashes or eats all memory is replaced, and fails alone.
"""

from __future__ import annotations

import pickle
import resource
import signal
import sys
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np

from .local import NOTHING_KNOWN, PULSE, Check, Done, Evaluator, Reply, chunks, missing
from .supervisor import Nursery
from .values import CRASHED, MEMORY, TIMEOUT, EvaluatorLost, Outcome

READY = "ready"
PAGE = resource.getpagesize()


def serve(line: Connection) -> None:
    """Serve until the line is closed from the other side."""
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        path, data, memory, one_thread = pickle.loads(line.recv_bytes())
        try:
            sys.path[:] = path
            call = pickle.loads(data)
        except BaseException as error:
            line.send(f"{type(error).__name__}: {error}")
            return
        np.random.seed()  # noqa: NPY002  # workers are forked: without this, all would draw the same numbers
        if one_thread:
            _limit_threads()
        ceiling = None if memory is None else _address_space() + memory
        line.send(READY)
        while True:
            x = line.recv()
            with _at_most(ceiling):
                reply = call(x)
            _flush()
            line.send(reply)


def _limit_threads() -> None:
    """The environment says it already; this is for libraries that do not ask it."""
    with suppress(ImportError):
        from threadpoolctl import threadpool_limits

        threadpool_limits(1)


def _address_space() -> int:
    """Bytes that this process has mapped now."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * PAGE


@contextmanager
def _at_most(ceiling: int | None) -> Iterator[None]:
    """A limit on the address space while the function is called; what tells of its failure needs some too."""
    if ceiling is None:
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    limits = [ceiling, *(limit for limit in (soft, hard) if limit != resource.RLIM_INFINITY)]
    resource.setrlimit(resource.RLIMIT_AS, (min(limits), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _flush() -> None:
    """What the function printed is seen at once, and not lost if the worker is killed later."""
    stream: Any
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):
            stream.flush()


ATTEMPTS = 3  # to start a worker, or to run a row whose processes were lost through no fault of its own
CHUNKS_PER_WORKER = 2  # of rows for a vectorised function: more even out, fewer cost less
Task = tuple[int, ...]  # rows


@dataclass(eq=False)
class Hand:
    """A worker process, as seen from here."""

    number: int
    line: Connection
    ready: bool = False  # the function is loaded
    heard: bool = True  # its end of the line is open
    served: int = 0  # tasks it has done
    task: Task | None = None
    began: float = 0.0
    unread: bool = False  # it ended without having read its task


class Pool(Evaluator):
    """A supervisor of worker processes with a line to each.

    Parameters
    ----------
    function : bytes
        A packed `Caller`.
    workers : int
        How many processes, at most.
    timeout : float, optional
        Seconds that the evaluation of a point may take.
    memory : int, optional
        Bytes of address space that it may take beyond what the worker had when the function was loaded.
    rows_together : bool
        Whether the function takes rows. They are sent in chunks, or one by one if there is a limit to keep.
    """

    def __init__(
        self,
        function: bytes,
        workers: int,
        timeout: float | None = None,
        memory: int | None = None,
        rows_together: bool = False,
    ) -> None:
        super().__init__()
        self._workers, self._timeout = workers, timeout
        self._in_chunks = rows_together and timeout is None and memory is None
        self._one_thread = workers > 1
        self._orders = pickle.dumps((list(sys.path), function, memory, self._one_thread))
        self._nursery: Nursery | None = None
        self._hands: dict[int, Hand] = {}
        self._started = 0  # workers, ever
        self._not_loaded = 0  # workers that ended before they were ready, in a row
        self._nurseries_lost = 0

    def submit(
        self,
        x: np.ndarray,
        done: Done | None = None,
        known: Mapping[int, Outcome] = NOTHING_KNOWN,
        check: Check | None = None,
    ) -> Sequence[Outcome]:
        outcomes = dict(known)
        rows = missing(x, known)
        size = -(-len(rows) // (self._workers * CHUNKS_PER_WORKER)) if self._in_chunks else 1
        request = _Request(x, deque(map(tuple, chunks(rows, size))), outcomes, done)
        try:
            while request.tasks or any(hand.task is not None for hand in self._hands.values()):
                if check is not None:
                    check()
                self._hand_out(request)
                self._listen(request)
                self._end_those_that_take_too_long(request)
        except BaseException:
            self._abandon()
            raise
        return [outcomes[row] for row in range(len(x))]

    def close(self) -> None:
        for hand in self._hands.values():
            hand.line.close()
        self._hands.clear()
        if self._nursery is not None:
            self._nursery.close()
            self._nursery = None

    def forget(self) -> None:
        """Let go of everything without ending it: after a fork, it is the other process's."""
        for hand in self._hands.values():
            hand.line.close()
        self._hands.clear()
        if self._nursery is not None:
            self._nursery.forget()
            self._nursery = None

    def _hand_out(self, request: _Request) -> None:
        """Give tasks to all that are free, and start as many workers as there is work for."""
        for hand in list(self._hands.values()):
            if request.tasks and hand.ready and hand.heard and hand.task is None:
                task = request.tasks.popleft()
                try:
                    hand.line.send(request.x[list(task)])
                except OSError:  # it ended while it was free
                    request.tasks.appendleft(task)
                    self._hang_up(hand)
                    continue
                hand.task, hand.began = task, monotonic()
                self.calls += len(task)
        on_their_way = sum(not hand.ready for hand in self._hands.values())
        room = self._workers - sum(hand.heard for hand in self._hands.values())
        for _ in range(min(room, len(request.tasks) - on_their_way)):
            self._start()

    def _start(self) -> None:
        if self._nursery is None:
            self._nursery = Nursery(self._one_thread)
        self._started += 1
        with suppress(OSError):  # the nursery is gone, or the worker: both are heard of
            hand = Hand(self._started, self._nursery.start(self._started))
            self._hands[hand.number] = hand
            hand.line.send_bytes(self._orders)

    def _listen(self, request: _Request) -> None:
        """Wait until a worker or the nursery has something to say, but not long, and take it in."""
        assert self._nursery is not None
        hands = {hand.line: hand for hand in self._hands.values() if hand.heard}
        heard = wait([*hands, self._nursery], self._patience())  # type: ignore[list-item]  # anything with a fileno
        for line in heard:
            if isinstance(line, Connection):
                self._receive(hands[line], request)
        if self._nursery in heard:
            try:
                ended = self._nursery.news()
            except (EOFError, OSError):
                self._begin_again(request)
                return
            for number, status in ended:
                if number in self._hands:
                    self._bury(self._hands[number], status, request)

    def _patience(self) -> float:
        """Seconds until something must be done even if nobody says anything."""
        if self._timeout is None:
            return PULSE
        began = [hand.began for hand in self._hands.values() if hand.task is not None and hand.heard]
        return min([PULSE, *(max(0.0, start + self._timeout - monotonic()) for start in began)])

    def _receive(self, hand: Hand, request: _Request) -> None:
        try:
            message = hand.line.recv()
        except (OSError, EOFError, pickle.UnpicklingError) as error:
            # The kernel says 'reset' where the other end was closed with something in it that had not been read.
            hand.unread = isinstance(error, ConnectionResetError)
            self._hang_up(hand)
            return
        if not hand.ready:
            if message != READY:
                raise EvaluatorLost(f"the function cannot be loaded in another process: {message}")
            hand.ready, self._not_loaded = True, 0
            return
        if hand.task is None or not isinstance(message, Reply):
            self._hang_up(hand)  # whoever wrote this, it was not the worker's own code
            return
        task, hand.task, hand.served = hand.task, None, hand.served + 1
        self.calls += message.calls - len(task)
        self.names = message.names or self.names
        starved = any(outcome.status == MEMORY for outcome in message.outcomes)
        if starved:
            self._dismiss(hand)  # who knows what it still holds
        if starved and (len(task) > 1 or hand.served > 1):
            request.again_one_by_one(task)  # the memory may have been taken by others before
            return
        for row, outcome in zip(task, message.outcomes, strict=True):
            request.finish(row, outcome)

    def _bury(self, hand: Hand, status: int, request: _Request) -> None:
        """A worker has ended, by itself or killed; what it had been doing is lost, unless it had just told."""
        while hand.heard and hand.task is not None and hand.line.poll():
            self._receive(hand, request)
        self._hands.pop(hand.number, None)
        hand.line.close()
        if not hand.ready:
            self._not_loaded += 1
            if self._not_loaded >= ATTEMPTS:
                raise EvaluatorLost(f"workers end before they have loaded the function: {_in_words(status)}")
        if hand.task is None:
            return
        if len(hand.task) > 1 or (hand.unread and request.may_be_lost_again(hand.task)):
            request.again_one_by_one(hand.task)
        else:
            request.finish(hand.task[0], _crashed(hand, status))

    def _end_those_that_take_too_long(self, request: _Request) -> None:
        if self._timeout is None:
            return
        for hand in list(self._hands.values()):
            if hand.task is None or monotonic() < hand.began + self._timeout:
                continue
            if not hand.heard:  # it has ended already; how, the nursery is about to tell
                continue
            if hand.line.poll():  # just in time
                self._receive(hand, request)
                continue
            seconds, task = monotonic() - hand.began, hand.task
            self._dismiss(hand)
            outcome = Outcome(TIMEOUT, seconds=seconds, error=f"Timeout: killed after {self._timeout:g} s")
            request.finish(task[0], outcome)

    def _hang_up(self, hand: Hand) -> None:
        """Hear no more of a worker; make sure that it ends, and wait to be told how."""
        hand.heard = False
        self._kill(hand)

    def _dismiss(self, hand: Hand) -> None:
        """End a worker without waiting for its end."""
        del self._hands[hand.number]
        hand.line.close()
        self._kill(hand)

    def _kill(self, hand: Hand) -> None:
        if self._nursery is not None:
            with suppress(OSError):  # gone, and its workers with it
                self._nursery.kill(hand.number)

    def _abandon(self) -> None:
        """End what still runs, so that nothing of it is taken for an answer to a later question."""
        for hand in list(self._hands.values()):
            if hand.task is not None or not hand.heard:
                self._dismiss(hand)

    def _begin_again(self, request: _Request) -> None:
        """The nursery was killed, and its workers with it. None of their tasks is known to be to blame."""
        for hand in self._hands.values():
            while hand.heard and hand.task is not None and hand.line.poll():
                self._receive(hand, request)
            if hand.task is not None and (len(hand.task) > 1 or request.may_be_lost_again(hand.task)):
                request.again_one_by_one(hand.task)
            elif hand.task is not None:
                request.finish(hand.task[0], _crashed(hand, -signal.SIGKILL))
        self.close()
        self._nurseries_lost += 1
        if self._nurseries_lost >= ATTEMPTS:
            raise EvaluatorLost("the process that keeps the workers was killed again and again")


class _Request:
    """One call of `submit`: what is still to do, and what is done."""

    def __init__(self, x: np.ndarray, tasks: deque[Task], outcomes: dict[int, Outcome], done: Done | None) -> None:
        self.x, self.tasks, self._outcomes, self._done = x, tasks, outcomes, done
        self._lost: Counter[Task] = Counter()

    def finish(self, row: int, outcome: Outcome) -> None:
        self._outcomes[row] = outcome
        if self._done is not None:
            self._done(row, outcome)

    def may_be_lost_again(self, task: Task) -> bool:
        """Whether a task whose worker was lost before it began may be given to another."""
        self._lost[task] += 1
        return self._lost[task] < ATTEMPTS

    def again_one_by_one(self, task: Task) -> None:
        self.tasks.extendleft((row,) for row in reversed(task))


def _crashed(hand: Hand, status: int) -> Outcome:
    return Outcome(CRASHED, seconds=monotonic() - hand.began, error=f"Crashed: {_in_words(status)}")


def _in_words(status: int) -> str:
    if status >= 0:
        return f"the process ended with exit status {status}"
    try:
        return f"the process was killed by {signal.Signals(-status).name}"
    except ValueError:
        return f"the process was killed by signal {-status}"
