"""SQP from many starts: first points, starts and ends in order, known optima, and its end."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import ppsde
from ppsde.algorithm import Task
from ppsde.algorithms.sqp import MultistartSQP, State
from ppsde.arrays import bits
from ppsde.engines.ending import CONVERGED
from ppsde.population import choose, evaluated, forgotten
from ppsde.streams import NumpyStream
from ppsde.suites import get

METHOD = "sqp"
LOWER, UPPER = np.full(2, -5.0), np.full(2, 5.0)


def sphere(x: Any) -> Any:
    return ((x - 0.3) ** 2).sum()


def two_basins(x: Any) -> Any:
    """The lesser minimum, 0, is at -2.5; the other, 1 at 2.5."""
    return np.minimum(((x + 2.5) ** 2).sum(), 1.0 + ((x - 2.5) ** 2).sum()), [-9.0 - x[0]], []


def end_of(coroutine: Any) -> State:
    request = next(coroutine)
    while True:
        f, g, _ = zip(*map(two_basins, request.x), strict=True)
        points = evaluated(request.x, np.array(f), np.array(g), np.zeros((len(f), 0)), 1e-4)
        try:
            request = coroutine.send(choose(request.wanted, points, forgotten(points)))
        except StopIteration as end:
            state: State = end.value
            return state


def states(generations: int, budget: int = 1000, **options: Any) -> list[State]:
    """The first states of a run on `two_basins`."""
    settings, task = MultistartSQP(**options), Task(LOWER, UPPER, budget)
    found = [end_of(settings.start(task, NumpyStream(1)))]
    for k in range(1, generations + 1):
        found.append(end_of(settings.generation(found[-1], task, NumpyStream(1, 0, k))))
    return found


def test_the_first_points_are_twice_the_variables_but_at_most_a_quarter_of_the_budget() -> None:
    assert [states(0, budget)[0].population.size for budget in (4, 12, 100)] == [2, 3, 4]
    assert states(0, population_size=9)[0].population.size == 9


def test_searches_begin_at_members_best_first_and_then_at_new_points() -> None:
    seen = states(90)
    members = seen[0].population
    begun = [state for before, state in pairwise(seen) if before.search.over]
    assert begun[0].start.tolist() == members.x[0].tolist()
    starts = [state.start.tolist() for state in begun]
    at_members = [start in members.x.tolist() for start in starts]
    assert at_members[0] and not at_members[-1] and at_members == sorted(at_members, reverse=True)
    assert len({tuple(start) for start in starts}) == len(starts) > 5


def test_ends_take_the_places_of_the_worst_and_the_best_is_a_member() -> None:
    seen = states(90)
    for before, after in pairwise(seen):
        assert (np.diff(after.population.f) >= 0).all()
        assert after.population.f[0] <= before.population.f[0]
        assert after.best.f[0] <= before.best.f[0]
    assert seen[-1].population.f[0] == pytest.approx(0, abs=1e-9)
    assert seen[-1].visits.count > 5


def test_a_search_that_comes_to_an_earlier_end_is_given_up_there() -> None:
    seen = states(90)
    last = seen[-1].visits
    starts, ends = (np.isfinite(v).all(axis=1).sum() for v in (last.starts, last.ends))
    assert starts == min(int(last.count), 64) > ends >= 2


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_better_of_two_basins_is_found(seed: int) -> None:
    result = ppsde.minimize(two_basins, [(-5, 5)] * 2, method=METHOD, max_evaluations=5000, rng=seed)
    assert result.status == CONVERGED and result.fun == pytest.approx(0, abs=1e-8)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_run_on_the_sphere_ends_by_itself(seed: int) -> None:
    result = ppsde.minimize(sphere, [(-5, 5)] * 3, method=METHOD, max_evaluations=20_000, rng=seed)
    assert result.status == CONVERGED and result.nfev < 600 and result.fun < 1e-10


@pytest.mark.parametrize("name", ["g04", "g06", "g07", "g24"])
def test_textbook_problems_are_solved_with_a_hundred_evaluations_per_variable(name: str) -> None:
    problem = get("cec2006").problem(name)
    assert problem.optimum is not None and problem.optimum.value is not None
    for seed in (1, 2, 3):
        budget = 100 * len(problem.lower)
        result = ppsde.minimize(problem, method=METHOD, max_evaluations=budget, rng=seed, tol=0)
        above = (result.fun - problem.optimum.value) / max(1.0, abs(problem.optimum.value))
        assert result.success and above < 1e-4


def test_bits_do_not_depend_on_workers() -> None:
    common: dict[str, Any] = {"method": METHOD, "max_evaluations": 300, "rng": 1, "tol": 0}
    alone = ppsde.minimize(two_basins, [(-5, 5)] * 2, **common)
    with ThreadPoolExecutor(2) as pool:
        together = ppsde.minimize(two_basins, [(-5, 5)] * 2, workers=pool, **common)
    assert bits(alone.x) == bits(together.x) and alone.nfev == together.nfev == 300


@pytest.mark.parametrize("options", [{"population_size": 0}, {"difference": 0.0}, {"difference": 0.2}])
def test_settings_out_of_range_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(options))):
        MultistartSQP(**options)


@pytest.mark.parametrize("method", ["sqp", "pps-sqp"])
def test_a_first_point_without_values_is_left(method: str) -> None:
    points = []

    def fun(x):
        points.append(x.tobytes())
        if x[0] == 0.5:
            raise RuntimeError("no value there")
        return float(x @ x)

    result = ppsde.minimize(fun, [(-1, 1)] * 2, method=method, max_evaluations=60, rng=1, x0=[0.5, 0.5])
    assert result.success and result.n_failed == 1 and len(set(points)) == len(points)
