"""How entries are put into a store, and what of each the tables beside them hold.

The ledger counts the entries and sums their checksums, so that one that is missing is noticed as well as one that has
changed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .entries import ACCOUNT, JOB, PLAN, ROW, checksum_of, read

TABLES = {PLAN: "plans", JOB: "jobs", ROW: "results", ACCOUNT: "accounts"}
_MODULUS = 2**256

Execute = Callable[..., Any]


def indexed(kind: bytes, content: Any, number: int) -> tuple[Any, ...]:
    """The row that stands for an entry in the table of its kind."""
    if kind == ROW:
        return content.job, content.run, int(content.failed), number
    if kind == ACCOUNT:
        return content["job"], content["finished"], number
    return content.id, number


def key_of(kind: bytes, content: Any) -> tuple[Any, ...]:
    """What no two entries of a store may share."""
    if kind == ROW:
        return kind, content.job, content.run
    return kind, content["job"] if kind == ACCOUNT else content.id


def put(execute: Execute, entry: bytes) -> None:
    """Add an entry, inside a transaction; sqlite3.IntegrityError if there is one with its key."""
    kind, content = read(entry)
    number = execute("INSERT INTO entries (entry) VALUES (?)", entry).lastrowid
    row = indexed(kind, content, number)
    execute(f"INSERT INTO {TABLES[kind]} VALUES ({', '.join('?' * len(row))})", *row)
    _account_for(execute, entry, 1)


def drop(execute: Execute, number: int, kind: bytes) -> None:
    """Remove an entry, inside a transaction."""
    (entry,) = execute("SELECT entry FROM entries WHERE number = ?", number).fetchone()
    execute(f"DELETE FROM {TABLES[kind]} WHERE number = ?", number)
    execute("DELETE FROM entries WHERE number = ?", number)
    _account_for(execute, entry, -1)


def summed(total: bytes, entry: bytes, sign: int) -> bytes:
    """The sum of checksums with that of one entry more, or less."""
    value = int.from_bytes(total, "big") + sign * int.from_bytes(checksum_of(entry), "big")
    return (value % _MODULUS).to_bytes(32, "big")


def _account_for(execute: Execute, entry: bytes, sign: int) -> None:
    count, total = execute("SELECT count, digest FROM ledger").fetchone()
    execute("UPDATE ledger SET count = ?, digest = ?", count + sign, summed(total, entry, sign))
