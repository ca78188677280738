"""The worker processes of this machine as the runner sees them; questions that only a process with JAX can answer."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
import threading
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from typing import Any, BinaryIO, Protocol

from ..evaluation.supervisor import exit_in_words

ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
LONGEST_LINE = 2**24  # bytes of a message without its blobs
ANSWER_SECONDS = 120.0  # to import JAX and trace a user's function
AHEAD = 32  # requests that a GPU's worker has at a time: one runs while the programs of the others are compiled


class Inbox(Protocol):
    """Takes messages; a queue is one."""

    def put(self, item: tuple[Worker, dict[str, Any] | None, list[bytes]]) -> None:
        """Take the message of a worker with its blobs; None if the worker has ended."""


class Worker:
    """A process that does jobs of one kind, `slots` requests at a time; its messages are put into `messages`."""

    def __init__(self, messages: Inbox, kind: str, slots: int) -> None:
        self.kind, self.slots = kind, slots
        self.ready = False
        self.requests: list[Any] = []  # the jobs of each request that it has not finished
        self._key = secrets.token_hex(16)  # of its messages: a user's function may write to any file descriptor
        # A session of its own: Ctrl-C in the terminal is for the runner alone.
        self._process = subprocess.Popen(
            _command("main", slots, self._key),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=_environment(kind),
            start_new_session=True,
        )
        assert self._process.stdout is not None
        self._reader = threading.Thread(target=self._read, args=(self._process.stdout, messages), daemon=True)
        self._reader.start()

    def send(self, request: dict[str, Any]) -> None:
        """Send it a request. If it has just died, its last message will say so."""
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()

    def kill(self) -> None:
        """Kill the process."""
        self._process.kill()
        self._process.wait()
        self._reader.join()
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            with suppress(OSError):
                stream.close()

    def how_it_ended(self) -> str:
        """Return how the process ended, in words."""
        return exit_in_words(self._process.wait())

    def _read(self, stream: BinaryIO, messages: Inbox) -> None:
        try:
            while True:
                key, checksum, body = stream.readline(LONGEST_LINE).split(b" ", 2)
                if key != self._key.encode():
                    raise ValueError("something else than a message")
                message = json.loads(body)
                blobs = [stream.read(size) for size in message.pop("sizes")]
                if zlib.crc32(b"".join(blobs), zlib.crc32(body)) != int(checksum, 16):
                    raise ValueError("a message that is cut off or altered")
                messages.put((self, message, blobs))
        except ValueError:
            self._process.kill()  # it has ended, or was written for by something else: its jobs are done once more
        messages.put((self, None, []))


class Processes:
    """Worker processes on this machine: `cores` for host jobs, one with threads for compiled jobs, one for the GPU.

    `Cluster` (cluster.py) has the same attributes and methods.
    """

    lacks: str | None = None  # it starts those that it needs

    def __init__(self, cores: int) -> None:
        self.messages: SimpleQueue[Any] = SimpleQueue()
        self.workers: list[Worker] = []
        self._cores = cores

    @property
    def size(self) -> int:
        """How many workers are ready."""
        return sum(worker.ready for worker in self.workers)

    def start(self, work: Mapping[str, int]) -> None:
        """Start the workers that are missing; `work` is how many jobs of each kind are left."""
        for kind, most, slots in (("host", self._cores, 1), ("cpu", 1, self._cores), ("gpu", 1, AHEAD)):
            there = sum(worker.kind == kind for worker in self.workers)
            self.workers += [Worker(self.messages, kind, slots) for _ in range(min(most, work[kind]) - there)]

    def dismiss(self, worker: Any) -> None:
        """End a worker that is not to be used again."""
        worker.kill()
        self.workers.remove(worker)

    def close(self) -> None:
        """Kill all workers."""
        for worker in self.workers:
            worker.kill()


def why_not_traceable(source: Mapping[str, Any], dimension: int | None, instance: int | str | None) -> str | None:
    """Return why JAX cannot trace the problem of a source (a `Source` as a dict); None if it can."""
    question = {"source": source, "dimension": dimension, "instance": instance}
    try:
        why: str | None = _answer("probe", "cpu", json.dumps(question))
    except ValueError as error:
        return f"a look at it failed ({error})"
    return why


def preferred_device() -> str:
    """Return the device that JAX prefers, 'gpu' or 'cpu'; this process does not load JAX for it."""
    return "gpu" if _answer("backend", "gpu") == "gpu" else "cpu"


def _answer(entry: str, kind: str, question: str = "") -> Any:
    """Return the answer of a function of worker.py, called in another process."""
    done = subprocess.run(
        _command(entry),
        input=question.encode(),
        capture_output=True,
        env=_environment(kind),
        timeout=ANSWER_SECONDS,
    )
    if done.returncode:
        raise ValueError((done.stderr.decode(errors="replace").strip().splitlines() or ["it ended at once"])[-1])
    return json.loads(done.stdout)


def _command(entry: str, *arguments: int | str) -> Sequence[str]:
    """Return the command of a Python process with the same `sys.path`; it runs no file of the user's as `__main__`."""
    path = [folder or str(Path.cwd()) for folder in sys.path]
    code = f"import sys; sys.path[:] = {path!r}; from ppsde.experiments.worker import {entry}; {entry}{arguments!r}"
    return [sys.executable, "-c", code]


def _environment(kind: str) -> dict[str, str]:
    """Return the environment: one thread, since there are several workers, and sums must not depend on the cores."""
    environment = {**dict.fromkeys(ONE_THREAD, "1"), **os.environ}
    if kind != "gpu":
        environment["JAX_PLATFORMS"] = "cpu"
    return environment
