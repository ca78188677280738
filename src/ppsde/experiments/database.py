"""How entries are put into a store, and what of each the tables beside them hold.

The ledger counts the entries and sums their checksums, so that one that is missing is noticed as well as one that has
changed.

A SQLite file as a store uses it: one writer at a time, everyone patient, every error in words.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep
from typing import Any, TypeVar
from weakref import WeakSet

from . import seal
from .rows import ACCOUNT, JOB, PLAN, ROW, checksum_of, read

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


APPLICATION = 0x70707331  # 'pps1', in the header of the file
VERSION = 2  # of the schema
PAGE = 4096
PATIENCE = 600.0  # seconds that another program may keep the store locked
BUSY_MILLISECONDS = 5000

T = TypeVar("T")

SCHEMA = (
    "CREATE TABLE entries (number INTEGER PRIMARY KEY, entry BLOB NOT NULL)",
    "CREATE TABLE ledger (one INTEGER PRIMARY KEY CHECK (one = 1), count INTEGER NOT NULL, digest BLOB NOT NULL)",
    "CREATE TABLE plans (plan TEXT PRIMARY KEY, number INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE TABLE jobs (job TEXT PRIMARY KEY, number INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE TABLE results (job TEXT, run INTEGER, failed INTEGER NOT NULL, number INTEGER NOT NULL, "
    "PRIMARY KEY (job, run)) WITHOUT ROWID",
    "CREATE TABLE accounts (job TEXT PRIMARY KEY, finished REAL NOT NULL, number INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE TABLE runners (runner TEXT PRIMARY KEY, place TEXT NOT NULL, pid INTEGER NOT NULL, "
    "born TEXT NOT NULL, expires REAL NOT NULL) WITHOUT ROWID",
    "CREATE TABLE leases (job TEXT PRIMARY KEY, runner TEXT NOT NULL) WITHOUT ROWID",
    seal.SCHEMA,
)


class StoreError(ValueError):
    """A store that cannot be used, and why."""


class DamagedStore(StoreError):
    """A store that is not what was written."""


_in_use: WeakSet[Database] = WeakSet()  # of this program


class Database:
    """A connection to a store's file."""

    def __init__(self, path: Path, *, writable: bool) -> None:
        self.path = path
        if not path.is_file():
            raise StoreError(f"there is no store {str(path)!r}")
        if path.stat().st_size == 0:
            raise DamagedStore(damaged(path, "it is empty"))
        self._connection: sqlite3.Connection | None = None
        self._has_written = False
        with self._in_words():
            self._connection = patiently(lambda: _connected(path, writable), path)
        _in_use.add(self)
        try:
            self._check_header()
            self._check_size()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the file; the last one to do so leaves a single file behind, sealed if it has written."""
        if self._connection is not None:
            if self._has_written:
                with suppress(sqlite3.Error, ValueError, MemoryError):  # without a seal it is as good as its entries
                    seal.put(self._connection)
            with suppress(sqlite3.Error):  # nothing is lost: what was committed lies beside the file at worst
                self._connection.close()
            self._connection = None
            _in_use.discard(self)

    def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """What a query gives."""
        with self._in_words():
            return patiently(lambda: self._open.execute(sql, values).fetchall(), self.path)

    def is_not_as_sealed(self) -> bool:
        """Whether the store has a seal and is not what it was put on; inside `reading`."""
        with self._in_words():
            return seal.is_broken(self._open)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Queries inside see one state of the store, whatever others write meanwhile."""
        with self._in_words():
            connection = self._open
            patiently(lambda: connection.execute("BEGIN"), self.path)
            try:
                yield
            finally:
                with suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")

    @contextmanager
    def writing(self) -> Iterator[Callable[..., Any]]:
        """A transaction, alone: gives a function that executes SQL. All of it counts, or nothing of it."""
        with self._in_words():
            connection = self._open
            patiently(lambda: connection.execute("BEGIN IMMEDIATE"), self.path)
            self._has_written = True
            try:
                seal.break_it(connection)
                yield lambda sql, *values: connection.execute(sql, values)
                patiently(lambda: connection.execute("COMMIT"), self.path)
            except BaseException:
                with suppress(sqlite3.Error):  # SQLite may have rolled back by itself
                    connection.execute("ROLLBACK")
                raise

    @property
    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            raise StoreError(f"the store {str(self.path)!r} is closed")
        return self._connection

    def _check_header(self) -> None:
        if self.rows("PRAGMA application_id") != [(APPLICATION,)]:
            raise StoreError(f"{self.path} is not a store of studies, or its beginning is damaged")
        version = self.rows("PRAGMA user_version")[0][0]
        if version != VERSION:
            raise StoreError(f"{self.path} is a store of version {version}; this program reads version {VERSION}")
        there = {sql for (sql,) in self.rows("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")}
        if there != set(SCHEMA):  # also a file that someone made to look like a store
            raise DamagedStore(damaged(self.path, "its tables are not those of a store"))

    def _check_size(self) -> None:
        """Notice a file that was cut off, of which SQLite would still read what is left."""
        with self.reading():  # as long as this lasts, no one moves pages from the journal to the file
            wanted = self.rows("PRAGMA page_count")[0][0] * self.rows("PRAGMA page_size")[0][0]
            journal = self.path.with_name(self.path.name + "-wal")
            with suppress(FileNotFoundError):
                if journal.stat().st_size:
                    return  # pages may still lie there
            there = self.path.stat().st_size
        if there != wanted:
            raise DamagedStore(damaged(self.path, f"it has {there:,} bytes and should have {wanted:,}"))

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, UnicodeDecodeError) as error:  # the latter where SQLite's own message is damaged text
            raise _explained(error, self.path) from error


def refuse_if_in_use_here(path: Path) -> None:
    """Go on only if this program has not opened the store.

    To read the file by other ways than SQLite's would end all locks that this program has on it, and with them the
    order in which it and others write.
    """
    if any(database.path.resolve() == path.resolve() for database in _in_use):
        raise StoreError(f"{path} is open in this program; close it first")


def create(path: Path) -> None:
    """Make an empty store at `path`; FileExistsError if something is there.

    It is made under another name, so that a store is there whole or not at all, whenever this is killed.
    """
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(4)}.unfinished")
    try:
        connection = sqlite3.connect(unfinished, isolation_level=None)
        try:
            connection.execute(f"PRAGMA page_size = {PAGE}")
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("BEGIN")
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
            connection.execute(f"PRAGMA user_version = {VERSION}")
            for sql in SCHEMA:
                connection.execute(sql)
            connection.execute("INSERT INTO ledger VALUES (1, 0, ?)", (bytes(32),))
            connection.execute("INSERT INTO seal VALUES (1, ?)", (seal.NONE,))
            connection.execute("COMMIT")
        finally:
            connection.close()
        place(unfinished, path)
    except sqlite3.Error as error:
        raise _explained(error, path) from error
    finally:
        for suffix in ("", "-wal", "-shm"):
            unfinished.with_name(unfinished.name + suffix).unlink(missing_ok=True)


def place(file: Path, path: Path) -> None:
    """Give a finished file its name, unless there is one of that name already."""
    try:
        os.link(file, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        if path.exists():
            raise FileExistsError(f"{path} exists") from None
        file.rename(path)


def patiently(action: Callable[[], T], path: Path) -> T:
    """Do it as soon as no one else is in the way."""
    end = monotonic() + PATIENCE
    pause = 0.001
    while True:
        try:
            return action()
        except sqlite3.OperationalError as error:
            if not _is_busy(error):
                raise
            if monotonic() > end:
                raise StoreError(f"another program has kept {path} locked for {PATIENCE / 60:.0f} minutes") from None
        sleep(pause)
        pause = min(2 * pause, 0.1)


def _connected(path: Path, writable: bool) -> sqlite3.Connection:
    address = path.resolve().as_uri()
    # Who only reads still opens for writing where that is allowed: the last one to close a store tidies up.
    modes = ("rw",) if writable or os.access(path, os.W_OK) else ("ro", "ro&immutable=1")
    for mode in modes:
        connection = sqlite3.connect(
            f"{address}?mode={mode}", uri=True, isolation_level=None, timeout=BUSY_MILLISECONDS / 1000
        )
        try:
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("PRAGMA cell_size_check = ON")
            if writable:
                connection.execute("PRAGMA synchronous = NORMAL")
                connection.execute("PRAGMA secure_delete = ON")  # what was deleted must not be found by a salvage
            else:
                connection.execute("PRAGMA query_only = ON")
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except sqlite3.OperationalError as error:
            connection.close()
            if mode == modes[-1] or _is_busy(error):
                raise
        except BaseException:
            connection.close()
            raise
        else:
            return connection
    raise AssertionError("one of the modes returns or raises")


def _is_busy(error: sqlite3.Error) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _explained(error: Exception, path: Path) -> Exception:
    code = getattr(error, "sqlite_errorcode", 0)
    if code == sqlite3.SQLITE_NOTADB:
        return DamagedStore(damaged(path, "it does not begin as a store does"))
    outside = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM)
    short_read = code == sqlite3.SQLITE_IOERR_SHORT_READ
    if code & 0xFF in outside or (code & 0xFF == sqlite3.SQLITE_IOERR and not short_read):
        return StoreError(f"{path} cannot be written or read: {error}; what was finished before is kept")
    return DamagedStore(damaged(path, str(error)))


def damaged(path: Path, why: str) -> str:
    """The words for a damaged store."""
    return f"{path} is damaged ({why}); `ppsde bench repair {path} -o NEW.db` keeps what is intact"
