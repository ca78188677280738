"""Compiled programs stored on disk between processes, so that a program is compiled once per machine.

The folder is a compilation cache of JAX. The checksum of each program is stored beside it, and a program with a wrong
checksum is removed. JAX would not do so: it writes a file in place and never replaces one, so a file that a killed
process or a full disk left unfinished would cause a warning and a compilation in every later process.
"""

from __future__ import annotations

import hashlib
import os
import stat
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

try:  # as JAX chooses it
    from compression.zstd import decompress  # type: ignore[import-not-found]
except ImportError:
    try:
        from zstandard import decompress  # type: ignore[import-not-found]
    except ImportError:
        from zlib import decompress

_lock = threading.Lock()
_inside = 0  # number of threads that are inside `remembered` now


def folder() -> Path | None:
    """Return the folder of stored programs: `PPSDE_CACHE` (None if set but empty), else the user's cache folder."""
    named = os.environ.get("PPSDE_CACHE")
    if named is not None:
        return Path(named) if named else None
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ppsde" / "programs"


@contextmanager
def remembered() -> Iterator[None]:
    """Make JAX store compiled programs in our folder inside the block, unless the user has set a folder of their own.

    Programs found in the folder are run, so one that another user could write to is not used, with a warning.
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
                note_new(path)  # even if other threads still compile: the process may be killed before they end
            if ours and _inside == 0:
                jax.config.update("jax_compilation_cache_dir", None)
                compilation_cache.reset_cache()


def _made(path: Path) -> bool:
    """Create the folder; return whether it can be used. If not, programs are not stored."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        reason = _why_not_ours(path)
    except OSError:
        return False
    if reason is not None and path not in _refused:
        _refused.add(path)
        warnings.warn(
            f"{path} is not used for compiled programs, since programs found there are run: {reason}. "
            "Set PPSDE_CACHE to a folder of your own, or to nothing",
            stacklevel=2,
        )
    return reason is None


_refused: set[Path] = set()  # folders that the user was warned of


def _why_not_ours(path: Path) -> str | None:
    """Return why another user could put a program into the folder; None if nobody could."""
    if not hasattr(os, "geteuid"):  # not a POSIX system
        return None
    me, real = os.geteuid(), path.resolve()
    for folder in (real, *real.parents):
        status = folder.stat()
        if status.st_uid not in ((me,) if folder == real else (me, 0)):
            return f"{folder} belongs to another user"
        others = 0o022 if folder == real else 0o002
        if status.st_mode & others and not (folder != real and status.st_mode & stat.S_ISVTX):
            return f"others may write to {folder}"
    return None


IN_WORK = 60.0  # seconds after its last change in which another process may still be writing a file without checksum

_seen_whole: dict[Path, tuple[int, int]] = {}  # files that this process has checked: size and time of change


def drop_damaged(folder: Path) -> None:
    """Remove the programs with a wrong checksum, or without one for too long; they are compiled again when needed."""
    for entry in _entries(folder):
        with suppress(OSError):  # another process has removed it
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
    """Write the checksums of the programs that have none.

    A program that is not whole is removed, and compiled again: its disk was full, or another process is still writing.
    """
    for entry in _entries(folder):
        with suppress(OSError):
            if not _note_of(entry).exists():
                if _is_whole(entry):
                    _note_of(entry).write_text(_checksum(entry))
                else:
                    entry.unlink()


def _is_whole(entry: Path) -> bool:
    """Return whether JAX could read a program; its compressed bytes say where they end."""
    try:
        decompress(entry.read_bytes())
    except OSError:
        raise
    except Exception:  # of the library that decompresses
        return False
    return True


def _entries(folder: Path) -> Iterator[Path]:
    return folder.glob("*-cache")


def _note_of(entry: Path) -> Path:
    return entry.with_name(f"{entry.name}.sha256")


def _state(entry: Path) -> tuple[int, int]:
    status = entry.stat()
    return status.st_size, status.st_mtime_ns


def _checksum(entry: Path) -> str:
    return hashlib.sha256(entry.read_bytes()).hexdigest()
