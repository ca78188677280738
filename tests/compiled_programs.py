"""How JAX compiles in tests, and the folder in which it stores the programs: compiling is most of a test run.

Both are settings of JAX, made by environment variables, so the workers of xdist and the processes that tests start have
them too. The cache of the package (`PPSDE_CACHE`) stays empty, except in the tests of it, which switch this one off.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import wraps
from pathlib import Path
from typing import Any

try:  # as JAX chooses it
    from compression.zstd import decompress  # type: ignore[import-not-found]
except ImportError:
    try:
        from zstandard import decompress  # type: ignore[import-not-found]
    except ImportError:
        from zlib import decompress

FOLDER = Path(__file__).parents[1] / ".pytest_cache" / "jax"
# Without optimisations it takes XLA half the time to make kernels in its older way, and to make them in one piece.
QUICK = {"xla_cpu_use_fusion_emitters": False, "xla_cpu_parallel_codegen_split_count": 1}
LARGEST = 2**30  # bytes; programs that no test compiles any more are never removed one by one
_flags: list[str] = []  # of XLA, for processes that are started where programs are not optimised


def use(folder: Path) -> None:
    """Let JAX store programs there, also the small ones; to be called before JAX is imported.

    Programs are compiled without most optimisations, in a fifth of the time (see `quicken`). Whether two programs round
    alike depends on these: tests that compare such bits, and slow tests, have all of them (`optimised`).
    """
    _disable_optimisations(True)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:  # the tests run without it
        return
    os.environ["JAX_COMPILATION_CACHE_DIR"] = str(folder)
    os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
    os.environ["JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES"] = "-1"


def quicken() -> None:
    """Let JAX pass `QUICK` to XLA wherever programs are not optimised, if this version of both can.

    There is no setting for it: the flags of XLA are the same for all programs of a process, and `optimised` ones must
    not have these. Processes that tests start get them as flags, which this process does not read any more.
    """
    import jax
    from jax._src import compiler

    global _flags
    try:
        jax.jit(lambda x: x, compiler_options=QUICK)(0.0)
        options_of = compiler.get_compile_options
    except Exception:  # an older or newer JAX: the tests run without it
        return
    _flags = [f"--{name}={str(value).lower()}" for name, value in QUICK.items()]
    _disable_optimisations(True)

    @wraps(options_of)
    def quick_options(*arguments: Any, **named: Any) -> Any:
        if os.environ["JAX_DISABLE_MOST_OPTIMIZATIONS"] == "true":
            named["env_options_overrides"] = {**QUICK, **(named.get("env_options_overrides") or {})}
        return options_of(*arguments, **named)

    compiler.get_compile_options = quick_options


def tidy(folder: Path) -> None:
    """Remove the entries that cannot be read, or all where they are too many; only while no test runs.

    JAX writes an entry in place and never replaces one. So one that two processes wrote at once, or that a killed one
    left unfinished, would stay, and its program would be compiled in each test run.
    """
    entries = list(folder.glob("*-cache"))
    if sum(entry.stat().st_size for entry in entries) > LARGEST:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True, exist_ok=True)
        return
    for entry in entries:
        try:
            decompress(entry.read_bytes())
        except Exception:  # each library has its own
            with suppress(OSError):
                entry.unlink()


@contextmanager
def stored_in(folder: Path | None) -> Iterator[None]:
    """JAX with another folder, or with none, inside the block."""
    import jax
    from jax.experimental.compilation_cache import compilation_cache

    before = jax.config.jax_compilation_cache_dir
    try:
        jax.config.update("jax_compilation_cache_dir", None if folder is None else str(folder))
        compilation_cache.reset_cache()
        yield
    finally:
        jax.config.update("jax_compilation_cache_dir", before)
        compilation_cache.reset_cache()


@contextmanager
def optimised() -> Iterator[None]:
    """JAX compiles inside the block as it does for users, also in processes that are started there."""
    try:
        _disable_optimisations(False)
        yield
    finally:
        _disable_optimisations(True)


def _disable_optimisations(value: bool) -> None:
    os.environ["JAX_DISABLE_MOST_OPTIMIZATIONS"] = str(value).lower()
    others = [flag for flag in os.environ.get("XLA_FLAGS", "").split() if flag not in _flags]
    os.environ["XLA_FLAGS"] = " ".join(others + _flags if value else others)
    if "jax" in sys.modules:
        sys.modules["jax"].config.update("jax_disable_most_optimizations", value)
