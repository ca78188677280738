"""Is a store what was written? Every entry is checked, and every table beside them.

What is intact in a damaged store, and a new store made of it.

First SQLite is asked, row by row from both ends; then the pages of the file are searched for entries, since damage to
the way that leads to them does not harm the entries themselves. Each is checked by its own checksum, so nothing that
has changed is ever taken for intact.

Several stores joined into one: the shards of a study, or studies that belong together.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from . import seal
from .database import PAGE, TABLES, Database, StoreError, damaged, indexed, key_of, refuse_if_in_use_here, summed
from .rows import HEAD_SIZE, JOB, MAGIC, PLAN, ROW, Damaged, Row, difference, read, size_of
from .store import Store, new_store

MOST_TOLD = 20


def damages(path: Path) -> list[str]:
    """Everything about a store that is not as it was written, in words; nothing if it is sound.

    In a store at rest every bit counts, by its seal. In one that is in use, or whose writer was killed, a bit that no
    one reads, in the unused space of the file, may change without being noticed.
    """
    try:
        database = Database(path, writable=False)
    except StoreError as error:
        return [str(error)]
    try:
        with database.reading():
            return _by_sqlite(database) + _by_checksums(database) or _by_seal(database)
    except StoreError as error:
        return [str(error)]
    finally:
        database.close()


def refuse_damage(path: Path) -> None:
    """Go on only with a store that is what was written."""
    found = damages(path)
    if found:
        text = found[0]
        raise StoreError(text if "bench repair" in text else damaged(path, text))


def _by_sqlite(database: Database) -> list[str]:
    found = [str(text) for (text,) in database.rows(f"PRAGMA integrity_check({MOST_TOLD})")]
    return [] if found == ["ok"] else found


def _by_seal(database: Database) -> list[str]:
    """Of a store in which all that can be read is right."""
    seals = database.rows("SELECT one, digest FROM seal")
    if len(seals) != 1 or not isinstance(seals[0][1], bytes) or len(seals[0][1]) != len(seal.NONE):
        return ["it must have one seal"]
    return ["all that can be read is right, but the file is not as it was left"] if database.is_not_as_sealed() else []


def _by_checksums(database: Database) -> list[str]:
    """Entries against their checksums, their sum against the ledger, the tables against the entries."""
    found: list[str] = []
    expected: dict[str, set[tuple[Any, ...]]] = {table: set() for table in TABLES.values()}
    total, count = bytes(32), 0
    for (number,) in database.rows("SELECT number FROM entries"):
        rows = database.rows("SELECT entry FROM entries WHERE number = ?", number)
        if not rows:  # a page leads to a number that its key does not find
            found.append(f"entry {number}: listed, but not found")
            continue
        entry = rows[0][0]
        try:
            kind, content = read(entry)
        except Damaged as error:
            found.append(f"entry {number}: {error}")
            continue
        expected[TABLES[kind]].add(indexed(kind, content, number))
        total, count = summed(total, entry, 1), count + 1
    if database.rows("SELECT one, count, digest FROM ledger") != [(1, count, total)]:
        found.append("the entries are not those that the ledger counted")
    found += [
        f"the table of {table} does not agree with the entries"
        for table, rows in expected.items()
        if sorted(database.rows(f"SELECT * FROM {table}"), key=repr) != sorted(rows, key=repr)
    ]
    return found


WAL_HEAD, WAL_FRAME_HEAD = 32, 24


@dataclass(frozen=True)
class Salvaged:
    """What a repair found and kept."""

    damages: list[str]
    plans: int
    jobs: int
    rows: int
    unknown: int  # rows of jobs that are not known until their plan is run again
    counted: int | None  # entries that there were, if the store could still say
    kept: int


def repair(path: Path, output: Path) -> Salvaged:
    """Make a sound store at `output` of what is intact in the one at `path`, which is left as it is."""
    if not path.is_file():
        raise StoreError(f"there is no store {str(path)!r}")
    if output.exists():
        raise StoreError(f"{output} exists; a repair writes a new store")
    refuse_if_in_use_here(path)
    with tempfile.TemporaryDirectory(prefix="ppsde-repair-") as folder:
        copy = Path(folder) / "damaged.db"
        _copy(path, copy)
        pages = _Pages.of(copy)
        found = damages(copy)
        entries: dict[tuple[Any, ...], bytes] = {}
        for entry in [*_read_by_sqlite(copy), *pages.entries()]:
            _keep(entry, entries)
        counted = _counted(copy)
    by_kind = {kind: [key for key in entries if key[0] == kind] for kind in (PLAN, JOB, ROW)}
    known = {key[1] for key in by_kind[JOB]}
    with new_store(output) as store:
        store.add_entries(entries.values())
    return Salvaged(
        damages=[text.replace(str(copy), str(path)) for text in found],
        plans=len(by_kind[PLAN]),
        jobs=len(by_kind[JOB]),
        rows=len(by_kind[ROW]),
        unknown=sum(key[1] not in known for key in by_kind[ROW]),
        counted=counted,
        kept=len(entries),
    )


def _keep(entry: Any, entries: dict[tuple[Any, ...], bytes]) -> None:
    """Keep an intact entry. Of two rows of one run the one found first stays, unless only the other is of success."""
    try:
        kind, content = read(entry)
    except Damaged:
        return
    key = key_of(kind, content)
    before = entries.get(key)
    if before is None or (kind == ROW and read(before)[1].failed and not content.failed):
        entries[key] = entry


def _copy(path: Path, copy: Path) -> None:
    for suffix in ("", "-wal"):
        source = path.with_name(path.name + suffix)
        if source.is_file():
            shutil.copyfile(source, copy.with_name(copy.name + suffix))


# --- asking SQLite --------------------------------------------------------------------------------------------------


def _read_by_sqlite(path: Path) -> Iterator[Any]:
    """Entries as SQLite gives them, from the first on until it fails, and then from the last one back."""
    if not path.stat().st_size:
        return
    for beyond, order, start in ((">", "ASC", -(2**63)), ("<", "DESC", 2**63 - 1)):
        sql = f"SELECT number, entry FROM entries WHERE number {beyond} ? ORDER BY number {order} LIMIT 1"
        with suppress(sqlite3.Error, OverflowError, UnicodeDecodeError), closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA cell_size_check = ON")
            at: Any = start
            for _ in range(path.stat().st_size):  # a damaged file could lead in circles
                row = connection.execute(sql, (at,)).fetchone()
                if row is None:
                    return  # all were seen
                at = row[0]
                yield row[1]


def _counted(path: Path) -> int | None:
    with suppress(sqlite3.Error, UnicodeDecodeError), closing(sqlite3.connect(path)) as connection:
        (count,) = connection.execute("SELECT count FROM ledger").fetchone() or (None,)
        return count if isinstance(count, int) else None
    return None


# --- searching the pages --------------------------------------------------------------------------------------------


class _Pages:
    """The pages of a file and of the journal beside it, as bytes."""

    def __init__(self, file: bytes, wal: bytes) -> None:
        self._file, self._wal = file, wal

    @classmethod
    def of(cls, path: Path) -> _Pages:
        wal = path.with_name(path.name + "-wal")
        return cls(path.read_bytes(), wal.read_bytes() if wal.is_file() else b"")

    def entries(self) -> Iterator[bytes]:
        """Every run of bytes that looks like an entry, pieced together where it is spread over pages."""
        main = {k + 1: self._file[k * PAGE : (k + 1) * PAGE] for k in range(-(-len(self._file) // PAGE))}
        yield from _in_pages(main, main.values())
        newer = list(self._journalled())
        yield from _in_pages(main | dict(newer), (page for _, page in newer))

    def _journalled(self) -> Iterator[tuple[int, bytes]]:
        """Number and bytes of the pages in the journal, in the order in which they were written."""
        step = WAL_FRAME_HEAD + PAGE
        for at in range(WAL_HEAD, len(self._wal) - WAL_FRAME_HEAD, step):
            number = int.from_bytes(self._wal[at : at + 4], "big")
            yield number, self._wal[at + WAL_FRAME_HEAD : at + step]


def _in_pages(pages: dict[int, bytes], searched: Any) -> Iterator[bytes]:
    for page in searched:
        at = page.find(MAGIC)
        while at >= 0:
            entry = _pieced_together(page, at, pages)
            if entry is not None:
                yield entry
            at = page.find(MAGIC, at + 1)


def _pieced_together(page: bytes, at: int, pages: dict[int, bytes]) -> bytes | None:
    """The entry that begins at that place of a page; what does not fit there goes on in a chain of other pages."""
    size = size_of(page[at : at + HEAD_SIZE])
    if size is None:
        return None
    here = bytes_in_leaf(size)
    parts = [page[at : at + here]]
    if here < size:
        following = int.from_bytes(page[at + here : at + here + 4], "big")
        while (left := size - sum(map(len, parts))) > 0:
            link = pages.get(following)
            if link is None or len(link) < 4 or len(parts) > size // (PAGE - 4) + 2:
                return None
            parts.append(link[4 : 4 + min(left, PAGE - 4)])
            following = int.from_bytes(link[:4], "big")
    return b"".join(parts)


def bytes_in_leaf(size: int) -> int:
    """How many bytes of an entry SQLite keeps in the page of its row; the rest goes to overflow pages.

    The row is a header and the entry; section 1.6 of the description of SQLite's file format gives the rule.

    Examples
    --------
    >>> bytes_in_leaf(1000), bytes_in_leaf(4057), bytes_in_leaf(4058), bytes_in_leaf(20_000)
    (1000, 4057, 485, 3632)
    """
    head = 2 + _length_of_varint(2 * size + 12)  # of the header: its length, the type of `number`, that of `entry`
    row = head + size
    most, least = PAGE - 35, (PAGE - 12) * 32 // 255 - 23
    if row <= most:
        return size
    kept = least + (row - least) % (PAGE - 4)
    return (kept if kept <= most else least) - head


def _length_of_varint(value: int) -> int:
    """Bytes of a number as SQLite writes it, seven bits in each.

    Examples
    --------
    >>> _length_of_varint(127), _length_of_varint(128), _length_of_varint(16384)
    (1, 2, 3)
    """
    return max(1, -(-value.bit_length() // 7))


def merge(output: Path, inputs: Sequence[Path]) -> list[int]:
    """Join the stores into a new one at `output`; tells how many rows each brought that those before it had not.

    A run that several of them have must be the same in all, to the last bit.
    """
    if not inputs:
        raise StoreError("a merge needs stores to join; got none")
    for path in inputs:
        refuse_damage(path)
    with new_store(output) as whole:
        counts = [0]
        for path in inputs:
            with Store(path) as store:
                whole.add_entries(_what_is_new(store, whole))
            counts.append(whole.database.rows("SELECT count(*) FROM results")[0][0])
    return [after - before for before, after in pairwise(counts)]


def _what_is_new(store: Store, whole: Store) -> Iterator[bytes]:
    """The entries of one store that the whole has not; an error if it has a row that is not the same."""
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
