"""AGA-PPS beside its literal version, and what is its own: operators that compete, in push and in pull."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from reference.aga_pps import ReferenceAGAPPS
from reference.options import settings_of, tried
from reference.small_problems import PROBLEMS, end_of, feasible_best_of, states_of
from reference.walking import (
    Walk,
    assert_close,
    assert_same_memory,
    assert_same_points,
    follow_population,
    remembered,
    walk_together,
)
from statistics_of_draws import EXTREMES, LEVEL, p_of_law

from ppsde.algorithm import Task
from ppsde.algorithms.aga_pps import AGAPPS, State, polynomial_mutation
from ppsde.streams import NumpyStream

# AGA-PPS beside its literal version, and what is its own: operators that compete, in push and in pull.


# Gains, differences of nearly equal numbers, enlarge rounding before they weigh what a memory learns.
CLOSE: dict[str, Any] = {"rtol": 1e-8, "atol": 1e-8}
SMALL: dict[str, Any] = {
    "population_size": 12,
    "least_share": 0.6,
    "switch_window": 10,
    "switch_threshold": 0.1,
    "memory_size": 3,
    "alpha": 0.3,
}
BUDGET = 12 * 60 + 5  # the last generation is cut

ALTERNATIVES: list[dict[str, Any]] = [
    {"population_size": None},
    {"population_size": 4},
    {"operators": "three"},
    {"operators": "two"},
    {"prior": 20},
    {"least_share": 0.0},
    {"least_share": 0.2},
    {"memory_size": 1},
    {"largest_pbest": 0.0},
    {"largest_pbest": 1.0},
    {"index": 2.0},
    {"switch_window": 1},
    {"switch_threshold": 0.02},
    {"switch_guard": 1.0},
    {"schedule": "polynomial"},
    {"tau": 0.4},
    {"alpha": 0.95},
    {"cp": 5.0},
    {"closes": 0.3},
    {"repair": "reflect"},
    {"repair": "midpoint"},
    {"repair": "resample"},
]


def assert_same(fast: State, slow: ReferenceAGAPPS, where: str) -> None:
    assert int(fast.generation) == slow.G, where
    assert_same_points(fast.population, slow.population, where, CLOSE)
    assert bool(fast.stage.pull) == slow.pull, where
    assert_close([fast.stage.epsilon, fast.stage.start], [slow.eps, slow.eps_0], where, CLOSE)
    assert fast.successes.counts.tolist() == slow.successes, where
    assert_same_memory(fast.memory, slow.M_F, slow.M_CR, slow.k, where, CLOSE)


def follow(slow: ReferenceAGAPPS, fast: State) -> None:
    follow_population(slow, fast)
    slow.M_F, slow.M_CR = remembered(fast.memory)


def walk(settings: AGAPPS, problem: str) -> Walk:
    return walk_together(ReferenceAGAPPS, settings, problem, BUDGET, assert_same, follow, CLOSE)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_both_take_every_step_alike(problem: str) -> None:
    states = walk(AGAPPS(**SMALL), problem).states
    assert not states[1].stage.pull and states[-1].stage.pull, "from push to pull"
    if problem in ("inequalities", "equalities"):
        assert any(state.stage.epsilon > 0 for state in states), "with room"


@pytest.mark.parametrize("problem", ["inequalities", "failing"])
@pytest.mark.parametrize("options", ALTERNATIVES, ids=str)
def test_both_take_every_step_alike_whatever_the_setting(options: dict[str, Any], problem: str) -> None:
    walk(AGAPPS(**{**SMALL, **options}), problem)


@pytest.mark.parametrize("options", ALTERNATIVES, ids=str)
def test_every_setting_makes_a_difference(options: dict[str, Any]) -> None:
    usual, other = AGAPPS(**SMALL), AGAPPS(**{**SMALL, **options})
    assert any(end_of(other, problem, BUDGET) != end_of(usual, problem, BUDGET) for problem in PROBLEMS)


def test_no_setting_is_forgotten() -> None:
    assert tried(ALTERNATIVES) == settings_of(AGAPPS)


def test_without_anything_set_there_are_five_members_for_each_variable_but_forty_at_least() -> None:
    _, states = states_of(AGAPPS(), "inequalities", 100)
    assert states[0].population.size == 40
    lower, upper = np.zeros(10), np.ones(10)
    coroutine = AGAPPS().start(Task(lower, upper, 1000), NumpyStream(1, 0, 0))
    assert next(coroutine).shape == (50, 10)


def test_operators_are_used_as_they_succeed_and_none_is_lost() -> None:
    settings = AGAPPS(**SMALL)
    _, states = states_of(settings, "inequalities", 12 * 300)
    counts = np.array([state.successes.counts for state in states])
    assert counts[0].tolist() == [2, 2, 2, 2]
    begun_again = [k for k, (old, new) in enumerate(pairwise(counts)) if (new < old).any()]
    assert begun_again, "when one had become rare"
    for k in begun_again:
        assert counts[k].min() / counts[k].sum() < 0.6 / 4
        assert (counts[k + 1] >= 2).all() and counts[k + 1].sum() <= 8 + 12


def test_push_ignores_the_constraints_and_pull_returns_to_them() -> None:
    _, states = states_of(AGAPPS(), "inequalities", 40 * 200)
    pushing = [state for state in states if not state.stage.pull]
    assert pushing[-1].population.f.min() < 0.5, "below the feasible optimum of 1.01"
    assert states[-2].population.feasible.all() and states[-2].stage.closed


def test_it_solves_a_problem_with_inequalities() -> None:
    best = feasible_best_of(AGAPPS(), "inequalities", 15_000)
    np.testing.assert_allclose(best.x[0], 1.5, atol=1e-2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"population_size": 3}, "population_size must be an int >= 4; got 3"),
        ({"operators": "five"}, "operators must be one of 'four', 'three', 'two'; got 'five'"),
        ({"least_share": 2}, "least_share must be a number from 0 to 1; got 2"),
        ({"switch_window": 0}, "switch_window must be an int >= 1; got 0"),
    ],
)
def test_wrong_settings_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        AGAPPS(**options)


# Polynomial mutation by hand, by law, and at the bounds.


LOWER, UPPER = np.array([0.0, -10.0]), np.array([1.0, 10.0])


def test_by_hand_with_index_one() -> None:
    # Index 1. u = 1/8, from the middle of [0, 1]: tail 1/4, 1/4 + 3/4 * (1/2)^2 = 7/16, share 1 - sqrt(7)/4 down.
    # u = 7/8 from 5 in [-10, 10]: room 1/4, 1/4 + 3/4 * (3/4)^2 = 43/64, share 1 - sqrt(43)/8 of 20 up.
    x, u = np.array([[0.5, 5.0]]), np.array([[0.125, 0.875]])
    moved = polynomial_mutation(x, LOWER, UPPER, 1.0, u, np.array([[True, True]]))
    expected = [[0.5 - (1 - np.sqrt(7) / 4), 5.0 + 20 * (1 - np.sqrt(43) / 8)]]
    np.testing.assert_allclose(moved, expected, rtol=1e-14)


def test_only_chosen_components_move() -> None:
    x, u = np.array([[0.5, 5.0]] * 2), np.full((2, 2), 0.3)
    moved = polynomial_mutation(x, LOWER, UPPER, 20.0, u, np.array([[True, False], [False, True]]))
    assert (moved != x).tolist() == [[True, False], [False, True]]


def test_one_half_moves_nothing() -> None:
    x = np.array([[0.5, 5.0]])
    np.testing.assert_allclose(polynomial_mutation(x, LOWER, UPPER, 20.0, np.full((1, 2), 0.5), x > 0), x, rtol=1e-14)


def test_the_result_stays_inside_for_extreme_draws() -> None:
    for u in EXTREMES:
        for x in (LOWER, UPPER, np.array([0.3, 9.0])):
            moved = polynomial_mutation(x[None], LOWER, UPPER, 20.0, np.full((1, 2), u), np.ones((1, 2), bool))
            assert (moved >= LOWER).all() and (moved <= UPPER).all()
    flat = polynomial_mutation(np.array([[2.0]]), np.array([2.0]), np.array([2.0]), 20.0, np.array([[0.1]]), True)
    assert flat.tolist() == [[2.0]]


@pytest.mark.parametrize("start", [0.0, 0.03, 0.5, 1.0])
def test_moves_have_the_density_of_the_polynomial_cut_at_the_bounds(start: float) -> None:
    """Down with probability one half, if there is room; the share of the width has density (1 - share)^20 up to it."""
    index, size = 20.0, 20_000
    u = np.random.default_rng(1).random((size, 1))
    x = np.full((size, 1), start)
    moved = polynomial_mutation(x, np.zeros(1), np.ones(1), index, u, np.ones((size, 1), bool))
    for share, room in ((start - moved[u < 0.5], start), (moved[u >= 0.5] - start, 1.0 - start)):
        if room == 0.0:
            assert (share == 0).all()
        else:
            whole = 1.0 - (1.0 - room) ** (index + 1)
            assert p_of_law(share, lambda q, whole=whole: (1.0 - (1.0 - q) ** (index + 1)) / whole) > LEVEL


def test_both_namespaces_agree() -> None:
    jax = pytest.importorskip("jax")
    rng = np.random.default_rng(3)
    x, u = rng.uniform(LOWER, UPPER, (50, 2)), rng.random((50, 2))
    chosen = rng.random((50, 2)) < 0.5
    ours = polynomial_mutation(x, LOWER, UPPER, 20.0, u, chosen)
    with jax.enable_x64(True):
        theirs = polynomial_mutation(*(jax.numpy.asarray(v) for v in (x, LOWER, UPPER)), 20.0, u, chosen)
        np.testing.assert_allclose(theirs, ours, rtol=1e-12)
