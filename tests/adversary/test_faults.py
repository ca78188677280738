"""Writes that fail at random places: nothing finished is lost, and every error is a sentence."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
SAMPLE = ("checkpoint", "journal", "store", "export", "merge", "optimizer")  # in every test run
COMPILER = shutil.which("cc")
pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or COMPILER is None, reason="needs Linux, and a compiler for the library that fails"
)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("faults") / "faults.so"
    subprocess.run([str(COMPILER), "-shared", "-fPIC", "-o", made, HERE / "faults.c", "-ldl"], check=True)
    return made


def found(library: Path, folder: Path, cases: int, seed: int, *names: str) -> tuple[list[Any], dict[str, int]]:
    """The findings of so many cases, and in how many of each kind a write failed."""
    path = os.pathsep.join([str(HERE.parent), *filter(None, sys.path)])
    done = subprocess.run(
        [sys.executable, HERE / "faults.py", folder, str(cases), str(seed), *names],
        env={**os.environ, "PYTHONPATH": path, "LD_PRELOAD": str(library)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    *findings, last = map(json.loads, done.stdout.splitlines())
    return findings, last["failed writes"]


def test_writes_that_fail_lose_nothing(library: Path, tmp_path: Path) -> None:
    findings, failed = found(library, tmp_path, 30, 1, *SAMPLE)
    assert findings == [] and min(failed.values()) >= 4 and len(failed) == 6


def test_a_program_that_writes_in_place_is_noticed(library: Path, tmp_path: Path) -> None:
    findings, _ = found(library, tmp_path, 5, 1, "careless")
    assert [finding["wrong"] for finding in findings] == ["half a file"] * len(findings) and findings


@pytest.mark.slow
def test_a_thousand_writes_that_fail_lose_nothing(library: Path, tmp_path: Path) -> None:
    for library_needed in ("jax", "matplotlib", "pyarrow"):
        pytest.importorskip(library_needed)
    findings, failed = found(library, tmp_path, 1140, 2)
    assert findings == [] and sum(failed.values()) >= 1000 and len(failed) == 19
    print(failed)
