"""Files: written whole or not at all, and never in place of a file that somebody else made."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import ppsde
from ppsde.checkpoints.state_file import MAGIC
from ppsde.files import KINDS, MADE_BY, ForeignFile, refuse_foreign, sweep, write_atomically, write_own


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("theirs", [b"SQLite format 3\0", MAGIC, b"import os\n", b"name = 1\n", b"1.5,2.5\n", b"\0"])
def test_no_file_of_another_kind_is_replaced(tmp_path: Path, kind: str, theirs: bytes) -> None:
    path = tmp_path / "file"
    path.write_bytes(theirs)
    with pytest.raises(ForeignFile, match="exists and is not"):
        write_own(path, b"", kind)
    assert path.read_bytes() == theirs and list(tmp_path.iterdir()) == [path]


def test_a_file_of_ours_is_replaced_and_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_bytes(b"")  # nothing is lost with an empty file
    path.chmod(0o600)
    for text in ("first", "second"):
        write_own(path, f"<!doctype html>{MADE_BY}{text}", "html")
        assert path.read_text().endswith(text) and path.stat().st_mode & 0o777 == 0o600


def test_the_mark_is_found_at_the_end_of_a_long_file_too(tmp_path: Path) -> None:
    path = tmp_path / "long.pdf"
    path.write_bytes(b"%PDF-1.4" + bytes(10**6) + MADE_BY.encode())
    refuse_foreign(path, "pdf")


def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_own(pipe, "a page", "html")
    assert os.read(reader, 100) == b"a page" and pipe.is_fifo()
    os.close(reader)


def test_text_that_cannot_be_encoded_is_written_escaped(tmp_path: Path) -> None:
    write_own(tmp_path / "a.csv", "problem,\udc80\n", "csv")
    assert (tmp_path / "a.csv").read_text() == "problem,\\udc80\n"


def test_a_search_is_saved_over_an_older_one_and_over_nothing_else(tmp_path: Path) -> None:
    optimizer = ppsde.Optimizer([(0, 1)], rng=1)
    path = tmp_path / "search"
    optimizer.save(path)
    optimizer.save(path)
    ppsde.minimize(lambda x: x[0], [(0, 1)], max_evaluations=20, rng=1, checkpoint=tmp_path / "run")
    (tmp_path / "script.py").write_text("import os")
    for other in (tmp_path / "run", tmp_path / "script.py"):
        before = other.read_bytes()
        with pytest.raises(ppsde.CheckpointError, match="holds something else"):
            optimizer.save(other)
        assert other.read_bytes() == before


def test_an_unfinished_file_never_takes_the_place_of_a_finished_one(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_atomically(path, [b"old"])

    def broken() -> Any:
        yield b"new"
        raise OSError("no space left")

    with pytest.raises(OSError, match="no space"):
        write_atomically(path, broken())
    assert path.read_bytes() == b"old" and list(tmp_path.iterdir()) == [path]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "folder" / "file")
    write_atomically(link, [b"through"])
    assert link.is_symlink() and (tmp_path / "folder" / "file").read_bytes() == b"through"


def test_what_killed_writers_left_is_swept(tmp_path: Path) -> None:
    left = tmp_path / ".file.00ff00ff.unfinished"
    others = [tmp_path / ".other.00ff00ff.unfinished", tmp_path / "file", tmp_path / ".file.notes.unfinished"]
    for file in (left, *others):
        file.write_bytes(MAGIC[:3])
    others.append(tmp_path / ".file.00ff00fe.unfinished")
    others[-1].write_bytes(b"a user's own")
    sweep(tmp_path / "file", MAGIC)
    assert sorted(tmp_path.iterdir()) == sorted(others)
