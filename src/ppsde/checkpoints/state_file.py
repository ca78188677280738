"""The file format of checkpoints: a prefix, a header of plain JSON, the bytes of arrays, and a checksum of it all.

    8 bytes   MAGIC
    4         version
    8         length of the header
    8         length of the data
    ..        header: {"arrays": [{"name", "dtype", "shape", "order"}, ..], "content": anything of JSON}
    ..        data: the arrays one after the other, little-endian
    32        SHA-256 of all before it

Numbers are little-endian. A file is written completely or not at all, even if the machine stops. A reader trusts
nothing: it compares lengths with the size of the file before it allocates memory, allows only a short list of types,
and never looks up a name.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from ..files import write_atomically

MAGIC = b"ppsde\r\n\x1a"  # a copy in text mode would change the line end and the end-of-text mark
VERSION = 1
LARGEST_FILE = 2**32
LARGEST_HEADER = 2**24
MOST_AXES = 32
DIGEST = 32  # bytes of SHA-256

_PREFIX = struct.Struct("<8sIQQ")
_DTYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
)
_SWAPPED = "swapped "  # prefix of the type of an array that is not in native byte order
_KNOWN = {**{name: np.dtype(name) for name in _DTYPES}, **{_SWAPPED + n: np.dtype(n).newbyteorder() for n in _DTYPES}}
_PIECE = 2**20


class CheckpointError(ValueError):
    """Raised when a checkpoint cannot be read, resumed or written; the message says why."""


class CheckpointWarning(UserWarning):
    """Warns that a checkpoint could not be written, or that its function or method has changed; the run goes on."""


@dataclass(frozen=True)
class Contents:
    """The contents of a file."""

    content: Any  # of JSON
    arrays: dict[str, np.ndarray]
    digest: bytes  # SHA-256, which identifies the file


def write(path: Path, content: Any, arrays: Mapping[str, np.ndarray]) -> bytes:
    """Write a file, completely or not at all, and return its digest."""
    table, data = [], []
    for name, array in arrays.items():
        order = "C" if array.flags.c_contiguous or not array.flags.f_contiguous else "F"
        table.append({"name": name, "dtype": _dtype_name(array, name), "shape": list(array.shape), "order": order})
        data.append(_little_endian(array, order))
    header = json.dumps({"arrays": table, "content": content}, allow_nan=False, separators=(",", ":")).encode()
    sizes = len(header), sum(map(len, data))
    if sizes[0] > LARGEST_HEADER or _PREFIX.size + sum(sizes) + DIGEST > LARGEST_FILE:
        raise CheckpointError(
            f"a checkpoint takes at most {LARGEST_HEADER} bytes of header and {LARGEST_FILE} in all; "
            f"this one would take {sizes[0]} and {sum(sizes)}"
        )
    pieces = [_PREFIX.pack(MAGIC, VERSION, *sizes), header, *data]
    checksum = hashlib.sha256()
    for piece in pieces:
        checksum.update(piece)
    write_atomically(path, [*pieces, checksum.digest()])
    return checksum.digest()


def refuse_foreign(path: Path, kind: str) -> None:
    """Raise `CheckpointError` if there is a file at `path` that is not empty and not a file of that kind."""
    try:
        with naming(path), _opened(path) as file:
            if not os.fstat(file.fileno()).st_size:
                return
            try:
                content = _json(file.read(_lengths(file)[0]))["content"]
            except CheckpointError:
                content = None
    except FileNotFoundError:
        return
    if not isinstance(content, dict) or content.get("kind") != kind:
        raise CheckpointError(f"{path} exists and holds something else; delete it, or choose another path")


def read(path: Path) -> Contents:
    """Return the contents of a file; `CheckpointError` if it is not exactly as it was written."""
    with naming(path), _opened(path) as file:
        return _read(file)


def _opened(path: Path) -> BinaryIO:
    if not stat.S_ISREG(path.stat().st_mode):  # a pipe would wait for ever
        raise CheckpointError("it is not a file")
    return path.open("rb")


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Put the path before the message of every `CheckpointError` raised inside the block."""
    try:
        yield
    except CheckpointError as error:
        raise CheckpointError(f"{path}: {error}") from error.__cause__


def _read(file: BinaryIO) -> Contents:
    header_length, data_length, size = _lengths(file)
    digest = _digest(file, size)
    file.seek(_PREFIX.size)
    header = _json(file.read(header_length))
    arrays = {
        name: _array(file.read(nbytes), dtype, shape, order, name)
        for name, dtype, shape, order, nbytes in _table(header, data_length)
    }
    return Contents(header["content"], arrays, digest)


def _lengths(file: BinaryIO) -> tuple[int, int, int]:
    """Return the lengths of header, data and file; `CheckpointError` if they do not fit together."""
    size = os.fstat(file.fileno()).st_size
    prefix = file.read(_PREFIX.size)
    if prefix[: len(MAGIC)] != MAGIC[: len(prefix)] or not prefix:
        raise CheckpointError("this is not a checkpoint")
    if len(prefix) < _PREFIX.size:
        raise CheckpointError(f"the file is cut off after {size} bytes")
    _, version, header_length, data_length = _PREFIX.unpack(prefix)
    if version != VERSION:
        raise CheckpointError(f"its format is version {version}; this program reads version {VERSION}")
    expected = _PREFIX.size + header_length + data_length + DIGEST
    if size != expected:
        raise CheckpointError(f"the file is damaged: it has {size} bytes and says it has {expected}")
    if size > LARGEST_FILE or header_length > LARGEST_HEADER:
        raise CheckpointError(f"the file is too large: {size} bytes with a header of {header_length}")
    return header_length, data_length, size


def _digest(file: BinaryIO, size: int) -> bytes:
    """Return the checksum of the file; `CheckpointError` if the file does not end with it."""
    checksum = hashlib.sha256()
    file.seek(0)
    left = size - DIGEST
    while left:
        piece = file.read(min(left, _PIECE))
        if not piece:
            raise CheckpointError("the file became shorter while it was read")
        checksum.update(piece)
        left -= len(piece)
    if file.read(DIGEST) != checksum.digest():
        raise CheckpointError("the file is damaged: its checksum does not match its contents")
    return checksum.digest()


def _json(text: bytes) -> dict[str, Any]:
    try:
        header = json.loads(text.decode(), parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise CheckpointError(f"its header is not plain JSON: {type(error).__name__}") from None
    if not isinstance(header, dict) or set(header) != {"arrays", "content"} or not isinstance(header["arrays"], list):
        raise CheckpointError("its header must hold a list of arrays and a content")
    return header


def _refuse(word: str) -> Any:
    raise ValueError(word)


def _table(header: dict[str, Any], data_length: int) -> list[tuple[str, np.dtype, tuple[int, ...], str, int]]:
    """Return name, type, shape, order and size of each array, all checked; no array is created yet."""
    rows = list(map(_row, header["arrays"]))
    names = {name for name, *_ in rows}
    if len(names) != len(rows):
        raise CheckpointError("two of its arrays have the same name")
    total = sum(nbytes for *_, nbytes in rows)
    if total != data_length:
        raise CheckpointError(f"its arrays would take {total} bytes; it holds {data_length}")
    return rows


def _row(entry: Any) -> tuple[str, np.dtype, tuple[int, ...], str, int]:
    if not isinstance(entry, dict) or set(entry) != {"name", "dtype", "shape", "order"}:
        raise CheckpointError("an array must be described by name, dtype, shape and order")
    name, dtype, shape, order = entry["name"], entry["dtype"], entry["shape"], entry["order"]
    if not isinstance(name, str):
        raise CheckpointError("the name of an array must be text")
    label = ascii(name[:80])
    if not isinstance(dtype, str) or dtype not in _KNOWN:
        raise CheckpointError(f"array {label}: its type must be one of {', '.join(_DTYPES)}")
    if order not in ("C", "F"):
        raise CheckpointError(f"array {label}: its order must be C or F")
    if not isinstance(shape, list) or len(shape) > MOST_AXES or not all(type(n) is int and n >= 0 for n in shape):
        raise CheckpointError(f"array {label}: its shape must be at most {MOST_AXES} numbers >= 0")
    if prod(max(n, 1) for n in shape) > LARGEST_FILE:  # also where another axis is empty
        raise CheckpointError(f"array {label}: its shape is too large")
    return name, _KNOWN[dtype], tuple(shape), order, prod(shape) * _KNOWN[dtype].itemsize


def _array(data: bytes, dtype: np.dtype, shape: tuple[int, ...], order: Any, name: str) -> np.ndarray:
    if len(data) != prod(shape) * dtype.itemsize:
        raise CheckpointError("the file became shorter while it was read")
    raw = np.frombuffer(data, dtype.newbyteorder("<"))
    if dtype.kind == "b" and np.any(raw.view(np.uint8) > 1):
        raise CheckpointError(f"array {name[:80]!a}: truth values must be 0 or 1")
    flat = raw.copy() if raw.dtype == dtype else raw.byteswap().view(dtype)
    return flat.reshape(shape, order=order)


def _dtype_name(array: np.ndarray, name: str) -> str:
    dtype = array.dtype
    word = dtype.name if dtype.isnative else _SWAPPED + dtype.name
    if type(array) is not np.ndarray or _KNOWN.get(word) != dtype:
        raise CheckpointError(f"{name} cannot be stored: an array of type {dtype}; numbers and truth values can")
    return word


def _little_endian(array: np.ndarray, order: Any) -> bytes:
    little = array.dtype.newbyteorder("<") == array.dtype
    return (array if little else array.byteswap()).tobytes(order=order)
