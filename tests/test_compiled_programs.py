"""The folder of the programs that tests compile: used again, and no test fails by what is wrong in it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import compiled_programs
import pytest
from compiled_programs import QUICK, optimised, stored_in, tidy

jax = pytest.importorskip("jax")


def compiled(folder: Path) -> Any:
    with stored_in(folder):  # a new function each time, which JAX does not know yet
        return jax.jit(lambda x: 3.0 * x + 0.125).lower(1.0).compile()


def test_the_tests_use_it_and_so_do_the_processes_that_they_start() -> None:
    assert jax.config.jax_compilation_cache_dir == os.environ["JAX_COMPILATION_CACHE_DIR"]
    assert Path(os.environ["JAX_COMPILATION_CACHE_DIR"]) == compiled_programs.FOLDER
    assert jax.config.jax_persistent_cache_min_compile_time_secs == 0


def test_programs_are_optimised_only_where_it_is_asked_for(tmp_path: Path) -> None:
    assert os.environ["JAX_DISABLE_MOST_OPTIMIZATIONS"] == "true"
    compiled(tmp_path)
    (quick,) = tmp_path.glob("*-cache")
    with optimised():
        assert os.environ["JAX_DISABLE_MOST_OPTIMIZATIONS"] == "false", "for the processes started here"
        compiled(tmp_path)
    assert len(list(tmp_path.glob("*-cache"))) == 2, "another program"
    quick.unlink()
    compiled(tmp_path)
    assert quick.exists(), "and without optimisations again"


def test_options_that_make_xla_quick_are_those_of_programs_without_optimisations_alone() -> None:
    from jax._src import compiler

    if not hasattr(compiler.get_compile_options, "__wrapped__"):
        pytest.skip("this version of JAX or XLA has no such options")

    def options() -> dict[str, Any]:
        return dict(compiler.get_compile_options(1, 1).env_option_overrides)

    name = next(iter(QUICK))
    assert options() == QUICK and f"--{name}=" in os.environ["XLA_FLAGS"], (
        "the flags are for the processes started here"
    )
    with optimised():
        assert options() == {} and name not in os.environ["XLA_FLAGS"]


@pytest.mark.slow
def test_slow_tests_have_all_optimisations() -> None:
    assert os.environ["JAX_DISABLE_MOST_OPTIMIZATIONS"] == "false"


@pytest.mark.parametrize("damage", ["cut off", "emptied", "changed"])
def test_a_damaged_entry_is_no_error_and_is_removed_before_the_next_test_run(tmp_path: Path, damage: str) -> None:
    compiled(tmp_path)
    (entry,) = tmp_path.glob("*-cache")
    whole = entry.read_bytes()
    middle = len(whole) // 2
    changed = whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :]
    entry.write_bytes({"cut off": whole[:middle], "emptied": b"", "changed": changed}[damage])
    assert compiled(tmp_path)(2.0) == 6.125
    tidy(tmp_path)
    assert not entry.exists()
    assert compiled(tmp_path)(2.0) == 6.125
    assert entry.exists()


def test_whole_entries_stay_until_there_are_too_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled(tmp_path)
    before = sorted(tmp_path.iterdir())
    tidy(tmp_path)
    assert sorted(tmp_path.iterdir()) == before
    monkeypatch.setattr(compiled_programs, "LARGEST", 100)
    tidy(tmp_path)
    assert list(tmp_path.iterdir()) == []
