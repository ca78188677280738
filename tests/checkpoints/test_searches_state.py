"""Several searches in a file: impossible contents are refused with a `CheckpointError`, and nothing else."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ppsde
from ppsde.checkpoints import state_file
from ppsde.checkpoints.state_file import CheckpointError

JUNK: list[Any] = [None, True, "text", {"int": "-5"}, {"int": "99999999999999999999"}, {"tuple": []}, {"array": "told"}]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> state_file.Contents:
    """A search with points out, two runs, and points that were looked ahead for."""
    path = tmp_path_factory.mktemp("saved") / "search.ppsde"
    optimizer = ppsde.Optimizer([(-3, 5)] * 3, n_ineq=1, max_evaluations=500, rng=1)
    queue: list[np.ndarray] = []
    for _ in range(60):
        queue += list(optimizer.ask(8 - len(queue)))
        x = queue.pop(0)
        optimizer.tell(x, (x**2).sum(), g=[1 - x[0]])
    optimizer.tell([1.0, 0.0, 0.0], -9.0, g=[0.0])
    optimizer.save(path)
    assert repr(ppsde.Optimizer.load(path)) == repr(optimizer)
    return state_file.read(path)


def paths(tree: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The places of all values in the description of the searches, but for those inside the states of methods."""
    if isinstance(tree, dict) and "fields" in tree:
        return [
            path
            for name in tree["fields"]
            for path in [(*at, "fields", name), *paths(tree["fields"][name], (*at, "fields", name))]
        ]
    if isinstance(tree, dict) and "tuple" in tree:
        return [path for k, part in enumerate(tree["tuple"]) for path in paths(part, (*at, "tuple", k))]
    return []


def refused(content: Any, arrays: dict[str, np.ndarray], path: Path) -> bool:
    state_file.write(path, content, arrays)
    try:
        optimizer = ppsde.Optimizer.load(path)
        if not optimizer.done:
            optimizer.ask(3)
    except CheckpointError:
        return True
    finally:
        path.unlink()
    return False


def test_junk_anywhere_is_refused_or_harmless(found: state_file.Contents, tmp_path: Path) -> None:
    places = [path for path in paths(found.content["searches"]) if "state" not in path and "task" not in path][::2]
    assert len(places) > 20
    count = 0
    for k, place in enumerate(places):
        content = copy.deepcopy(found.content)
        part = content["searches"]
        for step in place[:-1]:
            part = part[step]
        part[place[-1]] = JUNK[k % len(JUNK)]
        count += refused(content, found.arrays, tmp_path / "file.ppsde")
    assert count > 0.7 * len(places)


def test_arrays_of_other_shapes_and_types_are_refused(found: state_file.Contents, tmp_path: Path) -> None:
    names = [name for name in found.arrays if name.startswith("searches.") and ".runs" not in name]
    assert len(names) > 20
    count = 0
    for k, name in enumerate(names):
        array = found.arrays[name]
        other = (array[:-1] if array.size else np.ones((2, 2)), array.astype(np.float32), array[None])[k % 3]
        count += refused(found.content, {**found.arrays, name: other}, tmp_path / "file.ppsde")
    assert count > 0.7 * len(names)  # there may be any number of points ahead


def test_a_file_of_a_single_run_is_refused(found: state_file.Contents, tmp_path: Path) -> None:
    content = {key: value for key, value in found.content.items() if key != "searches"}
    assert refused(content, found.arrays, tmp_path / "file.ppsde")
    assert refused({**found.content, "searches": {"class": "os.system", "fields": {}}}, found.arrays, tmp_path / "f")
    arrays = {key: value for key, value in found.arrays.items() if key != "told"}
    assert refused(found.content, arrays, tmp_path / "file.ppsde")
