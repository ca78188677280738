"""Rows, the results of single runs, made from endings and stored as bytes; and entries, all that a store holds.

A row as bytes, without pickle:

    4 bytes   length of the header
    ..        header, canonical JSON: job, run, status, message, and name, type and shape of each array
    ..        the arrays one after the other, little-endian, compressed by zlib

An entry holds a plan, a job, a row or an account (who ran a job, when and where). It can be found without any table:

    8 bytes   MAGIC
    1         kind
    4         length of the payload
    32        SHA-256 of kind, length and payload
    ..        payload

Everything else in a store can be made again from its entries.
"""

from __future__ import annotations

import hashlib
import json
import re
import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from math import prod
from types import MappingProxyType
from typing import Any

import numpy as np

from ..engines.ending import Ending
from ..population import Population, competition_violation
from ..problem import Problem, Units
from .job import Job, canonical, digest

OK, FAILED = "ok", "failed"
ANSWER = "answer_"  # prefix of the arrays of the point that the method's original program reports
RECORD = "record."  # prefix of the columns along a run
_ADDRESS = re.compile(r"0x[0-9a-fA-F]+")
TYPES = {"<f8": np.dtype("<f8"), "<i8": np.dtype("<i8"), "|b1": np.dtype("|b1")}
MOST_NUMBERS = 2**25
LONGEST_MESSAGE = 500


@dataclass(frozen=True, eq=False)
class Row:
    """The result of one run, as arrays."""

    job: str
    run: int
    status: str  # 'ok' or 'failed'
    message: str  # why it failed
    arrays: Mapping[str, np.ndarray]

    @property
    def failed(self) -> bool:
        return self.status != OK

    def content(self) -> tuple[str, bytes]:
        """Return the header and the bytes of the arrays. Equal rows have equal content, however compressed."""
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


def row_of(
    job: Job, run: int, ending: Ending, units: Units, record: Mapping[str, np.ndarray], **more: np.ndarray
) -> Row:
    """The row of a run that has ended; `record` are columns along it.

    Points have the user's variables and the values of the search: an objective that is minimised, scaled constraints.
    """
    best, answer = ending.best, ending.answer or ending.best
    if best is None or answer is None:
        first = f"; the first with {ending.failures[0]}" if ending.failures else ""
        message = f"every evaluation failed ({ending.evaluations}){first}"
        return failed_row(job.id, run, job.dimension, message, ending.evaluations)
    points = _point(best, units), _point(answer, units)
    return _row(job.id, run, ending.evaluations, *points, record, more)


def _row(
    job: str,
    run: int,
    evaluations: int,
    best: Mapping[str, np.ndarray],
    answer: Mapping[str, np.ndarray],
    record: Mapping[str, np.ndarray],
    more: Mapping[str, np.ndarray] = MappingProxyType({}),
) -> Row:
    """The row of a run that has ended, its points being made by `point`."""
    arrays: dict[str, np.ndarray] = {"evaluations": np.array(evaluations, np.int64), **more, **best}
    arrays |= {ANSWER + name: value for name, value in answer.items()}
    arrays |= {RECORD + name: np.asarray(column, float) for name, column in record.items()}
    return Row(job, run, OK, "", arrays)


def failed_row(job: str, run: int, dimension: int, message: str, evaluations: int = 0) -> Row:
    """The row of a run that gave nothing. Addresses in memory, which no two runs share, are left out of the message."""
    nothing = point(np.full(dimension, np.nan), np.nan, np.inf, np.empty(0), np.empty(0), 0.0)
    row = _row(job, run, evaluations, nothing, nothing, {})
    return Row(job, run, FAILED, _ADDRESS.sub("0x..", " ".join(message.split())), row.arrays)


def _point(points: Population, units: Units) -> dict[str, np.ndarray]:
    x, f, violation, g, h = (column[0] for column in (points.x, points.f, points.violation, points.g, points.h))
    return point(units.x(x), float(f), float(violation), g, h, units.tolerance)


def point(
    x: np.ndarray, f: float, violation: float, g: np.ndarray, h: np.ndarray, tolerance: Any
) -> dict[str, np.ndarray]:
    """A point (d,) and what is known of it: g (p,), h (q,), and both measures of its violation.

    Both measures are 0 exactly where the point is feasible, which is for the search to say: g and h may have been
    computed again, by other instructions, and be off in the last bit.
    """
    amounts = np.concatenate([np.maximum(g, 0.0), np.where(np.abs(h) > tolerance, np.abs(h), 0.0)])
    competition = float(competition_violation(g[None], h[None], tolerance)[0])
    if violation == 0.0:
        amounts, competition = np.zeros_like(amounts), 0.0
    elif not np.isfinite(violation):
        competition = np.inf
    elif not competition > 0.0:
        competition = violation / max(1, len(amounts))
    return {
        "x": np.array(x, float),
        "f": np.array(f, float),
        "violation": np.array(violation, float),
        "competition_violation": np.array(competition, float),
        "feasible": np.array(violation == 0.0),
        "g": np.array(g, float),
        "h": np.array(h, float),
        "by_constraint": amounts,
    }


def constraints_at(problem: Problem, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """g (p,) and h (q,) at a point (d,); NaN where it has none."""
    if np.isnan(x).any():
        return np.full(problem.n_ineq or 0, np.nan), np.full(problem.n_eq or 0, np.nan)
    with np.errstate(all="ignore"):
        _, g, h = problem.evaluate(x[None])
    return np.asarray(g, float)[0], np.asarray(h, float)[0]


def packed(row: Row) -> bytes:
    """Return the row as bytes."""
    header, data = row.content()
    head = header.encode()
    return len(head).to_bytes(4, "big") + head + zlib.compress(data)


def unpacked(payload: bytes) -> Row:
    """Return the row of these bytes; ValueError if they are none."""
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
        array = np.frombuffer(data[at : at + size], kind).reshape(shape)
        arrays[name] = array if kind.isnative else array.astype(kind.newbyteorder("="))
        at += size
    if type(header["run"]) is not int or header["status"] not in (OK, FAILED):
        raise ValueError("a row must have a run number and a status")
    if not isinstance(header["job"], str) or not isinstance(header["message"], str):
        raise ValueError("a row must name its job")
    return Row(header["job"], header["run"], header["status"], header["message"], arrays)


def difference(first: Row, second: Row) -> str | None:
    """Return how two rows differ, in words; None if they are equal to the last bit."""
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


MAGIC = b"\x89ppsde\r\n"
PLAN, JOB, ROW, ACCOUNT = b"P", b"J", b"R", b"A"
KINDS = (PLAN, JOB, ROW, ACCOUNT)
LARGEST = 2**28  # bytes of a payload, also after unpacking

_HEAD = struct.Struct(">8sc4s32s")
HEAD_SIZE = _HEAD.size


class Damaged(ValueError):
    """Bytes that differ from those written."""


def sealed(kind: bytes, payload: bytes) -> bytes:
    """Return the payload as an entry, with its checksum."""
    if len(payload) > LARGEST:
        raise ValueError(f"an entry of a store takes at most {LARGEST} bytes; this one would take {len(payload)}")
    length = len(payload).to_bytes(4, "big")
    return _HEAD.pack(MAGIC, kind, length, _checksum(kind, length, payload)) + payload


def opened(entry: Any) -> tuple[bytes, bytes]:
    """Return kind and payload of an entry; `Damaged` if a single bit of it has changed."""
    if not isinstance(entry, bytes) or len(entry) < HEAD_SIZE:
        raise Damaged("an entry is cut off")
    magic, kind, length, checksum = _HEAD.unpack_from(entry)
    payload = entry[HEAD_SIZE:]
    if magic != MAGIC or kind not in KINDS or len(payload) != int.from_bytes(length, "big"):
        raise Damaged("an entry does not begin as it should")
    if checksum != _checksum(kind, length, payload):
        raise Damaged("an entry does not fit its checksum")
    return kind, payload


def size_of(head: bytes) -> int | None:
    """Return the size of the entry that begins with these bytes; None if none does."""
    if len(head) < HEAD_SIZE:
        return None
    magic, kind, length, _ = _HEAD.unpack_from(head)
    size = int.from_bytes(length, "big")
    return HEAD_SIZE + size if magic == MAGIC and kind in KINDS and size <= LARGEST else None


def _checksum(kind: bytes, length: bytes, payload: bytes) -> bytes:
    return hashlib.sha256(kind + length + payload).digest()


# --- the content of each kind of entry ----------------------------------------------------------------------------


@dataclass(frozen=True)
class StoredPlan:
    """A plan read from a store: plain data, and its jobs by label and id."""

    id: str
    data: dict[str, Any]
    jobs: tuple[tuple[str, str], ...]  # (label, id of the job)


def plan_entry(data: dict[str, Any], jobs: list[tuple[str, str]]) -> tuple[str, bytes]:
    """Return the id of a plan, and its entry."""
    text = canonical({"plan": data, "jobs": jobs})
    return digest(text), sealed(PLAN, zlib.compress(text.encode()))


def read_plan(payload: bytes) -> StoredPlan:
    text = inflated(payload).decode()
    data = json.loads(text)
    jobs = tuple(map(tuple, data["jobs"]))
    if not isinstance(data["plan"], dict) or {*map(len, jobs)} - {2} or {*map(type, chain.from_iterable(jobs))} - {str}:
        raise Damaged("a plan must be plain data with labels and jobs")
    return StoredPlan(digest(text), data["plan"], jobs)


def job_entry(job: Job) -> bytes:
    return sealed(JOB, zlib.compress(job.content.encode()))


def read_job(payload: bytes) -> Job:
    return Job.from_content(inflated(payload).decode())


def account_entry(account: dict[str, Any]) -> bytes:
    """Return the entry of an account: who ran a job, when and with which versions. No part of its results."""
    return sealed(ACCOUNT, zlib.compress(canonical(account).encode()))


def read_account(payload: bytes) -> dict[str, Any]:
    account = json.loads(inflated(payload))
    if not isinstance(account, dict) or not isinstance(account.get("job"), str):
        raise Damaged("an account must name its job")
    if not isinstance(account.get("finished"), float):
        raise Damaged("an account must say when its job was finished")
    return account


READERS: dict[bytes, Any] = {PLAN: read_plan, JOB: read_job, ROW: unpacked, ACCOUNT: read_account}


def read(entry: Any) -> tuple[bytes, Any]:
    """Return kind and content of an entry; `Damaged` if it has changed, or does not hold what its kind must."""
    kind, payload = opened(entry)
    try:
        return kind, READERS[kind](payload)
    except (ValueError, KeyError, TypeError, RecursionError, zlib.error) as error:
        raise Damaged(f"an entry does not hold what it should: {error}") from None


def inflated(data: bytes, most: int = LARGEST) -> bytes:
    """Return the decompressed bytes, at most `most` of them: a small file must not fill the memory."""
    unpacker = zlib.decompressobj()
    out = unpacker.decompress(data, most)
    if not unpacker.eof or unpacker.unused_data:
        raise Damaged("compressed bytes are too long or not complete")
    return out
