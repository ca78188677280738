"""Programs stored on disk: used again while their checksum is right, compiled again when it is not."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from compiled_programs import stored_in

from ppsde.engines import program_cache
from ppsde.engines.program_cache import remembered

jax = pytest.importorskip("jax")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of stored programs, also of those that take no time to compile."""
    monkeypatch.setenv("PPSDE_CACHE", str(tmp_path / "kept"))
    before = jax.config.jax_persistent_cache_min_compile_time_secs
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    with stored_in(None):  # the cache of the tests would keep programs from coming here
        yield tmp_path / "kept"
    jax.config.update("jax_persistent_cache_min_compile_time_secs", before)


def compiled() -> Any:
    with remembered():  # a new function each time, which JAX does not know yet
        return jax.jit(lambda x: 3.0 * x + 0.125).lower(1.0).compile()


def compile_again() -> None:
    assert compiled()(2.0) == 6.125


def entry_in(folder: Path) -> Path:
    (entry,) = folder.glob("*-cache")
    return entry


def test_a_program_is_read_again_and_its_file_left_alone(folder: Path) -> None:
    compile_again()
    entry = entry_in(folder)
    before = entry.stat().st_mtime_ns
    compile_again()
    assert entry.stat().st_mtime_ns == before
    assert sorted(folder.iterdir()) == [entry, entry.with_name(entry.name + ".sha256")]


@pytest.mark.parametrize("damage", ["cut off", "changed", "emptied", "never finished"])
def test_a_damaged_program_is_compiled_again_without_a_warning_and_replaced(
    folder: Path, damage: str, recwarn: pytest.WarningsRecorder
) -> None:
    compile_again()
    entry = entry_in(folder)
    whole = entry.read_bytes()
    other = bytes([whole[len(whole) // 2] ^ 1])
    changed = whole[: len(whole) // 2] + other + whole[len(whole) // 2 + 1 :]
    entry.write_bytes({"changed": changed, "emptied": b""}.get(damage, whole[: len(whole) // 2]))
    if damage == "never finished":  # by a process that was killed a while ago
        entry.with_name(entry.name + ".sha256").unlink()
        os.utime(entry, (time.time() - 2 * program_cache.IN_WORK,) * 2)
    compile_again()
    assert len(entry_in(folder).read_bytes()) > len(whole) // 2
    after = entry_in(folder).read_bytes()
    compile_again()
    assert entry_in(folder).read_bytes() == after, "and the new one is used"
    assert [str(w.message) for w in recwarn if "cache" in str(w.message)] == []


def test_a_program_has_its_checksum_while_others_still_compile(folder: Path) -> None:
    with remembered():
        compiled()
        assert entry_in(folder).with_name(entry_in(folder).name + ".sha256").exists()


def test_what_another_process_may_be_writing_is_left_alone(tmp_path: Path) -> None:
    half = tmp_path / "jit_batch-0-cache"
    half.write_bytes(b"half of")
    program_cache.drop_damaged(tmp_path)
    assert half.read_bytes() == b"half of"


@pytest.mark.parametrize("share", [0.0, 0.5, 0.999])
def test_one_of_which_the_disk_has_no_more_gets_no_checksum_and_is_removed(folder: Path, share: float) -> None:
    compile_again()
    entry = entry_in(folder)
    whole = entry.read_bytes()
    entry.with_name(entry.name + ".sha256").unlink()
    entry.write_bytes(whole[: int(share * len(whole))])
    program_cache.note_new(folder)
    assert list(folder.iterdir()) == []
    entry.write_bytes(whole)
    program_cache.note_new(folder)
    assert len(list(folder.iterdir())) == 2


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="owners and modes as POSIX has them")
@pytest.mark.parametrize("what", ["group", "everybody", "owner", "folder above"])
def test_a_folder_that_another_user_could_write_to_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    above = tmp_path / "above"
    above.mkdir()
    path = above / "programs"
    path.mkdir()
    if what == "owner":
        monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    else:
        (above if what == "folder above" else path).chmod(0o770 if what == "group" else 0o777)
    with pytest.warns(UserWarning, match="not used for compiled programs, since programs found there are run"):
        assert not program_cache._made(path)
    assert not program_cache._made(path)  # it is said once
    if what == "folder above":
        above.chmod(0o1777)  # as /tmp is: there nobody can replace the folders of others
        assert program_cache._made(path)


def test_a_folder_of_our_own_is_used(tmp_path: Path) -> None:
    assert program_cache._made(tmp_path / "a" / "b") and (tmp_path / "a" / "b").stat().st_mode & 0o777 == 0o700
