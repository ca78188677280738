"""COLSHADE beside its literal version, and what is its own: a tolerance per equality, Levy flights."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from reference.colshade import ReferenceCOLSHADE
from reference.options import named, settings_of, tried
from reference.small_problems import PROBLEMS, end_of, states_of
from reference.walking import (
    archived,
    assert_close,
    assert_same_archive,
    assert_same_members,
    assert_same_memory,
    listed,
    members_of,
    remembered,
    walk_together,
)

from ppsde.algorithms.colshade import COLSHADE, State

SMALL: dict[str, Any] = {"population_size": 16, "memory_size": 3}
BUDGET = 400
ALTERNATIVES: list[dict[str, Any]] = [
    {"population_size": None},
    {"final_size": 10},
    {"memory_size": 1},
    {"pbest": 0.9},
    {"archive_rate": 0.5},
    {"first_levy_rate": 0.9},
    {"least_levy_rate": 0.4},
    {"momentum": 0.9},
    {"levy_scale": 1.0},
    {"closes": 0.2},
    {"followers": 0.9},
]


def assert_same(fast: State, slow: ReferenceCOLSHADE, where: str) -> None:
    assert_same_members(fast, slow, where)
    assert_same_memory(fast.memory, slow.M_F, slow.M_CR, slow.k, where)
    assert_same_archive(fast.archive, slow.A, where)
    assert_close(fast.tolerance, slow.tol, where)
    assert_close(fast.levy_rate, slow.q, where)


def follow(slow: ReferenceCOLSHADE, fast: State) -> None:
    slow.population, slow.A = listed(members_of(fast)), archived(fast.archive)
    slow.M_F, slow.M_CR = remembered(fast.memory)
    slow.tol, slow.q = fast.tolerance.tolist(), float(fast.levy_rate)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_both_take_every_step_alike(problem: str) -> None:
    walk_together(ReferenceCOLSHADE, COLSHADE(**SMALL), problem, BUDGET, assert_same, follow)


@pytest.mark.parametrize("options", ALTERNATIVES, ids=named)
def test_both_take_every_step_alike_whatever_the_setting_and_it_makes_a_difference(options: dict[str, Any]) -> None:
    settings = COLSHADE(**{**SMALL, **options})
    walk_together(ReferenceCOLSHADE, settings, "failing", BUDGET, assert_same, follow)
    ends = [(end_of(settings, p, BUDGET), end_of(COLSHADE(**SMALL), p, BUDGET)) for p in ("failing", "equalities")]
    assert any(one != other for one, other in ends)


def test_no_setting_is_forgotten() -> None:
    assert tried(ALTERNATIVES) == settings_of(COLSHADE)


def test_tolerances_begin_where_all_members_satisfy_them_and_end_at_the_final_one() -> None:
    _, states = states_of(COLSHADE(), "equalities", 4000)
    tolerances = np.array([state.tolerance for state in states])
    assert (np.abs(states[0].population.h).max(axis=0) == tolerances[0]).all()
    assert (np.diff(tolerances, axis=0) <= 0).all() and len(np.unique(tolerances[:, 0])) > 20
    assert (tolerances[-1] == 1e-4).all()
    assert len({float(state.levy_rate) for state in states}) > 10


@pytest.mark.parametrize("options", [{"final_size": 3}, {"memory_size": 0}, {"momentum": 2}, {"closes": 0}], ids=named)
def test_a_wrong_setting_is_named(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(options))):
        COLSHADE(**options)
