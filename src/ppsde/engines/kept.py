"""The files of the cache of programs: each has its checksum beside it, and is dropped when it is not what was kept.

JAX writes an entry in place and never replaces one. So what a killed process or a full disk left unfinished would stay
for ever, cause a warning each time and be compiled each time.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

IN_WORK = 60.0  # seconds during which an entry without a checksum may be one that another process is writing

_seen_whole: dict[Path, tuple[int, int]] = {}  # by this process: size and time of change


def drop_damaged(folder: Path) -> None:
    """Remove what is not as it was kept; who needs it compiles it again."""
    for entry in _entries(folder):
        with suppress(OSError):  # another process was faster
            state = _state(entry)
            if _seen_whole.get(entry) == state:
                continue
            noted = _note_of(entry).read_text() if _note_of(entry).exists() else None
            if noted == _checksum(entry):
                _seen_whole[entry] = state
            elif noted is not None or time.time() - entry.stat().st_mtime > IN_WORK:
                entry.unlink()
                _note_of(entry).unlink(missing_ok=True)


def note_new(folder: Path) -> None:
    """Put checksums beside the entries that have none.

    Should one of them be half written just now, by another process or thread, it will be dropped and compiled again.
    """
    for entry in _entries(folder):
        with suppress(OSError):
            if not _note_of(entry).exists():
                _note_of(entry).write_text(_checksum(entry))


def _entries(folder: Path) -> Iterator[Path]:
    return folder.glob("*-cache")


def _note_of(entry: Path) -> Path:
    return entry.with_name(f"{entry.name}.sha256")


def _state(entry: Path) -> tuple[int, int]:
    status = entry.stat()
    return status.st_size, status.st_mtime_ns


def _checksum(entry: Path) -> str:
    return hashlib.sha256(entry.read_bytes()).hexdigest()
