"""Files that are there whole or not at all, whenever the machine stops."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

_SUFFIX = ".unfinished"


def write_atomically(path: Path, chunks: Iterable[bytes]) -> None:
    """Put a file at `path` that holds the chunks, in the place of what was there.

    They are written under another name in the same folder, brought to the disk, and then renamed.
    """
    path = _real(path)
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(4)}{_SUFFIX}")
    try:
        with unfinished.open("xb") as file:
            for chunk in chunks:
                file.write(chunk)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    except BaseException:
        with suppress(OSError):
            unfinished.unlink()
        raise
    _bring_to_disk(path.parent)


def sweep(path: Path) -> None:
    """Remove what writers of `path` that were killed left behind."""
    path = _real(path)
    for file in path.parent.iterdir():
        if file.name.startswith(f".{path.name}.") and file.name.endswith(_SUFFIX):
            with suppress(OSError):
                file.unlink()


def _real(path: Path) -> Path:
    """Where links lead: a link stays one."""
    return Path(os.path.realpath(path))


def _bring_to_disk(folder: Path) -> None:
    """A rename is only safe once its folder is on the disk. Some systems cannot do this, and need not."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
