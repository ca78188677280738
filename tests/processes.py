"""Who is alive: processes that carry a mark in their environment, which they inherit wherever they end up."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

MARK = "PPSDE_TEST_MARK"


@contextmanager
def marked() -> Iterator[str]:
    """Everything that is started inside carries the mark that is given."""
    before = os.environ.get(MARK)
    mark = os.environ[MARK] = uuid.uuid4().hex
    try:
        yield mark
    finally:
        if before is None:
            del os.environ[MARK]
        else:
            os.environ[MARK] = before


def alive(mark: str, doing: str = "") -> list[int]:
    """Processes with the mark and these words in their command; not this one, nor those that wait to be reaped."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            environment = (folder / "environ").read_bytes()
            command = (folder / "cmdline").read_bytes().decode(errors="replace")
        except OSError:  # gone, or another user's
            continue
        carries = f"{MARK}={mark}".encode() in environment.split(b"\0")  # what is dead already has none
        if carries and doing in command and int(folder.name) != os.getpid():
            found.append(int(folder.name))
    return found


def all_there(mark: str, count: int) -> bool:
    """Whether there come to be so many: one that is only just being started shows no environment yet."""
    return _in_the_end(lambda: len(alive(mark)) >= count)


def all_gone(mark: str, doing: str = "") -> bool:
    """Whether all of them end by themselves, however busy the machine is."""
    return _in_the_end(lambda: not alive(mark, doing))


def _in_the_end(holds: Callable[[], bool], patience: float = 20.0) -> bool:
    end = time.monotonic() + patience
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def children(process: int) -> list[int]:
    """The children of a process."""
    return [int(folder.name) for folder in Path("/proc").glob("[0-9]*") if parent(int(folder.name)) == process]


def parent(process: int) -> int | None:
    try:
        return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return None
