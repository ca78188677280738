"""Files of released versions open in this one; files of newer formats are refused with a sentence."""

from __future__ import annotations

import json
import shutil
import struct
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from experiments.studies import contents
from versions.make_files import BOX, BUDGET, METHODS, PLAN, STOP, fun, optimizer, searched, told

import ppsde
from ppsde import CheckpointError
from ppsde.arrays import bits
from ppsde.checkpoints import journal, state_file
from ppsde.checkpoints.checkpoint import peek
from ppsde.checkpoints.state_file import CheckpointWarning
from ppsde.experiments import Store, run
from ppsde.experiments.database import VERSION, StoreError
from ppsde.experiments.repair import damages

FILES = Path(__file__).parent / "0.2"
OLDER = FILES.with_name("0.1")
BEGIN_AGAIN = ("pps-sqp", "sqp")  # their state is another since 0.1
AGAIN = "its method has changed since: it begins again, with the points of its last population"


def copied(name: str, folder: Path, files: Path = FILES) -> Path:
    for file in files.glob(f"{name}*"):
        shutil.copy(file, folder)
    return folder / name


def opened(action: Any) -> tuple[Any, bool]:
    """The result of an action, and whether it said that the file was made with other versions, or begins again.

    It may also say that its function is another: the one that made the file ended by itself.
    """
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        result = action()
    versions = ["perhaps not to the same bits" in str(one.message) or AGAIN in str(one.message) for one in said]
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


OLD_CHECKPOINTS = sorted(path.stem for path in OLDER.glob("*.ppsde") if path.stem != "optimizer")


@pytest.mark.parametrize("name", [name for name in OLD_CHECKPOINTS if name not in BEGIN_AGAIN])
def test_a_checkpoint_of_version_0_1_goes_on_to_its_end(name: str, tmp_path: Path) -> None:
    path = copied(f"{name}.ppsde", tmp_path, OLDER)
    result, _ = opened(lambda: ppsde.resume(path, fun))
    assert result.nfev == result.n_calls == BUDGET
    unbroken = searched("jde" if name == "journal" else name)
    np.testing.assert_allclose(result.x, unbroken.x, rtol=1e-6, atol=1e-9)


class Killed(BaseException):
    """Ends a run as a kill does."""


def killed_after(calls: int, done: list[np.ndarray]) -> Any:
    """The function, which notes its points, and ends the run after so many of them."""

    def counted(x: np.ndarray) -> Any:
        if len(done) == calls:
            raise Killed
        done.append(x)
        return fun(x)

    return counted


@pytest.mark.parametrize("name", BEGIN_AGAIN)
def test_a_checkpoint_of_version_0_1_by_a_method_that_has_changed_begins_again_with_its_points(
    name: str, tmp_path: Path
) -> None:
    path = copied(f"{name}.ppsde", tmp_path, OLDER)
    with pytest.warns(CheckpointWarning, match=AGAIN):
        run, _ = peek(path)
    assert run.begun_again and run.best is not None and run.evaluations > 0.9 * STOP
    calls: list[np.ndarray] = []
    result, _ = opened(lambda: ppsde.resume(path, killed_after(BUDGET, calls)))
    assert result.nfev == BUDGET and len(calls) == BUDGET - run.evaluations
    assert (result.violation, result.fun) <= (run.best.violation[0], run.best.f[0]), "the best point is kept"
    assert not any((x == row).all() for x in calls for row in run.task.x0), "its points are not evaluated again"

    # Killed before it is stored again, it begins again in the same way, with the journal of the second try.
    path = copied(f"{name}.ppsde", tmp_path, OLDER)
    parts: list[np.ndarray] = []
    with pytest.raises(Killed):
        opened(lambda: ppsde.resume(path, killed_after(11, parts), checkpoint_every=1e6))
    again, other_versions = opened(lambda: ppsde.resume(path, killed_after(BUDGET, parts)))
    assert other_versions and bits(again.x) == bits(result.x) and bits(np.array(parts)) == bits(np.array(calls))


def test_an_optimizer_of_version_0_1_goes_on_to_the_same_bits(tmp_path: Path) -> None:
    search, _ = opened(lambda: ppsde.Optimizer.load(copied("optimizer.ppsde", tmp_path, OLDER)))
    found = told(search, BUDGET).result
    assert search.done and found.nfev == BUDGET
    assert bits(found.x) == bits(told(optimizer(), BUDGET).result.x)
    search.save(tmp_path / "again.ppsde")
    assert ppsde.Optimizer.load(tmp_path / "again.ppsde").done


def as_of_another_version(path: Path, state: str) -> None:
    """Change a file so that another version seems to have made it, in which the method had another state."""
    found = state_file.read(path)
    text = json.dumps({**found.content, "made_with": {"ppsde": "0.1.9"}}).replace(state, "ppsde.gone.State")
    state_file.write(path, json.loads(text), found.arrays)


def test_an_optimizer_of_a_method_that_has_changed_begins_again_with_its_points(tmp_path: Path) -> None:
    search = ppsde.Optimizer(BOX, n_ineq=1, max_evaluations=BUDGET, rng=5)
    for k in range(8):
        for x in search.ask(5)[: 5 - k // 6]:  # in the end some points are out
            search.tell(x, ((x - 1.0) ** 2).sum(), g=[1.0 - x[0]])
    path = tmp_path / "search.ppsde"
    search.save(path)
    before = search.result
    as_of_another_version(path, "ppsde.algorithms.pps_sqp.State")
    with pytest.warns(CheckpointWarning, match=AGAIN):
        search = ppsde.Optimizer.load(path)
    assert (search.result.nfev, search.result.fun) == (before.nfev, before.fun)
    x = search.ask(5)
    search.tell(x, ((x - 1.0) ** 2).sum(axis=1), g=1.0 - x[:, :1])
    found = told(search, BUDGET).result
    assert search.done and found.nfev <= BUDGET and found.fun <= before.fun


def test_a_state_that_does_not_fit_is_refused_if_this_version_made_it(tmp_path: Path) -> None:
    path = copied("jde.ppsde", tmp_path)
    found = state_file.read(path)
    content = {**found.content, "made_with": {"ppsde": ppsde.__version__}}
    state_file.write(path, json.loads(json.dumps(content).replace("jde.State", "jde.Other")), found.arrays)
    with pytest.raises(CheckpointError, match=r"jde\.Other' is no class of this algorithm"):
        ppsde.resume(path, fun)


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
    words = rf"journal\.ppsde\.journal: its format is version {journal.VERSION + 1}; this"
    with pytest.raises(CheckpointError, match=words):
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
