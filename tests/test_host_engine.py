"""The host engine: masks, the exact budget, and attempts at a start."""

from dataclasses import dataclass

import numpy as np
import pytest

from ppsde.algorithm import Ask, Task
from ppsde.engines.run import GIVE_UP, Run
from ppsde.population import Population

LOWER, UPPER = np.zeros(2), np.ones(2)


@dataclass(frozen=True)
class State:
    population: Population
    generation: int


@dataclass(frozen=True)
class EveryOther:
    """Asks for six rows of which it wants three, then for four more, and keeps what it got."""

    def start(self, task, rng):
        points = yield rng.uniform(6, task.dimension)
        return State(points, 0)

    def generation(self, state, task, rng):
        some = yield Ask(rng.uniform(6, task.dimension), np.arange(6) % 2 == 0)
        assert not some.valid[1::2].any() and np.isinf(some.f[1::2]).all()
        more = yield rng.uniform(4, task.dimension)
        return State(more, state.generation + 1) if more.valid.any() else State(some, state.generation + 1)

    def answer(self, state, kept):
        return kept if state.generation < 3 else state.population.take([state.population.best()])

    def watch(self, state):
        return {}


def finish(run, values):
    asked = []
    while run.wanted is not None:
        asked.append(len(run.wanted))
        run.supply(*values(run.wanted))
    return asked


def values(x):
    return x.sum(axis=1), 0.5 - x[:, :1], np.empty((len(x), 0))


@pytest.mark.parametrize(
    ("budget", "asked"),
    [(4, [4]), (6, [6]), (8, [6, 2]), (9, [6, 3]), (11, [6, 3, 2]), (13, [6, 3, 4]), (17, [6, 3, 4, 3, 1])],
)
def test_rows_not_wanted_cost_nothing_and_the_last_request_is_cut(budget, asked):
    run = Run(EveryOther(), Task(LOWER, UPPER, budget), seed=1, tolerance=0.0)
    assert finish(run, values) == asked and run.evaluations == budget


def test_the_best_point_is_chosen_by_violation_first():
    run = Run(EveryOther(), Task(LOWER, UPPER, 600), seed=1, tolerance=0.0)
    seen = []

    def watched(x):
        f, g, h = values(x)
        seen.extend(zip(np.maximum(g[:, 0], 0), f, strict=True))
        return f, g, h

    finish(run, watched)
    assert (run.best.violation[0], run.best.f[0]) == min(seen)


def test_of_points_that_tie_the_first_is_the_best_and_stays_it():
    run = Run(EveryOther(), Task(LOWER, UPPER, 600), seed=1, tolerance=0.0)
    first = run.wanted[0].copy()
    finish(run, lambda x: (np.full(len(x), 2.0), np.full((len(x), 1), 0.5), np.empty((len(x), 0))))
    assert run.evaluations == 600 and run.best.x.tolist() == run.best_member.x.tolist() == [first.tolist()]


def test_a_start_without_any_valid_point_is_made_again_with_other_points():
    run = Run(EveryOther(), Task(LOWER, UPPER, 1000), seed=1, tolerance=0.0)
    first = run.wanted.copy()
    nan = np.full(6, np.nan)
    run.supply(nan, nan[:, None], np.empty((6, 0)))
    assert run.evaluations == 6 and run.state is None and not np.array_equal(run.wanted, first)
    run.supply(*values(run.wanted))
    assert run.state is not None and run.failed == 6


def test_a_run_in_which_everything_fails_gives_up():
    run = Run(EveryOther(), Task(LOWER, UPPER, 10_000), seed=1, tolerance=0.0)
    nothing = lambda x: (np.full(len(x), np.nan), np.empty((len(x), 0)), np.empty((len(x), 0)))  # noqa: E731
    finish(run, nothing)
    assert run.hopeless and GIVE_UP <= run.evaluations < GIVE_UP + 6 and run.best is None
    with pytest.raises(ValueError, match="over"):
        run.supply(*nothing(np.zeros((1, 2))))


def test_the_answer_is_what_the_algorithm_reports_of_its_state_and_best_member():
    run = Run(EveryOther(), Task(LOWER, UPPER, 600), seed=1, tolerance=0.0)
    assert run.answer is None
    kept = []
    while run.wanted is not None:
        run.supply(*values(run.wanted))
        if run.state is not None and run.generation > len(kept):
            population = run.state.population
            kept.append(min(zip(population.violation, population.f, strict=True)))
            best = min(kept) if run.state.generation < 3 else kept[-1]
            assert (run.answer.violation[0], run.answer.f[0]) == best
    assert len(kept) > 10
