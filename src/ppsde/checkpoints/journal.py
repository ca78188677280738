"""The journal beside a checkpoint: a record of every evaluation that has finished since, only ever appended to.

    44 bytes  MAGIC, version, and the digest of the checkpoint that the journal continues
    per record: length and CRC-32 of the rest; number of the request, row, f, seconds, how many g and h, how long the
    status is; g, h, status (and, since version 2, a space and a mark of the point), error

A process that is killed leaves at most one record incomplete. A reader uses the records before the first incomplete
one, and none from a journal of another checkpoint.
"""

from __future__ import annotations

import errno
import os
import stat
import struct
import threading
import time
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np

from ..evaluation.values import Noted
from .state_file import DIGEST, CheckpointError

MAGIC = b"ppsdejnl"
VERSION, OLDEST = 2, 1
LONGEST_RECORD = 2**28  # bytes
SYNC_EVERY = 1.0  # seconds between two calls of fsync; only a stopping machine needs it, not a killed process

NotedRows = dict[int, dict[int, Noted]]  # by number of the request, then by row

_HEADER = struct.Struct(f"<8sI{DIGEST}s")
_FRAME = struct.Struct("<II")  # length and checksum
_RECORD = struct.Struct("<QQddIIH")

_here: set[Path] = set()  # journals that this process has open
_choosing = threading.Lock()


class Journal:
    """Appends finished rows to a file, which is locked: only one run of one process may have it open."""

    def __init__(self, path: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self._path = path
        self._clock = clock
        self._synced = clock()
        self._header = b""
        self._end = 0  # of the last complete record
        with _choosing:
            # A lock belongs to a process: a second run here would get it too, and end it for both when it closes.
            if path in _here:
                raise CheckpointError(f"{path}: another run of this process writes this checkpoint")
            self._file = _opened(path)
            try:
                if not _locked(self._file):
                    raise CheckpointError(f"{path}: another process writes this checkpoint")
                _check_ours(self._file, path)
            except BaseException:
                os.close(self._file)
                raise
            _here.add(path)

    def restart(self, digest: bytes) -> None:
        """Delete all records; the journal now continues the checkpoint with this digest."""
        self._header = _HEADER.pack(MAGIC, VERSION, digest)
        self._end = 0
        os.ftruncate(self._file, 0)
        self._append(self._header)

    def resume(self, digest: bytes) -> NotedRows:
        """Return the rows recorded since the checkpoint with this digest, and append further ones to them."""
        size = os.fstat(self._file).st_size
        known, end = records(lambda start, length: _read(self._file, start, length), size, digest)
        if not end:
            self.restart(digest)
            return {}
        self._header, self._end = _HEADER.pack(MAGIC, VERSION, digest), end
        os.ftruncate(self._file, end)
        return known

    def note(self, request: int, row: int, noted: Noted) -> None:
        """Append one finished row of a request."""
        record = packed(request, row, noted)
        self._append(record if self._end else self._header + record)  # the disk was full before the header
        if self._clock() - self._synced > SYNC_EVERY:
            self.sync()

    def sync(self) -> None:
        """Make sure that all records are on the disk."""
        os.fsync(self._file)
        self._synced = self._clock()

    def close(self) -> None:
        """Close the file, which unlocks it."""
        with _choosing:
            os.close(self._file)
            _here.discard(self._path)

    def _append(self, data: bytes) -> None:
        """Append data completely or, if that fails, not at all."""
        try:
            os.lseek(self._file, self._end, os.SEEK_SET)
            left = memoryview(data)
            while left:
                left = left[os.write(self._file, left) :]
        except OSError:
            with suppress(OSError):
                os.ftruncate(self._file, self._end)
            raise
        self._end += len(data)


def packed(request: int, row: int, noted: Noted) -> bytes:
    """Return a finished row as a record."""
    g, h = np.asarray(noted.g, "<f8"), np.asarray(noted.h, "<f8")
    status, reason = f"{noted.status} {noted.mark}".strip().encode(), noted.reason.encode(errors="surrogatepass")
    start = _RECORD.pack(request, row, noted.f, noted.seconds, g.size, h.size, len(status))
    record = b"".join((start, g.tobytes(), h.tobytes(), status, reason))
    return _FRAME.pack(len(record), zlib.crc32(record)) + record


def records(read: Callable[[int, int], bytes], size: int, digest: bytes) -> tuple[NotedRows, int]:
    """Return the complete records of a journal and where they end; none and 0 if it is of another checkpoint.

    `read(start, length)` returns bytes of the journal, which has `size` of them; it is not read at once, for it may be
    a damaged file of any size.
    """
    if read(0, _HEADER.size) not in [_HEADER.pack(MAGIC, version, digest) for version in range(OLDEST, VERSION + 1)]:
        return {}, 0
    known: NotedRows = {}
    end = _HEADER.size
    while True:
        start = end + _FRAME.size
        if start > size:
            return known, end
        length, checksum = _FRAME.unpack(read(end, _FRAME.size))
        if not _RECORD.size <= length <= min(LONGEST_RECORD, size - start):
            return known, end
        record = read(start, length)
        if zlib.crc32(record) != checksum:
            return known, end
        try:
            request, row, noted = _unpacked(record)
        except ValueError:  # the checksum is right, but this module did not write the record
            return known, end
        known.setdefault(request, {})[row] = noted
        end = start + length


def _unpacked(record: bytes) -> tuple[int, int, Noted]:
    request, row, f, seconds, p, q, status_length = _RECORD.unpack_from(record)
    texts = _RECORD.size + 8 * (p + q)
    if texts + status_length > len(record):
        raise ValueError("a record is shorter than its lengths say")
    values = np.frombuffer(record[_RECORD.size : texts], "<f8").astype(float)
    status, _, mark = record[texts : texts + status_length].decode().partition(" ")
    reason = record[texts + status_length :].decode(errors="surrogatepass")
    return request, row, Noted(f, values[:p], values[p:], seconds, status, reason, mark)


def _opened(path: Path) -> int:
    """Open the journal, or create it; neither a link is followed nor a pipe waited for."""
    flags = os.O_RDWR | os.O_CREAT
    for name in ("O_BINARY", "O_NOFOLLOW", "O_NONBLOCK"):  # not every system has each
        flags |= getattr(os, name, 0)
    try:
        return os.open(path, flags, 0o666)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EISDIR, errno.ENXIO):
            raise CheckpointError(_not_ours(path)) from None
        raise


def _check_ours(file: int, path: Path) -> None:
    """Raise `CheckpointError` unless the file is a journal, complete or not, or empty."""
    status = os.fstat(file)
    start = os.pread(file, len(MAGIC), 0) if stat.S_ISREG(status.st_mode) else b"a pipe"
    if start != MAGIC[: len(start)]:
        raise CheckpointError(_not_ours(path))
    version = int.from_bytes(os.pread(file, 4, len(MAGIC)), "little") if start == MAGIC else 0
    if VERSION < version < 2**16:  # a larger number is damage
        raise CheckpointError(f"{path}: its format is version {version}; this program reads version {VERSION}")


def _not_ours(path: Path) -> str:
    return f"{path} is not a journal of a checkpoint, and is in its place; move it, or choose another path"


def _read(file: int, start: int, length: int) -> bytes:
    pieces = []
    while length > 0:
        piece = os.pread(file, length, start)
        if not piece:
            break
        pieces.append(piece)
        start, length = start + len(piece), length - len(piece)
    return b"".join(pieces)


def _locked(file: int) -> bool:
    """Lock the file; return False if another process has. The lock ends with this process; children do not have it."""
    try:
        import fcntl
    except ImportError:  # no such locks on this system
        return True
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:  # a file system without locks
        return True
    return True
