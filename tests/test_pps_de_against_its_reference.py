"""PPS-DE and its literal version, fed the same draws, must go the same way, point by point."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from reference.pps_de import ReferencePPSDE
from reference.pps_de_settings import SMALL, alternatives, named

from ppsde.algorithm import Task
from ppsde.algorithms.pps_de import PPSDE, State
from ppsde.engines.host import Run
from ppsde.population import evaluated
from ppsde.streams import NumpyStream, Tape
from ppsde.violation import TOLERANCE

# The two take sums in another order and call other libraries' tan and arctan, so they differ in the last bits; and
# gains, differences of nearly equal numbers, enlarge such differences before they weigh what a memory learns.
CLOSE: dict[str, Any] = {"rtol": 1e-9, "atol": 1e-9}

SEED = 22
D = 4
GENERATIONS = 40  # enough for all that can happen, and not so many that gains become differences of equal numbers
LOWER, UPPER = np.full(D, -5.0), np.array([5.0, 5.0, 6.0, 2.5])

Values = tuple[float, list[float], list[float]]


def inequalities(x: Sequence[float]) -> Values:
    f = 0.01 + sum((v - 1.0) ** 2 for v in x)
    return f, [6.0 - sum(x), x[0] * x[1] - 3.0], []


def equalities(x: Sequence[float]) -> Values:
    f = -7.0 + sum((j + 1) * (v - 0.5) ** 2 for j, v in enumerate(x))
    return f, [x[3] - 2.0], [x[0] + x[1] - 3.0, x[2] * x[3] - 2.0]


def failing(x: Sequence[float]) -> Values:
    """Without values in parts of the box, in each of the ways there are, and infinite in another part."""
    f, g, h = inequalities(x)
    if x[0] > 1.5:
        f = math.nan
    elif x[1] > 2.2:
        g = [math.nan, g[1]]
    elif x[2] < -3.0:
        g = [g[0], -math.inf]
    elif x[2] > 5.0:
        h = [math.inf]
    elif x[3] < -4.0:
        f = -math.inf
    elif x[1] < -4.0:
        f = math.inf  # a value, the worst
    return f, g, h or [2.0 * x[0] - 0.7 * x[1] ** 2]


PROBLEMS: dict[str, Callable[[Sequence[float]], Values]] = {
    "inequalities": inequalities,
    "equalities": equalities,
    "failing": failing,
}


def by_rows(function: Callable[[Sequence[float]], Values], x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    f, g, h = zip(*(function([float(v) for v in row]) for row in x), strict=True)
    return np.array(f), np.array(g).reshape(len(x), -1), np.array(h).reshape(len(x), -1)


def fast_run(settings: PPSDE, problem: str) -> tuple[Run, list[State]]:
    """A run of the host engine to its end, and its states at the start and after each generation."""
    run = Run(settings, Task(LOWER, UPPER, budget_of(settings)), seed=SEED, tolerance=TOLERANCE)
    states: list[State] = []
    while run.wanted is not None:
        run.supply(*by_rows(PROBLEMS[problem], run.wanted))
        if run.state is not None and int(run.state.generation) == len(states):
            states.append(run.state)
    return run, states


def assert_same(fast: State, slow: ReferencePPSDE) -> None:
    where = f"generation {slow.G}"
    population = fast.population
    np.testing.assert_allclose(population.x, [p.x for p in slow.population], **CLOSE, err_msg=where)
    np.testing.assert_allclose(population.f, [p.f for p in slow.population], **CLOSE, err_msg=where)
    np.testing.assert_allclose(population.violation, [p.phi for p in slow.population], **CLOSE, err_msg=where)
    np.testing.assert_allclose(fast.memory.F, slow.M_F, **CLOSE, err_msg=where)
    np.testing.assert_allclose(fast.memory.CR, slow.M_CR, **CLOSE, err_msg=where)
    assert fast.memory.next.tolist() == slow.k, where
    assert bool(fast.stage.pull) == slow.pull, where
    np.testing.assert_allclose([fast.stage.epsilon, fast.stage.start], [slow.eps, slow.eps_0], **CLOSE, err_msg=where)
    window = fast.competition.wins.shape[0]
    for g in range(max(1, slow.G - window + 1), slow.G + 1):
        assert fast.competition.wins[g % window].tolist() == slow.wins[g - 1], where


def budget_of(settings: PPSDE) -> int:
    """For `GENERATIONS` generations and a part of one more, which is cut off in its first request."""
    n = settings.population_size or 5 * D
    return n + GENERATIONS * (n + 2 * ((n + 1) // 2)) + 7


def follow(slow: ReferencePPSDE, fast: State) -> None:
    """Set the literal version to exactly where the fast one stands, so that rounding does not add up over a run."""
    for point, x, f, phi in zip(
        slow.population, fast.population.x, fast.population.f, fast.population.violation, strict=True
    ):
        point.x, point.f, point.phi = x.tolist(), float(f), float(phi)
    slow.M_F, slow.M_CR = fast.memory.F.tolist(), fast.memory.CR.tolist()
    slow.eps, slow.eps_0 = float(fast.stage.epsilon), float(fast.stage.start)


def walk_together(settings: PPSDE, problem: str, following: bool) -> None:
    budget = budget_of(settings)
    slow = ReferencePPSDE(settings, PROBLEMS[problem], LOWER.tolist(), UPPER.tolist(), budget, TOLERANCE)
    slow.start(NumpyStream(SEED, 0, 0))
    run, states = fast_run(settings, problem)
    for state in states:
        if state.generation > 0:
            slow.generation(NumpyStream(SEED, 0, int(state.generation)))
        assert_same(state, slow)
        if following:
            follow(slow, state)
    assert slow.G == GENERATIONS + 1
    assert run.evaluations == slow.evaluations == budget
    assert run.best is not None and slow.best is not None
    np.testing.assert_allclose(run.best.x[0], slow.best.x, **CLOSE)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_both_walk_the_same_way_from_start_to_end(problem: str) -> None:
    walk_together(PPSDE(**SMALL), problem, following=False)


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("options", alternatives(), ids=named)
def test_both_take_every_step_alike_whatever_the_setting(options: dict[str, Any], problem: str) -> None:
    walk_together(PPSDE(**{**SMALL, **options}), problem, following=True)


@pytest.mark.parametrize("options", [{}, *alternatives()], ids=named)
def test_both_ask_for_the_same_draws(options: dict[str, Any]) -> None:
    """The tape refuses another shape than the one recorded, and must be used up."""
    settings = PPSDE(**{**SMALL, **options})
    task = Task(LOWER, UPPER, budget_of(settings))
    slow = ReferencePPSDE(settings, inequalities, LOWER.tolist(), UPPER.tolist(), task.max_evaluations, TOLERANCE)
    state: State | None = None
    for generation in range(3):
        tape = Tape.record(NumpyStream(SEED, 0, generation))
        coroutine = settings.start(task, tape) if state is None else settings.generation(state, task, tape)
        request = next(coroutine)
        while True:
            try:
                request = coroutine.send(evaluated(request, *by_rows(inequalities, request), TOLERANCE))
            except StopIteration as end:
                state = end.value
                break
        replayed = Tape(tape.draws)
        slow.start(replayed) if generation == 0 else slow.generation(replayed)
        with pytest.raises(IndexError):
            replayed.uniform(1)
        assert state is not None
        assert_same(state, slow)


def history(options: dict[str, Any], problem: str) -> tuple[Run, list[State]]:
    return fast_run(PPSDE(**{**SMALL, **options}), problem)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_these_runs_see_the_push_the_pull_and_epsilon_zero(problem: str) -> None:
    """Otherwise the agreement above would say little."""
    _, states = history({}, problem)
    pulls = [bool(state.stage.pull) for state in states]
    epsilons = [float(state.stage.epsilon) for state in states]
    last = 0.9 * GENERATIONS
    assert not pulls[5], "the push lasts some generations"
    assert sum(epsilon > 0 for epsilon in epsilons) >= 8, "the push ends by stagnation"
    assert all(epsilon == 0 for g, epsilon in enumerate(epsilons) if g >= last)
    assert len({tuple(state.memory.F.ravel()) for state in states}) > GENERATIONS // 2, "the memory learns"
    assert (states[-1].competition.rates(states[-1].generation) != 1 / 3).all(), "the window has filled"


def test_the_improved_epsilon_takes_both_its_branches() -> None:
    """Shrinking while few are feasible; the polynomial once nearly all are."""
    _, states = history({}, "inequalities")
    ratios = [
        float(new.stage.epsilon / old.stage.epsilon)
        for old, new in pairwise(states)
        if old.stage.epsilon > 0 and new.stage.epsilon > 0
    ]
    shrunk = [math.isclose(ratio, 1.0 - SMALL["tau"]) for ratio in ratios]
    assert any(shrunk) and not all(shrunk)


def test_these_runs_meet_points_without_values_and_leave_them() -> None:
    run, states = history({}, "failing")
    assert run.failed > 20
    assert not states[0].population.valid.all()
    assert states[-1].population.valid.all()


@pytest.mark.parametrize("options", alternatives(), ids=named)
def test_every_setting_makes_a_difference(options: dict[str, Any]) -> None:
    if options == {"population_size": None}:
        options = {"population_size": None, "pbest": 3}  # 5 D is 20, as in the other runs
    differs = any(end(options, problem) != default_end(problem) for problem in PROBLEMS)
    assert differs, "on these problems, with this seed, it has no effect; the agreement above says nothing about it"


def end(options: dict[str, Any], problem: str) -> Any:
    return history(options, problem)[1][-1].population.x.tolist()


@cache
def default_end(problem: str) -> Any:
    return end({}, problem)


def test_no_setting_is_forgotten() -> None:
    """A new setting needs a line in the table of numbers, or choices of its own."""
    tried = {name for options in alternatives() for name in options}
    assert tried == {field.name for field in dataclasses.fields(PPSDE)}
