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
from reference.pps_de import Point, ReferencePPSDE
from reference.pps_de_settings import RESTLESS, SMALL, alternatives, company_of, named

from ppsde.algorithm import Task
from ppsde.algorithms import ALGORITHMS
from ppsde.algorithms.pps_de import PPSDE, PUBLISHED, State
from ppsde.engines.host import Run
from ppsde.population import Population, evaluated
from ppsde.streams import NumpyStream, Tape
from ppsde.violation import TOLERANCE

# The two take sums in another order and call other libraries' tan and arctan, so they differ in the last bits; and
# gains, differences of nearly equal numbers, enlarge such differences before they weigh what a memory learns.
CLOSE: dict[str, Any] = {"rtol": 1e-9, "atol": 1e-9}

SEED = 23
D = 4
GENERATIONS = 70  # enough for several cycles
PUBLISHED_GENERATIONS = 35  # one cycle, and not so many that gains become differences of nearly equal numbers
LITERAL = dataclasses.replace(PUBLISHED, **SMALL, tau=0.3)  # all of epsilon's way in that time
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


def terraces(x: Sequence[float]) -> Values:
    """In steps, so that gains are exact in the longest run, and a search soon finds nothing more."""
    f, g, _ = inequalities(x)
    return math.floor(4.0 * f) / 4.0, [math.ceil(8.0 * g_i) / 8.0 for g_i in g], []


PROBLEMS: dict[str, Callable[[Sequence[float]], Values]] = {
    "inequalities": inequalities,
    "equalities": equalities,
    "failing": failing,
    "terraces": terraces,
}
VARIED = ("inequalities", "failing")  # on which every setting is tried; together they have all kinds of values


def by_rows(function: Callable[[Sequence[float]], Values], x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    f, g, h = zip(*(function([float(v) for v in row]) for row in x), strict=True)
    return np.array(f), np.array(g).reshape(len(x), -1), np.array(h).reshape(len(x), -1)


def budget_of(settings: PPSDE, generations: int) -> int:
    """For so many generations and a part of one more, which is cut off in its first request."""
    n = settings.population_size or max(5 * D, 40)
    return n + generations * (n + 2 * ((n + 1) // 2)) + 7


def fast_run(settings: PPSDE, problem: str, generations: int = GENERATIONS) -> tuple[Run, list[State]]:
    """A run of the host engine to its end, and its states at the start and after each generation."""
    run = Run(settings, Task(LOWER, UPPER, budget_of(settings, generations)), seed=SEED, tolerance=TOLERANCE)
    states: list[State] = []
    while run.wanted is not None:
        run.supply(*by_rows(PROBLEMS[problem], run.wanted))
        if run.state is not None and int(run.state.generation) == len(states):
            states.append(run.state)
    return run, states


def assert_same_points(fast: Population, slow: list[Point], where: str) -> None:
    np.testing.assert_allclose(fast.x, [p.x for p in slow], **CLOSE, err_msg=where)
    np.testing.assert_allclose(fast.f, [p.f for p in slow], **CLOSE, err_msg=where)
    np.testing.assert_allclose(fast.violation, [p.phi for p in slow], **CLOSE, err_msg=where)


def assert_same(fast: State, slow: ReferencePPSDE) -> None:
    where = f"generation {slow.made}, {slow.G} of cycle {slow.cycle}"
    cycle, stage = fast.cycle, fast.stage
    assert [int(v) for v in (fast.generation, cycle.number, cycle.age)] == [slow.made, slow.cycle, slow.G], where
    assert_same_points(fast.population, slow.population, where)
    assert_same_points(fast.seen, slow.seen, f"{where}, the points seen")
    np.testing.assert_allclose(fast.memory.F, slow.M_F, **CLOSE, err_msg=where)
    np.testing.assert_allclose(fast.memory.CR, slow.M_CR, **CLOSE, err_msg=where)
    assert fast.memory.next.tolist() == slow.k, where
    assert [bool(stage.pull), int(stage.began)] == [slow.pull, slow.G_switch], where
    np.testing.assert_allclose([stage.epsilon, stage.start], [slow.eps, slow.eps_0], **CLOSE, err_msg=where)
    assert int(cycle.idle) == slow.idle, where
    np.testing.assert_allclose([cycle.violation, cycle.f], [slow.record_phi, slow.record_f], **CLOSE, err_msg=where)
    np.testing.assert_allclose(fast.rates, slow.rates, **CLOSE, err_msg=where)
    window = fast.competition.wins.shape[0]
    for g in range(max(1, slow.G - window + 1), slow.G + 1):
        assert fast.competition.wins[g % window].tolist() == slow.wins[g - 1], where


def follow(slow: ReferencePPSDE, fast: State) -> None:
    """Set the literal version to exactly where the fast one stands, so that rounding does not add up over a run."""
    slow.population, slow.seen = listed(fast.population), listed(fast.seen)
    slow.M_F, slow.M_CR = fast.memory.F.tolist(), fast.memory.CR.tolist()
    slow.eps, slow.eps_0 = float(fast.stage.epsilon), float(fast.stage.start)
    slow.record_phi, slow.record_f = float(fast.cycle.violation), float(fast.cycle.f)


def listed(points: Population) -> list[Point]:
    return [Point(*row) for row in zip(points.x.tolist(), points.f.tolist(), points.violation.tolist(), strict=True)]


def walk_together(settings: PPSDE, problem: str, following: bool, generations: int = GENERATIONS) -> list[State]:
    budget = budget_of(settings, generations)
    slow = ReferencePPSDE(settings, PROBLEMS[problem], LOWER.tolist(), UPPER.tolist(), budget, TOLERANCE)
    slow.start(NumpyStream(SEED, 0, 0))
    run, states = fast_run(settings, problem, generations)
    for state in states:
        if state.generation > 0:
            slow.generation(NumpyStream(SEED, 0, int(state.generation)))
        assert_same(state, slow)
        if following:
            follow(slow, state)
    assert slow.made == generations + 1
    assert run.evaluations == slow.evaluations == budget
    assert run.best is not None and slow.best is not None
    np.testing.assert_allclose(run.best.x[0], slow.best.x, **CLOSE)
    return states


@pytest.mark.parametrize("problem", PROBLEMS)
def test_both_walk_the_same_way_from_start_to_end(problem: str) -> None:
    walk_together(PPSDE(**RESTLESS), problem, following=False)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_both_walk_the_same_way_as_published(problem: str) -> None:
    states = walk_together(LITERAL, problem, following=False, generations=PUBLISHED_GENERATIONS)
    assert all(state.cycle.number == 0 for state in states)


@pytest.mark.parametrize("method", ["pps-de", "pps-de-published"])
def test_both_take_every_step_alike_with_nothing_set(method: str) -> None:
    """As users get them: windows, patience and all, long enough for a second cycle of the default."""
    states = walk_together(ALGORITHMS[method], "terraces", following=True, generations=700)
    cycles = int(states[-1].cycle.number) + 1
    assert cycles >= 2 if ALGORITHMS[method].patience else cycles == 1


@pytest.mark.parametrize("problem", VARIED)
@pytest.mark.parametrize("options", alternatives(), ids=named)
def test_both_take_every_step_alike_whatever_the_setting(options: dict[str, Any], problem: str) -> None:
    walk_together(PPSDE(**{**RESTLESS, **options}), problem, following=True)


@pytest.mark.parametrize("options", [{}, *alternatives()], ids=named)
def test_both_ask_for_the_same_draws(options: dict[str, Any]) -> None:
    """The tape refuses another shape than the one recorded, and must be used up."""
    settings = PPSDE(**{**RESTLESS, **options})
    task = Task(LOWER, UPPER, budget_of(settings, GENERATIONS))
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
    return fast_run(PPSDE(**{**RESTLESS, **options}), problem)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_these_runs_see_several_cycles_of_push_pull_and_epsilon_zero(problem: str) -> None:
    """Otherwise the agreement above would say little."""
    states = history({}, problem)[1][:-1]  # the budget cuts the last generation
    cycles = [[state for state in states if state.cycle.number == k] for k in range(int(states[-1].cycle.number) + 1)]
    assert len(cycles) >= 3
    for cycle in cycles[:-1]:
        assert not cycle[0].stage.pull, "a push at its beginning"
        assert any(state.stage.epsilon > 0 for state in cycle), "a pull with room"
        assert cycle[-1].stage.closed and cycle[-1].cycle.idle == 3, "three idle generations at its end"
    assert len({tuple(state.memory.F.ravel()) for state in states}) > GENERATIONS // 2, "the memory learns"
    assert any((state.rates != 1 / 3).all() for state in states), "the window of wins fills"


@pytest.mark.parametrize("problem", ["inequalities", "equalities", "failing"])
def test_these_runs_see_a_population_replaced_and_one_reseeded(problem: str) -> None:
    states = history({}, problem)[1][:-1]  # the budget cuts the last generation
    replaced, reseeded = [], []
    for old, new in pairwise(states):
        if new.cycle.number > old.cycle.number:
            replaced.append(len(rows_of(old.population) & rows_of(new.population)))
        elif new.stage.pull and not old.stage.pull and new.cycle.number % 2 == 1:
            reseeded.append(len(rows_of(new.population) & (rows_of(old.seen) - rows_of(old.population))))
    assert replaced and (problem == "failing" or max(replaced) == 0), "a new cycle keeps nothing that it can replace"
    if problem != "failing":  # there the reseeded cycle is cut before its points come into play
        assert reseeded and max(reseeded) > 0, "points seen in the push come back"
    assert not any((old.seen.x == new.seen.x).all() for old, new in seen_in_a_push(states)), "and are gathered there"


def rows_of(points: Population) -> set[tuple[float, ...]]:
    return {tuple(row) for row in points.x.tolist()}


def seen_in_a_push(states: list[State]) -> list[tuple[State, State]]:
    """The first generation of each cycle that remembers what it sees, with the state before it."""
    return [
        (old, new)
        for old, new in pairwise(states)
        if new.cycle.number > old.cycle.number and new.cycle.number % 2 == 1 and not new.stage.pull
    ]


def test_the_improved_epsilon_takes_both_its_branches() -> None:
    """Shrinking while few are feasible; the polynomial once nearly all are."""
    _, states = fast_run(LITERAL, "terraces", PUBLISHED_GENERATIONS)
    ratios = [
        float(new.stage.epsilon / old.stage.epsilon)
        for old, new in pairwise(states)
        if old.stage.epsilon > 0 and new.stage.epsilon > 0
    ]
    shrunk = [math.isclose(ratio, 1.0 - LITERAL.tau) for ratio in ratios]
    assert any(shrunk) and not all(shrunk)


def test_these_runs_meet_points_without_values_and_leave_them() -> None:
    run, states = history({}, "failing")
    assert run.failed > 20
    assert not states[0].population.valid.all()
    assert any(state.population.valid.all() for state in states)


@pytest.mark.parametrize("options", alternatives(), ids=named)
def test_every_setting_makes_a_difference(options: dict[str, Any]) -> None:
    company = tuple(company_of(options).items())
    differs = any(end(options, problem) != usual_end(company, problem) for problem in VARIED)
    assert differs, "on these problems, with this seed, it has no effect; the agreement above says nothing about it"


def end(options: dict[str, Any], problem: str) -> Any:
    return history(options, problem)[1][-1].population.x.tolist()


@cache
def usual_end(company: tuple[tuple[str, Any], ...], problem: str) -> Any:
    return end(dict(company), problem)


def test_no_setting_is_forgotten() -> None:
    """A new setting needs a line in the table of numbers, or choices of its own."""
    tried = {name for options in alternatives() for name in options}
    assert tried == {field.name for field in dataclasses.fields(PPSDE)}


def test_the_published_reading_has_none_of_the_additions() -> None:
    plain: dict[str, Any] = {
        "push_limit": 1.0,
        "push_growth": 0.0,
        "schedule": "improved",
        "cp": 2.0,
        "pull_length": 0.0,
        "patience": 0,
        "reseed": False,
    }
    assert PPSDE(**plain) == PUBLISHED == ALGORITHMS["pps-de-published"]
    assert PPSDE() == ALGORITHMS["pps-de"] != PUBLISHED


def test_the_push_of_a_new_cycle_is_not_measured_by_the_cycle_before() -> None:
    """Otherwise it ends when its window has filled, as a fresh population rarely beats a converged one by then."""
    states = history({}, "inequalities")[1][:-1]
    begun = [(old, new) for old, new in pairwise(states) if new.cycle.number > old.cycle.number]
    assert begun
    assert not any((new.stage.lowest.values == old.population.f.min()).any() for old, new in begun)
