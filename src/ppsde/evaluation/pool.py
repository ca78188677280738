"""Evaluation in processes of our own: one that hangs, crashes or eats all memory is replaced, and fails alone."""

from __future__ import annotations

import pickle
import signal
import sys
from collections import Counter, deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from time import monotonic

from .local import PULSE, Check, Evaluator, Reply, chunks, no_check
from .supervisor import READY, Supervisor, exit_in_words
from .values import CRASHED, MEMORY, TIMEOUT, EvaluatorLost, Failure, Values

ATTEMPTS = 3  # to start a worker, or to run a row whose processes were lost through no fault of its own
CHUNKS_PER_WORKER = 2  # of rows for a vectorised function: more even out, fewer cost less
Rows = tuple[int, ...]  # rows


@dataclass(eq=False)
class Hand:
    """A worker process, as seen from here."""

    number: int
    line: Connection
    ready: bool = False  # the function is loaded
    heard: bool = True  # its end of the line is open
    served: int = 0  # tasks it has done
    task: Rows | None = None
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
        self._supervisor: Supervisor | None = None
        self._hands: dict[int, Hand] = {}
        self._started = 0  # workers, ever
        self._not_loaded = 0  # workers that ended before they were ready, in a row
        self._supervisors_lost = 0

    def submit(self, values: Values, rows: Sequence[int], check: Check = no_check) -> None:
        size = -(-len(rows) // (self._workers * CHUNKS_PER_WORKER)) if self._in_chunks else 1
        request = _Request(values, deque(map(tuple, chunks(rows, size))))
        try:
            while request.tasks or any(hand.task is not None for hand in self._hands.values()):
                check()
                self._hand_out(request)
                self._listen(request)
                self._end_those_that_take_too_long(request)
        except BaseException:
            self._abandon()
            raise

    def close(self) -> None:
        for hand in self._hands.values():
            hand.line.close()
        self._hands.clear()
        if self._supervisor is not None:
            self._supervisor.close()
            self._supervisor = None

    def forget(self) -> None:
        """Let go of everything without ending it: after a fork, it is the other process's."""
        for hand in self._hands.values():
            hand.line.close()
        self._hands.clear()
        if self._supervisor is not None:
            self._supervisor.forget()
            self._supervisor = None

    def _hand_out(self, request: _Request) -> None:
        """Give tasks to all that are free, and start as many workers as there is work for."""
        for hand in list(self._hands.values()):
            if request.tasks and hand.ready and hand.heard and hand.task is None:
                task = request.tasks.popleft()
                try:
                    hand.line.send(request.values.x[list(task)])
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
        if self._supervisor is None:
            self._supervisor = Supervisor(self._one_thread)
        self._started += 1
        with suppress(OSError):  # the supervisor is gone, or the worker: both are heard of
            hand = Hand(self._started, self._supervisor.start(self._started))
            self._hands[hand.number] = hand
            hand.line.send_bytes(self._orders)

    def _listen(self, request: _Request) -> None:
        """Wait until a worker or the supervisor has something to say, but not long, and take it in."""
        assert self._supervisor is not None
        hands = {hand.line: hand for hand in self._hands.values() if hand.heard}
        heard = wait([*hands, self._supervisor], self._patience())  # type: ignore[list-item]  # anything with a fileno
        for line in heard:
            if isinstance(line, Connection):
                self._receive(hands[line], request)
        if self._supervisor in heard:
            try:
                ended = self._supervisor.news()
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
        starved = any(failure.status == MEMORY for failure in message.values.failures.values())
        if starved:
            self._dismiss(hand)  # who knows what it still holds
        if starved and (len(task) > 1 or hand.served > 1):
            request.again_one_by_one(task)  # the memory may have been taken by others before
            return
        request.values.merge(task, message.values)

    def _bury(self, hand: Hand, status: int, request: _Request) -> None:
        """A worker has ended, by itself or killed; what it had been doing is lost, unless it had just told."""
        while hand.heard and hand.task is not None and hand.line.poll():
            self._receive(hand, request)
        self._hands.pop(hand.number, None)
        hand.line.close()
        if not hand.ready:
            self._not_loaded += 1
            if self._not_loaded >= ATTEMPTS:
                raise EvaluatorLost(f"workers end before they have loaded the function: {exit_in_words(status)}")
        if hand.task is None:
            return
        if len(hand.task) > 1 or (hand.unread and request.may_be_lost_again(hand.task)):
            request.again_one_by_one(hand.task)
        else:
            request.crashed(hand, status)

    def _end_those_that_take_too_long(self, request: _Request) -> None:
        if self._timeout is None:
            return
        for hand in list(self._hands.values()):
            if hand.task is None or monotonic() < hand.began + self._timeout:
                continue
            if not hand.heard:  # it has ended already; how, the supervisor is about to tell
                continue
            if hand.line.poll():  # just in time
                self._receive(hand, request)
                continue
            seconds, task = monotonic() - hand.began, hand.task
            self._dismiss(hand)
            request.fail(task[0], TIMEOUT, "Timeout", f"killed after {self._timeout:g} s", seconds)

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
        if self._supervisor is not None:
            with suppress(OSError):  # gone, and its workers with it
                self._supervisor.kill(hand.number)

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
                request.crashed(hand, -signal.SIGKILL)
        self.close()
        self._supervisors_lost += 1
        if self._supervisors_lost >= ATTEMPTS:
            raise EvaluatorLost("the process that keeps the workers was killed again and again")


class _Request:
    """One call of `submit`: the tasks still to do, and where their values go."""

    def __init__(self, values: Values, tasks: deque[Rows]) -> None:
        self.values, self.tasks = values, tasks
        self._lost: Counter[Rows] = Counter()

    def fail(self, row: int, status: str, kind: str, message: str, seconds: float) -> None:
        self.values.record_failure(row, Failure(self.values.x[row].copy(), status, kind, message, seconds))

    def crashed(self, hand: Hand, status: int) -> None:
        """Record that the only row of a worker's task ended its process."""
        assert hand.task is not None
        self.fail(hand.task[0], CRASHED, "Crashed", exit_in_words(status), monotonic() - hand.began)

    def may_be_lost_again(self, task: Rows) -> bool:
        """Count one more loss of this task; true while it may be retried."""
        self._lost[task] += 1
        return self._lost[task] < ATTEMPTS

    def again_one_by_one(self, task: Rows) -> None:
        """Put the rows of a task back, each as a task of its own."""
        self.tasks.extendleft((row,) for row in reversed(task))
