"""The runner's side of its worker processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from queue import SimpleQueue
from typing import Any, BinaryIO

from .plan import Source

ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
START_SECONDS = 120.0  # that the look at a user's function may take


class Worker:
    """A process that does jobs of one kind, so many requests at a time; what it says is put into `messages`."""

    def __init__(self, messages: SimpleQueue[Any], kind: str, slots: int) -> None:
        self.kind, self.slots = kind, slots
        self.ready = False
        self.requests: list[Any] = []  # what it is busy with
        # A session of its own: Ctrl-C in the terminal is for the runner alone.
        self._process = subprocess.Popen(
            _command("main", slots),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=_environment(kind),
            start_new_session=True,
        )
        assert self._process.stdout is not None
        self._reader = threading.Thread(target=self._read, args=(self._process.stdout, messages), daemon=True)
        self._reader.start()

    def send(self, request: dict[str, Any]) -> None:
        """Give it something to do. If it has just died, that is told by its last message."""
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()
        self._process.wait()
        self._reader.join()
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            with suppress(OSError):
                stream.close()

    def how_it_ended(self) -> str:
        """How a worker that is gone went, in words."""
        code = self._process.wait()
        if code < 0:
            with suppress(ValueError):
                return f"its process was ended by {signal.Signals(-code).name}"
        return f"its process ended with status {code}"

    def _read(self, stream: BinaryIO, messages: SimpleQueue[Any]) -> None:
        while True:
            line = stream.readline()
            if not line.endswith(b"\n"):
                break
            message = json.loads(line)
            sizes = message.pop("sizes")
            blobs = [stream.read(size) for size in sizes]
            if [len(blob) for blob in blobs] != sizes:
                break  # cut off
            messages.put((self, message, blobs))
        messages.put((self, None, []))


def why_not_traceable(source: Source) -> str | None:
    """Why the problem cannot be compiled; None if it can. Found out in another process, which may load JAX."""
    done = subprocess.run(
        _command("probe"),
        input=json.dumps(asdict(source)).encode(),
        capture_output=True,
        env=_environment("cpu"),
        timeout=START_SECONDS,
    )
    if done.returncode:
        last = (done.stderr.decode(errors="replace").strip().splitlines() or ["it ended at once"])[-1]
        return f"a look at it failed ({last})"
    why: str | None = json.loads(done.stdout)
    return why


def _command(entry: str, *arguments: int) -> Sequence[str]:
    """Python with this process's idea of where modules are; no file of the user's is run as `__main__`."""
    path = [folder or str(Path.cwd()) for folder in sys.path]
    code = f"import sys; sys.path[:] = {path!r}; from ppsde.experiments.worker import {entry}; {entry}{arguments!r}"
    return [sys.executable, "-c", code]


def _environment(kind: str) -> dict[str, str]:
    """One thread per worker, since there are several workers, and sums must not depend on the number of cores."""
    environment = {**dict.fromkeys(ONE_THREAD, "1"), **os.environ}
    if kind != "gpu":
        environment["JAX_PLATFORMS"] = "cpu"
    return environment
