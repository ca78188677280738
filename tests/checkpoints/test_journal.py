"""The journal: every record comes back, a damaged tail costs itself alone, and what is stale is not believed."""

from __future__ import annotations

import os
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ppsde
from ppsde.checkpoints.journal import SYNC_EVERY, Journal, packed
from ppsde.checkpoints.journal import records as records_read
from ppsde.checkpoints.state_file import CheckpointError
from ppsde.evaluation.values import Noted

DIGEST, OTHER = bytes(range(32)), bytes(32)
FLOATS = st.floats(allow_nan=True)


def records(data: bytes, digest: bytes) -> Any:
    return records_read(lambda start, length: data[start : start + length], len(data), digest)


def outcome(k: int = 0) -> Noted:
    return Noted(1.5 * k, np.array([-0.0, k]), np.array([np.nan]), 0.25)


def same(first: Noted, second: Noted) -> bool:
    texts = (first.status, first.reason) == (second.status, second.reason)
    numbers = [(a.f, a.seconds, *a.g, *a.h) for a in (first, second)]
    return texts and len(first.g) == len(second.g) and np.array(numbers[0]).tobytes() == np.array(numbers[1]).tobytes()


@pytest.mark.parametrize("what", ["text", "link", "broken link", "pipe", "folder"])
def test_a_file_of_the_user_is_not_taken_for_a_journal(tmp_path: Path, what: str) -> None:
    path, theirs = tmp_path / "run.ppsde.journal", tmp_path / "theirs"
    if what == "pipe":
        os.mkfifo(path)
    elif what == "folder":
        path.mkdir()
    elif what == "text":
        path.write_text("my journal")
    else:
        path.symlink_to(theirs)
        if what == "link":
            theirs.write_bytes(b"")
    with pytest.raises(CheckpointError, match="is not a journal"):
        ppsde.minimize(lambda x: x[0], [(0, 1)], max_evaluations=20, checkpoint=tmp_path / "run.ppsde")
    assert not (tmp_path / "run.ppsde").exists() and theirs.exists() == (what == "link")
    assert what != "text" or path.read_text() == "my journal"


@given(
    request=st.integers(0, 2**64 - 1),
    row=st.integers(0, 2**64 - 1),
    status=st.sampled_from(["ok", "raised", "timeout"]),
    f=FLOATS,
    g=st.lists(FLOATS, max_size=4),
    h=st.lists(FLOATS, max_size=4),
    error=st.text(st.characters(exclude_categories=()), max_size=40),
)
def test_an_outcome_comes_back_bit_for_bit(
    request: int, row: int, status: str, f: float, g: list[float], h: list[float], error: str
) -> None:
    noted = Noted(f, np.array(g, float), np.array(h, float), 0.5, status, error)
    known, _ = records(header(DIGEST) + packed(request, row, noted), DIGEST)
    assert list(known) == [request] and list(known[request]) == [row] and same(known[request][row], noted)


def header(digest: bytes) -> bytes:
    return b"ppsdejnl" + (1).to_bytes(4, "little") + digest


def journal_of(path: Path, count: int, digest: bytes = DIGEST) -> bytes:
    journal = Journal(path)
    journal.restart(digest)
    for k in range(count):
        journal.note(7 + k // 10, k % 10, outcome(k))
    journal.close()
    return path.read_bytes()


def test_what_was_noted_is_known_when_the_journal_is_resumed_and_may_be_continued(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    journal_of(path, 15)
    for more in range(3):
        journal = Journal(path)
        known = journal.resume(DIGEST)
        assert {request: sorted(rows) for request, rows in known.items() if request < 99} == {
            7: list(range(10)),
            8: list(range(5)),
        }
        assert all(same(known[7 + k // 10][k % 10], outcome(k)) for k in range(15))
        assert sorted(known.get(99, {})) == list(range(more))
        journal.note(99, more, outcome())
        journal.close()


def test_a_journal_of_another_checkpoint_is_ignored_and_restarted(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    journal_of(path, 15)
    journal = Journal(path)
    assert journal.resume(OTHER) == {}
    journal.note(0, 0, outcome())
    journal.close()
    assert records(path.read_bytes(), DIGEST) == ({}, 0)
    assert list(records(path.read_bytes(), OTHER)[0]) == [0]


def test_every_truncation_keeps_the_whole_records_before_it(tmp_path: Path) -> None:
    data = journal_of(tmp_path / "journal", 5)
    each = len(packed(0, 0, outcome()))
    assert len(data) == 44 + 5 * each
    for length in range(len(data) + 1):
        known, end = records(data[:length], DIGEST)
        whole = max(0, (length - 44) // each)
        assert sorted(known.get(7, {})) == list(range(whole))
        assert end == (44 + whole * each if length >= 44 else 0)


def test_every_flipped_bit_costs_the_records_from_there_on_alone(tmp_path: Path) -> None:
    data = journal_of(tmp_path / "journal", 5)
    each = len(packed(0, 0, outcome()))
    for bit in range(8 * len(data)):
        damaged = bytearray(data)
        damaged[bit // 8] ^= 1 << (bit % 8)
        known, _ = records(bytes(damaged), DIGEST)
        whole = (bit // 8 - 44) // each if bit >= 8 * 44 else 0
        assert sorted(known.get(7, {})) == list(range(whole))
        assert all(same(known[7][k], outcome(k)) for k in range(whole))


@pytest.mark.parametrize("tail", [bytes(4096), b"\xff" * 100, b"garbage", b"\0" * 7])
def test_a_tail_of_anything_is_cut_off_before_the_journal_is_continued(tail: bytes, tmp_path: Path) -> None:
    path = tmp_path / "journal"
    path.write_bytes(journal_of(path, 3) + tail)
    journal = Journal(path)
    assert len(journal.resume(DIGEST)[7]) == 3
    journal.note(7, 3, outcome())
    journal.close()
    assert len(records(path.read_bytes(), DIGEST)[0][7]) == 4


def test_a_record_with_a_fitting_checksum_that_makes_no_sense_ends_the_journal() -> None:
    good = packed(1, 0, outcome())
    greedy = bytearray(good[8:])
    greedy[32:36] = (2**31).to_bytes(4, "little")  # so many g
    wrong_text = good[8:-2] + b"\xff\xfe"
    for record in (bytes(greedy), wrong_text):
        framed = len(record).to_bytes(4, "little") + zlib.crc32(record).to_bytes(4, "little") + record
        known, end = records(header(DIGEST) + good + framed + good, DIGEST)
        assert list(known) == [1] and end == 44 + len(good)


def test_what_is_noted_is_brought_to_the_disk_from_time_to_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    times, synced = [0.0], []
    monkeypatch.setattr(os, "fsync", lambda file: synced.append(times[0]))
    journal = Journal(tmp_path / "journal", lambda: times[0])
    journal.restart(DIGEST)
    for k in range(12):
        times[0] = k * SYNC_EVERY / 4
        journal.note(0, k, outcome())
    journal.close()
    assert synced == [5 * SYNC_EVERY / 4, 10 * SYNC_EVERY / 4]


HOLD = """
import sys
from pathlib import Path
from ppsde.checkpoints.journal import Journal
journal = Journal(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""


def test_a_journal_belongs_to_one_process_until_that_ends(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    command = [sys.executable, "-c", HOLD, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None and other.stdout.readline() == "held\n"
        with pytest.raises(CheckpointError, match="another process"):
            Journal(path)
        other.kill()
        other.wait()
        Journal(path).close()


def test_a_journal_belongs_to_one_run_of_a_process_and_stays_its_own_when_another_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    journal = Journal(path)
    with pytest.raises(CheckpointError, match="another run of this process"):
        Journal(path)
    command = [sys.executable, "-c", HOLD, str(path)]
    other = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert other.returncode and "another process writes this checkpoint" in other.stderr
    journal.close()
    subprocess.run(command, stdin=subprocess.DEVNULL, check=True)
    Journal(path).close()


def test_a_record_that_finds_no_room_leaves_the_journal_whole(tmp_path: Path) -> None:
    """In a child, because the limit is one on the whole process."""
    path = tmp_path / "journal"
    script = f"""
import resource
from pathlib import Path
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from test_journal import *
journal = Journal(Path({str(path)!r}))
journal.restart(DIGEST)
soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
refused = 0
for k in range(40):
    resource.setrlimit(resource.RLIMIT_FSIZE, (44 + 30 * k if k % 2 else 10**6, hard))
    try:
        journal.note(1, k, outcome(k))
    except OSError:
        refused += 1
journal.close()
print(refused)
"""
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    known, end = records(path.read_bytes(), DIGEST)
    assert 0 < int(said.stdout) < 40 and len(known[1]) == 40 - int(said.stdout)
    assert end == path.stat().st_size and all(same(known[1][k], outcome(k)) for k in known[1])


def test_a_header_that_found_no_room_is_written_before_the_next_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "journal"
    journal = Journal(path)

    def full(file: int, data: Any) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        with pytest.raises(OSError, match="No space"):
            journal.restart(DIGEST)
    journal.note(1, 2, outcome())
    journal.close()
    assert list(records(path.read_bytes(), DIGEST)[0]) == [1]


@pytest.mark.parametrize("length", [0, 2**28 + 1, 2**32 - 1])
def test_a_journal_of_any_size_is_read_in_pieces(tmp_path: Path, length: int) -> None:
    path = tmp_path / "journal"
    journal = Journal(path)
    journal.restart(DIGEST)
    journal.note(0, 0, outcome())
    end = path.stat().st_size
    journal.close()
    with path.open("r+b") as file:
        file.seek(end)
        file.write(length.to_bytes(4, "little"))
        file.truncate(2**40)  # sparse: it takes no room on the disk
    journal = Journal(path)
    assert list(journal.resume(DIGEST)[0]) == [0] and path.stat().st_size == end
    journal.close()
