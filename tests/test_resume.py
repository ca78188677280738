"""Runs that were stopped, interrupted or killed are resumed, repeat no evaluation, and end with the same bits."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from killing import BUDGET, digest
from scipy.optimize import NonlinearConstraint

import ppsde
from ppsde import CheckpointError
from ppsde.checkpoints import state_file
from ppsde.checkpoints.state_file import CheckpointWarning
from ppsde.population import Population

BOX = [(-3.0, 5.0)] * 3


def fun(x: np.ndarray) -> Any:
    """One inequality, one equality, and failures of several kinds."""
    chance = np.sin(37.0 * x.sum())
    if chance > 0.97:
        raise RuntimeError(f"no values at {x[0]:.3f}")
    if chance < -0.97:
        return np.nan, [0.0], [0.0]
    if 0.5 < chance < 0.53:
        return "nonsense"
    return ((x - 1.0) ** 2).sum(), [1.0 - (x**2).sum()], [x[0] * x[1] - 0.5]


def rows(x: np.ndarray) -> Any:
    return ((x - 1.0) ** 2).sum(axis=1), 1.0 - (x**2).sum(axis=1, keepdims=True), x[:, :1] * x[:, 1:2] - 0.5


class Counted:
    """A function that remembers where it was evaluated, and may raise something at its n-th call."""

    def __init__(self, fun: Callable[[Any], Any] = fun, stop: int = 0, error: type[BaseException] = KeyboardInterrupt):
        self.fun, self.stop, self.error = fun, stop, error
        self.__wrapped__ = fun  # it is the same function
        self.points: list[bytes] = []

    def __call__(self, x: np.ndarray) -> Any:
        if len(self.points) + 1 == self.stop:
            raise self.error
        self.points.append(x.tobytes())
        return self.fun(x)


def stop_after(evaluations: int) -> Callable[[Any], None]:
    def callback(intermediate_result: Any) -> None:
        if intermediate_result.nfev >= evaluations:
            raise StopIteration

    return callback


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.ppsde"


@pytest.mark.parametrize("method", ppsde.ALGORITHMS)
def test_a_run_stopped_by_a_callback_goes_on_where_it_was(method: str, path: Path) -> None:
    common = {"method": method, "max_evaluations": 700, "rng": 3}
    unbroken = ppsde.minimize(fun, BOX, **common)
    stopped = ppsde.minimize(fun, BOX, **common, callback=stop_after(300), checkpoint=path)
    assert stopped.status == 2 and stopped.nfev < 700
    counted = Counted()
    resumed = ppsde.resume(path, counted)
    assert digest(resumed) == digest(unbroken)
    assert len(counted.points) == 700 - stopped.nfev
    assert resumed.n_calls == unbroken.n_calls == 700
    assert repr(resumed).split("time")[0] == repr(unbroken).split("time")[0]


@pytest.mark.parametrize("every", [0.0, 1e9])
def test_an_interrupted_generation_is_not_evaluated_again(every: float, path: Path) -> None:
    unbroken = ppsde.minimize(fun, BOX, method="pps-de", max_evaluations=700, rng=3)
    lives = [Counted(stop=stop) for stop in (20, 200, 1, 150, 0)]
    first, *others = lives
    common = {"checkpoint_every": every}
    result = ppsde.minimize(first, BOX, method="pps-de", max_evaluations=700, rng=3, checkpoint=path, **common)
    for life in others:
        assert result.status == 3
        result = ppsde.resume(path, life, **common)
    points = [point for life in lives for point in life.points]
    assert len(points) == len(set(points)) == 700
    assert digest(result) == digest(unbroken) and result.n_calls == 700
    assert list(path.parent.iterdir()) == [path]


def test_a_run_that_is_over_gives_its_result_again(path: Path) -> None:
    unbroken = ppsde.minimize(fun, BOX, method="pps-de", max_evaluations=300, rng=3, checkpoint=path)
    stored = path.read_bytes()
    counted = Counted()
    for _ in range(2):
        assert digest(ppsde.resume(path, counted)) == digest(unbroken)
    assert counted.points == [] and path.read_bytes() == stored and list(path.parent.iterdir()) == [path]


def test_where_evaluations_are_made_may_change(path: Path) -> None:
    unbroken = ppsde.minimize(rows, BOX, vectorized=True, method="pps-de", max_evaluations=700, rng=3)
    common = {"vectorized": True, "method": "pps-de", "max_evaluations": 700, "rng": 3, "checkpoint": path}
    ppsde.minimize(rows, BOX, **common, workers=2, callback=stop_after(200))
    ppsde.resume(path, rows, callback=stop_after(400))
    assert digest(ppsde.resume(path, rows, workers=map)) == digest(unbroken)


def test_points_that_fail_are_tried_as_often_as_before(path: Path) -> None:
    """The policy comes from the checkpoint. Only what was to be tried again when the run ended begins anew."""
    common = {"method": "pps-de", "max_evaluations": 300, "rng": 3, "on_failure": "retry:2"}
    unbroken, lives = Counted(), [Counted(stop=150), Counted()]
    result = ppsde.minimize(unbroken, BOX, **common)
    ppsde.minimize(lives[0], BOX, **common, checkpoint=path)
    resumed = ppsde.resume(path, lives[1])
    assert result.n_failed > 0 and digest(resumed) == digest(result)
    points = [point for life in lives for point in life.points]
    tries = {point: unbroken.points.count(point) for point in unbroken.points}
    assert set(tries.values()) == {1, 3} and all(points.count(p) == 1 for p in tries if tries[p] == 1)
    assert all(3 <= points.count(p) <= 5 for p in tries if tries[p] == 3)


def test_an_error_of_an_evaluation_leaves_a_run_that_can_be_resumed(path: Path) -> None:
    unbroken = ppsde.minimize(rows, BOX, vectorized=True, method="pps-de", max_evaluations=300, rng=3)
    tame = lambda x: tuple(part[0] for part in rows(x[None]))  # noqa: E731
    failing = Counted(tame, stop=150, error=RuntimeError)
    with pytest.raises(ppsde.EvaluationError) as caught:
        ppsde.minimize(failing, BOX, method="pps-de", max_evaluations=300, rng=3, on_failure="raise", checkpoint=path)
    assert caught.value.result.nfev == 150
    mended = Counted(tame)
    assert digest(ppsde.resume(path, mended)) == digest(unbroken)
    assert len(mended.points) == 300 - 149


def test_a_run_in_which_everything_fails_ends_as_it_would_have(path: Path) -> None:
    unbroken = ppsde.minimize(lambda x: np.nan, BOX, method="pps-de", max_evaluations=300, rng=3)
    ppsde.minimize(
        Counted(lambda x: np.nan, stop=30), BOX, method="pps-de", max_evaluations=300, rng=3, checkpoint=path
    )
    for _ in range(2):  # ended, and ended already
        resumed = ppsde.resume(path, lambda x: np.nan)
        assert resumed.status == unbroken.status == 4 and resumed.nfev == unbroken.nfev
        assert resumed.message == unbroken.message and len(resumed.failures) == len(unbroken.failures)


def test_constraints_of_scipy_are_given_again_and_keep_their_names(path: Path) -> None:
    limits = NonlinearConstraint(lambda x: [x[0], x.sum()], [0.5, 1.0], [np.inf, 1.0])
    objective = lambda x: (x**2).sum()  # noqa: E731
    common = {"constraints": limits, "method": "pps-de", "max_evaluations": 500, "rng": 3}
    unbroken = ppsde.minimize(objective, BOX, **common)
    ppsde.minimize(objective, BOX, **common, callback=stop_after(200), checkpoint=path)
    another = r"another function, it seems: .* 1 inequalities and 1 equalities"
    with pytest.raises(CheckpointError, match=another), pytest.warns(CheckpointWarning):
        ppsde.resume(path, objective)
    assert digest(ppsde.resume(path, objective, constraints=limits)) == digest(unbroken)
    again = ppsde.resume(path, objective, constraints=limits)  # over: the constraints are not called any more
    assert again.constr_violation == unbroken.constr_violation and list(again.constr_violation) != ["g[0]", "h[0]"]


def a_problem(**changes: Any) -> ppsde.Problem:
    facts = {"bounds": BOX, "name": "three", "constraint_names": ("ball", "product"), "tolerance": 1e-3, **changes}
    return ppsde.Problem(fun, **facts)


def test_integers_and_logarithms_are_searched_on(path: Path) -> None:
    def count(x: np.ndarray) -> Any:
        assert x[0] == round(x[0])
        return (x[0] - 2.3) ** 2 + np.log10(x[1]) ** 2, [x[1] - 50.0 + x[0]], []

    common = {"integrality": [1, 0], "log": [0, 1], "method": "pps-de", "max_evaluations": 500, "rng": 3}
    unbroken = ppsde.minimize(count, [(0, 9), (0.01, 100.0)], **common)
    stopped = ppsde.minimize(count, [(0, 9), (0.01, 100.0)], **common, callback=stop_after(200), checkpoint=path)
    resumed = ppsde.resume(path, count)
    assert stopped.nfev < 500 and digest(resumed) == digest(unbroken) and resumed.x[0] == 2.0


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"bounds": [(-3.0, 5.0)] * 2 + [(-3.0, 5.5)]}, "bounds"),
        ({"bounds": BOX[:2]}, "bounds"),
        ({"tolerance": 1e-4}, "tolerance 0.001; got one with 0.0001"),
        ({"name": "four"}, "name 'three'; got one with 'four'"),
        ({"constraint_names": None}, "constraint names ('ball', 'product'); got one with None"),
    ],
)
def test_another_problem_is_refused_by_what_is_different(changes: dict[str, Any], words: str, path: Path) -> None:
    unbroken = ppsde.minimize(a_problem(), method="pps-de", max_evaluations=300, rng=3)
    ppsde.minimize(a_problem(), method="pps-de", max_evaluations=300, rng=3, callback=stop_after(100), checkpoint=path)
    with pytest.raises(CheckpointError) as caught:
        ppsde.resume(path, a_problem(**changes))
    assert words in str(caught.value) and str(path) in str(caught.value)
    assert digest(ppsde.resume(path, a_problem())) == digest(unbroken)


def test_what_is_wrong_with_an_argument_is_said_before_anything_is_done(path: Path) -> None:
    for arguments, words in (
        ({"checkpoint": 3}, "checkpoint must be the path of a file; got 3"),
        ({"checkpoint_every": 5.0}, "checkpoint_every=5.0 needs a checkpoint"),
        ({"checkpoint": path, "checkpoint_every": -1.0}, "checkpoint_every must be a finite number"),
        ({"checkpoint": path, "workers": 0}, "workers"),
        ({"checkpoint": path, "callback": 3}, "callback"),
    ):
        with pytest.raises(ValueError) as caught:
            ppsde.minimize(Counted(stop=1, error=AssertionError), BOX, **arguments)  # type: ignore[arg-type]
        assert words in str(caught.value)
    assert list(path.parent.iterdir()) == []
    with pytest.raises(FileNotFoundError):
        ppsde.resume(path, fun)
    ppsde.minimize(fun, BOX, method="pps-de", max_evaluations=50, rng=1, checkpoint=path)
    with pytest.raises(CheckpointError, match="exists already"):
        ppsde.minimize(fun, BOX, method="pps-de", max_evaluations=50, rng=1, checkpoint=path)
    with pytest.raises(ValueError, match="callable"):
        ppsde.resume(path, 3)  # type: ignore[arg-type]


def test_a_mistake_on_resuming_leaves_everything_where_it_was(path: Path) -> None:
    ppsde.minimize(Counted(stop=1), BOX, method="pps-de", max_evaluations=50, rng=1, checkpoint=path)
    before = path.read_bytes()
    with pytest.raises(ValueError, match="callable"):
        ppsde.resume(path, 3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="real numbers"), pytest.warns(CheckpointWarning):
        ppsde.resume(path, lambda x: "nonsense")
    assert path.read_bytes() == before
    assert digest(ppsde.resume(path, fun)) == digest(
        ppsde.minimize(fun, BOX, method="pps-de", max_evaluations=50, rng=1)
    )


def test_a_mistake_in_the_program_leaves_nothing_behind(path: Path) -> None:
    with pytest.raises(ValueError, match="real numbers"):
        ppsde.minimize(lambda x: "nonsense", BOX, method="pps-de", max_evaluations=50, rng=1, checkpoint=path)
    assert list(path.parent.iterdir()) == []


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("on_failure", "shrug"),
        ("eval_timeout", {"int": "-1"}),
        ("vectorized", "yes"),
        ("method", None),
        ("problem", {"int": "1"}),
        ("constraint_names", {"list": []}),
        ("lower", None),
        ("upper", {"array": "run.best.x"}),
        ("log", {"array": "run.task.lower"}),
        ("points", {"int": "-1"}),
        ("counts", {"tuple": [None, None]}),
        ("seconds", "long"),
        ("names", {"tuple": [{"int": "1"}]}),
        ("hope", None),
        ("surplus", None),
    ],
)
def test_what_a_hostile_file_tells_of_the_run_is_checked(place: str, value: Any, path: Path) -> None:
    ppsde.minimize(fun, BOX, method="pps-de", max_evaluations=50, rng=1, checkpoint=path)
    found = state_file.read(path)
    content = found.content
    content["about" if place in content["about"] else "account"][place] = value
    state_file.write(path, content, found.arrays)
    with pytest.raises(CheckpointError, match=r"its (request|counters) (is|are) not possible"):
        ppsde.resume(path, fun)


INTERRUPT = """
import json, signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # whatever the parent ignores
import ppsde
calls = 0
def slow(x):
    global calls
    calls += 1
    if calls == 60:
        print("evaluating", flush=True)
    time.sleep(0.002)
    return (x**2).sum(), [1 - x[0]], []
budget = {"method": "pps-de", "max_evaluations": 3000}
result = ppsde.minimize(slow, [(-3, 5)] * 2, **budget, rng=3, checkpoint=sys.argv[1], checkpoint_every=1e9)
print(json.dumps({"status": result.status, "calls": calls}))
"""


@pytest.mark.filterwarnings("ignore:.*not the one that the run began with")  # it is written twice
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_leaves_a_checkpoint_with_all_that_was_evaluated(number: signal.Signals, path: Path) -> None:
    command = [sys.executable, "-c", INTERRUPT, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "evaluating\n"
        process.send_signal(number)
        told = json.loads(process.stdout.read())
    assert process.returncode == 0 and told["status"] == 3 and 60 <= told["calls"] < 3000
    counted = Counted(lambda x: ((x**2).sum(), [1 - x[0]], []))
    resumed = ppsde.resume(path, counted)
    assert len(counted.points) == 3000 - told["calls"]
    unbroken = ppsde.minimize(
        lambda x: ((x**2).sum(), [1 - x[0]], []), BOX[:2], method="pps-de", max_evaluations=3000, rng=3
    )
    assert digest(resumed) == digest(unbroken)


def test_a_checkpoint_in_use_is_not_taken_from_its_process(path: Path) -> None:
    command = [sys.executable, "-c", INTERRUPT, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "evaluating\n"
        with pytest.raises(CheckpointError, match="another process"):
            ppsde.resume(path, fun)
        process.kill()


FULL_DISK = """
import resource, signal, sys, warnings
sys.path.insert(0, sys.argv[1])
from test_resume import *
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
_, most = resource.getrlimit(resource.RLIMIT_FSIZE)
def fills(intermediate_result):
    resource.setrlimit(resource.RLIMIT_FSIZE, (14_000, most))
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    common = {"method": "pps-de", "max_evaluations": 700, "rng": 3, "checkpoint_every": 0.0}
    result = ppsde.minimize(fun, BOX, **common, checkpoint=sys.argv[2], callback=fills)
resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
print(digest(result), len(said), said[0].message)
"""


def test_a_full_disk_costs_the_checkpoint_and_not_the_result(path: Path) -> None:
    unbroken = digest(ppsde.minimize(fun, BOX, method="pps-de", max_evaluations=700, rng=3))
    command = [sys.executable, "-c", FULL_DISK, str(Path(__file__).parent), str(path)]
    found, count, words = subprocess.run(
        command, capture_output=True, text=True, check=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    ).stdout.split(maxsplit=2)
    assert found == unbroken and int(count) >= 1 and "could not be written" in words
    counted = Counted()
    assert digest(ppsde.resume(path, counted)) == unbroken and 0 < len(counted.points) < 700


def killed(folder: Path, kills: int, seed: int, workers: int = 1, every: float = 0.0) -> list[dict[str, Any]]:
    script = Path(__file__).with_name("killing.py")
    command = [sys.executable, str(script), *map(str, (folder, kills, seed, workers, every))]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    reports = [json.loads(line) for line in done.stdout.splitlines()]
    assert sum(report["killed"] for report in reports) == kills
    for number, report in enumerate(reports):
        assert report["same"], report
        assert report["points"] == BUDGET
        assert report["left"] == [f"{number}.{kind}" for kind in ("calls", "ended", "ppsde")]
        # What a process had evaluated but not yet noted when it was killed is evaluated again; nothing else is.
        assert report["finished"] <= BUDGET + workers * report["killed"], report
    return reports


def test_a_killed_run_is_resumed_to_the_same_bits(tmp_path: Path) -> None:
    killed(tmp_path, kills=5, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kills", "seed", "workers", "every"), [(200, 2, 1, 0.0), (50, 3, 1, 0.1), (20, 4, 2, 0.0)], ids=str
)
def test_killed_runs_are_resumed_to_the_same_bits(
    kills: int, seed: int, workers: int, every: float, tmp_path: Path
) -> None:
    killed(tmp_path, kills, seed, workers, every)


def test_a_resumed_checkpoint_that_is_damaged_says_so(path: Path) -> None:
    ppsde.minimize(fun, BOX, method="pps-de", max_evaluations=300, rng=3, callback=stop_after(100), checkpoint=path)
    data = path.read_bytes()
    path.write_bytes(data[:-1])
    with pytest.raises(CheckpointError, match="damaged"):
        ppsde.resume(path, fun)
    path.write_bytes(data)
    journal = path.with_name(path.name + ".journal")
    journal.write_bytes(journal.read_bytes()[:8] + b"garbage")  # which costs repeated evaluations at most
    unbroken = ppsde.minimize(fun, BOX, method="pps-de", max_evaluations=300, rng=3)
    assert digest(ppsde.resume(path, fun)) == digest(unbroken)


def shifted(by: float) -> Callable[[np.ndarray], float]:
    return lambda x: float(((x - by) ** 2).sum())


def stopped_early(fun: Callable[..., Any], path: Path, **given: Any) -> None:
    box = [(-5.0, 5.0)] * 2
    ppsde.minimize(fun, box, max_evaluations=200, rng=1, checkpoint=path, callback=lambda it: it.nfev > 40, **given)


def test_another_function_of_the_same_form_is_noticed(path: Path) -> None:
    stopped_early(shifted(1.0), path)
    with pytest.warns(CheckpointWarning, match="not the one that the run began with"):
        ppsde.resume(path, lambda x: float(((x + 2) ** 2).sum()) ** 2)


@pytest.mark.parametrize("by", [1.0, 3.0])
def test_a_number_that_a_function_uses_is_part_of_it(by: float, path: Path) -> None:
    stopped_early(shifted(1.0), path)
    if by == 1.0:
        ppsde.resume(path, shifted(by))  # a warning is an error here
    else:
        with pytest.warns(CheckpointWarning):
            ppsde.resume(path, shifted(by))


def test_another_argument_or_constraint_is_noticed(path: Path) -> None:
    def fun(x: np.ndarray, a: np.ndarray) -> float:
        return float(((x - a) ** 2).sum())

    def limit(at: float) -> NonlinearConstraint:
        return NonlinearConstraint(lambda x: x[0] + at, -np.inf, 0)

    stopped_early(fun, path, args=(np.zeros(2),), constraints=limit(0.0))
    copy = path.read_bytes()
    ppsde.resume(path, fun, args=(np.zeros(2),), constraints=limit(0.0))
    for a, at in ((1.0, 0.0), (0.0, 1.0)):
        path.write_bytes(copy)
        with pytest.warns(CheckpointWarning):
            ppsde.resume(path, fun, args=(np.full(2, a),), constraints=limit(at))


def test_a_function_that_counts_or_notes_is_the_same_one(path: Path) -> None:
    count, noted = 0, []

    def fun(x: np.ndarray) -> float:
        nonlocal count
        count += 1
        noted.append(x)
        return float((x**2).sum())

    stopped_early(fun, path)
    result = ppsde.resume(path, fun)
    assert count == len(noted) == result.nfev


class Killed(BaseException):
    """Ends a run as a kill does."""


@dataclass(frozen=True)
class State:
    population: Population
    generation: int


@dataclass(frozen=True)
class Walk:
    """A method of the user's own, whose code may change between a kill and the resumed run."""

    width: ClassVar[float] = 0.5

    def start(self, task, rng):
        points = yield task.lower + rng.uniform(6, task.dimension) * (task.upper - task.lower)
        return State(points, 0)

    def generation(self, state, task, rng):
        steps = self.width * (rng.uniform(*state.population.x.shape) - 0.5)
        points = yield np.clip(state.population.x + steps, task.lower, task.upper)
        return State(points, state.generation + 1)

    def answer(self, state, best_member):
        return best_member

    def watch(self, state):
        return {}


@pytest.mark.parametrize("asynchronous", [False, True])
def test_values_of_a_journal_are_not_taken_for_those_of_other_points(
    asynchronous: bool, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[np.ndarray] = []

    def killed(x: np.ndarray) -> float:
        if len(calls) == 20:
            raise Killed
        calls.append(x)
        return float((x**2).sum())

    settings: dict[str, Any] = {"method": Walk(), "max_evaluations": 36, "rng": 3, "asynchronous": asynchronous}
    with pytest.raises(Killed):
        every = 1e6 if asynchronous else 0.0
        ppsde.minimize(killed, [(-1, 1)] * 2, **settings, checkpoint=path, checkpoint_every=every)
    monkeypatch.setattr(Walk, "width", 0.3)
    again: list[np.ndarray] = []

    def noted(x: np.ndarray) -> float:
        again.append(x)
        return float((x**2).sum())

    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        result = ppsde.resume(path, noted, method=Walk())
    (words,) = [str(one.message) for one in said if "it asks for other points" in str(one.message)]
    assert f"and {len(again) - 16} that were evaluated" in words and len(again) > 16
    assert result.nfev == 36 and result.fun == (result.x**2).sum()
    assert (result.population.f == (result.population.x**2).sum(axis=1)).all()
