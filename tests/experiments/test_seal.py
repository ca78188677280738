"""The seal of a store at rest: when there is one, when there is none, and that it is never in the way."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import numpy as np
import pytest
from experiments.studies import a_job, a_row, a_store, contents

from ppsde.experiments import Store, seal
from ppsde.experiments.repair import damages
from ppsde.experiments.rows import ROW, packed, sealed

JOBS = [a_job(problem={"suite": "cec2017", "name": f"C{k:02d}"}) for k in range(1, 4)]


def seal_of(path: Path) -> bytes:
    connection = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)
    try:
        return seal.value(connection)
    finally:
        connection.close()


def add_a_row(store: Store, run: int) -> None:
    row = a_row(JOBS[0], run, np.random.default_rng(run), 50)
    store.add_entries([sealed(ROW, packed(row))])


def test_a_store_is_sealed_when_its_writer_closes_it_and_each_seal_is_another(tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    a_store(path, JOBS)
    first = seal_of(path)
    assert not first.startswith(bytes(16)) and damages(path) == []
    with Store(path, writable=True) as store:
        assert seal_of(path) == first, "who has not written yet has broken nothing"
        add_a_row(store, 7)
        assert seal_of(path) == seal.NONE
    assert seal_of(path) not in (first, seal.NONE) and damages(path) == []


def test_a_bit_that_no_one_reads_is_noticed_and_named_as_such(tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    a_store(path, JOBS)
    before, file = contents(path), path.read_bytes()
    where = file.rindex(bytes(200)) + 100  # in the free space of a page
    path.write_bytes(file[:where] + b"\x01" + file[where + 1 :])
    assert damages(path) == ["all that can be read is right, but the file is not as it was left"]
    assert contents(path) == before


def test_readers_change_nothing_of_a_sealed_store(tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    a_store(path, JOBS)
    file = path.read_bytes()
    with Store(path) as one, Store(path) as other:
        assert len(list(one.results())) == len(list(other.results())) > 0
    with Store(path, writable=True):
        pass
    assert path.read_bytes() == file and damages(path) == []


def test_what_a_killed_writer_leaves_has_no_seal_and_is_sound(tmp_path: Path) -> None:
    path, left = tmp_path / "study.db", tmp_path / "left.db"
    a_store(path, JOBS)
    with Store(path, writable=True) as store:
        add_a_row(store, 7)
        for suffix in ("", "-wal"):
            shutil.copyfile(path.with_name(path.name + suffix), left.with_name(left.name + suffix))
    assert damages(left) == [] and seal_of(left) == seal.NONE
    with Store(left, writable=True) as store:
        add_a_row(store, 8)
    assert seal_of(left) != seal.NONE and damages(left) == []


def test_a_writer_killed_while_it_seals_leaves_a_sound_store(tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    a_store(path, JOBS)
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    seal.break_it(connection)
    connection.execute("COMMIT")
    left: list[Path] = []

    def copy(sql: str) -> None:  # SQLite tells of a statement before it begins
        left.append(tmp_path / f"left{len(left)}.db")
        for suffix in ("", "-wal"):
            shutil.copyfile(path.with_name(path.name + suffix), left[-1].with_name(left[-1].name + suffix))

    connection.set_trace_callback(copy)
    seal.put(connection)
    connection.set_trace_callback(None)
    connection.close()
    assert damages(path) == [] and seal_of(path) != seal.NONE
    assert len(left) > 8
    for one in left:
        assert damages(one) == []
        with Store(one, writable=True) as store:
            add_a_row(store, 9)
        assert not seal_of(one).startswith(bytes(16)) and damages(one) == []


def test_two_writers_do_not_seal_what_the_other_still_writes(tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    a_store(path, JOBS)
    first, second = Store(path, writable=True), Store(path, writable=True)
    add_a_row(first, 7)
    add_a_row(second, 8)
    first.close()
    assert damages(path) == []
    add_a_row(second, 9)
    assert seal_of(path) == seal.NONE and damages(path) == []
    second.close()
    assert seal_of(path) != seal.NONE and damages(path) == []


def test_a_store_too_large_for_a_seal_has_none_and_is_sound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seal, "LARGEST", 4096)
    path = tmp_path / "study.db"
    a_store(path, JOBS)
    assert seal_of(path) == seal.NONE and damages(path) == []
