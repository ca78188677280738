"""Where local searches begin and end: distances, points near the best one, draws, improvements and agreement."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from handmade import LOST, points
from statistics_of_draws import LEVEL, p_of_law

from ppsde.algorithm import Task
from ppsde.parts.sqp import LocalSearch
from ppsde.parts.starts import (
    APART,
    CLOSE,
    FEW,
    MANY,
    MOST_STEPS,
    REMEMBERED,
    SAME,
    SIGNIFICANT,
    Agreement,
    Visits,
    after_step,
    improves,
    near,
)
from ppsde.population import Population

TASK = Task(np.array([0.0, -10.0]), np.array([1.0, 10.0]), 1000, tol=1e-8)  # widths 1 and 20
NO, YES = np.False_, np.True_


def at(*x: list[float], valid: bool = True) -> Population:
    n = len(x)
    worst = np.zeros(n) if valid else np.full(n, np.inf)
    return Population(np.array(x), worst, worst, np.zeros((n, 0)), np.zeros((n, 0)))


def visited(*pairs: tuple[list[float], list[float], bool]) -> Visits:
    visits = Visits.none(2)
    for start, end, given_up in pairs:
        visits = visits.add(np.array(start), np.array(end), np.bool_(given_up), TASK)
    return visits


# Visits


def test_before_the_first_search_every_point_with_values_is_unvisited() -> None:
    none = Visits.none(2)
    assert none.unvisited(at([0.0, 0.0], [1.0, 10.0]), TASK).tolist() == [True, True]
    assert none.unvisited(at([0.0, 0.0], valid=False), TASK).tolist() == [False]
    assert not none.is_end(at([0.5, 0.0]), TASK) and none.count == 0


def test_points_close_to_a_start_or_an_end_are_visited() -> None:
    visits = visited(([0.2, 0.0], [0.8, 0.0], False))
    # In widths of the box and by the largest component; 0.05 of the second variable is 1.
    some = at([0.25, 0.0], [0.2, 1.0], [0.75, 0.0], [0.5, 0.0], [0.2, 4.0])
    assert visits.unvisited(some, TASK).tolist() == [False, False, False, True, True]
    assert visits.count == 1


def test_if_no_point_is_far_those_that_are_not_close_will_do() -> None:
    visits = visited(([0.5, 0.0], [0.5, 0.0], False))
    assert APART > 0.05 > CLOSE > 0.005
    assert visits.unvisited(at([0.55, 0.0], [0.505, 0.0]), TASK).tolist() == [True, False]
    assert visits.unvisited(at([0.505, 0.0]), TASK).tolist() == [False]


def test_an_end_is_known_again_but_not_where_a_search_was_given_up() -> None:
    visits = visited(([0.2, 0.0], [0.8, 0.0], False), ([0.3, 0.0], [0.6, 0.0], True))
    assert visits.is_end(at([0.8 + 0.9 * SAME, 18 * SAME]), TASK)
    assert not visits.is_end(at([0.8 + 1.1 * SAME, 0.0]), TASK)
    assert not visits.is_end(at([0.6, 0.0]), TASK) and not visits.is_end(at([0.2, 0.0]), TASK)
    assert visits.count == 2 and np.isinf(visits.ends[1]).all() and visits.starts[1].tolist() == [0.3, 0.5]


def test_the_oldest_are_forgotten() -> None:
    visits = visited(*[([k / 100, 0.0], [k / 100, 5.0], False) for k in range(REMEMBERED + 1)])
    assert visits.count == REMEMBERED + 1
    assert not visits.is_end(at([0.0, 5.0]), TASK) and visits.is_end(at([0.01, 5.0]), TASK)
    assert visits.is_end(at([REMEMBERED / 100, 5.0]), TASK)


# Near the best


def test_a_point_near_the_best_by_hand() -> None:
    # reach = 10^(2 * 0.5 - 2); the first variable changes by u = 0.1 < 0.5 * 0.8^2, the second as the one drawn.
    u = np.array([0.5, 0.8, 0.6, 0.1, 0.9, 1.0, 0.25])
    x, reach = near(np.array([0.5, 0.0]), u, TASK)
    assert reach == pytest.approx(0.1)
    np.testing.assert_allclose(x, [0.6, -1.0])
    u[2] = 0.4  # the first one is drawn, and the second stays
    assert near(np.array([0.5, 0.0]), u, TASK)[0][1] == 0.0


def test_points_near_the_best_stay_in_the_box_and_change_at_least_one_variable() -> None:
    rng = np.random.default_rng(1)
    wide = Task(np.zeros(6), np.ones(6), 1000)
    best = np.array([0.0, 1.0, 0.5, 0.5, 0.5, 0.5])
    made = [near(best, rng.random(15), wide) for _ in range(2000)]
    x, reach = np.array([x for x, _ in made]), np.array([reach for _, reach in made])
    assert (x >= 0).all() and (x <= 1).all() and (abs(x - best).max(axis=1) <= reach).all()
    changed = (x[:, 2:] != 0.5).sum(axis=1)
    # Each of the four by 1/6 as the one drawn, and else by 5/6 of the mean of u^2 / 2, 1/6: 0.3056.
    assert changed.mean() == pytest.approx(4 * 0.3056, abs=0.1) and changed.max() == 4
    assert p_of_law((np.log10(reach) + 2) / 2, lambda q: np.clip(q, 0, 1)) > LEVEL


# After a step


def test_a_search_that_crawls_is_given_up_and_leaves_no_end() -> None:
    point = at([0.5, 0.0])
    search = replace(LocalSearch.begin(point, TASK), best=point, point=point)
    for steps, expected in [(MOST_STEPS[0] + 2 * MOST_STEPS[1], False), (MOST_STEPS[0] + 2 * MOST_STEPS[1] + 1, True)]:
        after, visits, _, given_up = after_step(
            replace(search, steps=np.int64(steps)), point.x[0], YES, Visits.none(2), Agreement.none(), point, TASK
        )
        assert (bool(given_up), bool(after.over), int(visits.count)) == (expected, expected, int(expected))
        assert not visits.is_end(point, TASK)


# Improvements


@pytest.mark.parametrize(
    ("new", "old", "expected"),
    [
        ((0.0, 1.0), (0.0, 2.0), True),
        ((0.0, 2.0 - 2.1 * SIGNIFICANT), (0.0, 2.0), True),
        ((0.0, 2.0 - 1.9 * SIGNIFICANT), (0.0, 2.0), False),  # by too little
        ((0.0, 2.0), (0.0, 2.0), False),
        ((0.0, -1e-12), (0.0, 0.0), True),
        ((0.0, 9.0), (1.0, 2.0), True),  # the first feasible one
        ((0.5, 1.0), (0.0, 2.0), False),
        ((0.5, 9.0), (1.0, 2.0), True),
        ((1.0 - 0.5 * SIGNIFICANT, 9.0), (1.0, 2.0), False),
        ((1.0 - 0.5 * SIGNIFICANT, 1.0), (1.0, 2.0), True),
        ((1.0, 2.0), LOST, True),
        (LOST, LOST, False),
        (LOST, (1.0, 2.0), False),
    ],
)
def test_what_counts_as_an_improvement(new: Any, old: Any, expected: bool) -> None:
    with np.errstate(invalid="ignore"):
        assert bool(improves(points(new), points(old))) == expected


# Agreement


def one(f: float, x: float = 0.5, violation: float = 0.0) -> Population:
    none = np.zeros((1, 0))
    return Population(np.array([[x, 0.0]]), np.array([f]), np.array([violation]), none, none)


def counted(
    end: Population, best: Population, given_up: Any = NO, over: Any = YES, before: tuple[int, int] = (2, 1)
) -> tuple[int, int]:
    with np.errstate(invalid="ignore"):
        after = Agreement(*map(np.asarray, before)).after(over, end, given_up, best, TASK)
    return int(after.same), int(after.other)


def test_an_end_agrees_by_its_value() -> None:
    assert counted(one(2.0, x=0.9), one(2.0)) == (3, 1)
    assert counted(one(2.0 + 1.9e-6), one(2.0)) == (3, 1), "within a hundred tol, relatively"
    assert counted(one(2.0 + 2.1e-6), one(2.0)) == (2, 2)
    assert counted(one(1e-9), one(0.0)) == (3, 1)
    assert counted(one(2.0), one(2.0), over=NO) == (2, 1)


def test_a_search_that_was_given_up_agrees_by_its_place() -> None:
    close, far = one(2.1, x=0.5 + 1.9 * SAME), one(2.1, x=0.5 + 2.1 * SAME)
    assert counted(close, one(2.0), given_up=YES) == (3, 1) and counted(far, one(2.0), given_up=YES) == (2, 2)
    assert counted(close, one(2.0)) == (2, 2)
    assert counted(one(2.1, violation=1.0), one(2.0), given_up=YES) == (3, 1), "an iterate may be infeasible"


def test_there_is_no_agreement_on_infeasible_points() -> None:
    assert counted(one(2.0, violation=1.0), one(2.0)) == (2, 2)
    assert counted(one(2.0, violation=1.0), one(2.0, violation=1.0)) == (2, 2)
    assert counted(one(2.0), one(2.0, violation=1.0), given_up=YES) == (2, 2)


@pytest.mark.parametrize(
    ("same", "other", "expected"),
    [
        (0, 0, False),
        (FEW - 1, 0, False),
        (FEW, 0, True),
        (FEW, 1, False),
        (FEW + 1, 1, True),
        (MANY - 1, 30, False),
        (MANY, 30, True),
    ],
)
def test_when_enough_searches_agree(same: int, other: int, expected: bool) -> None:
    assert bool(Agreement(np.asarray(same), np.asarray(other)).enough) == expected
    assert not Agreement.none().enough


def test_both_namespaces_agree() -> None:
    jax = pytest.importorskip("jax")
    xp, rng = jax.numpy, np.random.default_rng(2)
    with jax.enable_x64(True):
        task = Task(xp.asarray(TASK.lower), xp.asarray(TASK.upper), 1000, tol=1e-8)
        ours, theirs = Visits.none(2), Visits.none(2, xp)
        for _ in range(5):
            start, end, u = rng.random(2), rng.random(2), rng.random(7)
            ours = ours.add(start, end, np.bool_(u[0] < 0.5), TASK)
            theirs = theirs.add(xp.asarray(start), xp.asarray(end), xp.asarray(u[0] < 0.5), task)
            for a, b in zip(near(start, u, TASK), near(xp.asarray(start), xp.asarray(u), task), strict=True):
                np.testing.assert_allclose(b, a, rtol=1e-13)
        some = at(*rng.uniform(TASK.lower, TASK.upper, (20, 2)).tolist())
        there = Population(*(xp.asarray(v) for v in vars(some).values()))
        assert 0 < ours.unvisited(some, TASK).sum() < 20
        assert ours.unvisited(some, TASK).tolist() == theirs.unvisited(there, task).tolist()
        np.testing.assert_allclose(theirs.ends, ours.ends)
