"""Damaged stores: nothing wrong is ever taken for right, and what is intact is kept."""

from __future__ import annotations

import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from experiments.studies import a_job, a_row, a_store, contents

from ppsde.experiments import Store
from ppsde.experiments.database import StoreError
from ppsde.experiments.repair import damages, merge, repair
from ppsde.experiments.rows import ROW, packed, sealed

PAGE = 4096
JOBS = [a_job(problem={"suite": "cec2017", "name": f"C{k:02d}"}) for k in range(1, 13)]
SIZES = (40, 300, 1100, 5000)  # numbers along a run: from many rows in a page to rows of ten pages


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[bytes]]:
    """A store of rows of every size, and its entries."""
    path = tmp_path_factory.mktemp("sound") / "study.db"
    return path, a_store(path, JOBS, sizes=SIZES)


def entries_in(path: Path) -> list[bytes]:
    with Store(path) as store:
        return [entry for (entry,) in store.database.rows("SELECT entry FROM entries")]


def places_of(entry: bytes, file: bytes) -> list[range]:
    """Where the bytes of an entry lie in a file, and the links between its pages: found by looking, not by rule."""
    start = file.index(entry[:400])
    length = next((k for k in range(len(entry)) if file[start + k] != entry[k]), len(entry))
    places = [range(start, start + length + 4 * (length < len(entry)))]
    while length < len(entry):
        piece = entry[length : length + PAGE - 4]
        start = file.index(piece)
        assert start % PAGE == 4, "pieces lie one to a page, behind the link to the next"
        places.append(range(start - 4, start + len(piece)))
        length += len(piece)
    return places


def test_the_tests_know_where_entries_lie(sound: tuple[Path, list[bytes]]) -> None:
    path, entries = sound
    file = path.read_bytes()
    pages = [len(places_of(entry, file)) for entry in entries]
    assert max(pages) > 5 and pages.count(1) > 20, "rows of one page and of many"
    assert sorted(entries_in(path)) == sorted(entries)


def check(sound: tuple[Path, list[bytes]], damaged: Path, harmed: range, tmp_path: Path) -> bool:
    """Return whether the damage was noticed. If not, nothing that is read has changed. Intact entries must be saved."""
    path, entries = sound
    file = path.read_bytes()
    intact = {entry for entry in entries if not any(_meet(harmed, place) for place in places_of(entry, file))}
    found = damages(damaged)
    salvaged = tmp_path / "salvaged.db"
    report = repair(damaged, salvaged)
    kept = entries_in(salvaged)
    assert damages(salvaged) == [] and len(set(kept)) == len(kept) == report.entries
    assert intact <= set(kept) <= set(entries)
    assert bool(report.damages) == bool(found)
    if not found:
        assert contents(damaged) == contents(path) and entries_in(damaged) == entries_in(path)
    salvaged.unlink()
    return bool(found)


def _meet(first: range, second: range) -> bool:
    return first.start < second.stop and second.start < first.stop


def harm(sound: tuple[Path, list[bytes]], tmp_path: Path, count: int, seed: int) -> tuple[int, int]:
    """Flip `count` bits and make `count` cuts, each in a new copy; return how many of each were noticed."""
    rng = random.Random(seed)
    file = sound[0].read_bytes()
    damaged = tmp_path / "damaged.db"
    noticed = [0, 0]
    for k in range(2 * count):
        where = rng.randrange(len(file))
        if k % 2:
            damaged.write_bytes(file[:where])
            harmed = range(where, len(file))
        else:
            damaged.write_bytes(file[:where] + bytes([file[where] ^ 1 << rng.randrange(8)]) + file[where + 1 :])
            harmed = range(where, where + 1)
        noticed[k % 2] += check(sound, damaged, harmed, tmp_path)
    return noticed[0], noticed[1]


def test_flipped_bits_and_cuts_are_noticed_and_intact_entries_are_saved(
    sound: tuple[Path, list[bytes]], tmp_path: Path
) -> None:
    flips, cuts = harm(sound, tmp_path, 25, seed=1)
    assert flips >= 20 and cuts == 25, "a flipped bit in unused space changes nothing"


@pytest.mark.slow
def test_a_thousand_flipped_bits_and_cuts_are_noticed_and_intact_entries_are_saved(
    sound: tuple[Path, list[bytes]], tmp_path: Path
) -> None:
    flips, cuts = harm(sound, tmp_path, 1000, seed=2)
    assert flips >= 900 and cuts == 1000, "a flipped bit in unused space changes nothing"


def test_bits_at_the_beginning_of_the_file_may_flip(sound: tuple[Path, list[bytes]], tmp_path: Path) -> None:
    file = sound[0].read_bytes()
    damaged = tmp_path / "damaged.db"
    for where in range(0, 112, 7):
        damaged.write_bytes(file[:where] + bytes([file[where] ^ 1 << where % 8]) + file[where + 1 :])
        check(sound, damaged, range(where, where + 1), tmp_path)


def test_a_flipped_bit_in_any_entry_is_noticed_and_never_read(sound: tuple[Path, list[bytes]], tmp_path: Path) -> None:
    path, entries = sound
    file, rng = path.read_bytes(), random.Random(3)
    damaged = tmp_path / "damaged.db"
    for entry in entries:
        places = places_of(entry, file)
        place = rng.choice(places)
        where = rng.randrange(place.start, place.stop)
        damaged.write_bytes(file[:where] + bytes([file[where] ^ 1 << rng.randrange(8)]) + file[where + 1 :])
        assert check(sound, damaged, range(where, where + 1), tmp_path)
        before = contents(path).values()
        try:
            assert all(content in before for content in contents(damaged).values())
        except StoreError as error:
            assert "is damaged" in str(error)


def test_a_store_whose_first_pages_are_gone_still_gives_its_rows(
    sound: tuple[Path, list[bytes]], tmp_path: Path
) -> None:
    path, _ = sound
    file = path.read_bytes()
    damaged = tmp_path / "damaged.db"
    damaged.write_bytes(bytes(PAGE) + file[PAGE:])
    with pytest.raises(StoreError):
        Store(damaged)
    report = repair(damaged, tmp_path / "salvaged.db")
    assert report.rows == 24 and contents(tmp_path / "salvaged.db") == contents(path)


def test_an_empty_file_and_noise_give_an_empty_store(tmp_path: Path) -> None:
    for k, content in enumerate((b"", b"\x00", np.random.default_rng(1).bytes(50_000))):
        damaged = tmp_path / f"damaged{k}.db"
        damaged.write_bytes(content)
        report = repair(damaged, tmp_path / f"salvaged{k}.db")
        assert report.damages and report.entries == 0
        assert damages(tmp_path / f"salvaged{k}.db") == []


def test_what_lies_in_the_journal_beside_a_store_is_salvaged_too(tmp_path: Path) -> None:
    path, copy = tmp_path / "study.db", tmp_path / "copy.db"
    entries = a_store(path, JOBS[:2])
    rng = np.random.default_rng(3)
    late = a_job(seed=9, runs=(0, 1))
    rows = [sealed(ROW, packed(a_row(late, run, rng, size))) for run, size in ((0, 60), (1, 3000))]
    with Store(path, writable=True) as store:
        store.add_entries(rows)
        for suffix in ("", "-wal"):  # as a kill would leave them
            shutil.copyfile(path.with_name(path.name + suffix), copy.with_name(copy.name + suffix))
    assert (tmp_path / "copy.db-wal").stat().st_size > 0
    assert repair(copy, tmp_path / "whole.db").damages == []
    assert sorted(entries_in(tmp_path / "whole.db")) == sorted([*entries, *rows])
    copy.write_bytes(copy.read_bytes()[:5000])
    assert repair(copy, tmp_path / "salvaged.db").damages
    assert set(rows) <= set(entries_in(tmp_path / "salvaged.db"))


def test_rows_whose_job_is_lost_are_kept_and_known_again_when_the_plan_is_back(tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    entries = a_store(path, JOBS)
    file = path.read_bytes()
    where = file.index(entries[2]) + 60  # in the entry of the third job
    path.write_bytes(file[:where] + bytes([file[where] ^ 1]) + file[where + 1 :])
    report = repair(path, tmp_path / "salvaged.db")
    assert (report.jobs, report.rows, report.unknown) == (11, 24, 2)
    with Store(tmp_path / "salvaged.db", writable=True) as store:
        assert len(list(store.results())) == 22
        store.add_plan({"runs": 2}, [("mine", job) for job in JOBS])
        assert len(list(store.results())) == 24


def test_a_repair_leaves_the_damaged_store_as_it_is_and_writes_over_nothing(tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    a_store(path, JOBS[:2])
    file = path.read_bytes()[:9000]
    path.write_bytes(file)
    repair(path, tmp_path / "salvaged.db")
    assert path.read_bytes() == file
    with pytest.raises(StoreError, match="exists"):
        repair(path, tmp_path / "salvaged.db")
    with pytest.raises(StoreError, match="there is no store"):
        repair(tmp_path / "nowhere.db", tmp_path / "new.db")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["salvaged.db", "study.db"]


# --- merging ------------------------------------------------------------------------------------------------


def test_shards_are_joined_to_the_whole(tmp_path: Path) -> None:
    a_store(tmp_path / "a.db", JOBS[:3], seed=1)
    a_store(tmp_path / "b.db", JOBS[3:7], seed=2)
    assert merge(tmp_path / "all.db", [tmp_path / "a.db", tmp_path / "b.db", tmp_path / "a.db"]) == [6, 8, 0]
    both = contents(tmp_path / "a.db") | contents(tmp_path / "b.db")
    assert contents(tmp_path / "all.db") == both and damages(tmp_path / "all.db") == []
    with Store(tmp_path / "all.db") as store:
        assert len(store.plans()) == 2 and len(list(store.results())) == 14


def test_a_run_that_differs_between_stores_is_named_and_nothing_is_written(tmp_path: Path) -> None:
    a_store(tmp_path / "a.db", JOBS[:2], seed=1)
    a_store(tmp_path / "b.db", JOBS[1:3], seed=2)
    with pytest.raises(StoreError) as caught:
        merge(tmp_path / "all.db", [tmp_path / "a.db", tmp_path / "b.db"])
    for word in ("b.db", "run 0", "pps-de on C02, D=10", JOBS[1].id[:12], "different f, record.f, x"):
        assert word in str(caught.value)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.db", "b.db"]


def test_a_damaged_store_is_not_merged(tmp_path: Path) -> None:
    a_store(tmp_path / "a.db", JOBS[:2])
    (tmp_path / "a.db").write_bytes((tmp_path / "a.db").read_bytes()[:-1])
    with pytest.raises(StoreError, match="bench repair"):
        merge(tmp_path / "all.db", [tmp_path / "a.db"])
    with pytest.raises(StoreError, match="got none"):
        merge(tmp_path / "all.db", [])
    assert not (tmp_path / "all.db").exists()


@pytest.mark.parametrize("table", ["entries", "results"])
def test_a_table_made_so_that_reading_it_has_no_end_is_not_read(tmp_path: Path, table: str) -> None:
    path = tmp_path / "study.db"
    entries = a_store(path, [a_job()])
    endless = "WITH RECURSIVE c(number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM c)"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"ALTER TABLE {table} RENAME TO other")
        connection.execute(f"CREATE VIEW {table} AS {endless} SELECT max(number) AS number, 0 AS entry FROM c")
        connection.commit()
    with pytest.raises(StoreError, match="its tables are not those of a store"):
        Store(path)
    repaired = repair(path, tmp_path / "new.db")
    assert "its tables are not those of a store" in repaired.damages[0]
    assert repaired.entries == len(entries)
