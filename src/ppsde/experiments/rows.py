"""A row: what one run gave, as arrays; and the same as bytes, compressed, without pickle.

4 bytes   length of the header
..        header, JSON in one spelling: job, run, status, message, and name, type and shape of each array
..        the arrays one after the other, little-endian, compressed by zlib
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

import numpy as np

from .canonical import canonical

OK, FAILED = "ok", "failed"
TYPES = {"<f8": np.dtype("<f8"), "<i8": np.dtype("<i8"), "|b1": np.dtype("|b1")}
MOST_NUMBERS = 2**25
LONGEST_MESSAGE = 500


@dataclass(frozen=True, eq=False)
class Row:
    """What one run gave."""

    job: str
    run: int
    status: str  # 'ok' or 'failed'
    message: str  # why it failed
    arrays: Mapping[str, np.ndarray]

    @property
    def failed(self) -> bool:
        return self.status != OK

    def content(self) -> tuple[str, bytes]:
        """Header and bytes of the arrays: two rows are the same if these are, however they were compressed."""
        names = sorted(self.arrays)
        columns = [np.asarray(self.arrays[name]) for name in names]
        described = [[name, _type(a, name), list(a.shape)] for name, a in zip(names, columns, strict=True)]
        header = {
            "job": self.job,
            "run": self.run,
            "status": self.status,
            "message": self.message[:LONGEST_MESSAGE],
            "arrays": described,
        }
        data = b"".join(np.ascontiguousarray(a, TYPES[_type(a, "")]).tobytes() for a in columns)
        return canonical(header), data


def packed(row: Row) -> bytes:
    """The row as bytes."""
    header, data = row.content()
    head = header.encode()
    return len(head).to_bytes(4, "big") + head + zlib.compress(data)


def unpacked(payload: bytes) -> Row:
    """The row that the bytes hold; ValueError if they hold none."""
    length = int.from_bytes(payload[:4], "big")
    header = json.loads(payload[4 : 4 + length])
    described = [(name, TYPES[kind], tuple(shape)) for name, kind, shape in header["arrays"]]
    for name, _, shape in described:
        if not isinstance(name, str) or len(shape) > 2 or not all(type(n) is int and n >= 0 for n in shape):
            raise ValueError("an array of a row must have a name and a shape")
    sizes = [prod(shape) * kind.itemsize for _, kind, shape in described]
    if sum(sizes) > 8 * MOST_NUMBERS:
        raise ValueError(f"a row holds at most {MOST_NUMBERS} numbers")
    unpacker = zlib.decompressobj()
    data = unpacker.decompress(payload[4 + length :], sum(sizes) + 1)
    if len(data) != sum(sizes) or not unpacker.eof or unpacker.unused_data:
        raise ValueError("the arrays of a row are not as long as its header says")
    arrays, at = {}, 0
    for (name, kind, shape), size in zip(described, sizes, strict=True):
        arrays[name] = np.frombuffer(data[at : at + size], kind).astype(kind.newbyteorder("="), copy=False)
        arrays[name] = arrays[name].reshape(shape)
        at += size
    if type(header["run"]) is not int or header["status"] not in (OK, FAILED):
        raise ValueError("a row must have a run number and a status")
    if not isinstance(header["job"], str) or not isinstance(header["message"], str):
        raise ValueError("a row must name its job")
    return Row(header["job"], header["run"], header["status"], header["message"], arrays)


def difference(first: Row, second: Row) -> str | None:
    """What tells two rows apart, None if they are the same to the last bit."""
    if first.content() == second.content():
        return None
    for name in ("job", "run", "status", "message"):
        if getattr(first, name) != getattr(second, name):
            return f"{name} {getattr(first, name)!r} and {getattr(second, name)!r}"
    if set(first.arrays) != set(second.arrays):
        return f"arrays {', '.join(sorted(set(first.arrays) ^ set(second.arrays)))} in one of them only"
    apart = [n for n in sorted(first.arrays) if not _same(first.arrays[n], second.arrays[n])]
    return f"different {', '.join(apart)}"


def _same(first: np.ndarray, second: np.ndarray) -> bool:
    return (first.dtype, first.shape, first.tobytes()) == (second.dtype, second.shape, second.tobytes())


def _type(array: np.ndarray, name: str) -> str:
    for text, kind in TYPES.items():
        if array.dtype == kind.newbyteorder("="):
            return text
    raise ValueError(f"{name} cannot be stored: an array of type {array.dtype}; float64, int64 and bool can")
