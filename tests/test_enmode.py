"""EnMODE beside its literal version, and what is its own: easy constraints first, shares by gains."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from reference.enmode import ReferenceEnMODE
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

from ppsde.algorithms.enmode import EnMODE, State, gain
from ppsde.population import Population

SMALL: dict[str, Any] = {"population_size": 16, "memory_size": 3, "easy_generations": 6}
BUDGET = 400
ALTERNATIVES: list[dict[str, Any]] = [
    {"population_size": None},
    {"final_size": 10},
    {"memory_size": None},
    {"first_F": 0.1},
    {"first_CR": 0.9},
    {"pbest": 1.0},
    {"archive_rate": 0.5},
    {"least_share": 0.5},
    {"shares_until": 0.1},
    {"easy_generations": 0},
]


def assert_same(fast: State, slow: ReferenceEnMODE, where: str) -> None:
    assert_same_members(fast, slow, where)
    assert_same_memory(fast.memory, [slow.M_F], [slow.M_CR], [slow.k], where)
    assert_same_archive(fast.archive, slow.A, where)
    assert_close(fast.archive_share, slow.share, where)
    assert int(fast.easy.left) == slow.left and set(np.flatnonzero(fast.easy.counts)) == slow.easy, where


def follow(slow: ReferenceEnMODE, fast: State) -> None:
    slow.population, slow.A = listed(members_of(fast)), archived(fast.archive)
    (slow.M_F,), (slow.M_CR,) = remembered(fast.memory)
    slow.share = float(fast.archive_share)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_both_take_every_step_alike(problem: str) -> None:
    walk_together(ReferenceEnMODE, EnMODE(**SMALL), problem, BUDGET, assert_same, follow)


@pytest.mark.parametrize("options", ALTERNATIVES, ids=named)
def test_both_take_every_step_alike_whatever_the_setting_and_it_makes_a_difference(options: dict[str, Any]) -> None:
    settings = EnMODE(**{**SMALL, **options})
    walk_together(ReferenceEnMODE, settings, "failing", BUDGET, assert_same, follow)
    ends = [(end_of(settings, p, BUDGET), end_of(EnMODE(**SMALL), p, BUDGET)) for p in ("failing", "equalities")]
    assert any(one != other for one, other in ends)


def test_no_setting_is_forgotten() -> None:
    assert tried(ALTERNATIVES) == settings_of(EnMODE)


def test_gains_by_hand() -> None:
    """Less violation; feasible from infeasible; a lower objective among feasible ones; no success."""
    rows = {"x": np.zeros((4, 1)), "g": np.zeros((4, 0)), "h": np.zeros((4, 0))}
    parents = Population(f=np.array([4.0, 1.0, 2.0, 1.0]), violation=np.array([2.0, 1.0, 0.0, 0.0]), **rows)
    trials = Population(f=np.array([3.0, 2.0, -2.0, 0.0]), violation=np.array([1.5, 0.0, 0.0, 0.0]), **rows)
    success = np.array([True, True, True, False])
    found = gain(parents, trials, parents.violation, trials.violation, success)
    assert found.tolist() == [0.25 + 0.25, 1.0 + 0.5, 2.0 + 0.5, 0.0]


def test_these_runs_use_both_operators_and_half_of_the_constraints() -> None:
    """Otherwise the agreement above would say little."""
    _, states = states_of(EnMODE(**SMALL), "equalities", BUDGET)
    assert len({float(state.archive_share) for state in states}) > 5
    assert states[0].easy.counts.sum() == 2 and states[0].easy.counts.shape == (3,)


@pytest.mark.parametrize(
    "options", [{"final_size": 3}, {"memory_size": 0}, {"pbest": 2}, {"least_share": 1}], ids=named
)
def test_a_wrong_setting_is_named(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(options))):
        EnMODE(**options)
