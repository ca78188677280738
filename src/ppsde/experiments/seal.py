"""The seal of a store: a checksum of all its bytes, also of those that no one reads.

It lies in the store itself, in a table of its own, and is the SHA-256 of all pages with its own place taken as zeros.
Whoever writes breaks it in the same transaction; whoever has written and closes the store puts a new one. A store whose
writer was killed has none, and is known by the checksums of its entries alone.

The pages are always asked of SQLite. To open the file beside it would be the ruin of stores that several programs use:
when a program closes a file, POSIX takes away all its locks on that file, also those of its other handles.
"""

from __future__ import annotations

import hashlib
import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

SCHEMA = "CREATE TABLE seal (one INTEGER PRIMARY KEY CHECK (one = 1), digest BLOB NOT NULL)"
NONE = bytes(32)
LARGEST = 2**30  # bytes of a store that is still sealed: its pages are taken into memory for it
_NO_SEAL = bytes(16)  # how a value begins that is none
_GIVES_PAGES = hasattr(sqlite3.Connection, "serialize")  # SQLite can be built without it


def break_it(connection: sqlite3.Connection) -> None:
    """Inside a transaction: what it writes is not what was sealed."""
    connection.execute("UPDATE seal SET digest = ? WHERE digest <> ?", (NONE, NONE))


def put(connection: sqlite3.Connection) -> None:
    """Seal a store, unless someone else writes into it meanwhile.

    First a mark stands in the place of the checksum, so that the place is known; the checksum takes the same place.
    Should a version of SQLite move it about, the pages are seen to differ, and the store stays without a seal.
    """
    if not _GIVES_PAGES:
        return
    mark = _NO_SEAL + secrets.token_bytes(16)
    with _transaction(connection):
        _write(connection, mark)
    with _transaction(connection):
        if value(connection) == mark:
            _write(connection, _digest(connection, mark) or NONE)
    with _transaction(connection):
        if is_broken(connection):
            _write(connection, NONE)


def value(connection: sqlite3.Connection) -> bytes:
    """What stands in the place of the seal."""
    ((digest,),) = connection.execute("SELECT digest FROM seal").fetchall()
    return bytes(digest)


def is_broken(connection: sqlite3.Connection) -> bool:
    """Inside a transaction: whether the store is not what its seal was put on; no if it has none."""
    digest = value(connection)
    return _GIVES_PAGES and not digest.startswith(_NO_SEAL) and _digest(connection, digest) != digest


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def _write(connection: sqlite3.Connection, digest: bytes) -> None:
    connection.execute("UPDATE seal SET digest = ?", (digest,))


def _digest(connection: sqlite3.Connection, own: bytes) -> bytes | None:
    """Of all pages but for `own`, which stands there once; None if it does not, or if the store is too large."""
    ((size,),) = connection.execute("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size").fetchall()
    if size > LARGEST:
        return None
    pages = connection.serialize()
    where = pages.find(own)
    if where < 0 or pages.find(own, where + 1) >= 0:
        return None
    total = hashlib.sha256(memoryview(pages)[:where])
    total.update(NONE)
    total.update(memoryview(pages)[where + len(own) :])
    return total.digest()
