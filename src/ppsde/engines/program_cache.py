"""Compiled programs kept on disk between processes, so that a program is compiled once per machine.

The files of the cache of programs: each has its checksum beside it, and is dropped when it is not what was kept.

JAX writes an entry in place and never replaces one. So what a killed process or a full disk left unfinished would stay
for ever, cause a warning each time and be compiled each time.
"""

from __future__ import annotations

import hashlib
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_lock = threading.Lock()
_inside = 0  # threads that compile now


def folder() -> Path | None:
    """Where programs are kept: `PPSDE_CACHE`, else the user's cache folder; None where that is set but empty."""
    named = os.environ.get("PPSDE_CACHE")
    if named is not None:
        return Path(named) if named else None
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ppsde" / "programs"


@contextmanager
def remembered() -> Iterator[None]:
    """JAX with its cache of compiled programs in our folder, inside the block only; its own setting is left alone.

    The folder must be one that nobody else can write to, since programs found there are run.
    """
    import jax
    from jax.experimental.compilation_cache import compilation_cache

    global _inside
    path = folder()
    if path is None:
        yield
        return
    with _lock:
        ours = _inside > 0 or (getattr(jax.config, "jax_compilation_cache_dir", None) is None and _made(path))
        if ours and _inside == 0:
            drop_damaged(path)
            jax.config.update("jax_compilation_cache_dir", str(path))
            compilation_cache.reset_cache()
        _inside += ours
    try:
        yield
    finally:
        with _lock:
            _inside -= ours
            if ours:
                note_new(path)  # also while others still compile: it may take them minutes, and a kill comes any time
            if ours and _inside == 0:
                jax.config.update("jax_compilation_cache_dir", None)
                compilation_cache.reset_cache()


def _made(path: Path) -> bool:
    """Whether the folder exists now; where it cannot be made, programs are not kept."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        return False
    return True


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
