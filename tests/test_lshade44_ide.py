"""LSHADE44+IDE beside its literal version, and what is its own: two stages, and the points handed over between them."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from reference.lshade44_ide import ReferenceLSHADE44IDE
from reference.options import named, settings_of, tried
from reference.small_problems import PROBLEMS, D, end_of, states_of
from reference.walking import (
    Walk,
    archived,
    assert_answers_about_the_best_of,
    assert_same_archive,
    assert_same_members,
    assert_same_memory,
    assert_same_points,
    listed,
    members_of,
    remembered,
    walk_together,
)

from ppsde.algorithms.lshade44_ide import LSHADE44IDE, State

SMALL: dict[str, Any] = {"population_size": 30, "memory_size": 3, "refined_size": 20}
BUDGET = 1500

ALTERNATIVES: list[dict[str, Any]] = [
    {"refined_size": 10},
    {"refined_size": 60},  # more than the population has
    {"search_share": 0.0},
    {"search_share": 1.0},
    {"population_size": None},
    {"final_size": 20},
    {"memory_size": 1},
    {"pbest": 0.5},
    {"archive_rate": 1.0},
    {"prior": 20},
    {"least_share": 0.2},
    {"CR_deviation": 0.1},
    {"randrl": "random"},
]


def assert_same(fast: State, slow: ReferenceLSHADE44IDE, where: str) -> None:
    learned, search, individual = fast.strategies, slow.search, fast.individual
    assert_same_members(fast, slow, where)
    assert bool(fast.refining) == slow.refining, where
    assert fast.found.valid.sum() == len(slow.found), where
    if slow.found:
        assert_same_points(fast.found.take(slice(0, len(slow.found))), slow.found, where)
    assert learned.successes.tolist() == search.n, where
    assert_same_memory(learned.memory, search.M_F, search.M_CR, search.pos, where)
    assert_same_archive(learned.archive, search.A, where)
    state = [int(v) for v in (individual.made, individual.total, individual.idle, individual.random_base)]
    assert state == [slow.g, slow.g_max, slow.idle, slow.random_base], where


def follow(slow: ReferenceLSHADE44IDE, fast: State) -> None:
    if slow.refining:
        slow.members = listed(members_of(fast))
        return
    search = slow.search
    search.population = listed(members_of(fast))
    slow.found = listed(fast.found.take(slice(0, len(slow.found))))
    search.A = archived(fast.strategies.archive)
    search.M_F, search.M_CR = remembered(fast.strategies.memory)


def walk(settings: LSHADE44IDE, problem: str, following: bool = True) -> Walk:
    way = walk_together(ReferenceLSHADE44IDE, settings, problem, BUDGET, assert_same, follow if following else None)
    assert_answers_about_the_best_of(way.run, way.slow.population)
    return way


@pytest.mark.parametrize("problem", PROBLEMS)
def test_both_walk_the_same_way_from_start_to_end(problem: str) -> None:
    states = walk(LSHADE44IDE(**SMALL), problem, following=False).states
    assert {bool(state.refining) for state in states} == {False, True}


@pytest.mark.parametrize("problem", ["inequalities", "failing"])
@pytest.mark.parametrize("options", ALTERNATIVES, ids=named)
def test_both_take_every_step_alike_whatever_the_setting(options: dict[str, Any], problem: str) -> None:
    walk(LSHADE44IDE(**{**SMALL, **options}), problem)


@pytest.mark.parametrize("options", ALTERNATIVES, ids=named)
def test_every_setting_makes_a_difference(options: dict[str, Any]) -> None:
    usual, other = (end_of(LSHADE44IDE(**{**SMALL, **more}), "equalities", BUDGET) for more in ({}, options))
    assert usual != other


def test_no_setting_is_forgotten() -> None:
    assert tried(ALTERNATIVES) == settings_of(LSHADE44IDE)


def test_enough_feasible_points_begin_the_refinement_and_are_its_first_population() -> None:
    _, states = states_of(LSHADE44IDE(**SMALL), "inequalities", BUDGET)
    before, after = next(pair for pair in pairwise(states) if pair[1].refining and not pair[0].refining)
    assert before.found.feasible.all() and before.found.size == 20
    assert before.evaluations < 0.3 * BUDGET, "long before its share of the budget is spent"
    assert after.size == 20 and after.individual.made == 1
    known = {tuple(row) for row in before.found.x.tolist()}
    assert len(known & {tuple(row) for row in after.population.x.tolist()}) > 5, "the rest has been improved"


def test_without_enough_feasible_points_the_least_violating_ones_are_refined_when_the_share_is_spent() -> None:
    settings = LSHADE44IDE(**SMALL)
    _, states = states_of(settings, "equalities", BUDGET)
    before, after = next(pair for pair in pairwise(states) if pair[1].refining and not pair[0].refining)
    spent = settings.search_share * BUDGET
    assert spent <= before.evaluations < spent + before.size + 2
    assert before.found.valid.sum() < 20
    assert after.population.violation[0] <= before.population.violation[0]


def test_the_search_looks_at_violation_alone_and_the_refinement_at_the_objective_too() -> None:
    _, refined = states_of(LSHADE44IDE(**SMALL), "unconstrained", BUDGET)
    endless = {**SMALL, "refined_size": BUDGET + 1, "search_share": 1.0}
    _, searched = states_of(LSHADE44IDE(**endless), "unconstrained", BUDGET)
    assert refined[-1].refining and not searched[-1].refining
    assert refined[-1].population.f.min() < 0.1 < searched[-1].population.f.min()
    replaced = (searched[1].population.x[:26] != searched[0].population.x[:26]).any(axis=1)
    assert replaced.all(), "where all are feasible every trial is as good as its parent"


def test_bases_become_random_after_long_stagnation() -> None:
    _, states = states_of(LSHADE44IDE(**SMALL), "equalities", BUDGET)
    stages = [int(state.individual.random_base) for state in states]
    assert stages == sorted(stages) and stages[-1] == 1
    first = next(state for state in states if state.individual.random_base)
    assert first.individual.idle >= 0.1 * first.individual.total


def test_defaults_fit_the_population_of_more_and_of_fewer_variables() -> None:
    _, states = states_of(LSHADE44IDE(), "equalities", 3000)
    assert states[0].population.size == 125 and states[0].size == 18 * D and states[-1].size == 125


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"refined_size": 9}, "refined_size must be an int >= 10; got 9"),
        ({"search_share": 1.5}, "search_share must be a number from 0 to 1; got 1.5"),
        ({"final_size": 3}, "final_size must be an int >= 4; got 3"),
        ({"population_size": 8, "final_size": 9}, "population_size must be an int >= 9; got 8"),
        ({"memory_size": 0}, "memory_size must be an int >= 1; got 0"),
        ({"prior": 0}, "prior must be an int >= 1; got 0"),
        ({"pbest": 2}, "pbest must be a number from 0 to 1; got 2"),
        ({"least_share": 0.5}, "least_share must be a number from 0 to 0.25; got 0.5"),
        ({"archive_rate": -0.1}, "archive_rate must be a number from 0 to 100; got -0.1"),
        ({"randrl": "swapped"}, "randrl must be one of 'ranked', 'random'; got 'swapped'"),
    ],
)
def test_wrong_settings_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LSHADE44IDE(**options)
