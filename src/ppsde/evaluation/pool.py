"""Evaluation in worker processes: one that hangs, crashes or exceeds its memory is replaced; only its point fails."""

from __future__ import annotations

import pickle
import select
import signal
import sys
from collections import Counter, deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic

from .arrivals import Arrivals
from .channel import Channel, Stray
from .local import PULSE, Check, Evaluator, Reply, chunks, no_check
from .supervisor import READY, Supervisor, exit_in_words
from .values import CRASHED, MEMORY, TIMEOUT, EvaluatorLost, Failure, Values

ATTEMPTS = 3  # to start a worker, or to evaluate a row whose process was lost for another reason than the row itself
GRACE = 2.0  # seconds for a worker that has closed its channel to end; its exit status says why it did
CHUNKS_PER_WORKER = 2  # for a vectorised function: more chunks balance the load, fewer cost less
Rows = tuple[int, ...]  # row numbers of a request


@dataclass(eq=False)
class Worker:
    """The state of one worker process, as known in this process."""

    number: int
    channel: Channel
    ready: bool = False  # it has loaded the function
    connected: bool = True  # it may still send something
    kill_at: float | None = None  # when to kill it, if it was disconnected and has not ended by then
    asked: int = 0  # number of the last message to it, which its answer must have
    served: int = 0  # tasks it has finished
    task: Rows | None = None  # the rows it evaluates now
    began: float = 0.0  # when it got them
    unread: bool = False  # it ended before it read its task
    stray: bool = False  # something else than its answers came from it


class Pool(Evaluator):
    """An evaluator that sends rows to worker processes, which a supervisor process starts and kills.

    Parameters
    ----------
    function : bytes
        A packed `Caller`.
    workers : int
        The largest number of processes.
    timeout : float, optional
        Seconds that the evaluation of a point may take.
    memory : int, optional
        Bytes of address space that it may use beyond those in use when the worker had loaded the function.
    rows_together : bool
        Whether the function is vectorised. Rows are sent in chunks then, or one by one if there is a limit.
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
        self._max_workers, self._timeout = workers, timeout
        self._in_chunks = rows_together and timeout is None and memory is None
        self._one_thread = workers > 1
        self._orders = pickle.dumps((list(sys.path), function, memory, self._one_thread))
        self._supervisor: Supervisor | None = None
        self._workers: dict[int, Worker] = {}
        self._started = 0  # number of workers started so far
        self._not_loaded = 0  # consecutive workers that ended before they were ready
        self._supervisors_lost = 0

    def submit(self, values: Values, rows: Sequence[int], check: Check = no_check) -> None:
        """Evaluate rows in the workers; if anything is raised, all busy workers are killed."""
        size = -(-len(rows) // (self._max_workers * CHUNKS_PER_WORKER)) if self._in_chunks else 1
        self._serve(_Request(values, deque(map(tuple, chunks(rows, size)))), check)

    def stream(self, arrivals: Arrivals, check: Check = no_check) -> None:
        """Evaluate a point in each worker that is free; if anything is raised, all busy workers are killed."""
        request = _Request(arrivals, deque())

        def fill() -> None:
            free = self._max_workers - self._busy - len(request.tasks)
            request.tasks.extend((number,) for number in arrivals.begin(free))

        self._serve(request, check, fill)

    @property
    def _busy(self) -> int:
        """How many workers have a task."""
        return sum(worker.task is not None for worker in self._workers.values())

    def _serve(self, request: _Request, check: Check, fill: Callable[[], None] = no_check) -> None:
        """Have the tasks of a request done, with those that `fill` adds whenever workers may have become free."""
        try:
            fill()
            while request.tasks or self._busy:
                check()
                self._assign_tasks(request)
                self._listen(request)
                self._kill_overdue(request)
                fill()
        except BaseException:
            self._discard_busy()
            raise

    def close(self) -> None:
        """End all workers and their supervisor."""
        for worker in self._workers.values():
            worker.channel.close()
        self._workers.clear()
        if self._supervisor is not None:
            self._supervisor.close()
            self._supervisor = None

    def forget(self) -> None:
        """Close the connections but end no process: after a fork, the workers belong to the parent process."""
        for worker in self._workers.values():
            worker.channel.close()
        self._workers.clear()
        if self._supervisor is not None:
            self._supervisor.forget()
            self._supervisor = None

    def _assign_tasks(self, request: _Request) -> None:
        """Send tasks to the free workers, and start more workers if there are more tasks."""
        for worker in list(self._workers.values()):
            if request.tasks and worker.ready and worker.connected and worker.task is None:
                task = request.tasks.popleft()
                worker.asked += 1
                try:
                    worker.channel.send(worker.asked, pickle.dumps(request.values.x[list(task)]))
                except OSError:  # the worker ended while it was free
                    request.tasks.appendleft(task)
                    self._disconnect(worker, GRACE)
                    continue
                worker.task, worker.began = task, monotonic()
                self.calls += len(task)
        starting = sum(not worker.ready for worker in self._workers.values())
        room = self._max_workers - sum(worker.connected for worker in self._workers.values())
        for _ in range(min(room, len(request.tasks) - starting)):
            self._start()

    def _start(self) -> None:
        if self._supervisor is None:
            self._supervisor = Supervisor(self._one_thread)
        self._started += 1
        with suppress(OSError):  # the supervisor or the worker has ended: `_listen` notices either
            worker = Worker(self._started, self._supervisor.start(self._started))
            self._workers[worker.number] = worker
            worker.channel.send(worker.asked, self._orders)

    def _listen(self, request: _Request) -> None:
        """Wait a short time for messages from workers and the supervisor, and process them."""
        assert self._supervisor is not None
        poll = select.poll()
        poll.register(self._supervisor, select.POLLIN)
        by_descriptor = {worker.channel.fileno(): worker for worker in self._workers.values() if worker.connected}
        for descriptor, worker in by_descriptor.items():
            poll.register(descriptor, select.POLLIN | select.POLLOUT * worker.channel.sending)
        ready = dict(poll.poll(1000 * self._wait_seconds()))
        for descriptor, worker in by_descriptor.items():
            if ready.get(descriptor, 0) & select.POLLOUT:
                with suppress(OSError):  # it has ended, and there is something to receive as well
                    worker.channel.flush()
            if ready.get(descriptor, 0) & ~select.POLLOUT:
                self._receive(worker, request)
        if self._supervisor.fileno() in ready:
            try:
                ended = self._supervisor.news()
            except (EOFError, OSError):
                self._restart(request)
                return
            for number, status in ended:
                if number in self._workers:
                    self._remove_ended(self._workers[number], status, request)

    def _wait_seconds(self) -> float:
        """Return how many seconds to wait for messages: until the next check or the next timeout."""
        if self._timeout is None:
            return PULSE
        began = [worker.began for worker in self._workers.values() if worker.task is not None and worker.connected]
        return min([PULSE, *(max(0.0, start + self._timeout - monotonic()) for start in began)])

    def _receive(self, worker: Worker, request: _Request) -> None:
        """Process what a worker sent: that it is ready, or the values of its task. Nothing is waited for."""
        try:
            messages = worker.channel.receive()
        except (OSError, EOFError) as error:
            # The kernel reports a reset where the other end was closed before it had read everything sent to it.
            worker.unread = isinstance(error, ConnectionResetError)
            self._disconnect(worker, GRACE)
            return
        except Stray:
            worker.stray = True
            self._disconnect(worker)
            return
        for number, content in messages:
            if number != worker.asked or (worker.ready and worker.task is None):
                worker.stray = True
                self._disconnect(worker)
            elif worker.ready:
                try:
                    reply = pickle.loads(content)
                except Exception:  # the function has changed what the worker writes
                    worker.stray = True
                    self._disconnect(worker)
                else:
                    self._store(worker, reply, request)
            elif content != READY:
                raise EvaluatorLost(f"the function cannot be loaded in another process: {content.decode()}")
            else:
                worker.ready, self._not_loaded = True, 0

    def _store(self, worker: Worker, message: Reply, request: _Request) -> None:
        """Store the values of a worker's task."""
        assert worker.task is not None
        task, worker.task, worker.served = worker.task, None, worker.served + 1
        self.calls += message.calls - len(task)
        self.names = message.names or self.names
        starved = any(failure.status == MEMORY for failure in message.values.failures.values())
        if starved:
            self._discard(worker)  # it may still hold memory that the function allocated
        if starved and (len(task) > 1 or worker.served > 1):
            # Other rows, of this task or of an earlier one, may have used the memory. Only a row that is alone in a
            # new worker has certainly exceeded the limit by itself.
            request.queue_rows_again(task)
            return
        request.values.merge(task, message.values)

    def _remove_ended(self, worker: Worker, status: int, request: _Request) -> None:
        """Remove a worker that has ended, by itself or killed; its task is lost unless the reply was already sent."""
        if worker.connected and worker.task is not None:
            self._receive(worker, request)
        self._workers.pop(worker.number, None)
        worker.channel.close()
        if not worker.ready:
            self._not_loaded += 1
            if self._not_loaded >= ATTEMPTS:
                raise EvaluatorLost(f"workers end before they have loaded the function: {exit_in_words(status)}")
        if worker.task is None:
            return
        # A process or thread of an earlier evaluation may have written to the channel, unless this is the first one.
        doubtful = worker.unread or (worker.stray and worker.served > 0)
        if len(worker.task) > 1 or (doubtful and request.may_be_retried(worker.task)):
            request.queue_rows_again(worker.task)
        else:
            request.crashed(worker, status)

    def _kill_overdue(self, request: _Request) -> None:
        """Kill the workers whose time is up, and record a failure for the point of each."""
        for worker in self._workers.values():
            if worker.kill_at is not None and monotonic() >= worker.kill_at:
                worker.kill_at = None
                self._kill(worker)
        if self._timeout is None:
            return
        for worker in list(self._workers.values()):
            if worker.task is None or monotonic() < worker.began + self._timeout:
                continue
            if not worker.connected:  # it has ended already; the supervisor is about to report how
                continue
            seconds, task = monotonic() - worker.began, worker.task
            self._receive(worker, request)
            if worker.task is None or not worker.connected:  # its reply came just in time, or it has just ended
                continue
            self._discard(worker)
            request.fail(task[0], TIMEOUT, "Timeout", f"killed after {self._timeout:g} s", seconds)

    def _disconnect(self, worker: Worker, grace: float = 0.0) -> None:
        """Read nothing more from a worker, and kill it if it does not end; the supervisor will report how it ended."""
        worker.connected, worker.kill_at = False, monotonic() + grace

    def _discard(self, worker: Worker) -> None:
        """Kill a worker and forget it; how it ends does not matter."""
        del self._workers[worker.number]
        worker.channel.close()
        self._kill(worker)

    def _kill(self, worker: Worker) -> None:
        if self._supervisor is not None:
            with suppress(OSError):  # the supervisor has ended, and its workers with it
                self._supervisor.kill(worker.number)

    def _discard_busy(self) -> None:
        """Kill the busy workers, so that no late reply is mistaken for the reply to a later task."""
        for worker in list(self._workers.values()):
            if worker.task is not None or not worker.connected:
                self._discard(worker)

    def _restart(self, request: _Request) -> None:
        """Put tasks back after the supervisor was killed, and its workers with it; no task is known to be the cause."""
        for worker in list(self._workers.values()):
            if worker.connected and worker.task is not None:
                self._receive(worker, request)
            if worker.task is not None and (len(worker.task) > 1 or request.may_be_retried(worker.task)):
                request.queue_rows_again(worker.task)
            elif worker.task is not None:
                request.crashed(worker, -signal.SIGKILL)
        self.close()
        self._supervisors_lost += 1
        if self._supervisors_lost >= ATTEMPTS:
            raise EvaluatorLost(f"the supervisor of the workers was killed {self._supervisors_lost} times")


class _Request:
    """One call of `submit` or `stream`: the tasks that no worker has yet, and where their values are stored."""

    def __init__(self, values: Values | Arrivals, tasks: deque[Rows]) -> None:
        self.values, self.tasks = values, tasks
        self._lost: Counter[Rows] = Counter()

    def fail(self, row: int, status: str, kind: str, message: str, seconds: float) -> None:
        """Record that a row has no values, and why."""
        self.values.record_failure(row, Failure(self.values.x[row].copy(), status, kind, message, seconds))

    def crashed(self, worker: Worker, status: int) -> None:
        """Record a failure for the only row of a worker's task: its process ended."""
        assert worker.task is not None
        how = "the function wrote to a file descriptor that is not its own" if worker.stray else exit_in_words(status)
        self.fail(worker.task[0], CRASHED, "Crashed", how, monotonic() - worker.began)

    def may_be_retried(self, task: Rows) -> bool:
        """Count one more loss of this task; return whether it may be retried."""
        self._lost[task] += 1
        return self._lost[task] < ATTEMPTS

    def queue_rows_again(self, task: Rows) -> None:
        """Put the rows of a task back into the queue, each as a task of its own."""
        self.tasks.extendleft((row,) for row in reversed(task))
