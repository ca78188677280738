"""SHADE beside its literal version, and what is its own: memory, archive, a share for pbest."""

from __future__ import annotations

from typing import Any

import pytest
from reference.options import named, settings_of, tried
from reference.shade import ReferenceSHADE
from reference.small_problems import PROBLEMS, end_of, states_of
from reference.walking import (
    Walk,
    archived,
    assert_same_archive,
    assert_same_memory,
    assert_same_points,
    follow_population,
    remembered,
    walk_together,
)

from ppsde.algorithms.shade import SHADE, State

SMALL: dict[str, Any] = {"population_size": 20, "memory_size": 5}
BUDGET = 40 * 20 + 7  # the last generation is cut

ALTERNATIVES: list[dict[str, Any]] = [
    {"population_size": 4},
    {"population_size": 33},
    {"memory_size": 1},
    {"memory_size": 50},
    {"largest_pbest": 0.0},
    {"largest_pbest": 1.0},
    {"archive_rate": 0.0},
    {"archive_rate": 3.0},
]


def assert_same(fast: State, slow: ReferenceSHADE, where: str) -> None:
    assert int(fast.generation) == slow.G, where
    assert_same_points(fast.population, slow.population, where)
    assert_same_memory(fast.memory, [slow.M_F], [slow.M_CR], [slow.k], where)
    assert_same_archive(fast.archive, slow.A, where)


def follow(slow: ReferenceSHADE, fast: State) -> None:
    follow_population(slow, fast)
    slow.A = archived(fast.archive)
    (slow.M_F,), (slow.M_CR,) = remembered(fast.memory)


def walk(settings: SHADE, problem: str, following: bool = True) -> Walk:
    return walk_together(ReferenceSHADE, settings, problem, BUDGET, assert_same, follow if following else None)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_both_walk_the_same_way_from_start_to_end(problem: str) -> None:
    assert len(walk(SHADE(**SMALL), problem, following=False).states) == 41


@pytest.mark.parametrize("problem", ["equalities", "failing"])
@pytest.mark.parametrize("options", ALTERNATIVES, ids=named)
def test_both_take_every_step_alike_whatever_the_setting(options: dict[str, Any], problem: str) -> None:
    walk(SHADE(**{**SMALL, **options}), problem)


@pytest.mark.parametrize("options", ALTERNATIVES, ids=named)
def test_every_setting_makes_a_difference(options: dict[str, Any]) -> None:
    usual, other = (end_of(SHADE(**{**SMALL, **more}), "equalities", BUDGET) for more in ({}, options))
    assert usual != other


@pytest.mark.parametrize("rule", ["epsilon", "static-penalty"])
def test_the_rule_decides_where_there_are_constraints_and_nothing_where_there_are_none(rule: str) -> None:
    other, usual = SHADE(**SMALL, rule=rule), SHADE(**SMALL, rule="feasibility")
    assert end_of(other, "unconstrained", BUDGET) == end_of(usual, "unconstrained", BUDGET)
    assert end_of(other, "equalities", BUDGET) != end_of(usual, "equalities", BUDGET)


def test_no_setting_is_forgotten() -> None:
    assert tried(ALTERNATIVES) | {"rule"} == settings_of(SHADE)


def test_the_memory_learns_and_the_archive_fills_and_stays_full() -> None:
    states = states_of(SHADE(**SMALL), "equalities", BUDGET)[1]
    assert (states[-1].memory.F != 0.5).all() and (states[-1].memory.CR != 0.5).all()
    sizes = [int(state.archive.size) for state in states]
    assert sizes[0] == 0 and sizes == sorted(sizes) and sizes[-1] == 20
    assert (states[3].archive.x != states[2].archive.x).any(), "a full archive still takes parents in"
    archived = {tuple(row) for row in states[1].archive.x[: sizes[1]].tolist()}
    assert archived <= {tuple(row) for row in states[0].population.x.tolist()}, "all are parents of that generation"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"population_size": 3}, "population_size must be an int >= 4; got 3"),
        ({"memory_size": 0}, "memory_size must be an int >= 1; got 0"),
        ({"largest_pbest": 1.5}, "largest_pbest must be a number from 0 to 1; got 1.5"),
        ({"archive_rate": -1}, "archive_rate must be a number from 0 to 100; got -1"),
        ({"rule": "deb"}, "unknown rule 'deb'; expected one of feasibility"),
    ],
)
def test_wrong_settings_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SHADE(**options)
