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
from pathlib import Path

try:  # as JAX chooses it
    from compression.zstd import decompress  # type: ignore[import-not-found]
except ImportError:
    try:
        from zstandard import decompress  # type: ignore[import-not-found]
    except ImportError:
        from zlib import decompress

FOLDER = Path(__file__).parents[1] / ".pytest_cache" / "jax"
LARGEST = 2**30  # bytes; programs that no test compiles any more are never removed one by one


def use(folder: Path) -> None:
    """Let JAX store programs there, also the small ones; to be called before JAX is imported.

    Programs are compiled without most optimisations, in about half the time. Whether two programs round alike depends
    on these: tests that compare such bits, and slow tests, have all of them (`optimised`).
    """
    _disable_optimisations(True)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:  # the tests run without it
        return
    os.environ["JAX_COMPILATION_CACHE_DIR"] = str(folder)
    os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
    os.environ["JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES"] = "-1"


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
    if "jax" in sys.modules:
        sys.modules["jax"].config.update("jax_disable_most_optimizations", value)
