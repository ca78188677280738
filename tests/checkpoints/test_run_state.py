"""Runs as plain data: taken up at any moment they end with the same bits, and what no run could be is refused."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ppsde
from ppsde.algorithm import Ask, Task
from ppsde.arrays import bits
from ppsde.checkpoints import state_file
from ppsde.checkpoints.state_file import CheckpointError
from ppsde.checkpoints.state_tree import described, restored
from ppsde.engines.run import GIVE_UP, Run
from ppsde.parts.handling import RULES
from ppsde.population import Population

LOWER, UPPER = np.full(3, -3.0), np.full(3, 5.0)
BOX = list(zip(LOWER, UPPER, strict=True))
Values = tuple[np.ndarray, np.ndarray, np.ndarray]

DEAR = pytest.mark.slow  # ten requests a generation


def values(x: np.ndarray) -> Values:
    """One inequality, one equality, and no values at all at some points."""
    f = ((x - 1.0) ** 2).sum(axis=1)
    f = np.where(np.sin(37.0 * x.sum(axis=1)) > 0.9, np.nan, f)
    return f, 1.0 - (x**2).sum(axis=1, keepdims=True), x[:, :1] * x[:, 1:2] - 0.5


def nothing(x: np.ndarray) -> Values:
    return np.full(len(x), np.nan), np.zeros((len(x), 1)), np.zeros((len(x), 1))


def leaves(tree: Any, path: str) -> Iterator[tuple[str, Any]]:
    if is_dataclass(tree):
        for field in fields(tree):
            yield from leaves(getattr(tree, field.name), f"{path}.{field.name}")
    else:
        yield path, tree


def assert_same(first: Run, second: Run) -> None:
    """Whether two runs are the same to the last bit."""
    for name in (
        "state",
        "best",
        "best_member",
        "wanted",
        "evaluations",
        "failed",
        "requests",
        "generation",
        "hopeless",
    ):
        pairs = zip(leaves(getattr(first, name), name), leaves(getattr(second, name), name), strict=True)
        for (path, a), (_, b) in pairs:
            if a is None or b is None:
                assert a is b, path
            else:
                assert type(a) is type(b) and np.asarray(a).dtype == np.asarray(b).dtype, path
                assert np.shape(a) == np.shape(b) and bits(a) == bits(b), path
    assert list(first.history) == list(second.history)
    assert all(bits(first.history[name]) == bits(second.history[name]) for name in first.history)
    assert first.completed == second.completed and repr(first.latest) == repr(second.latest)


def through_a_file(run: Run, path: Path, algorithm: Any = None) -> Run:
    arrays: dict[str, np.ndarray] = {}
    state_file.write(path, described(run.snapshot(), arrays), arrays)
    found = state_file.read(path)
    return restored(found.content, found.arrays, algorithm)


def a_run(algorithm: Any, budget: int = 300, x0: np.ndarray | None = None) -> Run:
    return Run(algorithm, Task(LOWER, UPPER, budget, x0), seed=2**63 + 1, run=3, tolerance=1e-3)


def finish(run: Run, values: Callable[[np.ndarray], Values] = values) -> Run:
    while run.wanted is not None:
        run.supply(*values(run.wanted))
    return run


@pytest.mark.parametrize(
    "method", [pytest.param(m, marks=DEAR if m in ("rdex", "rde26") else ()) for m in ppsde.ALGORITHMS]
)
def test_a_search_saved_and_loaded_at_every_request_equals_the_unbroken_one(method: str, tmp_path: Path) -> None:
    path = tmp_path / "search.ppsde"
    arguments = {"method": method, "n_ineq": 1, "n_eq": 1, "max_evaluations": 407, "rng": 5, "x0": [1.0, 1.0, 1.0]}
    unbroken, broken = (ppsde.Optimizer(BOX, **arguments) for _ in range(2))
    while not unbroken.done:
        broken.save(path)
        broken = ppsde.Optimizer.load(path)
        x = unbroken.ask()
        assert bits(broken.ask()) == bits(x)
        unbroken.tell(*values(x))
        broken.tell(*values(x))
    assert broken.done
    broken.save(path)
    again = ppsde.Optimizer.load(path)
    assert again.done and again.result.nfev == 407
    for optimizer in (broken, again):
        assert_same(unbroken._searches.leading, optimizer._searches.leading)
        assert repr(optimizer.result) == repr(unbroken.result)


@pytest.mark.parametrize("method", ppsde.ALGORITHMS)
def test_one_loaded_search_taken_to_its_end_equals_the_unbroken_one(method: str, tmp_path: Path) -> None:
    """From the middle, where the one before goes on from the last request each time."""
    path = tmp_path / "search.ppsde"
    unbroken = a_run(ppsde.ALGORITHMS[method], 700)
    while unbroken.evaluations < 350:
        assert unbroken.wanted is not None
        unbroken.supply(*values(unbroken.wanted))
    broken = through_a_file(unbroken, path)
    assert_same(finish(unbroken), finish(broken))


def test_attempts_at_a_first_population_are_counted_on(tmp_path: Path) -> None:
    run = a_run(ppsde.ALGORITHMS["pps-de"], 1000)
    assert run.wanted is not None
    run.supply(*nothing(run.wanted))
    assert run.state is None and run.failed > 0
    again = through_a_file(run, tmp_path / "file")
    assert_same(finish(run), finish(again))


def test_a_run_that_was_given_up_stays_given_up(tmp_path: Path) -> None:
    run = finish(a_run(ppsde.ALGORITHMS["pps-de"], 1000), nothing)
    again = through_a_file(run, tmp_path / "file")
    assert again.hopeless and again.wanted is None and again.failed >= GIVE_UP
    assert_same(run, again)


@pytest.mark.parametrize("options", [{}, {"population_size": 9, "pbest": np.float64(0.25), "repair": "clamp"}])
def test_settings_come_back_as_they_were(options: dict[str, Any], tmp_path: Path) -> None:
    for method in ("pps-de", "pps-de-published"):
        algorithm = replace(ppsde.ALGORITHMS[method], **options)
        back: Any = through_a_file(a_run(algorithm), tmp_path / "file").algorithm
        assert back == algorithm and type(back.pbest) is type(algorithm.pbest)


@dataclass(frozen=True)
class Early:
    count: int


@dataclass(frozen=True)
class Late:
    share: float


@dataclass(frozen=True)
class OddState:
    """Everything that a state may hold: arrays however they lie, NumPy's numbers, Python's, and other dataclasses."""

    population: Population
    generation: int
    phase: Early | Late
    pair: tuple[float, np.float32]
    columns: np.ndarray  # in Fortran's order
    strided: np.ndarray  # a part of the transpose of a larger one
    small: np.ndarray  # float32
    flag: np.bool_
    nothing: None = None


@dataclass(frozen=True)
class Odd:
    size: int = 6

    def start(self, task: Task, rng: Any) -> Any:
        points = yield rng.uniform(self.size, task.dimension)
        return OddState(
            points,
            0,
            Early(0),
            (-0.0, np.float32(np.nan)),
            np.asfortranarray(rng.uniform(17, 19)),
            rng.uniform(30, 40).T[::2, ::3],
            np.float32(rng.uniform(3)),
            np.bool_(True),
        )

    def generation(self, state: OddState, task: Task, rng: Any) -> Any:
        # The last bits of a sum of many numbers tell how an array lies in memory.
        shift = 1e10 * state.columns.sum() % 1.0 + 1e10 * state.strided.sum() % 1.0
        x = task.lower + (task.upper - task.lower) * ((rng.uniform(self.size, task.dimension) + shift) % 1.0)
        some = yield Ask(x, rng.uniform(self.size) < 0.7)
        more = yield np.asfortranarray(x[::-1])
        population = some if some.valid.any() and state.generation % 2 else more
        return OddState(
            population,
            state.generation + 1,
            Early(state.generation) if state.generation < 3 else Late(float(shift)),
            (float(shift), np.float32(shift)),
            np.asfortranarray(state.columns * 1.1 % 1.0),
            rng.uniform(30, 40).T[::2, ::3],
            state.small + np.float32(shift),
            ~state.flag,
        )

    def answer(self, state: OddState, kept: Population) -> Population:
        return kept

    def watch(self, state: OddState) -> dict[str, Any]:
        return {"shift": state.pair[0], "flag": state.flag, "wide": state.pair[1]}


def test_any_algorithm_that_follows_the_protocol_is_resumed_to_the_same_bits(tmp_path: Path) -> None:
    unbroken, broken = a_run(Odd()), a_run(Odd())
    while unbroken.wanted is not None:
        broken = through_a_file(broken, tmp_path / "file", Odd())
        assert_same(unbroken, broken)
        for run in (unbroken, broken):
            assert run.wanted is not None
            run.supply(*values(run.wanted))
    assert_same(unbroken, broken)
    assert type(unbroken.state.phase) is Late  # a class that the first state does not hold


def test_an_algorithm_that_is_not_in_the_table_must_be_given_as_it_was(tmp_path: Path) -> None:
    run = a_run(Odd())
    with pytest.raises(CheckpointError, match=r"not in ppsde\.ALGORITHMS"):
        through_a_file(run, tmp_path / "file")
    with pytest.raises(CheckpointError, match="other settings"):
        through_a_file(run, tmp_path / "file", Odd(size=7))
    with pytest.raises(CheckpointError, match="of the algorithm"):
        through_a_file(run, tmp_path / "file", ppsde.ALGORITHMS["pps-de"])


@dataclass(frozen=True)
class Hidden:
    value: int


@dataclass(frozen=True)
class Secretive(Odd):
    def generation(self, state: OddState, task: Task, rng: Any) -> Any:
        state = yield from super().generation(state, task, rng)
        return replace(state, nothing=Hidden(1))


def test_a_state_that_could_not_be_read_again_is_not_stored(tmp_path: Path) -> None:
    run = a_run(Secretive())
    while run.state is None or run.state.generation < 1:
        assert run.wanted is not None
        run.supply(*values(run.wanted))
    with pytest.raises(CheckpointError, match=r"run\.state\.nothing cannot be stored: .*Hidden"):
        described(run.snapshot(), {})


def test_values_are_copied_so_that_arrays_may_be_used_again() -> None:
    reused, fresh = a_run(ppsde.ALGORITHMS["pps-de"]), a_run(ppsde.ALGORITHMS["pps-de"])
    buffers = [np.empty((300, 20), order="F") for _ in range(3)]
    while fresh.wanted is not None:
        n = len(fresh.wanted)
        f, g, h = values(fresh.wanted)
        g = np.cos(g * np.linspace(0.1, 0.7, 20))  # enough of them for the order of a sum to matter
        fresh.supply(f, g, h)
        lent = (buffers[0][:n, 0], buffers[1][:n], buffers[2][:n, 1:2])
        for buffer, part in zip(lent, (f, g, h), strict=True):
            buffer[...] = part
        reused.supply(*lent)
        for buffer in buffers:
            buffer[...] = -1e9
    assert_same(fresh, reused)


def test_another_version_is_a_warning() -> None:
    arrays: dict[str, np.ndarray] = {}
    content = described(a_run(ppsde.ALGORITHMS["pps-de"]).snapshot(), arrays)
    content["made_with"]["ppsde"] = "0.0.1"
    with pytest.warns(UserWarning, match=r"0\.0\.1.*perhaps not to the same bits"):
        restored(content, arrays)


def set_in(content: Any, path: str, value: Any) -> None:
    *way, last = path.split("/")
    for key in way:
        content = content[key]
    content[last] = value


RUN, STATE = "run/fields/", "run/fields/state/fields/"
HOSTILE: list[tuple[str, Any, str]] = [
    ("run", None, "does not describe a run"),
    ("run/class", "ppsde.population.Population", "must have the fields"),
    (RUN + "seed", {"int": "-1"}, "seed must be"),
    (RUN + "seed", {"int": str(2**64)}, "seed must be"),
    (RUN + "run", True, "run must be"),
    (RUN + "evaluations", {"float": "run.tolerance"}, "evaluations must be"),
    (RUN + "tolerance", "small", "tolerance must be"),
    (RUN + "task/fields/lower", {"array": "run.state.population.x"}, "the box must have"),
    (RUN + "task/fields/lower", {"array": "nan"}, "must be finite"),
    (RUN + "task/fields/lower", {"array": "big"}, "none below the other"),
    (RUN + "task/fields/max_evaluations", {"int": "0"}, "budget"),
    (RUN + "task/fields/x0", {"array": "run.task.lower"}, "x0 must be"),
    (RUN + "task/fields/x0", {"array": "far"}, "x0 must be"),
    (RUN + "task/fields/tol", {"int": "0"}, "tol must be"),
    (RUN + "task/fields/tol", {"float": "below"}, "tol must be"),
    (RUN + "target", "low", "target must be"),
    (RUN + "target", {"float": "not a number"}, "target must be"),
    (RUN + "x0_values", {"tuple": []}, "supplied values"),
    (RUN + "x0_values", {"tuple": [{"array": "run.best.f"}, *[{"array": "run.best.g"}] * 2]}, "supplied values"),
    (RUN + "task", None, "does not describe a run"),
    (RUN + "best", {"tuple": []}, "best must be"),
    (RUN + "best_member/fields/f", {"array": "run.state.population.f"}, "best_member must be"),
    (RUN + "best_member/fields/g", {"array": "run.best_member.x"}, "best_member must be"),
    (RUN + "state", {"tuple": []}, "state.population must be"),
    (RUN + "state", None, "history does not fit"),
    (STATE + "population/fields/x", {"array": "run.state.population.g"}, "state.population must be"),
    (STATE + "population/fields/f", {"array": "integers"}, "state.population must be"),
    (STATE + "population/fields/h", {"array": "run.best_member.h"}, "state.population must be"),
    (STATE + "memory", {"tuple": []}, "cannot go on from here"),
    (STATE + "memory/fields/F", {"array": "run.task.lower"}, "cannot go on from here"),
    (STATE + "generation", "text", "cannot go on from here"),
    (RUN + "columns", {"tuple": [None]}, "must be names"),
    (RUN + "columns", {"tuple": ["f"]}, "history does not fit"),
    (RUN + "columns", {"tuple": list("abcdefghij")}, "columns of its history are not those"),
    (RUN + "given", None, "supplied values"),
    (RUN + "given", {"tuple": [{"tuple": []}]}, "supplied values"),
    (RUN + "given", {"tuple": [{"tuple": [{"array": "run.rows"}] * 3}]}, "supplied values"),
    (RUN + "given", {"tuple": [{"tuple": [{"array": "run.best.f"}, *[{"array": "run.best.g"}] * 2]}]}, "cannot go on"),
    ("algorithm", None, "does not describe an algorithm"),
    ("algorithm/name", "nonsense", "'nonsense' is not in ppsde.ALGORITHMS"),
    ("algorithm/name", ["pps-de"], "is not in ppsde.ALGORITHMS"),
    ("algorithm/class", "os.system", "of the algorithm 'os.system'"),
    ("algorithm/settings", {}, "other settings now"),
    ("algorithm/settings/population_size", {"int": "3"}, "settings are not possible: population_size"),
    ("algorithm/settings/population_size", {"int": str(10**9)}, "larger than any that a checkpoint can hold"),
    ("algorithm/settings/repair", "magic", "settings are not possible: repair"),
    ("algorithm/settings/repair", {"list": []}, "settings are not possible"),
]


@pytest.mark.parametrize(("path", "value", "words"), HOSTILE, ids=range(len(HOSTILE)))
def test_what_no_run_could_be_is_refused(path: str, value: Any, words: str) -> None:
    run = a_run(ppsde.ALGORITHMS["pps-de"])
    for _ in range(4):
        assert run.wanted is not None
        run.supply(*values(run.wanted))
    arrays: dict[str, np.ndarray] = {}
    content = json.loads(json.dumps(described(run.snapshot(), arrays)))
    before = copy.deepcopy(content)
    set_in(content, path, value)
    assert content != before
    extra = {"nan": np.full(3, np.nan), "big": np.full(3, 1e9), "far": np.full((1, 3), 99.0), "integers": np.arange(40)}
    extra |= {"below": np.array(-1.0), "not a number": np.array(np.nan)}
    with pytest.raises(CheckpointError) as caught:
        restored(content, {**arrays, **extra})
    assert words in str(caught.value)


def test_the_number_of_constraints_must_be_that_of_the_points(tmp_path: Path) -> None:
    optimizer = ppsde.Optimizer(BOX, n_ineq=1, n_eq=1, max_evaluations=100, rng=1)
    optimizer.tell(*values(optimizer.ask()))
    path = tmp_path / "search.ppsde"
    optimizer.save(path)
    found = state_file.read(path)
    for counts, words in (([2, 1], "not have 2 inequalities"), ([1], "numbers of"), ([True, 1], "numbers of")):
        state_file.write(path, {**found.content, "counts": counts}, found.arrays)
        with pytest.raises(CheckpointError, match=words):
            ppsde.Optimizer.load(path)
    state_file.write(path, {**found.content, "kind": "run"}, found.arrays)
    with pytest.raises(CheckpointError, match="does not hold an Optimizer"):
        ppsde.Optimizer.load(path)


@pytest.mark.parametrize("rule", RULES)
def test_a_search_with_any_technique_is_stored_and_goes_on_to_the_same_bits(rule: str, tmp_path: Path) -> None:
    def told(optimizer: ppsde.Optimizer, requests: int) -> ppsde.Optimizer:
        for _ in range(requests):
            x = optimizer.ask()
            optimizer.tell((x**2).sum(axis=1), g=1 - x[:, :1])
        return optimizer

    begun = ppsde.Optimizer([(-5, 5)] * 2, method="jde", n_ineq=1, rng=1, options={"rule": rule})
    told(begun, 5).save(tmp_path / "search.ppsde")
    loaded = told(ppsde.Optimizer.load(tmp_path / "search.ppsde"), 5)
    assert bits(loaded.ask()) == bits(told(begun, 5).ask())
