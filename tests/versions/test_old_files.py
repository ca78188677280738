"""Files of released versions open in this one; files of newer formats are refused with a sentence."""

from __future__ import annotations

import shutil
import struct
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from experiments.studies import contents
from versions.make_files import BUDGET, METHODS, PLAN, STOP, fun, optimizer, searched, told

import ppsde
from ppsde import CheckpointError
from ppsde.arrays import bits
from ppsde.checkpoints import journal, state_file
from ppsde.experiments import Store, run
from ppsde.experiments.database import VERSION, StoreError
from ppsde.experiments.repair import damages

FILES = Path(__file__).parent / "0.2"
OLDER = FILES.with_name("0.1")
CHANGED = {  # since 0.1, and what is said of them
    "emag-es": "is no class of this algorithm",
    "optimizer": "does not describe several runs",
    "pps-sqp": "has other settings now",
    "sqp": "must have the fields",
}


def copied(name: str, folder: Path, files: Path = FILES) -> Path:
    for file in files.glob(f"{name}*"):
        shutil.copy(file, folder)
    return folder / name


def opened(action: Any) -> tuple[Any, bool]:
    """The result of an action, and whether it said that the file was made with other versions.

    It may also say that its function is another: the one that made the file ended by itself.
    """
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        result = action()
    versions = ["perhaps not to the same bits" in str(one.message) for one in said]
    functions = ["the function is not the one" in str(one.message) for one in said]
    assert all(a or b for a, b in zip(versions, functions, strict=True))
    return result, any(versions)


@pytest.mark.parametrize("name", [*METHODS, "journal"])
def test_a_checkpoint_of_version_0_2_goes_on_to_its_end(name: str, tmp_path: Path) -> None:
    path = copied(f"{name}.ppsde", tmp_path)
    calls = 0

    def counted(x: np.ndarray) -> Any:
        nonlocal calls
        calls += 1
        return fun(x)

    result, other_versions = opened(lambda: ppsde.resume(path, counted))
    assert result.nfev == BUDGET and calls == BUDGET - STOP, "what was evaluated is not evaluated again"
    if not other_versions:
        unbroken = searched("jde" if name == "journal" else name)
        for ours, theirs in [(result.x, unbroken.x), (result.population.x, unbroken.population.x)]:
            # Not to the same bits: the processor that made the file may have rounded products of matrices differently.
            np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-9)


def test_an_optimizer_of_version_0_2_goes_on(tmp_path: Path) -> None:
    search, other_versions = opened(lambda: ppsde.Optimizer.load(copied("optimizer.ppsde", tmp_path)))
    found = told(search, BUDGET).result
    assert search.done and found.nfev == BUDGET
    if not other_versions:
        assert bits(found.x) == bits(told(optimizer(), BUDGET).result.x)


@pytest.mark.parametrize("name", sorted(path.stem for path in OLDER.glob("*.ppsde")))
def test_a_checkpoint_of_version_0_1_goes_on_or_is_refused_with_a_sentence(name: str, tmp_path: Path) -> None:
    path = copied(f"{name}.ppsde", tmp_path, OLDER)
    if name in CHANGED:
        open_it = ppsde.Optimizer.load if name == "optimizer" else lambda file: ppsde.resume(file, fun)
        with pytest.raises(CheckpointError, match=rf"{name}\.ppsde: .*{CHANGED[name]}"):
            opened(lambda: open_it(path))
    else:
        assert opened(lambda: ppsde.resume(path, fun))[0].nfev == BUDGET


@pytest.mark.parametrize("files", [OLDER, FILES], ids=lambda folder: folder.name)
def test_a_store_of_an_older_version_is_read_and_continued(files: Path, tmp_path: Path) -> None:
    path = copied("study.db", tmp_path, files)
    assert damages(path) == []
    with Store(path) as store:
        results = list(store.results())
    assert [(r.algorithm, r.run, r.evaluations, r.record["f"].shape) for r in results if r.problem == "g06"] == [
        (algorithm, k, 60, (4,)) for algorithm in ("jde", "pps-de") for k in (0, 1)
    ]
    before = contents(path)
    summary = run(PLAN, path, workers=1)
    assert (summary.done, summary.failed) == (8, 0) and before.items() <= contents(path).items()


def test_a_newer_checkpoint_is_refused_with_a_sentence(tmp_path: Path) -> None:
    path = copied("jde.ppsde", tmp_path)
    data = bytearray(path.read_bytes())
    data[8:12] = struct.pack("<I", state_file.VERSION + 1)
    path.write_bytes(data)
    words = f"its format is version {state_file.VERSION + 1}; this program reads version {state_file.VERSION}"
    with pytest.raises(CheckpointError, match=words):
        ppsde.resume(path, fun)
    assert path.read_bytes() == data


def test_a_newer_journal_is_refused_and_stays(tmp_path: Path) -> None:
    path = copied("journal.ppsde", tmp_path)
    beside = path.with_name(path.name + ".journal")
    data = bytearray(beside.read_bytes())
    data[8:12] = struct.pack("<I", journal.VERSION + 1)
    beside.write_bytes(data)
    with pytest.raises(CheckpointError, match=r"journal\.ppsde\.journal: its format is version 2; this"):
        ppsde.resume(path, fun)
    assert beside.read_bytes() == data


def test_a_newer_store_is_refused_with_a_sentence(tmp_path: Path) -> None:
    path = copied("study.db", tmp_path)
    data = bytearray(path.read_bytes())
    data[60:64] = struct.pack(">I", VERSION + 1)  # SQLite's user_version
    path.write_bytes(data)
    with pytest.raises(StoreError, match=f"is a store of version {VERSION + 1}; this program reads version {VERSION}"):
        Store(path)
    with pytest.raises(StoreError, match=f"version {VERSION + 1}"):
        run(PLAN, path)
    assert path.read_bytes() == data
