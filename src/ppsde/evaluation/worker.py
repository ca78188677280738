"""What a worker process does: load the function once, evaluate what it is sent, end when nobody is there any more."""

from __future__ import annotations

import pickle
import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

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
