"""Whole stores: checked for damage, repaired, and joined.

A repair reads the entries by SQLite, as far as SQLite can, and then searches the pages of the file for more: damage to
the tables that lead to an entry does not harm the entry itself. Each entry is verified by its own checksum.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from .database import (
    PAGE,
    SCHEMA,
    TABLES,
    DamagedStore,
    Database,
    StoreError,
    columns_of,
    damaged,
    key_of,
    refuse_if_in_use_here,
)
from .rows import HEAD_SIZE, JOB, MAGIC, PLAN, ROW, Damaged, Row, difference, read, size_of
from .store import Store, new_store

MOST_MESSAGES = 20
WAL_HEAD, WAL_FRAME_HEAD = 32, 24  # bytes, in the journal beside a file


def damages(path: Path) -> list[str]:
    """Return everything in a store that differs from what was written, in words; an empty list if nothing does.

    Every entry is verified by its checksum, and every table by the entries. Only the space of the file that holds
    nothing may change unnoticed.
    """
    try:
        return _found(path)
    except StoreError as error:
        return [str(error)]


def refuse_damage(path: Path) -> None:
    """Raise `StoreError` if the store is damaged, or cannot be read for another reason."""
    for text in _found(path):
        raise DamagedStore(damaged(path, text))


def _found(path: Path) -> list[str]:
    database = Database(path, writable=False)
    try:
        with database.reading():
            return _by_sqlite(database) + _by_checksums(database)
    finally:
        database.close()


def _by_sqlite(database: Database) -> list[str]:
    found = [str(text) for (text,) in database.rows(f"PRAGMA integrity_check({MOST_MESSAGES})")]
    return [] if found == ["ok"] else found


def _by_checksums(database: Database) -> list[str]:
    """Verify the entries by their checksums, and the tables by the entries."""
    found: list[str] = []
    expected: dict[str, list[tuple[Any, ...]]] = {table: [] for table in TABLES.values()}
    for (number,) in database.rows("SELECT number FROM entries"):
        rows = database.rows("SELECT entry FROM entries WHERE number = ?", number)
        if not rows:  # a page leads to a number that its key does not find
            found.append(f"entry {number}: listed, but not found")
            continue
        try:
            kind, content = read(rows[0][0])
        except Damaged as error:
            found.append(f"entry {number}: {error}")
            continue
        expected[TABLES[kind]].append((*columns_of(kind, content), number))
    found += [
        f"the table of {table} does not agree with the entries"
        for table, rows in expected.items()
        if sorted(database.rows(f"SELECT * FROM {table}"), key=repr) != sorted(rows, key=repr)
    ]
    return found


# --- repairing ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Repaired:
    """The damage that a repair found, and how much it saved."""

    damages: list[str]
    plans: int
    jobs: int
    rows: int
    unknown: int  # rows of jobs that are lost until their plan is run again
    entries: int


def repair(path: Path, output: Path) -> Repaired:
    """Make a new store at `output` of the intact entries of the one at `path`, which is not changed."""
    if not path.is_file():
        raise StoreError(f"there is no store {str(path)!r}")
    if output.exists():
        raise StoreError(f"{output} exists; a repair writes a new store")
    refuse_if_in_use_here(path)
    with tempfile.TemporaryDirectory(prefix="ppsde-repair-") as folder:
        copy = Path(folder) / "damaged.db"
        for suffix in ("", "-wal"):
            source = path.with_name(path.name + suffix)
            if source.is_file():
                shutil.copyfile(source, copy.with_name(copy.name + suffix))
        in_pages = list(_found_in_pages(copy))  # before SQLite moves pages from the journal
        found = damages(copy)
        entries: dict[tuple[Any, ...], bytes] = {}
        for entry in [*_read_by_sqlite(copy), *in_pages]:
            _collect(entry, entries)
    keys = {kind: [key for key in entries if key[0] == kind] for kind in (PLAN, JOB, ROW)}
    jobs = {key[1] for key in keys[JOB]}
    with new_store(output) as store:
        store.add_entries(entries.values())
    return Repaired(
        damages=[text.replace(str(copy), str(path)) for text in found],
        plans=len(keys[PLAN]),
        jobs=len(jobs),
        rows=len(keys[ROW]),
        unknown=sum(key[1] not in jobs for key in keys[ROW]),
        entries=len(entries),
    )


def _collect(entry: Any, entries: dict[tuple[Any, ...], bytes]) -> None:
    """Add an intact entry. Of two rows of one run the first stays, unless only the second is of success."""
    try:
        kind, content = read(entry)
    except Damaged:
        return
    key = key_of(kind, content)
    before = entries.get(key)
    if before is None or (kind == ROW and read(before)[1].failed and not content.failed):
        entries[key] = entry


def _read_by_sqlite(path: Path) -> Iterator[Any]:
    """Yield the entries as SQLite reads them, until it fails."""
    sql = "SELECT number, entry FROM entries WHERE number > ? ORDER BY number LIMIT 1"
    with suppress(sqlite3.Error, OverflowError, UnicodeDecodeError), closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA cell_size_check = ON")
        made_by = connection.execute("SELECT sql FROM sqlite_master WHERE name = 'entries'").fetchall()
        if made_by != [(SCHEMA[0],)]:  # a view may be made so that reading it has no end
            return
        row: Any = (-(2**63), None)
        for _ in range(path.stat().st_size):  # a damaged file could lead in circles
            row = connection.execute(sql, row[:1]).fetchone()
            if row is None:
                return
            yield row[1]


def _found_in_pages(path: Path) -> Iterator[bytes]:
    """Yield all bytes that look like an entry, in the pages of a file and of the journal beside it."""
    file, journal = path.read_bytes(), path.with_name(path.name + "-wal")
    pages = {1 + at // PAGE: file[at : at + PAGE] for at in range(0, len(file), PAGE)}
    newer = list(_journalled(journal.read_bytes())) if journal.is_file() else []
    for searched, chained in ((pages.items(), pages), (newer, pages | dict(newer))):
        for _, page in searched:
            at = page.find(MAGIC)
            while at >= 0:
                entry = _joined(page, at, chained)
                if entry is not None:
                    yield entry
                at = page.find(MAGIC, at + 1)


def _journalled(journal: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield number and bytes of the pages in a journal, in the order in which they were written."""
    step = WAL_FRAME_HEAD + PAGE
    for at in range(WAL_HEAD, len(journal) - WAL_FRAME_HEAD, step):
        yield int.from_bytes(journal[at : at + 4], "big"), journal[at + WAL_FRAME_HEAD : at + step]


def _joined(page: bytes, at: int, pages: Mapping[int, bytes]) -> bytes | None:
    """Return the entry that begins at that place of a page; its end may lie in a chain of other pages."""
    size = size_of(page[at : at + HEAD_SIZE])
    if size is None:
        return None
    here = bytes_in_leaf(size)
    entry = bytearray(page[at : at + here])
    following = int.from_bytes(page[at + here : at + here + 4], "big")
    while len(entry) < size:
        link, length = pages.get(following, b""), min(size - len(entry), PAGE - 4)
        if len(link) < 4 + length:
            return None
        entry += link[4 : 4 + length]
        following = int.from_bytes(link[:4], "big")
    return bytes(entry)


def bytes_in_leaf(size: int) -> int:
    """Return how many bytes of an entry SQLite stores in the page of its row; the others go to overflow pages.

    The row is a header and the entry; section 1.6 of the description of SQLite's file format gives the rule.

    Examples
    --------
    >>> bytes_in_leaf(1000), bytes_in_leaf(4057), bytes_in_leaf(4058), bytes_in_leaf(20_000)
    (1000, 4057, 485, 3632)
    """
    length = -(-(2 * size + 12).bit_length() // 7)  # bytes of the number that stands for the entry's type and size
    head = 2 + length  # of the header: its length, the type of `number`, that of `entry`
    most, least = PAGE - 35, (PAGE - 12) * 32 // 255 - 23
    if head + size <= most:
        return size
    stored = least + (head + size - least) % (PAGE - 4)
    return (stored if stored <= most else least) - head


# --- merging --------------------------------------------------------------------------------------------------------


def merge(output: Path, inputs: Sequence[Path]) -> list[int]:
    """Join stores into a new one at `output`; return how many new rows each of them added.

    A run that several of them have must be equal in all, to the last bit.
    """
    if not inputs:
        raise StoreError("a merge needs stores to join; got none")
    for path in inputs:
        refuse_damage(path)
    with new_store(output) as whole:
        counts = [0]
        for path in inputs:
            with Store(path) as store:
                whole.add_entries(_new_entries(store, whole))
            counts.append(whole.database.rows("SELECT count(*) FROM results")[0][0])
    return [after - before for before, after in pairwise(counts)]


def _new_entries(store: Store, whole: Store) -> Iterator[bytes]:
    """Yield the entries of a store that the whole does not have; `StoreError` if two rows of one run differ."""
    there = whole.keys()
    for (number,) in store.database.rows("SELECT number FROM entries ORDER BY number"):
        ((entry,),) = store.database.rows("SELECT entry FROM entries WHERE number = ?", number)
        kind, content = read(entry)
        key = key_of(kind, content)
        if key not in there:
            yield entry
        elif kind == ROW:
            apart = difference(whole.read(there[key]), content)
            if apart is not None:
                raise StoreError(
                    f"{store.path} and a store before it do not agree: {_named(store, content)} has {apart}"
                )


def _named(store: Store, row: Row) -> str:
    for (number,) in store.database.rows("SELECT number FROM jobs WHERE job = ?", row.job):
        return f"run {row.run} of {store.read(number)}"
    return f"run {row.run} of job {row.job[:12]}"
