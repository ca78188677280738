"""Several stores joined into one: the shards of a study, or studies that belong together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from .database import StoreError
from .entries import ROW, read
from .index import key_of
from .rows import Row, difference
from .store import Store, new_store
from .verification import refuse_damage


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
