"""`minimize(asynchronous=True)`: workers never wait; limits, failures, interrupts and checkpoints are as ever."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from killing import digest
from processes import all_gone, marked

import ppsde
from ppsde.cli import main
from ppsde.engines.ending import FAILED, INTERRUPTED, STOPPED, TARGET, TIME_UP
from ppsde.evaluation import EvaluationError

# A function that counts or stops is wrapped on one side only.
pytestmark = pytest.mark.filterwarnings("ignore:.*not the one that the run began with")

BOX = [(-3.0, 4.0)] * 3
posix = pytest.mark.skipif(sys.platform != "linux", reason="worker processes, looked for in /proc")


def fun(x: np.ndarray) -> Any:
    """One inequality, one equality, and failures now and then."""
    if np.sin(37.0 * x.sum()) > 0.97:
        raise RuntimeError("the mesh collapsed")
    return ((x - 1.0) ** 2).sum(), [1.0 - (x**2).sum()], [x[0] * x[1] - 0.5]


def smooth_rows(x: np.ndarray) -> Any:
    return ((x - 1.0) ** 2).sum(axis=1), 1.0 - (x**2).sum(axis=1, keepdims=True), x[:, :1] * x[:, 1:2] - 0.5


def fleeting(x: np.ndarray) -> Any:
    """Fails at the first attempt at each point, in one process."""
    if x.tobytes() not in TRIED:
        TRIED.add(x.tobytes())
        raise RuntimeError("no licence")
    return float((x**2).sum())


TRIED: set[bytes] = set()


def uneven(x: np.ndarray) -> Any:
    time.sleep(0.001 * (1 + 9 * (np.sin(1e4 * x.sum()) > 0)))
    return fun(x)


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(4) as executor:
        yield executor


@pytest.mark.parametrize("method", ["pps-sqp", "pps-de"])
def test_with_one_worker_it_is_the_synchronous_run(method: str) -> None:
    common: dict[str, Any] = {"method": method, "max_evaluations": 300, "rng": 3}
    assert digest(ppsde.minimize(fun, BOX, asynchronous=True, **common)) == digest(ppsde.minimize(fun, BOX, **common))


@posix
@pytest.mark.parametrize("workers", [2, 4])
def test_worker_processes_meet_the_budget_exactly_and_leave_nothing(workers: int) -> None:
    with marked() as mark:
        result = ppsde.minimize(uneven, BOX, max_evaluations=150, rng=1, workers=workers, asynchronous=True, tol=0)
        assert all_gone(mark)
    assert result.nfev == result.n_calls == 150 and result.feasible
    assert 0 < result.n_failed == len(result.failures) and "the mesh collapsed" in result.failures[0].reason
    assert result.history["evaluations"][-1] <= 150


def test_threads_and_rows(threads: ThreadPoolExecutor) -> None:
    for function, vectorized in ((fun, False), (smooth_rows, True)):
        result = ppsde.minimize(
            function, BOX, max_evaluations=200, rng=1, workers=threads, vectorized=vectorized, asynchronous=True, tol=0
        )
        assert result.nfev == result.n_calls == 200 and result.feasible and result.fun < 0.4


def test_no_worker_waits(threads: ThreadPoolExecutor) -> None:
    began, busy = time.monotonic(), []

    def slow(x: np.ndarray) -> float:
        start = time.monotonic()
        time.sleep(0.01 * (1 + 9 * (np.sin(1e4 * x.sum()) > 0)))
        busy.append(time.monotonic() - start)
        return float((x**2).sum())

    ppsde.minimize(slow, BOX, max_evaluations=150, rng=1, workers=threads, asynchronous=True, tol=0)
    alone = sum(busy) / (4 * (time.monotonic() - began))
    busy.clear()
    began = time.monotonic()
    ppsde.minimize(slow, BOX, max_evaluations=60, rng=1, workers=threads, tol=0)
    assert alone > 0.7 and alone > 1.3 * sum(busy) / (4 * (time.monotonic() - began))


def test_points_are_retried_and_counted_once() -> None:
    TRIED.clear()
    result = ppsde.minimize(
        fleeting, BOX, method="jde", max_evaluations=110, rng=1, on_failure="retry:1", asynchronous=True
    )
    assert result.nfev == 110 and result.n_calls == 220 and result.n_failed == 0


def test_a_failure_can_end_the_run(threads: ThreadPoolExecutor) -> None:
    with pytest.raises(EvaluationError, match="the mesh collapsed") as caught:
        ppsde.minimize(fun, BOX, rng=1, workers=threads, on_failure="raise", asynchronous=True)
    assert caught.value.result.message == "stopped by an error"


def test_a_function_that_always_fails_is_given_up(threads: ThreadPoolExecutor) -> None:
    def failing(x: np.ndarray) -> float:
        raise RuntimeError("no licence")

    result = ppsde.minimize(failing, BOX, rng=1, workers=threads, asynchronous=True)
    assert result.status == FAILED and 100 <= result.nfev == result.n_failed <= 104
    assert "no licence" in result.message


def test_a_mistake_in_the_function_is_an_error_at_its_first_value(threads: ThreadPoolExecutor) -> None:
    with pytest.raises(ValueError, match="the objective must be"):
        ppsde.minimize(lambda x: "text", BOX, rng=1, workers=threads, asynchronous=True)


def test_target_time_and_callback_end_it(threads: ThreadPoolExecutor) -> None:
    common: dict[str, Any] = {"rng": 1, "workers": threads, "asynchronous": True, "tol": 0}
    result = ppsde.minimize(fun, BOX, target=3.0, **common)
    assert result.status == TARGET and result.fun <= 3.0
    began = time.monotonic()
    result = ppsde.minimize(uneven, BOX, max_time=0.3, **common)
    assert result.status == TIME_UP and time.monotonic() - began < 3 and result.nfev > 0
    seen = []

    def callback(intermediate: Any) -> bool:
        seen.append(intermediate.nfev)
        return len(seen) == 3

    result = ppsde.minimize(uneven, BOX, callback=callback, **common)
    assert result.status == STOPPED and len(seen) == 3 and result.nfev >= seen[-1]


@posix
def test_an_evaluation_that_hangs_or_dies_fails_alone() -> None:
    def bad(x: np.ndarray) -> float:
        if x[0] > 3.0:
            time.sleep(100)
        if x[1] > 3.0:
            os._exit(3)
        return float((x**2).sum())

    result = ppsde.minimize(
        bad, BOX, method="jde", max_evaluations=120, rng=1, workers=2, eval_timeout=0.3, asynchronous=True
    )
    assert result.nfev == 120 and {failure.status for failure in result.failures} == {"timeout", "crashed"}


def test_an_interrupt_ends_it_with_the_best_so_far(threads: ThreadPoolExecutor) -> None:
    timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        result = ppsde.minimize(uneven, BOX, rng=1, workers=threads, asynchronous=True, tol=0)
    finally:
        signal.signal(signal.SIGINT, before)
        timer.cancel()
    assert result.status == INTERRUPTED and result.message == "interrupted" and np.isfinite(result.fun)


class Counted:
    """The function, which remembers where it was evaluated and may be interrupted at its n-th call."""

    def __init__(self, stop: int = 0) -> None:
        self.stop, self.points = stop, []  # type: ignore[var-annotated]

    def __call__(self, x: np.ndarray) -> Any:
        if len(self.points) + 1 == self.stop:
            raise KeyboardInterrupt
        self.points.append(x.tobytes())
        return fun(x)


@pytest.mark.parametrize("every", [0.0, 100.0])
def test_a_run_that_is_interrupted_again_and_again_is_the_unbroken_one(every: float, tmp_path: Path) -> None:
    common: dict[str, Any] = {"max_evaluations": 90, "rng": 3, "tol": 0, "asynchronous": True}
    unbroken = ppsde.minimize(fun, BOX, **common)
    path, points = tmp_path / "run.ppsde", []
    function = Counted(20)
    result = ppsde.minimize(function, BOX, checkpoint=path, checkpoint_every=every, **common)
    while result.status == INTERRUPTED:
        points += function.points
        function = Counted(30)
        result = ppsde.resume(path, function, checkpoint_every=every)
    points += function.points
    assert len(points) == 90 and digest(result) == digest(unbroken)
    assert digest(ppsde.resume(path, fun)) == digest(unbroken)  # it is over


def test_with_threads_no_finished_evaluation_is_repeated(threads: ThreadPoolExecutor, tmp_path: Path) -> None:
    path, points = tmp_path / "run.ppsde", []

    def counted(x: np.ndarray) -> Any:
        value = uneven(x)
        points.append(x.tobytes())
        return value

    common: dict[str, Any] = {"workers": threads, "max_time": 0.2, "checkpoint_every": 0.05}
    result = ppsde.minimize(
        counted, BOX, rng=3, max_evaluations=300, tol=0, checkpoint=path, asynchronous=True, **common
    )
    lives = 1
    while result.status == TIME_UP:
        result = ppsde.resume(path, counted, **common)
        lives += 1
    assert result.nfev == 300 and lives > 2
    assert len(points) <= 300 + 4 * (lives - 1)  # those that were under way are evaluated again, no others


KILLED = """
import os, sys, time
from concurrent.futures import ThreadPoolExecutor
sys.path.insert(0, sys.argv[2])
import ppsde
from test_asynchronous_minimize import BOX, uneven
def fun(x):
    os.write(1, b".")
    return uneven(x)
with ThreadPoolExecutor(4) as threads:
    ppsde.minimize(fun, BOX, rng=3, max_evaluations=5000, tol=0, checkpoint=sys.argv[1], asynchronous=True,
                   workers=threads, checkpoint_every=0.1)
"""


@posix
def test_a_killed_process_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "run.ppsde"
    command = [sys.executable, "-c", KILLED, str(path), str(Path(__file__).parent)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        begun = len(process.stdout.read(150))
        process.kill()
        begun += len(process.stdout.read())
    stored = ppsde.resume(path, fun, max_time=1e-9)
    assert begun - 5 <= stored.nfev <= begun and stored.status == TIME_UP  # all but those under way


def test_another_function_is_noticed_and_nothing_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "run.ppsde"
    common: dict[str, Any] = {"max_evaluations": 70, "rng": 3, "tol": 0, "asynchronous": True}
    ppsde.minimize(Counted(40), BOX, checkpoint=path, checkpoint_every=0, **common)
    with pytest.raises(ppsde.CheckpointError, match="belongs to another function"):
        ppsde.resume(path, lambda x: float((x**2).sum()))
    assert digest(ppsde.resume(path, fun)) == digest(ppsde.minimize(fun, BOX, **common))


def test_bad_input_is_one_clear_sentence() -> None:
    with pytest.raises(ValueError, match="needs workers that are an int, an Executor or a Dask Client; got a map"):
        ppsde.minimize(fun, BOX, workers=map, asynchronous=True)
    with pytest.raises(ValueError, match="asynchronous must be True or False; got 2"):
        ppsde.minimize(fun, BOX, asynchronous=2)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="does not support asynchronous"):
        ppsde.minimize(fun, BOX, asynchronous=True, backend="jax")


def test_a_map_leaves_no_checkpoint_behind(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="got a map"):
        ppsde.minimize(fun, BOX, workers=map, asynchronous=True, checkpoint=tmp_path / "run.ppsde")
    assert list(tmp_path.iterdir()) == []


def test_the_command_has_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(tmp_path / "run.ppsde")
    words = ["solve", "engineering:three-bar-truss", "--seed", "1", "--quiet", "--asynchronous"]
    assert main([*words, "--max-evaluations", "60", "--checkpoint", file]) == 0
    assert "evaluations  60" in capsys.readouterr().out
    assert main(["solve", "engineering:three-bar-truss", "--quiet", "--resume", file, "--asynchronous"]) == 2
    assert "--asynchronous cannot be given with --resume: the run has its own" in capsys.readouterr().err
    assert main(["solve", "engineering:three-bar-truss", "--quiet", "--resume", file]) == 0
