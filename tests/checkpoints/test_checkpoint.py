"""A run kept on disk: what is stored when, what is known afterwards, and what happens when the disk is full."""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ppsde
from ppsde.algorithm import Task
from ppsde.arrays import bits
from ppsde.checkpoints.checkpoint import MISFITS, Checkpoint
from ppsde.checkpoints.state_file import MAGIC, CheckpointError, CheckpointWarning
from ppsde.engines.run import Run
from ppsde.evaluation.evaluate import Costs
from ppsde.evaluation.values import Failure, Noted
from ppsde.testing import inequalities

LOWER, UPPER = np.full(2, -3.0), np.full(2, 5.0)
NONE = np.empty(0)


def a_run(budget: int = 400) -> Run:
    return Run(ppsde.ALGORITHMS["pps-de"], Task(LOWER, UPPER, budget), seed=1, tolerance=1e-4)


def outcomes(x: np.ndarray) -> list[Noted]:
    f, g, h = inequalities(x)
    return [Noted(float(f[k]), g[k], h[k], 0.1) for k in range(len(x))]


def values(outcomes: list[Noted]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return np.array([o.f for o in outcomes]), np.array([o.g for o in outcomes]), np.array([o.h for o in outcomes])


def answer(run: Run, checkpoint: Checkpoint) -> int:
    """One request, evaluated, noted and given to the run; how many rows were not known."""
    assert run.wanted is not None
    known = checkpoint.known(run.requests)
    fresh = [known.get(row, outcome) for row, outcome in enumerate(outcomes(run.wanted))]
    for row, outcome in enumerate(fresh):
        if row not in known:
            checkpoint.note(run.requests, row, outcome)
    run.supply(*values(fresh))
    return len(fresh) - len(known)


def finished(run: Run) -> Run:
    while run.wanted is not None:
        run.supply(*inequalities(run.wanted))
    return run


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.ppsde"


@pytest.mark.parametrize("every", [0.0, 1.0, 1e9])
def test_nothing_that_finished_is_lost_however_rarely_the_state_is_stored(every: float, path: Path) -> None:
    """A process that ends without a word, after any number of requests, has made every evaluation once."""
    times = iter(np.arange(1e6) / 10)
    total = 0
    run = a_run()
    checkpoint = Checkpoint(path, run, every=every, clock=lambda: next(times))
    for more in range(60, 500, 60):  # evaluations, and then the end
        while run.wanted is not None and total < more:
            total += answer(run, checkpoint)
            checkpoint.write(run)
        if run.wanted is not None:
            checkpoint._journal.close()  # all that the end of a process does
            resumed = Checkpoint.load(path, every=every, clock=lambda: next(times))
            run, checkpoint = resumed.run, resumed.checkpoint
    unbroken = finished(a_run())
    assert total == run.evaluations == 400
    assert run.best is not None and unbroken.best is not None and run.state is not None
    assert bits(run.best.x) == bits(unbroken.best.x)
    assert bits(run.state.population.x) == bits(unbroken.state.population.x)
    checkpoint.close()


def test_what_a_killed_writer_left_of_its_first_state_is_swept_by_the_next(path: Path) -> None:
    left = path.with_name(f".{path.name}.00ff00ff.unfinished")
    left.write_bytes(MAGIC + b"half a state")
    Checkpoint(path, a_run()).close()
    assert not left.exists() and path.exists()


def test_rows_of_an_unfinished_request_are_known_one_by_one(path: Path) -> None:
    run = a_run()
    checkpoint = Checkpoint(path, run)
    assert run.wanted is not None
    everything = outcomes(run.wanted)
    for row in (3, 0, 7):
        checkpoint.note(run.requests, row, everything[row])
    checkpoint.close()
    resumed = Checkpoint.load(path)
    known = resumed.checkpoint.known(resumed.run.requests)
    assert sorted(known) == [0, 3, 7] and all(known[row].f == everything[row].f for row in known)
    assert resumed.checkpoint.known(resumed.run.requests + 1) == {}
    resumed.checkpoint.close()


def test_a_state_is_stored_between_generations_and_when_it_is_time(path: Path) -> None:
    times = [0.0]
    run = a_run()
    checkpoint = Checkpoint(path, run, every=10.0, clock=lambda: times[0])
    answer(run, checkpoint)
    assert run.between_generations and not checkpoint.write(run)
    times[0] = 10.0
    answer(run, checkpoint)
    assert not run.between_generations and not checkpoint.write(run, now=True)
    answer(run, checkpoint)
    assert checkpoint.write(run) and not checkpoint.write(run, now=True)  # there is nothing new
    answer(run, checkpoint)
    answer(run, checkpoint)
    assert not checkpoint.write(run) and checkpoint.write(run, now=True)
    checkpoint.close()


def test_a_state_is_not_stored_while_a_request_is_half_noted(path: Path) -> None:
    """Nothing of that request was given to the run, so the run cannot tell; its journal would be lost."""
    run = a_run()
    checkpoint = Checkpoint(path, run)
    answer(run, checkpoint)
    assert run.wanted is not None
    checkpoint.note(run.requests, 0, outcomes(run.wanted)[0])
    assert run.between_generations and not checkpoint.write(run, now=True)
    checkpoint.close()
    resumed = Checkpoint.load(path)
    assert len(resumed.checkpoint.known(0)) == 40 and list(resumed.checkpoint.known(1)) == [0]
    resumed.checkpoint.close()


def test_a_run_that_is_over_is_one_file(path: Path) -> None:
    run = a_run()
    checkpoint = Checkpoint(path, run)
    while run.wanted is not None:
        answer(run, checkpoint)
        checkpoint.write(run)
    checkpoint.close()
    assert list(path.parent.iterdir()) == [path]
    resumed = Checkpoint.load(path)
    assert resumed.run.wanted is None and resumed.run.evaluations == 400
    resumed.checkpoint.close()
    assert list(path.parent.iterdir()) == [path]


def test_the_stored_request_and_the_failures_are_restored(path: Path) -> None:
    run = a_run()
    about = {"names": ("a", "b"), "limits": np.arange(3.0), "timeout": 1.5, "nothing": None, "many": 3}
    checkpoint = Checkpoint(path, run, about=about)
    failures = [
        Failure(np.array([1.0, -0.0]), "raised", "ValueError", "\ud800 \u00e9 " + "long " * 1000, 0.5),
        Failure(np.array([np.nan, 2.0]), "timeout", "Timeout", "", 1e-300),
    ]
    answer(run, checkpoint)
    assert checkpoint.write(run, failures, Costs(calls=47, seconds=1.25, counts=(1, 1)))
    checkpoint.close()
    resumed = Checkpoint.load(path)
    assert resumed.costs == vars(Costs(calls=47, seconds=1.25, counts=(1, 1)))
    assert list(resumed.about) == list(about) and np.array_equal(resumed.about.pop("limits"), about.pop("limits"))
    assert resumed.about == about
    for before, after in zip(failures, resumed.failures, strict=True):
        assert bits(before.x) == bits(after.x)
        assert [getattr(before, n) for n in ("status", "kind", "message", "seconds")] == [
            getattr(after, n) for n in ("status", "kind", "message", "seconds")
        ]
    resumed.checkpoint.close()


def test_nothing_is_overwritten(path: Path) -> None:
    path.write_text("the only copy of a thesis")
    with pytest.raises(CheckpointError, match="exists already"):
        Checkpoint(path, a_run())
    with pytest.raises(CheckpointError, match="not a checkpoint"):
        Checkpoint.load(path)
    assert path.read_text() == "the only copy of a thesis" and list(path.parent.iterdir()) == [path]


def test_a_path_that_is_not_possible_is_an_error_at_once(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"/missing/run\.ppsde'$"):
        Checkpoint(tmp_path / "missing" / "run.ppsde", a_run())
    with pytest.raises(FileNotFoundError):
        Checkpoint.load(tmp_path / "run.ppsde")
    assert list(tmp_path.iterdir()) == []
    for every in (-1.0, np.nan, np.inf, True, "1"):
        with pytest.raises(ValueError, match="checkpoint_every must be"):
            Checkpoint(tmp_path / "run.ppsde", a_run(), every=every)  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


def test_an_optimizer_is_not_a_run(path: Path) -> None:
    ppsde.Optimizer([(0, 1)], max_evaluations=10, rng=1).save(path)
    with pytest.raises(CheckpointError, match="does not hold a run"):
        Checkpoint.load(path)


@pytest.fixture
def resumed(path: Path) -> Iterator[Any]:
    run = a_run()
    checkpoint = Checkpoint(path, run)
    answer(run, checkpoint)
    checkpoint.write(run)
    checkpoint.close()
    loaded = Checkpoint.load(path)
    yield loaded
    loaded.checkpoint.close()


def without_constraints(k: int) -> Noted:
    return Noted(float(k), NONE, NONE, 0.0)


def supply(run: Run) -> None:
    assert run.wanted is not None
    run.supply(*inequalities(run.wanted))


def test_another_function_is_noticed_and_none_of_its_values_are_stored(resumed: Any, path: Path) -> None:
    run, checkpoint = resumed.run, resumed.checkpoint
    for row in range(MISFITS):
        checkpoint.note(
            run.requests, row, without_constraints(row) if row % 2 else Noted(np.nan, NONE, NONE, 0.0, "malformed")
        )
    supply(run)
    with pytest.raises(CheckpointError, match=r"another function.*1 inequalities and 0 equalities"):
        checkpoint.write(run)
    checkpoint.close()
    again = Checkpoint.load(path)
    assert again.checkpoint.known(again.run.requests) == {}
    again.checkpoint.close()


def test_a_function_that_now_and_then_returns_nonsense_is_the_same_function(resumed: Any, path: Path) -> None:
    run, checkpoint = resumed.run, resumed.checkpoint
    number = run.requests
    for row in range(MISFITS - 1):
        checkpoint.note(number, row, without_constraints(row))
    checkpoint.note(number, 50, Noted(np.nan, NONE, NONE, 0.0, "raised", "ValueError: no"))
    checkpoint.note(number, 51, outcomes(run.wanted)[0])
    for row in range(60, 60 + MISFITS):
        checkpoint.note(number, row, without_constraints(row))
    supply(run)
    checkpoint.write(run)
    checkpoint.close()
    again = Checkpoint.load(path)
    assert sorted(again.checkpoint.known(number)) == [*range(MISFITS - 1), 50, 51, *range(60, 60 + MISFITS)]
    again.checkpoint.close()


def test_a_state_that_cannot_be_stored_is_a_warning(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = a_run()
    checkpoint = Checkpoint(path, run)
    before = path.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr("ppsde.checkpoints.state_file.LARGEST_HEADER", 100)
        answer(run, checkpoint)
        with pytest.warns(CheckpointWarning, match="at most 100 bytes of header"):
            assert not checkpoint.write(run)
        assert path.read_bytes() == before
        answer(run, checkpoint)
        answer(run, checkpoint)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert not checkpoint.write(run)  # said once
    assert checkpoint.write(run) and checkpoint.error is None
    checkpoint.close()


FULL_DISK = """
import resource, signal, sys, warnings
sys.path.insert(0, {folder!r})
from test_checkpoint import *
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
_, most = resource.getrlimit(resource.RLIMIT_FSIZE)
for limit in map(int, sys.argv[1:]):
    run = a_run()
    checkpoint = Checkpoint(Path(f"{{limit}}.ppsde"), run)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, most))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        while run.wanted is not None:
            answer(run, checkpoint)
            checkpoint.write(run)
        checkpoint.close()
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    print(limit, run.evaluations, run.best.f[0].hex(), len(said) > 0, *{{w.category.__name__ for w in said}})
"""


def test_a_full_disk_is_a_warning_and_what_was_stored_before_is_good(tmp_path: Path) -> None:
    """Fifty sizes of disk, from one that takes next to nothing to one that takes all but the last states.

    In a child, because the limit is one on all files of a process.
    """
    unbroken = finished(a_run())
    assert unbroken.best is not None
    limits = [str(limit) for limit in np.linspace(100, 11_000, 50).astype(int)]
    command = [sys.executable, "-c", FULL_DISK.format(folder=str(Path(__file__).parent)), *limits]
    said = subprocess.run(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    assert said == [f"{limit} 400 {unbroken.best.f[0].hex()} True CheckpointWarning" for limit in limits]
    for limit in limits:
        resumed = Checkpoint.load(tmp_path / f"{limit}.ppsde")
        run = resumed.run
        assert run.evaluations < 400
        while run.wanted is not None:
            answer(run, resumed.checkpoint)
        assert run.best is not None and bits(run.best.f) == bits(unbroken.best.f)
        resumed.checkpoint.close()
    assert not list(tmp_path.glob(".*"))
