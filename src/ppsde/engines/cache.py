"""Compiled programs kept on disk between processes, so that a program is compiled once per machine."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .kept import drop_damaged, note_new

_lock = threading.Lock()
_inside = 0  # threads that compile now


def folder() -> Path | None:
    """Where programs are kept: `PPSDE_CACHE`, else the user's cache folder; None where that is set but empty."""
    named = os.environ.get("PPSDE_CACHE")
    if named is not None:
        return Path(named) if named else None
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ppsde" / "programs"


@contextmanager
def remembered() -> Iterator[None]:
    """JAX with its cache of compiled programs in our folder, inside the block only; its own setting is left alone.

    The folder must be one that nobody else can write to, since programs found there are run.
    """
    import jax
    from jax.experimental.compilation_cache import compilation_cache

    global _inside
    path = folder()
    if path is None:
        yield
        return
    with _lock:
        ours = _inside > 0 or (getattr(jax.config, "jax_compilation_cache_dir", None) is None and _made(path))
        if ours and _inside == 0:
            drop_damaged(path)
            jax.config.update("jax_compilation_cache_dir", str(path))
            compilation_cache.reset_cache()
        _inside += ours
    try:
        yield
    finally:
        with _lock:
            _inside -= ours
            if ours:
                note_new(path)  # also while others still compile: it may take them minutes, and a kill comes any time
            if ours and _inside == 0:
                jax.config.update("jax_compilation_cache_dir", None)
                compilation_cache.reset_cache()


def _made(path: Path) -> bool:
    """Whether the folder exists now; where it cannot be made, programs are not kept."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError:
        return False
    return True
