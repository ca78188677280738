"""A Dask cluster as the workers of a study: requests go to its workers as tasks, and their rows come back.

Each Dask worker does jobs in processes of its own (workers.py), as a runner without Dask does. So a job that kills its
process leaves the Dask worker alone, and rows are the same. If a Dask worker dies, the scheduler has its tasks done by
others, until it gives up (`distributed.scheduler.allowed-failures`).
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
import secrets
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from queue import Empty, SimpleQueue
from typing import Any

from ..evaluation.sending import add_to_path
from .job import PACKAGES, provenance
from .workers import Worker

LEAST_IN_FLIGHT = 256  # requests, so that a cluster that grows with its work does grow
IN_FLIGHT_PER_THREAD = 4
GPU_IN_FLIGHT_PER_WORKER = 2
PULSE = 1.0  # seconds between two looks at the cluster
COLLECT_SECONDS = 10.0  # for results whose worker may have died meanwhile; then others are collected first
CANCELLED_CHECK = 0.5  # seconds between two looks whether a job is still wanted
FREE_SECONDS = 30.0  # a process of a Dask worker without a job is ended after so long
ONLY_COMPILED = ("jax", "jaxlib")  # packages that runs on the host do not use

Message = tuple[dict[str, Any], list[bytes]]


# --- in the runner ------------------------------------------------------------------------------------------------


class DaskWorker:
    """A place in the cluster for one request at a time, with the attributes and methods of a `Worker`."""

    slots = 1
    ready = True

    def __init__(self, outbox: SimpleQueue[Any], kind: str) -> None:
        self.kind = kind
        self.requests: list[Any] = []
        self.request = ""
        self.how = ""
        self._outbox = outbox

    def send(self, request: dict[str, Any]) -> None:
        """Send a request."""
        self.request = json.dumps(request)
        self._outbox.put(self)

    def how_it_ended(self) -> str:
        """Return how the process that had the request ended, in words."""
        return self.how


class Cluster:
    """The workers of a Dask cluster, with the attributes and methods of `Processes`.

    Parameters
    ----------
    given : str or Client
        The address of a scheduler, 'local', or a client, which is not closed at the end.
    cores : int
        Processes of a local cluster.
    gpu : bool
        Whether a local cluster has one worker for the GPU.
    """

    def __init__(self, given: Any, cores: int, gpu: bool) -> None:
        self.messages: SimpleQueue[Any] = SimpleQueue()
        self.workers: list[DaskWorker] = []
        self.size = 0  # jobs that the cluster can do at a time
        self._hosts: int | None = None  # Dask workers; None: not known yet
        self._gpu_workers: int | None = None  # those with the resource GPU, if any job needs one
        self._wants_gpu = gpu
        self._client, self._mine = _connected(given, cores, gpu)
        self._name = f"ppsde-{secrets.token_hex(4)}"
        self._order = Order(provenance()["versions"], tuple(sys.path), self._name)
        self._sent = 0
        self._in_flight: dict[str, tuple[Any, DaskWorker]] = {}  # futures and who waits for them, by key
        self._lost: list[Any] = []  # futures whose result was lost with its worker; they are done again
        self._events: SimpleQueue[Any] = SimpleQueue()  # workers with a request to send, futures that are done
        self._closing = threading.Event()
        self._client.subscribe_topic(self._name, self._progressed)
        self._post = threading.Thread(target=self._run, name="ppsde-dask", daemon=True)
        self._post.start()

    def start(self, work: Mapping[str, int]) -> None:
        """Make as many places as requests may be on their way; `work` is how many jobs of each kind are left."""
        self._wants_gpu = work["gpu"] > 0
        cpu = max(LEAST_IN_FLIGHT, IN_FLIGHT_PER_THREAD * self.size)
        gpu = GPU_IN_FLIGHT_PER_WORKER * max(1, self._gpu_workers or 0)
        for kind, most in (("host", cpu), ("cpu", cpu), ("gpu", gpu)):
            there = sum(worker.kind == kind for worker in self.workers)
            self.workers += [DaskWorker(self._events, kind) for _ in range(min(most, work[kind]) - there)]

    def dismiss(self, worker: Any) -> None:
        """Remove a place."""
        self.workers.remove(worker)

    @property
    def lacks(self) -> str | None:
        """Which workers must come before jobs can be done, in words; None if there are some for all of them."""
        if self._hosts == 0:
            return "Dask workers"
        return "Dask workers with the resource GPU" if self._wants_gpu and self._gpu_workers == 0 else None

    def close(self) -> None:
        """Cancel what is on its way, and leave the cluster."""
        self._closing.set()
        self._events.put(None)
        self._post.join()
        with suppress(Exception):  # the cluster may be gone
            self._client.cancel([future for future, _ in self._in_flight.values()], force=True)
            self._client.unsubscribe_topic(self._name)
        for opened in self._mine:
            with suppress(Exception):
                opened.close()

    # --- the thread that talks to the cluster -------------------------------------------------------------------

    def _run(self) -> None:
        try:
            look = 0.0
            while not self._closing.is_set():
                events = self._next_events()
                if self._client.status in ("closing", "closed"):
                    raise ConnectionError("the connection was lost, and could not be made again")
                if time.monotonic() >= look:
                    self._look()
                    look = time.monotonic() + PULSE
                self._collect([event for event in events if not isinstance(event, DaskWorker)])
                self._send([event for event in events if isinstance(event, DaskWorker)])
        except Exception as error:
            if not self._closing.is_set():
                why = f"{type(error).__name__}: {error}"
                text = f"the Dask cluster is lost ({why}); all finished runs are in the store, and the command resumes"
                self._say(None, {"kind": "fatal", "message": text})

    def _next_events(self) -> list[Any]:
        """Wait for an event, and return all that there are."""
        found: list[Any] = []
        with suppress(Empty):
            found.append(self._events.get(timeout=PULSE))
            while True:
                found.append(self._events.get_nowait())
        return [event for event in found if event is not None]

    def _look(self) -> None:
        for future in self._lost:
            self._events.put(future)
        self._lost.clear()
        if self._client.status == "running":
            with suppress(OSError, asyncio.TimeoutError):  # the client connects again, or ends
                threads = self._client.nthreads()
                self.size, self._hosts = sum(threads.values()), len(threads)
                if self._wants_gpu:
                    there = self._client.scheduler_info(n_workers=-1)["workers"].values()  # -1: all
                    self._gpu_workers = sum(worker["resources"].get("GPU", 0) >= 1 for worker in there)

    def _send(self, workers: Sequence[DaskWorker]) -> None:
        """Send the requests of these workers."""
        if self._client.status != "running":
            for worker in workers:
                self._events.put(worker)
            self._closing.wait(PULSE)
            return
        for on_gpu in (False, True):
            chosen = [worker for worker in workers if (worker.kind == "gpu") == on_gpu]
            if not chosen:
                continue
            keys = [f"{self._name}-{self._sent + k}" for k in range(len(chosen))]
            self._sent += len(chosen)
            futures = self._client.map(
                self._order,
                [worker.kind for worker in chosen],
                [worker.request for worker in chosen],
                key=keys,
                pure=False,
                resources={"GPU": 1} if on_gpu else None,
            )
            for worker, future in zip(chosen, futures, strict=True):
                self._in_flight[future.key] = future, worker
                future.add_done_callback(self._events.put)

    def _collect(self, futures: Sequence[Any]) -> None:
        """Fetch what tasks have returned, and pass it on."""
        finished = [future for future in futures if future.status == "finished"]
        for future in futures:
            if future.status == "pending":  # its worker died, and it is done again
                future.add_done_callback(self._events.put)
            elif future.status not in ("finished", "error", "cancelled"):
                self._lost.append(future)  # a callback would be called at once, again and again
        for future in (future for future in futures if future.status == "cancelled"):
            self._events.put(self._in_flight.pop(future.key)[1])  # the scheduler is another one: sent again
            self._client.subscribe_topic(self._name, self._progressed)
        for future in (future for future in futures if future.status == "error"):
            self._failed(self._in_flight.pop(future.key)[1], future.exception())
        if not finished:
            return
        try:
            answers = self._client.sync(self._gathered, finished)
        except Exception:  # some were lost with their worker, or failed since; they call again
            for future in finished:
                future.add_done_callback(self._events.put)
            self._closing.wait(CANCELLED_CHECK)
            return
        for future, answer in zip(finished, answers, strict=True):
            _, worker = self._in_flight.pop(future.key)
            for message, blobs in answer:
                if message["kind"] == "ended":
                    worker.how = message["how"]
                    self.messages.put((worker, None, []))
                else:
                    self._say(worker, message, blobs)

    async def _gathered(self, futures: list[Any]) -> list[list[Message]]:
        found: list[list[Message]] = await asyncio.wait_for(
            self._client.gather(futures, asynchronous=True), COLLECT_SECONDS
        )
        return found

    def _failed(self, worker: DaskWorker, error: BaseException | None) -> None:
        """Say why a task has no result. Failures of jobs are results, so this one is of the cluster."""
        from distributed import KilledWorker

        if isinstance(error, KilledWorker):
            worker.how = f"each of the {error.allowed_failures + 1} Dask workers that had it died"
            self.messages.put((worker, None, []))
            return
        text = f"a Dask worker cannot do a job: {type(error).__name__}: {error}; it needs ppsde {self._order.versions}"
        self._say(worker, {"kind": "fatal", "message": text})

    def _progressed(self, event: Any) -> None:
        self._say(None, event[1])

    def _say(self, worker: DaskWorker | None, message: dict[str, Any], blobs: Sequence[bytes] = ()) -> None:
        self.messages.put((worker, message, list(blobs)))


def _connected(given: Any, cores: int, gpu: bool) -> tuple[Any, list[Any]]:
    """Return the client, and all that is to be closed at the end."""
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise ValueError("a Dask cluster needs distributed: pip install distributed") from None
    if isinstance(given, Client):
        if given.asynchronous:
            raise ValueError("dask must be a Client that is not asynchronous")
        return given, []
    if not isinstance(given, str) or not given:
        raise ValueError(f"dask must be the address of a scheduler, 'local' or a Client; got {given!r}")
    for name in ("distributed", "distributed.client"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # our own messages say what happens
    if given == "local":
        cluster = LocalCluster(
            n_workers=1 if gpu else cores,
            threads_per_worker=cores if gpu else 1,
            processes=True,
            dashboard_address=":0",
            resources={"GPU": 1} if gpu else None,
            silence_logs=logging.CRITICAL,
        )
        client = Client(cluster, set_as_default=False)
        return client, [client, cluster]
    if not re.search(r":\d+|^inproc:", given):  # Dask would try to reach it for a minute, and not end
        raise ValueError(f"dask must be 'local' or the address of a scheduler, such as tcp://node1:8786; got {given!r}")
    try:
        client = Client(given, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ValueError(f"there is no Dask scheduler at {given!r}: {error}") from None
    return client, [client]


# --- in a Dask worker -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Order:
    """The task: does a request in a process of the Dask worker to which it is sent."""

    versions: Mapping[str, str]  # of the runner
    path: tuple[str, ...]  # its `sys.path`
    topic: str  # of events, by which progress is sent

    def __call__(self, kind: str, request: str) -> list[Message]:
        """Return the messages that the process sent about the jobs, with their rows."""
        from distributed import get_worker

        refused = _refusal(self.versions, kind)
        if refused is not None:
            return [({"kind": "fatal", "message": refused}, [])]
        add_to_path(self.path)
        here = get_worker()
        key = here.get_current_task()

        def is_wanted() -> bool:
            task = here.state.tasks.get(key)
            return task is not None and task.state != "cancelled"

        child = _CHILDREN.take(self.topic, kind, here.state.nthreads)
        try:
            return child.do(json.loads(request), is_wanted, partial(here.log_event, self.topic))
        finally:
            _CHILDREN.give(child)


@cache
def _here() -> dict[str, Any]:
    return provenance()


def _refusal(versions: Mapping[str, str], kind: str) -> str | None:
    """Return why this Dask worker may not do jobs of a runner with these versions; None if they are the same."""
    ignored = ONLY_COMPILED if kind == "host" else ()
    here = _here()["versions"]
    apart = [
        f"{name} {here.get(name, 'missing')} (here {versions.get(name, 'missing')})"
        for name in ("python", "ppsde", *PACKAGES)
        if name not in ignored and here.get(name) != versions.get(name)
    ]
    if not apart:
        return None
    return (
        f"the Dask worker on {_here()['host']} has other versions than this program: {', '.join(apart)}; "
        "rows would not be the same"
    )


class _Child:
    """A process of a Dask worker that does requests of one runner, `slots` at a time."""

    def __init__(self, runner: str, kind: str, slots: int) -> None:
        self.runner, self.kind, self.slots = runner, kind, slots
        self.users = 0
        self.free_since = time.monotonic()
        self.how: str | None = None  # how it ended
        self._lock = threading.Lock()
        self._ready = False
        self._inboxes: dict[str, SimpleQueue[Any]] = {}  # of requests that are not done, by their first job
        self._first: dict[str, str] = {}  # the first job of the request of each job
        self._worker = Worker(self, kind, slots)

    def do(
        self, request: dict[str, Any], is_wanted: Callable[[], bool], progressed: Callable[[dict[str, Any]], None]
    ) -> list[Message]:
        """Do a request, and return its messages; one that is not wanted any more is given up."""
        jobs = [_id(one) for one in request["jobs"]]
        inbox: SimpleQueue[Any] = SimpleQueue()
        with self._lock:
            self._inboxes[jobs[0]] = inbox
            self._first |= dict.fromkeys(jobs, jobs[0])
            if self.how is not None:
                inbox.put((None, []))
        self._worker.send(request)
        answer: list[Message] = []
        left = set(jobs)
        check = time.monotonic() + CANCELLED_CHECK
        try:
            while left:
                if time.monotonic() >= check:
                    if not is_wanted():
                        self._give_up()
                        return []
                    check = time.monotonic() + CANCELLED_CHECK
                try:
                    message, blobs = inbox.get(timeout=CANCELLED_CHECK)
                except Empty:
                    continue
                if message is None:
                    return [*answer, (self._end_message(), [])]
                if message["kind"] == "progress":
                    progressed(message)
                    continue
                answer.append(({**message, **{name: _here()[name] for name in ("host", "machine")}}, blobs))
                if message["kind"] == "fatal":
                    return answer[-1:]
                left.discard(message["job"])
            return answer
        finally:
            with self._lock:
                del self._inboxes[jobs[0]]
                for job in jobs:
                    self._first.pop(job, None)

    def put(self, item: tuple[Worker, dict[str, Any] | None, list[bytes]]) -> None:
        """Take a message of the process, or its end, and give it to those who wait for it."""
        worker, message, blobs = item
        with self._lock:
            if message is None:
                self.how = worker.how_it_ended()
            elif message["kind"] == "ready":
                self._ready = True
            if message is None or message["kind"] == "fatal":
                inboxes = list(self._inboxes.values())
            else:  # not there if the job was given up
                inboxes = [self._inboxes[first]] if (first := self._first.get(message.get("job", ""))) else []
            for inbox in inboxes:
                inbox.put((message, blobs))

    def close(self) -> None:
        self._worker.kill()

    def _end_message(self) -> dict[str, Any]:
        if not self._ready:
            return {"kind": "fatal", "message": f"a worker cannot be started on {_here()['host']}: {self.how}"}
        return {"kind": "ended", "how": self.how}

    def _give_up(self) -> None:
        """End the process, unless it does other requests too: compiled jobs are short."""
        if self.users == 1:
            self.how = "given up"
            self._worker.kill()


def _id(described: Mapping[str, Any]) -> str:
    from .job import digest

    return digest(described["content"])


class _Children:
    """The processes of this Dask worker; those without a job are ended after a while."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._all: list[_Child] = []
        self._sweeping = False

    def take(self, runner: str, kind: str, threads: int) -> _Child:
        """Return a process with a free slot. One does all compiled jobs of a runner here, and so has their programs.

        No process serves two runners: code that it has loaded may have changed between them.
        """
        with self._lock:
            for child in self._all:
                if (child.runner, child.kind, child.how) == (runner, kind, None) and child.users < child.slots:
                    child.users += 1
                    return child
            if kind == "gpu":  # of which the first process takes the memory
                self._close([child for child in self._all if child.kind == "gpu" and child.users == 0])
            child = _Child(runner, kind, threads if kind == "cpu" else 1)
            child.users = 1
            self._all.append(child)
            if not self._sweeping:
                self._sweeping = True
                threading.Thread(target=self._sweep, name="ppsde-children", daemon=True).start()
            return child

    def give(self, child: _Child) -> None:
        with self._lock:
            child.users -= 1
            child.free_since = time.monotonic()

    def _sweep(self) -> None:
        while True:
            time.sleep(FREE_SECONDS / 4)
            with self._lock:
                self._close([child for child in self._all if child.users == 0 and _is_over(child)])
                self._sweeping = bool(self._all)
                if not self._sweeping:
                    return

    def _close(self, children: Sequence[_Child]) -> None:
        for child in children:
            self._all.remove(child)
            child.close()


def _is_over(child: _Child) -> bool:
    return child.how is not None or time.monotonic() - child.free_since > FREE_SECONDS


_CHILDREN = _Children()
