"""An entry: one durable piece of a store, in bytes that carry their own checksum and can be found without any index.

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
import struct
import zlib
from dataclasses import dataclass
from typing import Any

from .canonical import canonical, digest
from .jobs import Job
from .rows import Row, unpacked

MAGIC = b"\x89ppsde\r\n"
PLAN, JOB, ROW, ACCOUNT = b"P", b"J", b"R", b"A"
KINDS = (PLAN, JOB, ROW, ACCOUNT)
LARGEST = 2**28  # bytes of a payload, also after unpacking

_HEAD = struct.Struct(">8sc4s32s")
HEAD_SIZE = _HEAD.size


class Damaged(ValueError):
    """Bytes that are not what was written."""


def sealed(kind: bytes, payload: bytes) -> bytes:
    """The payload as an entry."""
    if len(payload) > LARGEST:
        raise ValueError(f"an entry of a store takes at most {LARGEST} bytes; this one would take {len(payload)}")
    length = len(payload).to_bytes(4, "big")
    return _HEAD.pack(MAGIC, kind, length, _checksum(kind, length, payload)) + payload


def opened(entry: Any) -> tuple[bytes, bytes]:
    """Kind and payload of an entry; `Damaged` if a single bit of it has changed."""
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
    """The size of the entry that begins with these bytes, if one does."""
    if len(head) < HEAD_SIZE:
        return None
    magic, kind, length, _ = _HEAD.unpack_from(head)
    size = int.from_bytes(length, "big")
    return HEAD_SIZE + size if magic == MAGIC and kind in KINDS and size <= LARGEST else None


def checksum_of(entry: bytes) -> bytes:
    """The checksum that an entry carries."""
    checksum: bytes = _HEAD.unpack_from(entry)[3]
    return checksum


def _checksum(kind: bytes, length: bytes, payload: bytes) -> bytes:
    return hashlib.sha256(kind + length + payload).digest()


# --- what the entries of each kind hold ---------------------------------------------------------------------------


@dataclass(frozen=True)
class StoredPlan:
    """A plan as a store keeps it: as plain data, with its jobs by label and id."""

    id: str
    data: dict[str, Any]
    jobs: tuple[tuple[str, str], ...]  # (label, id of the job)


def plan_entry(data: dict[str, Any], jobs: list[tuple[str, str]]) -> tuple[str, bytes]:
    """The id of a plan, and its entry."""
    text = canonical({"plan": data, "jobs": jobs})
    return digest(text), sealed(PLAN, zlib.compress(text.encode()))


def read_plan(payload: bytes) -> StoredPlan:
    text = inflated(payload).decode()
    data = json.loads(text)
    jobs = tuple((label, job) for label, job in data["jobs"])
    if not isinstance(data["plan"], dict) or not all(isinstance(part, str) for pair in jobs for part in pair):
        raise Damaged("a plan must be plain data with labels and jobs")
    return StoredPlan(digest(text), data["plan"], jobs)


def job_entry(job: Job) -> bytes:
    return sealed(JOB, zlib.compress(job.content.encode()))


def read_job(payload: bytes) -> Job:
    return Job.from_content(inflated(payload).decode())


def account_entry(account: dict[str, Any]) -> bytes:
    """How a job came about: who, when, with what. No part of its results."""
    return sealed(ACCOUNT, zlib.compress(canonical(account).encode()))


def read_account(payload: bytes) -> dict[str, Any]:
    account = json.loads(inflated(payload))
    if not isinstance(account, dict) or not isinstance(account.get("job"), str):
        raise Damaged("an account must name its job")
    if not isinstance(account.get("finished"), float):
        raise Damaged("an account must say when its job was finished")
    return account


def read_row(payload: bytes) -> Row:
    return unpacked(payload)


READERS: dict[bytes, Any] = {PLAN: read_plan, JOB: read_job, ROW: read_row, ACCOUNT: read_account}


def read(entry: Any) -> tuple[bytes, Any]:
    """Kind and content of an entry; `Damaged` if it is not what was written, or not what its kind should hold."""
    kind, payload = opened(entry)
    try:
        return kind, READERS[kind](payload)
    except (ValueError, KeyError, TypeError, RecursionError, zlib.error) as error:
        raise Damaged(f"an entry does not hold what it should: {error}") from None


def inflated(data: bytes, most: int = LARGEST) -> bytes:
    """Decompressed bytes, at most so many: a small file must not fill the memory."""
    unpacker = zlib.decompressobj()
    out = unpacker.decompress(data, most)
    if not unpacker.eof or unpacker.unused_data:
        raise Damaged("compressed bytes are too long or not complete")
    return out
