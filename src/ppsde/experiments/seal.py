"""The seal of a store that is at rest: a checksum of the whole file, also of the parts that no one reads.

It lies in the file itself, in a table of its own, and is the SHA-256 of all bytes with its own taken as zeros. Whoever
writes breaks it in the same transaction; whoever has written and closes the store puts a new one. A store whose writer
was killed has none, and is known by the checksums of its entries alone.
"""

from __future__ import annotations

import hashlib
import secrets
import sqlite3
from pathlib import Path

SCHEMA = "CREATE TABLE seal (one INTEGER PRIMARY KEY CHECK (one = 1), digest BLOB NOT NULL)"
NONE = bytes(32)
BLOCK = 2**20  # whole pages: no row as short as the seal's lies on two of them
_NO_SEAL = bytes(16)  # how a value begins that is none


def break_it(connection: sqlite3.Connection) -> None:
    """Inside a transaction: what it writes is not what was sealed."""
    connection.execute("UPDATE seal SET digest = ? WHERE digest <> ?", (NONE, NONE))


def put(connection: sqlite3.Connection, path: Path) -> None:
    """Seal a store, unless others are using it.

    First a mark stands in the place of the checksum, so that the place is known in the file; the checksum takes the
    same place. Should a version of SQLite move it about, the file is seen to differ, and stays without a seal.
    """
    mark = _NO_SEAL + secrets.token_bytes(16)
    if not _written(connection, path, mark):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        digest = _digest(path, mark) if value(connection) == mark and not _journal(path) else None
        if digest is not None:
            connection.execute("UPDATE seal SET digest = ?", (digest,))
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    _checkpoint(connection)
    if not _journal(path) and is_broken(path, value(connection)):
        _written(connection, path, NONE)


def value(connection: sqlite3.Connection) -> bytes:
    """What stands in the place of the seal."""
    ((digest,),) = connection.execute("SELECT digest FROM seal").fetchall()
    return bytes(digest)


def is_broken(path: Path, digest: bytes) -> bool:
    """Whether the file is not what that seal was put on; no if it is no seal, or if something lies in the journal."""
    if digest.startswith(_NO_SEAL) or _journal(path):
        return False
    return _digest(path, digest) != digest


def _written(connection: sqlite3.Connection, path: Path, digest: bytes) -> bool:
    """Put that value, and all that the journal holds, into the file; whether that was possible."""
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("UPDATE seal SET digest = ?", (digest,))
    connection.execute("COMMIT")
    _checkpoint(connection)
    return not _journal(path)


def _checkpoint(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def _journal(path: Path) -> int:
    """How many bytes lie beside the file."""
    journal = path.with_name(path.name + "-wal")
    return journal.stat().st_size if journal.exists() else 0


def _digest(path: Path, own: bytes) -> bytes | None:
    """Of all bytes but `own`, which stand there once; None if they do not."""
    found, total = 0, hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            found += block.count(own)
            total.update(block.replace(own, NONE))
    return total.digest() if found == 1 else None
