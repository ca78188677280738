"""An algorithm and its literal version side by side: fed the same draws, they must go the same way, state by state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pytest

from ppsde.algorithm import Ask, Coroutine, Task
from ppsde.arrays import Array
from ppsde.engines.run import Run
from ppsde.parts.archive import Archive
from ppsde.parts.memory import CLOSED, Memory
from ppsde.population import TOLERANCE, Population, choose, forgotten
from ppsde.streams import NumpyStream, Tape

from .lshade import TERMINAL
from .single_points import Point, in_order
from .small_problems import LOWER, SEED, UPPER, Problem, function_of, points_of, states_of

# The two take sums in another order and call other libraries' functions, so they differ in the last bits; and gains,
# differences of nearly equal numbers, enlarge such differences before they weigh what a memory learns.
CLOSE: dict[str, Any] = {"rtol": 1e-9, "atol": 1e-9}

AssertSame = Callable[[Any, Any, str], None]  # of a state, the literal version, and where they are
Follow = Callable[[Any, Any], None]  # of the literal version and a state


class Walk(NamedTuple):
    run: Run
    states: list[Any]  # at the start and after each generation
    slow: Any  # the literal version, at the end


def literal(reference: Callable[..., Any], settings: Any, problem: str | Problem, budget: int) -> Any:
    """The literal version before its start."""
    return reference(settings, function_of(problem), LOWER.tolist(), UPPER.tolist(), budget, TOLERANCE)


def walk_together(
    reference: Callable[..., Any],
    settings: Any,
    problem: str | Problem,
    budget: int,
    assert_same: AssertSame,
    follow: Follow | None = None,
    close: dict[str, Any] = CLOSE,
) -> Walk:
    """Both to the end of the budget, compared at the start, after each generation, and in the least violation seen.

    `follow` sets the literal version to exactly where the fast one stands, after each comparison, so that rounding does
    not add up over a run.
    """
    slow = literal(reference, settings, problem, budget)
    slow.start(NumpyStream(SEED, 0, 0))
    run, states = states_of(settings, problem, budget)
    for generation, state in enumerate(states):
        if generation > 0:
            slow.generation(NumpyStream(SEED, 0, generation))
        assert_same(state, slow, f"generation {generation}")
        if follow is not None:
            follow(slow, state)
    np.testing.assert_equal([run.evaluations, slow.judge.evaluations], [budget, budget])
    assert run.best is not None and slow.judge.best is not None, "neither saw a point with values"
    assert_close(run.best.violation, [slow.judge.best.phi], "the best point", close)  # which one, rounding may decide
    return Walk(run, states, slow)


def assert_same_draws(
    reference: Callable[..., Any], settings: Any, problem: Problem, budget: int, assert_same: AssertSame
) -> None:
    """For three generations. The tape refuses another shape than the one recorded, and must be used up."""
    task = Task(LOWER, UPPER, budget)
    slow = literal(reference, settings, problem, budget)
    state: Any = None
    for generation in range(3):
        tape = Tape.record(NumpyStream(SEED, 0, generation))
        coroutine = settings.start(task, tape) if state is None else settings.generation(state, task, tape)
        state = driven(coroutine, lambda x: points_of(problem, x))
        replayed = Tape(tape.draws)
        slow.start(replayed) if generation == 0 else slow.generation(replayed)
        with pytest.raises(IndexError):
            replayed.uniform(1)
        assert_same(state, slow, f"generation {generation}")


def driven(coroutine: Coroutine, points_at: Callable[[Array], Population]) -> Any:
    """The state that a coroutine ends in; rows that it does not want come back without values."""
    points: Any = None
    while True:
        try:
            request = coroutine.send(points)
        except StopIteration as end:
            return end.value
        if isinstance(request, Ask):
            points = points_at(request.x)
            points = choose(request.wanted, points, forgotten(points))
        else:
            points = points_at(request)


# Comparisons


def assert_close(fast: Any, slow: Any, where: str, close: dict[str, Any] = CLOSE) -> None:
    ours, theirs = np.asarray(fast, float), np.asarray(slow, float)
    if ours.shape == theirs.shape:
        with np.errstate(invalid="ignore"):  # differences of infinities
            near = np.abs(ours - theirs) <= close["atol"] + close["rtol"] * np.abs(theirs)
        if near.all():  # nearly always, and a tenth of the time of the next line
            return
    np.testing.assert_allclose(ours, theirs, **close, err_msg=where)


def assert_same_points(fast: Population, slow: Sequence[Point], where: str, close: dict[str, Any] = CLOSE) -> None:
    assert_close(fast.x, [p.x for p in slow], where, close)
    assert_close(fast.f, [p.f for p in slow], where, close)
    assert_close(fast.violation, [p.phi for p in slow], where, close)


def assert_same_members(fast: Any, slow: Any, where: str) -> None:
    """Of populations that shrink: the fast one keeps rows for all that there ever were."""
    N = len(slow.population)
    counted = [int(v) for v in (fast.generation, fast.size, fast.evaluations)]
    np.testing.assert_equal(counted, [slow.G, N, slow.FES], err_msg=where)
    assert_same_points(members_of(fast), slow.population, where)
    assert not fast.population.valid[N:].any(), where


def assert_same_archive(fast: Archive, A: list[list[float]], where: str) -> None:
    np.testing.assert_equal(int(fast.size), len(A), err_msg=where)
    if A:
        assert_close(archived(fast), A, where)


def assert_same_memory(
    fast: Memory,
    M_F: list[list[float]],
    M_CR: list[list[float]],
    k: list[int],
    where: str,
    close: dict[str, Any] = CLOSE,
) -> None:
    """Cells and the next one to write, a row for each strategy."""
    assert_close(fast.F, M_F, where, close)
    assert_close(fast.CR, [[CLOSED if CR == TERMINAL else CR for CR in cells] for cells in M_CR], where, close)
    np.testing.assert_equal(fast.next.tolist(), k, err_msg=where)


def assert_answers_the_best_of(run: Run, population: Population) -> None:
    assert run.answer is not None
    best = min(zip(population.violation.tolist(), population.f.tolist(), strict=True))
    np.testing.assert_equal((float(run.answer.violation[0]), float(run.answer.f[0])), best)


def assert_answers_about_the_best_of(run: Run, population: Sequence[Point]) -> None:
    assert run.answer is not None
    assert_close(run.answer.x[0], in_order(population)[0].x, "the answer")


# What the literal version takes over from the fast one


def follow_population(slow: Any, fast: Any) -> None:
    slow.population = listed(fast.population)


def listed(points: Population) -> list[Point]:
    """A population as single points."""
    columns = (points.x, points.f, points.violation, points.g, points.h)
    return [Point(*row) for row in zip(*(column.tolist() for column in columns), strict=True)]


def members_of(fast: Any) -> Population:
    """Those that are left of a population that shrinks."""
    left: Population = fast.population.take(slice(0, int(fast.size)))
    return left


def archived(archive: Archive) -> list[list[float]]:
    x: list[list[float]] = archive.x[: int(archive.size)].tolist()
    return x


def remembered(memory: Memory) -> tuple[list[list[float]], list[list[float]]]:
    """M_F and M_CR, a row for each strategy."""
    return memory.F.tolist(), np.where(memory.CR == CLOSED, TERMINAL, memory.CR).tolist()
