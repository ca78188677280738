"""The store: rows exact to the last bit, one meaning per label, nothing of it ever executed."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
import threading
import time
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from experiments.studies import a_job, a_row, a_store, contents, entries_of

from ppsde.experiments import Store
from ppsde.experiments import database as database_module
from ppsde.experiments.database import DamagedStore, StoreError
from ppsde.experiments.job import Job
from ppsde.experiments.repair import damages, merge, repair
from ppsde.experiments.rows import (
    ACCOUNT,
    JOB,
    ROW,
    Damaged,
    Row,
    difference,
    job_entry,
    opened,
    packed,
    read,
    sealed,
    unpacked,
)
from ppsde.experiments.store import new_store

JOBS = [a_job(problem={"suite": "cec2017", "name": name}) for name in ("C01", "C02", "C03")]

# --- rows and entries ---------------------------------------------------------------------------------------


def test_a_row_comes_back_to_the_last_bit() -> None:
    odd = np.array([0.1, -0.0, np.nan, np.inf, 5e-324])
    arrays = {"x": odd, "f": np.array(1 / 3), "n": np.array(-(2**62)), "yes": np.array([True, False]), "g": odd[:0]}
    row = unpacked(packed(Row("j", 7, "ok", "", arrays)))
    assert (row.job, row.run, row.status) == ("j", 7, "ok")
    for name, array in arrays.items():
        assert row.arrays[name].dtype == array.dtype and row.arrays[name].shape == array.shape
        assert row.arrays[name].tobytes() == array.tobytes(), name


def test_rows_are_the_same_or_their_difference_is_named() -> None:
    rng = np.random.default_rng(1)
    row = a_row(JOBS[0], 0, rng)
    assert difference(row, unpacked(packed(row))) is None
    other = Row(row.job, row.run, row.status, "", {**row.arrays, "f": np.nextafter(row.arrays["f"], 9)})
    assert difference(row, other) == "different f"
    assert "status 'ok' and 'failed'" in str(difference(row, Row(row.job, 0, "failed", "", row.arrays)))
    fewer = {name: array for name, array in row.arrays.items() if name != "x"}
    assert "arrays x" in str(difference(row, Row(row.job, 0, "ok", "", fewer)))


def test_only_plain_numbers_can_be_stored() -> None:
    for wrong in (np.array(["text"]), np.array([None]), np.ones(2, np.float32), np.ones(2, complex)):
        with pytest.raises(ValueError, match="cannot be stored"):
            packed(Row("j", 0, "ok", "", {"x": wrong}))


def test_every_single_bit_of_an_entry_counts() -> None:
    entry = job_entry(JOBS[0])
    assert opened(entry)[0] == JOB and read(entry)[1].id == JOBS[0].id
    for k in range(8 * len(entry)):
        changed = bytearray(entry)
        changed[k // 8] ^= 1 << k % 8
        with pytest.raises(Damaged):
            opened(bytes(changed))
    for length in range(len(entry)):
        with pytest.raises(Damaged):
            opened(entry[:length])


def hostile_rows() -> list[bytes]:
    bomb = b'{"arrays":[["x","<f8",[4]]],"job":"j","message":"","run":0,"status":"ok"}'
    huge = b'{"arrays":[["x","<f8",[4611686018427387904]]],"job":"j","message":"","run":0,"status":"ok"}'
    pickled = b'{"arrays":[["x","|O",[1]]],"job":"j","message":"","run":0,"status":"ok"}'
    zeros = zlib.compress(bytes(10_000_000))
    heads = [(bomb, zeros), (huge, zeros), (pickled, b""), (b"[]", b""), (b"{}", b""), (b"\xff", b"")]
    return [len(head).to_bytes(4, "big") + head + data for head, data in heads]


@pytest.mark.parametrize("payload", [*hostile_rows(), b"", b"\xff\xff\xff\xff"], ids=lambda payload: str(payload[4:24]))
def test_bytes_that_hold_no_row_are_refused_however_well_sealed(payload: bytes) -> None:
    with pytest.raises(Damaged):
        read(sealed(ROW, payload))


@pytest.mark.parametrize("text", [b"[]", b"{}", b'{"job": 3}', b'{"job": "x"}', b"nonsense"])
def test_accounts_that_say_nothing_are_refused(text: bytes) -> None:
    with pytest.raises(Damaged):
        read(sealed(ACCOUNT, zlib.compress(text)))


# --- opening ------------------------------------------------------------------------------------------------


def test_a_store_is_one_sound_file_when_everyone_has_left(tmp_path: Path) -> None:
    a_store(tmp_path / "study.db", JOBS)
    with Store(tmp_path / "study.db") as store:
        assert len(list(store.results())) == 6
    assert [file.name for file in tmp_path.iterdir()] == ["study.db"]
    assert damages(tmp_path / "study.db") == []


def test_a_store_that_cannot_be_opened_says_why(tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    with pytest.raises(StoreError, match="there is no store"):
        Store(path)
    with pytest.raises(StoreError, match="no folder"):
        Store(tmp_path / "nowhere" / "study.db", writable=True, make=True)
    path.write_bytes(b"")
    with pytest.raises(DamagedStore, match="is empty"):
        Store(path, writable=True, make=True)
    path.write_text("something else entirely, of some length" * 100)
    with pytest.raises(DamagedStore, match="bench repair"):
        Store(path)
    path.unlink()
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE t (a)")
    connection.close()
    with pytest.raises(StoreError, match="not a store of studies"):
        Store(path)
    (tmp_path / "link.db").symlink_to(tmp_path / "nowhere.db")
    with pytest.raises(StoreError, match="it is a link, and no file is where it leads to"):
        Store(tmp_path / "link.db", writable=True, make=True)


@pytest.mark.parametrize("deed", ["removed", "renamed", "replaced"])
def test_nothing_is_written_to_a_store_that_has_lost_its_name(
    deed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "study.db"
    entries = list(entries_of(JOBS, np.random.default_rng(1)))
    monkeypatch.chdir(tmp_path)
    with Store(path.name, writable=True, make=True) as store:
        monkeypatch.chdir("/")  # which is no move of the file
        store.add_entries(entries[:3])
        path.unlink() if deed == "removed" else path.rename(tmp_path / "other.db")
        if deed == "replaced":
            a_store(tmp_path / "new.db", JOBS)
            (tmp_path / "new.db").rename(path)
        with pytest.raises(StoreError, match=r"study\.db was removed, renamed or replaced while it was in use"):
            store.add_entries(entries[3:])
    if deed != "removed":
        assert damages(tmp_path / "other.db") == []


def test_a_store_of_another_version_is_left_alone(tmp_path: Path) -> None:
    a_store(tmp_path / "study.db", JOBS)
    with sqlite3.connect(tmp_path / "study.db") as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(StoreError, match="version 99; this program reads version 3"):
        Store(tmp_path / "study.db")


OLD_TABLES = (  # of version 2, with a checksum over all entries and one over all pages
    "CREATE TABLE ledger (one INTEGER PRIMARY KEY CHECK (one = 1), count INTEGER NOT NULL, digest BLOB NOT NULL)",
    "CREATE TABLE seal (one INTEGER PRIMARY KEY CHECK (one = 1), digest BLOB NOT NULL)",
)


def make_old(path: Path) -> None:
    """Make a store what version 2 would have written."""
    with sqlite3.connect(path) as connection:
        for sql in OLD_TABLES:
            connection.execute(sql)
        connection.execute("INSERT INTO ledger VALUES (1, 13, ?)", (bytes(range(32)),))
        connection.execute("INSERT INTO seal VALUES (1, ?)", (bytes(range(32)),))
        connection.execute("PRAGMA user_version = 2")
    connection.close()


def test_a_store_of_version_2_is_read_as_it_is_and_upgraded_by_its_first_writer(tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    entries = a_store(path, JOBS)
    before = contents(path)
    make_old(path)
    old = path.read_bytes()
    assert contents(path) == before and damages(path) == [] and path.read_bytes() == old
    assert repair(path, tmp_path / "copy.db").damages == []
    assert merge(tmp_path / "all.db", [path]) == [6]
    assert contents(tmp_path / "copy.db") == contents(tmp_path / "all.db") == before
    with Store(path, writable=True) as store:
        assert store.database.rows("PRAGMA user_version") == [(3,)]
        store.add_entries([job_entry(a_job(seed=9))])
        assert store.database.rows("SELECT count(*) FROM entries") == [(len(entries) + 1,)]
    assert contents(path) == before and damages(path) == []


def test_readers_change_nothing_of_a_store(tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    a_store(path, JOBS)
    file = path.read_bytes()
    with Store(path) as one, Store(path) as other:
        assert len(list(one.results())) == len(list(other.results())) > 0
    with Store(path, writable=True):
        pass
    assert path.read_bytes() == file and damages(path) == []


def test_a_killed_writer_leaves_a_sound_store(tmp_path: Path) -> None:
    path, left = tmp_path / "study.db", tmp_path / "left.db"
    a_store(path, JOBS)
    rows = [sealed(ROW, packed(a_row(JOBS[0], run, np.random.default_rng(run), 50))) for run in (7, 8)]
    with Store(path, writable=True) as store:
        store.add_entries(rows[:1])
        for suffix in ("", "-wal"):
            shutil.copyfile(path.with_name(path.name + suffix), left.with_name(left.name + suffix))
    assert damages(left) == [] and contents(left) == contents(path)
    with Store(left, writable=True) as store:
        store.add_entries(rows[1:])
    assert damages(left) == []


@pytest.mark.parametrize(
    "sql",
    [
        "CREATE TRIGGER t AFTER INSERT ON leases BEGIN DELETE FROM results; END",
        "CREATE VIEW v AS SELECT * FROM entries",
        "ALTER TABLE jobs ADD COLUMN more TEXT",
        "DROP TABLE accounts",
    ],
)
def test_a_file_made_to_look_like_a_store_is_refused(sql: str, tmp_path: Path) -> None:
    a_store(tmp_path / "study.db", JOBS)
    with sqlite3.connect(tmp_path / "study.db") as connection:
        connection.execute(sql)
    connection.close()
    with pytest.raises(DamagedStore, match="not those of a store"):
        Store(tmp_path / "study.db")


def test_a_store_being_made_never_takes_the_place_of_another(tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    a_store(path, JOBS)
    before = contents(path)
    with pytest.raises(StoreError, match="exists"), new_store(path):
        pass
    with Store(path, writable=True, make=True):
        assert contents(path) == before


def test_a_new_store_is_there_whole_or_not_at_all(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="halfway"), new_store(tmp_path / "study.db") as store:
        store.add_entries([job_entry(JOBS[0])])
        raise RuntimeError("halfway")
    assert list(tmp_path.iterdir()) == []


def test_a_transaction_counts_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    entries = a_store(path, JOBS)
    with Store(path, writable=True) as store, pytest.raises(StoreError):
        store.add_entries([job_entry(a_job(seed=9)), entries[0]])  # the second is there already
    with Store(path) as store:
        assert store.database.rows("SELECT count(*) FROM jobs") == [(3,)]
    assert damages(path) == []


def test_who_only_reads_cannot_write(tmp_path: Path) -> None:
    a_store(tmp_path / "study.db", JOBS)
    with Store(tmp_path / "study.db") as store, pytest.raises(StoreError):
        store.add_entries([job_entry(a_job(seed=9))])


# --- reading ------------------------------------------------------------------------------------------------


def test_results_are_read_in_the_order_of_the_plan_with_what_they_mean(tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    jobs = [a_job(problem={"suite": "cec2017", "name": name}) for name in ("C02", "C01")]
    a_store(path, jobs)
    with Store(path) as store:
        results = list(store.results())
        assert [result.key for result in results] == [
            ("mine", "C02", 10, 0),
            ("mine", "C02", 10, 1),
            ("mine", "C01", 10, 0),
            ("mine", "C01", 10, 1),
        ]
        first = results[0]
        assert first.ok and first.feasible and first.evaluations == 1000 and first.x.shape == (10,)
        assert first.record["f"].shape == (60,) and list(first.record) == ["f"]
        assert first.job.seed == 0 and store.account(first.job.id) == {
            "job": jobs[0].id,
            "finished": 1e9,
            "host": "here",
        }


def test_two_plans_that_mean_different_things_by_one_label_are_never_mixed(tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    a_store(path, [a_job()])
    changed = a_job(budget=2000, settings={"pbest": 6})
    with Store(path, writable=True) as store:
        store.add_plan({"runs": 9}, [("mine", changed)])
        store.add_entries([sealed(ROW, packed(a_row(changed, 0, np.random.default_rng(5))))])
        with pytest.raises(StoreError, match=r"budget \(1000 and 2000\), the setting pbest") as caught:
            list(store.results())
        assert "Choose one of its 2 plans" in str(caught.value)
        assert [r.job.budget for r in store.results(plan=1)] == [1000, 1000]
        assert [r.job.budget for r in store.results(plan=2)] == [2000]
        for wrong in (0, 3, True, "1"):
            with pytest.raises(StoreError, match="plan must be a number from 1 to 2"):
                list(store.results(plan=wrong))  # type: ignore[arg-type]


def test_a_run_that_two_blocks_share_is_given_once(tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    a_store(path, [a_job(runs=(0, 1))])
    longer = a_job(runs=(0, 1, 2))
    with Store(path, writable=True) as store:
        store.add_plan({"runs": 3}, [("mine", longer)])
        rng = np.random.default_rng(1)
        store.add_entries([sealed(ROW, packed(a_row(longer, run, rng))) for run in range(3)])
        assert [r.run for r in store.results()] == [0, 1, 2]


def test_rows_that_disappear_are_noticed_also_by_who_only_counts(tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    a_store(path, JOBS)
    with sqlite3.connect(path) as connection:
        connection.execute("DELETE FROM results WHERE job = ?", (JOBS[0].id,))
        connection.execute("DELETE FROM entries WHERE number = (SELECT max(number) FROM entries)")
    connection.close()
    with Store(path) as store, pytest.raises(DamagedStore, match="entries are missing"):
        list(store.results())
    assert any("results does not agree" in text for text in damages(path))


# --- several at once ----------------------------------------------------------------------------------------

WRITER = """
import sys
from pathlib import Path
import numpy as np
from experiments.studies import a_job, a_row
from ppsde.experiments import Store
from ppsde.experiments.rows import ROW, job_entry, sealed
from ppsde.experiments.rows import packed
name, count, rng = sys.argv[2], int(sys.argv[3]), np.random.default_rng(1)
for k in range(count):
    job = a_job(seed=k, method=name, runs=(0,))
    with Store(sys.argv[1], writable=True, make=True) as store:  # opened and closed each time, which takes locks too
        store.add_entries([job_entry(job), sealed(ROW, packed(a_row(job, 0, rng)))])
"""


def test_processes_that_write_at_once_never_meet_a_locked_store(tmp_path: Path) -> None:
    path, each = tmp_path / "study.db", 40
    folder = str(Path(__file__).parents[1])
    code = f"import sys; sys.path.insert(0, {folder!r})\n{WRITER}"
    writers = [
        subprocess.Popen([sys.executable, "-c", code, path, name, str(each)], stderr=subprocess.PIPE, text=True)
        for name in "ab"
    ]
    with writers[0], writers[1]:  # waited for, also where the reader fails
        while any(writer.poll() is None for writer in writers):
            if path.exists():
                with Store(path) as store:
                    store.check_count()
            time.sleep(0.01)
        assert [writer.communicate()[1] for writer in writers] == ["", ""]
    assert len(contents(path)) == 2 * each and damages(path) == []


@pytest.mark.parametrize("what", ["write", "check", "repair"])
def test_a_program_keeps_its_locks_on_a_store_whatever_else_it_does_with_it(tmp_path: Path, what: str) -> None:
    path = tmp_path / "study.db"
    a_store(path, JOBS)
    with Store(path) as reader:
        assert reader.plans()
        if what == "write":
            with Store(path, writable=True) as writer:
                writer.add_entries([job_entry(a_job(seed=9))])
        elif what == "check":
            assert damages(path) == []
        else:
            with pytest.raises(StoreError, match="is open in this program; close it first"):
                repair(path, tmp_path / "new.db")
        # Who is the last to close a store removes its journal, and is not the last while the reader has its lock.
        other = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('SELECT * FROM jobs'); c.close()"
        subprocess.run([sys.executable, "-c", other, path], check=True)
        assert path.with_name("study.db-wal").exists()
    assert not path.with_name("study.db-wal").exists()


def test_a_store_that_is_grown_by_others_while_it_is_opened_is_not_taken_for_cut_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "study.db"
    a_store(path, JOBS)
    stat, rng, grown = Path.stat, np.random.default_rng(1), []

    def late(file: Path, **options: Any) -> Any:  # between what SQLite says of the size and what the disk says
        if file.name == "study.db-wal" and not grown:
            grown.append(True)
            rows = [a_row(JOBS[0], run, rng, 400) for run in range(5, 9)]
            with sqlite3.connect(path, timeout=0.1) as other:  # the checkpoint waits so long for the reader, in vain
                other.execute("CREATE TABLE more AS SELECT ?", (b"".join(packed(row) for row in rows),))
            other.execute("DROP TABLE more")
            other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            other.close()
        return stat(file, **options)

    monkeypatch.setattr(Path, "stat", late)
    Store(path).close()
    assert grown


def test_a_writer_waits_for_another_longer_than_sqlite_would(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_module, "BUSY_MILLISECONDS", 20)
    path = tmp_path / "study.db"
    a_store(path, JOBS)
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    threading.Timer(0.5, lambda: other.execute("ROLLBACK")).start()
    with Store(path, writable=True) as store:
        store.add_entries([job_entry(a_job(seed=9))])
        assert store.database.rows("SELECT count(*) FROM jobs") == [(4,)]
    other.close()


def test_a_store_that_stays_locked_is_given_up_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_module, "BUSY_MILLISECONDS", 20)
    monkeypatch.setattr(database_module, "PATIENCE", 0.2)
    path = tmp_path / "study.db"
    a_store(path, JOBS)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with Store(path, writable=True) as store, pytest.raises(StoreError, match="another program has kept"):
        store.add_entries([job_entry(a_job(seed=9))])
    other.close()


def test_a_file_in_the_place_of_the_journal_of_a_new_store_is_not_taken(tmp_path: Path) -> None:
    (tmp_path / "study.db-wal").write_text("my own")
    with pytest.raises(StoreError, match=r"study\.db-wal is in the place of the journal"):
        Store(tmp_path / "study.db", writable=True, make=True)
    assert [path.name for path in tmp_path.iterdir()] == ["study.db-wal"]


def test_jobs_that_are_not_read_one_by_one_are_those_of_the_plans(tmp_path: Path) -> None:
    """Blocks of runs of every size, the last one smaller, and two plans that overlap."""
    from ppsde.experiments.plan import blocks

    def planned(size: int, runs: int) -> list[tuple[str, Job]]:
        cells = [(label, a_job(settings={"pbest": k}, runs=(0,))) for k, label in enumerate(("one", "two"))]
        return [(label, cell.with_runs(block)) for label, cell in cells for block in blocks(runs, size)]

    first, second = planned(3, 7), planned(1, 4)
    with Store(tmp_path / "study.db", writable=True, make=True) as store:
        for number, plan in enumerate((first, second)):
            assert store.add_plan({"plan": number}, plan) == number + 1
        for number, plan in enumerate((first, second)):
            found = store.jobs(number + 1)
            assert [(label, job.id, job.content) for label, job in found] == [(n, j.id, j.content) for n, j in plan]
            assert [job.cell for _, job in found] == [a_job(settings=j.settings, runs=j.runs).cell for _, j in plan]
        both = [(label, job.id) for label, job in store.jobs()]
        assert both == sorted([(label, job.id) for label, job in first + second], key=lambda one: one[0])
