"""The file format: damage is always seen, and a hostile file neither takes memory nor runs anything."""

from __future__ import annotations

import hashlib
import json
import os
import struct
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ppsde
from ppsde.checkpoints import state_file
from ppsde.checkpoints.state_file import LARGEST_FILE, MAGIC, VERSION, CheckpointError
from ppsde.testing import inequalities

DAMAGES = 1000


def forged(header: Any, data: bytes = b"", *, version: int = VERSION, lengths: tuple[int, int] | None = None) -> bytes:
    """A file with a checksum that fits, whatever it says."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    body = MAGIC + struct.pack("<IQQ", version, *(lengths or (len(text), len(data)))) + text + data
    return body + hashlib.sha256(body).digest()


def one_array(**changes: Any) -> dict[str, Any]:
    entry = {"name": "a", "dtype": "float64", "shape": [1], "order": "C", **changes}
    return {"arrays": [entry], "content": None}


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A search in the middle of a generation, as it was saved."""
    path = tmp_path_factory.mktemp("saved") / "search.ppsde"
    optimizer = ppsde.Optimizer([(-3, 5)] * 3, n_ineq=1, max_evaluations=500, rng=1)
    for _ in range(4):
        optimizer.tell(*inequalities(optimizer.ask()))
    optimizer.save(path)
    return path.read_bytes()


def refused(path: Path) -> str:
    with pytest.raises(CheckpointError) as caught:
        ppsde.Optimizer.load(path)
    assert str(path) in str(caught.value)
    return str(caught.value)


def test_what_was_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "file.ppsde"
    arrays = {"a": np.arange(6.0).reshape(2, 3), "../b": np.array(True), "": np.empty((0, 4), np.int8)}
    digest = state_file.write(path, {"text": "\u00e9\ud800", "number": 2**70}, arrays)
    found = state_file.read(path)
    assert found.content == {"text": "\u00e9\ud800", "number": 2**70} and found.digest == digest
    for name, array in arrays.items():
        assert found.arrays[name].dtype == array.dtype and np.array_equal(found.arrays[name], array)
        assert found.arrays[name].flags.writeable
    assert os.listdir(tmp_path) == ["file.ppsde"]  # noqa: PTH208 - a name in a file is never one on the disk


def test_a_thousand_truncations_are_all_seen(saved: bytes, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    path = tmp_path / "cut.ppsde"
    for length in rng.integers(0, len(saved), DAMAGES):
        path.write_bytes(saved[:length])
        refused(path)


def test_a_thousand_flipped_bits_are_all_seen(saved: bytes, tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    path = tmp_path / "flipped.ppsde"
    for bit in rng.integers(0, 8 * len(saved), DAMAGES):
        damaged = bytearray(saved)
        damaged[bit // 8] ^= 1 << (bit % 8)
        path.write_bytes(damaged)
        refused(path)


def test_bytes_after_the_end_are_seen(saved: bytes, tmp_path: Path) -> None:
    path = tmp_path / "longer.ppsde"
    path.write_bytes(saved + b"\0")
    assert "it has" in refused(path) and "says it has" in refused(path)


HOSTILE: list[tuple[bytes, str]] = [
    (b"", "not a checkpoint"),
    (b"PK\x03\x04 something else entirely, long enough to have a prefix", "not a checkpoint"),
    (MAGIC[:5], "cut off after 5 bytes"),
    (forged({"arrays": [], "content": 1}, version=VERSION + 1), f"version {VERSION + 1}"),
    (forged({"arrays": [], "content": 1}, lengths=(2**63, 2**63)), "damaged"),
    (forged(b"[1, 2"), "not plain JSON"),
    (forged(b"\xff\xfe"), "not plain JSON"),
    (forged(b"[" * 100_000 + b"]" * 100_000), "not plain JSON: RecursionError"),
    (forged(b'{"arrays": [], "content": NaN}'), "not plain JSON"),
    (forged(b'{"arrays": [], "content": ' + b"9" * 5000 + b"}"), "not plain JSON"),
    (forged([]), "must hold a list of arrays"),
    (forged({"arrays": {}, "content": 1}), "must hold a list of arrays"),
    (forged({"arrays": [], "content": 1, "more": 2}), "must hold a list of arrays"),
    (forged({"arrays": [3], "content": 1}), "described by name"),
    (forged(one_array(name=3)), "must be text"),
    (forged({"arrays": one_array(shape=[0])["arrays"] * 2, "content": 1}), "same name"),
    (forged(one_array(), b"1234567"), "would take 8 bytes; it holds 7"),
    (forged(one_array(shape=[0]), b"1"), "would take 0 bytes; it holds 1"),
    (forged(one_array(shape=[2**40])), "too large"),
    (forged(one_array(shape=[2**31])), f"would take {2**34} bytes"),
    (forged(one_array(shape=[0, 2**62])), "too large"),
    (forged(one_array(shape=[2**32, 2**32])), "too large"),
    (forged(one_array(shape=[-1])), "its shape"),
    (forged(one_array(shape=[1.0])), "its shape"),
    (forged(one_array(shape=[True])), "its shape"),
    (forged(one_array(shape="1")), "its shape"),
    (forged(one_array(shape=[1] * 33)), "its shape"),
    (forged(one_array(order="K")), "C or F"),
    (forged(one_array(order=["C"])), "C or F"),
    (forged(one_array(dtype="bool", shape=[1]), b"\2"), "truth values"),
    *(
        (forged(one_array(dtype=dtype), bytes(8)), "its type must be one of")
        for dtype in ("object", "O", "|O", "V8", "S8", "U2", "datetime64[ns]", "longdouble", "f8", "i4,i4", None)
    ),
    (forged(one_array(dtype=[["a", "<f8"]]), bytes(8)), "its type must be one of"),
    (forged(one_array(dtype={"names": ["a"], "formats": ["O"]}), bytes(8)), "its type must be one of"),
]


@pytest.mark.parametrize(("data", "words"), HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_file_is_refused_for_a_reason_and_takes_no_memory(data: bytes, words: str, tmp_path: Path) -> None:
    path = tmp_path / "hostile.ppsde"
    path.write_bytes(data)
    tracemalloc.start()
    try:
        message = refused(path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert words in message
    assert peak < 2**20 + 4 * len(data)


def test_a_file_of_holes_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "holes.ppsde"
    path.write_bytes(MAGIC + struct.pack("<IQQ", VERSION, 2, LARGEST_FILE))
    os.truncate(path, 28 + 2 + LARGEST_FILE + 32)
    assert "too large" in refused(path)


def test_what_is_not_a_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe", Path(os.devnull)):
        assert "not a file" in refused(path)
    with pytest.raises(FileNotFoundError):
        ppsde.Optimizer.load(tmp_path / "missing.ppsde")


def test_types_that_are_no_numbers_are_not_written(tmp_path: Path) -> None:
    for array in (np.array([None]), np.array(["text"]), np.zeros(2, "V3"), np.zeros(2, np.longdouble)):
        with pytest.raises(CheckpointError, match="a cannot be stored"):
            state_file.write(tmp_path / "file.ppsde", None, {"a": array})
    assert list(tmp_path.iterdir()) == []


LOAD_UNDER_WATCH = """
import sys, ppsde
from ppsde.checkpoints.state_file import CheckpointError
good, *files = sys.argv[1:]
ppsde.Optimizer.load(good)  # so that all that a good file needs is there
WATCHED = {"import", "compile", "os.system", "os.exec", "os.posix_spawn", "os.fork", "subprocess.Popen",
           "pickle.find_class", "marshal.loads", "ctypes.dlopen", "socket.connect", "os.remove", "os.rename"}
events = set()
sys.addaudithook(lambda event, args: events.add((event, args[:1])) if event in WATCHED else None)
ppsde.Optimizer.load(good)
usual = set(events)  # the types that settings are declared with, which are text in the program
for file in files:
    try:
        ppsde.Optimizer.load(file)
    except CheckpointError:
        continue
    print("loaded", file)
print(sorted(events - usual))
"""


def test_loading_a_hostile_file_executes_nothing(saved: bytes, tmp_path: Path) -> None:
    (tmp_path / "good").write_bytes(saved)
    found = state_file.read(tmp_path / "good")
    attacks: list[Any] = [
        {"class": "os.system", "fields": {"command": "touch owned"}},
        {"class": "builtins.eval", "fields": {"source": "open('owned', 'w')"}},
        {"class": "subprocess.Popen", "fields": {"args": "touch owned"}},
        {"pickle": "cos\\nsystem\\n(S'touch owned'\\ntR."},
        {"array": "__import__('os').system('touch owned')"},
    ]
    files = []
    for k, attack in enumerate(attacks):
        for place in ("run", "settings", "class", "name"):
            content = json.loads(json.dumps(found.content))
            if place == "run":
                content["run"]["fields"]["state"] = attack
            elif place == "settings":
                content["algorithm"]["settings"]["repair"] = attack
            else:
                content["algorithm"][place] = attack.get("class", "os.system")
            files.append(tmp_path / f"{place}-{k}")
            state_file.write(files[-1], content, found.arrays)
    command = [sys.executable, "-c", LOAD_UNDER_WATCH, str(tmp_path / "good"), *map(str, files)]
    said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "[]"
    assert not (tmp_path / "owned").exists()


def test_a_search_that_cannot_be_saved_names_the_path_that_was_given(tmp_path: Path) -> None:
    optimizer = ppsde.Optimizer([(0, 1)], rng=1)
    with pytest.raises(FileNotFoundError) as error:
        optimizer.save(tmp_path / "missing" / "search.ppsde")
    assert error.value.filename == str(tmp_path / "missing" / "search.ppsde")
    with pytest.raises(CheckpointError, match=f"^{tmp_path}: it is not a file$"):
        optimizer.save(tmp_path)
