"""Files written completely or not at all; one that this program did not make is never replaced."""

from __future__ import annotations

import io
import os
import re
import secrets
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

MADE_BY = "made by ppsde"  # in every file that has a place for it
SUFFIX = ".unfinished"
LOOKED_AT = 2**16  # bytes at the beginning of a file and at its end in which the mark is looked for

# How a file of ours looks, by kind. A file of another look may be anybody's.
KINDS = {
    "html": rb"\A<!doctype html>.*" + MADE_BY.encode(),
    "svg": rb"\A<\?xml .*" + MADE_BY.encode(),
    "pdf": rb"\A%PDF-.*" + MADE_BY.encode(),
    "png": rb"\A\x89PNG.*" + MADE_BY.encode(),
    "parquet": rb"\APAR1.*" + MADE_BY.encode(),
    "npz": rb"\APK\x03\x04.*shift_C01\.npy",
    "tex": rb"\A(% |\\begin\{tabular\}.*% )" + MADE_BY.encode(),
    "json": rb'\A\{\n "(ppsde": |version": .*"info": "ppsde )',
    "dat": rb"\Aevaluations raw_y violation\n",
    "txt": rb"\A[0-9]+( (nan|-?inf|[0-9.e+-]+))+\n",
    # The first columns of our tables, and the titles of competitions.
    "csv": rb'\A((problem|algorithm|method|test|first|evaluations per variable|"budget used, %"),|'
    rb'"The CEC 20[0-9]{2} competition on [a-z -]+, rerun"\n)',
}


class ForeignFile(ValueError):
    """Raised instead of replacing a file that this program did not make."""


def refuse_foreign(path: Path, kind: str) -> None:
    """Raise `ForeignFile` if there is a file at `path` that is not empty and not one of ours of that kind."""
    try:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode) or not status.st_size:
                return  # a terminal or a pipe has nothing to lose, nor has an empty file
            look = file.read(LOOKED_AT)
            file.seek(max(LOOKED_AT, status.st_size - LOOKED_AT))
            look += file.read(LOOKED_AT)
    except FileNotFoundError:
        return
    if not re.search(KINDS[kind], look, re.DOTALL):
        raise ForeignFile(f"{path} exists and is not a {kind} file made by this program; choose another name")


def write_own(path: Path, content: str | bytes, kind: str) -> None:
    """Write a file of ours, in place of an older one of that kind; `ForeignFile` if another file is there."""
    data = content.encode(errors="backslashreplace") if isinstance(content, str) else content
    if path.exists() and not stat.S_ISREG(path.stat().st_mode):
        path.write_bytes(data)  # such as /dev/stdout, which must not be replaced by a file
        return
    refuse_foreign(path, kind)
    write_atomically(path, [data], sync=False)


def write_own_picture(path: Path, figure: Any) -> None:
    """Write a matplotlib Figure as .png, .svg or .pdf, by the end of the name, as `write_own` does."""
    kind = path.suffix.lower()[1:]
    picture = io.BytesIO()
    figure.savefig(picture, format=kind, dpi=150, metadata={"Software" if kind == "png" else "Creator": MADE_BY})
    write_own(path, picture.getvalue(), kind)


def write_atomically(path: Path, chunks: Iterable[bytes], *, sync: bool = True) -> None:
    """Write the chunks to `path`, completely or not at all; an existing file is replaced, and its mode stays.

    They are written under another name in the same folder, synchronised to the disk, and then renamed.
    """
    given, path = path, _real(path)
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(4)}{SUFFIX}")
    try:
        with errors_name(given), unfinished.open("xb") as file:
            for chunk in chunks:
                file.write(chunk)
            file.flush()
            with suppress(OSError):  # there is none yet, or it is another user's
                os.fchmod(file.fileno(), stat.S_IMODE(path.stat().st_mode))
            if sync:
                os.fsync(file.fileno())
        with errors_name(given):
            unfinished.replace(path)
    except BaseException:
        with suppress(OSError):
            unfinished.unlink()
        raise
    if sync:
        _bring_to_disk(path.parent)


@contextmanager
def errors_name(path: Path) -> Iterator[None]:
    """Make an `OSError` inside the block that names a file name this path, not a file of ours beside it."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error


def sweep(path: Path, beginning: bytes) -> None:
    """Remove the unfinished files that killed processes left beside `path`, if they begin as such a file does."""
    path = _real(path)
    name = re.compile(re.escape(f".{path.name}.") + "[0-9a-f]{8}" + re.escape(SUFFIX))
    for file in path.parent.iterdir():
        if name.fullmatch(file.name) and file.is_file() and not file.is_symlink():
            with suppress(OSError):
                with file.open("rb") as opened:
                    start = opened.read(len(beginning))
                if start == beginning[: len(start)]:
                    file.unlink()


def _real(path: Path) -> Path:
    """Return the path without symbolic links, so that a link is not replaced by a file."""
    return Path(os.path.realpath(path))


def _bring_to_disk(folder: Path) -> None:
    """Synchronise a folder to the disk, because a rename is safe only then; some systems cannot, and need not."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
