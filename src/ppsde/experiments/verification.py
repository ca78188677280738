"""Is a store what was written? Every entry is checked, and every table beside them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from . import seal
from .database import Database, StoreError, damaged
from .entries import Damaged, read
from .index import TABLES, indexed, summed

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
