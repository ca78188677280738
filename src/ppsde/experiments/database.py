"""The SQLite file of a store: its tables, how entries are added and removed, transactions, errors in plain words.

Programs that use one file at the same time wait for each other; one writes at a time.
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

from .rows import ACCOUNT, JOB, PLAN, ROW

APPLICATION = 0x70707331  # 'pps1', in the header of the file
VERSION = 3  # of the schema
PAGE = 4096
PATIENCE = 600.0  # seconds to wait while another program has the store locked
BUSY_MILLISECONDS = 5000

T = TypeVar("T")
Execute = Callable[..., Any]

# `entries` holds everything. The tables of plans, jobs, results and accounts say which entry is whose.
SCHEMA = (
    "CREATE TABLE entries (number INTEGER PRIMARY KEY, entry BLOB NOT NULL)",
    "CREATE TABLE plans (plan TEXT PRIMARY KEY, number INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE TABLE jobs (job TEXT PRIMARY KEY, number INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE TABLE results (job TEXT, run INTEGER, failed INTEGER NOT NULL, number INTEGER NOT NULL, "
    "PRIMARY KEY (job, run)) WITHOUT ROWID",
    "CREATE TABLE accounts (job TEXT PRIMARY KEY, finished REAL NOT NULL, number INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE TABLE runners (runner TEXT PRIMARY KEY, place TEXT NOT NULL, pid INTEGER NOT NULL, "
    "born TEXT NOT NULL, expires REAL NOT NULL) WITHOUT ROWID",
    "CREATE TABLE leases (job TEXT PRIMARY KEY, runner TEXT NOT NULL) WITHOUT ROWID",
)
TABLES = {PLAN: "plans", JOB: "jobs", ROW: "results", ACCOUNT: "accounts"}

# Version 2 had two more tables, checksums of the whole file. They are not read, and the first writer removes them.
ONLY_IN_VERSION_2 = {
    "ledger": "CREATE TABLE ledger (one INTEGER PRIMARY KEY CHECK (one = 1), count INTEGER NOT NULL, "
    "digest BLOB NOT NULL)",
    "seal": "CREATE TABLE seal (one INTEGER PRIMARY KEY CHECK (one = 1), digest BLOB NOT NULL)",
}
TABLES_OF_VERSION = {VERSION: {*SCHEMA}, 2: {*SCHEMA, *ONLY_IN_VERSION_2.values()}}


def columns_of(kind: bytes, content: Any) -> tuple[Any, ...]:
    """Return the columns of an entry in the table of its kind, all but its number."""
    if kind == ROW:
        return content.job, content.run, int(content.failed)
    if kind == ACCOUNT:
        return content["job"], content["finished"]
    return (content.id,)


def key_of(kind: bytes, content: Any) -> tuple[Any, ...]:
    """Return the key of an entry; no two entries of a store share one."""
    return (kind, *columns_of(kind, content)[: 2 if kind == ROW else 1])


def put(execute: Execute, kind: bytes, columns: tuple[Any, ...], entry: bytes) -> None:
    """Add an entry, inside a transaction; sqlite3.IntegrityError if there is one with its key."""
    number = execute("INSERT INTO entries (entry) VALUES (?)", entry).lastrowid
    execute(f"INSERT INTO {TABLES[kind]} VALUES ({'?, ' * len(columns)}?)", *columns, number)


def drop(execute: Execute, kind: bytes, number: int) -> None:
    """Remove an entry, inside a transaction."""
    execute(f"DELETE FROM {TABLES[kind]} WHERE number = ?", number)
    execute("DELETE FROM entries WHERE number = ?", number)


class StoreError(ValueError):
    """A store that cannot be used, and why."""


class DamagedStore(StoreError):
    """A store whose content differs from what was written."""


_in_use: WeakSet[Database] = WeakSet()  # open in this program


class Database:
    """A connection to a store's file."""

    def __init__(self, path: Path, *, writable: bool) -> None:
        self.path = path
        if not path.is_file():
            raise StoreError(_why_no_file(path))
        if path.stat().st_size == 0:
            raise DamagedStore(damaged(path, "it is empty"))
        self._connection: sqlite3.Connection | None = None
        with self._in_words():
            self._connection = patiently(lambda: _connected(path, writable), path)
        self._place = path.absolute()  # wherever the program goes meanwhile
        self._file = _identity(self._place)
        _in_use.add(self)
        try:
            version = self._checked_version()
            self._check_size()
            if writable and version < VERSION:
                self._upgrade()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the file. The last program to do so leaves a single file, without a journal beside it."""
        if self._connection is not None:
            with suppress(sqlite3.Error):  # nothing is lost: at worst, committed pages stay in the journal
                self._connection.close()
            self._connection = None
            _in_use.discard(self)

    def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        with self._in_words():
            return patiently(lambda: self._open.execute(sql, values).fetchall(), self.path)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Let the queries inside see one state of the store, whatever other programs write meanwhile."""
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
        """Give a function that executes SQL in one transaction: all of it is written, or nothing."""
        with self._in_words():
            connection = self._open
            patiently(lambda: connection.execute("BEGIN IMMEDIATE"), self.path)
            try:
                self._refuse_if_moved()
                yield lambda sql, *values: connection.execute(sql, values)
                patiently(lambda: connection.execute("COMMIT"), self.path)
            except BaseException:
                with suppress(sqlite3.Error):  # SQLite may have rolled back by itself
                    connection.execute("ROLLBACK")
                raise

    def empty_journal(self) -> None:
        """Move all pages from the journal to the file, which is then complete without it."""
        with self._in_words():
            _empty_journal(self._open, self.path)

    @property
    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            raise StoreError(f"the store {str(self.path)!r} is closed")
        return self._connection

    def _checked_version(self) -> int:
        if self.rows("PRAGMA application_id") != [(APPLICATION,)]:
            raise StoreError(f"{self.path} is not a store of studies, or its beginning is damaged")
        version: int = self.rows("PRAGMA user_version")[0][0]
        if version not in TABLES_OF_VERSION:
            raise StoreError(f"{self.path} is a store of version {version}; this program reads version {VERSION}")
        tables = {sql for (sql,) in self.rows("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")}
        if tables != TABLES_OF_VERSION[version]:  # also a file that someone made to look like a store
            raise DamagedStore(damaged(self.path, "its tables are not those of a store"))
        return version

    def _upgrade(self) -> None:
        with self.writing() as execute:
            for name in ONLY_IN_VERSION_2:
                execute(f"DROP TABLE IF EXISTS {name}")
            execute(f"PRAGMA user_version = {VERSION}")

    def _check_size(self) -> None:
        """Refuse a file that was cut off, of which SQLite would still read the rest."""
        with self.reading():  # meanwhile no program moves pages from the journal to the file
            wanted = self.rows("PRAGMA page_count")[0][0] * self.rows("PRAGMA page_size")[0][0]
            journal = self.path.with_name(self.path.name + "-wal")
            with suppress(FileNotFoundError):
                if journal.stat().st_size:
                    return  # pages may still lie there
            there = self.path.stat().st_size
        if there != wanted:
            raise DamagedStore(damaged(self.path, f"it has {there:,} bytes and should have {wanted:,}"))

    def _refuse_if_moved(self) -> None:
        """Raise `StoreError` if the path leads to another file now, because rows in the old one would be lost."""
        if _identity(self._place) != self._file:
            raise StoreError(
                f"{self.path} was removed, renamed or replaced while it was in use; nothing more is written"
            )

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, UnicodeDecodeError) as error:  # the latter where SQLite's own message is damaged text
            raise _explained(error, self.path) from error


def _identity(path: Path) -> tuple[int, int] | None:
    """Return what the file at `path` has in common with no other; None if there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _why_no_file(path: Path) -> str:
    if path.exists():
        return f"{path} is no file, so no store"
    if path.is_symlink():
        return f"there is no store {str(path)!r}: it is a link, and no file is where it leads to"
    return f"there is no store {str(path)!r}"


def refuse_if_in_use_here(path: Path) -> None:
    """Raise `StoreError` if this program has the store open.

    To close the file after reading it without SQLite would end all locks that this program has on it (POSIX), and two
    programs could then write at the same time.
    """
    if any(database.path.resolve() == path.resolve() for database in _in_use):
        raise StoreError(f"{path} is open in this program; close it first")


def refuse_neighbours(path: Path) -> None:
    """Raise `StoreError` if there is no store at `path`, but files whose names SQLite would use for its journal."""
    found = [file for suffix in ("-wal", "-shm", "-journal") if os.path.lexists(file := f"{path}{suffix}")]
    if found and not path.exists():
        raise StoreError(f"{found[0]} is in the place of the journal of {path}; move it, or choose another name")


def create(path: Path) -> None:
    """Make an empty store at `path`; FileExistsError if something is there.

    It is made under another name first, so that a kill at any moment leaves a whole store or none.
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
            connection.execute("COMMIT")
            _empty_journal(connection, path)
        finally:
            connection.close()
        place(unfinished, path)
    except sqlite3.Error as error:
        raise _explained(error, path) from error
    finally:
        for suffix in ("", "-wal", "-shm"):
            with suppress(OSError):  # there is none, or the folder cannot be written to
                unfinished.with_name(unfinished.name + suffix).unlink()


def _empty_journal(connection: sqlite3.Connection, path: Path) -> None:
    """Move the pages of the journal to the file. SQLite also does it at the end, but says nothing if it fails then."""
    busy, left, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    if busy or left:
        raise StoreError(f"{path} cannot be written: its journal cannot be moved into it")


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
    """Repeat the action until no other program has the store locked; return its result."""
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
    # A reader also opens the file for writing if it may: the last program to close a store removes its journal.
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
                connection.execute("PRAGMA secure_delete = ON")  # a repair must not find what was deleted
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
        repair = f"if it was one, `ppsde bench repair {path} -o NEW.db` saves what is intact"
        return DamagedStore(f"{path} does not begin as a store does: it is none, or is damaged; {repair}")
    outside = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM)
    short_read = code == sqlite3.SQLITE_IOERR_SHORT_READ
    if code & 0xFF in outside or (code & 0xFF == sqlite3.SQLITE_IOERR and not short_read):
        return StoreError(f"{path} cannot be written or read: {error}; what was finished before is kept")
    return DamagedStore(damaged(path, str(error)))


def damaged(path: Path, why: str) -> str:
    """Return the message about a damaged store."""
    return f"{path} is damaged ({why}); `ppsde bench repair {path} -o NEW.db` saves what is intact"
