"""HECO-DE beside its literal version, and what is its own: the objectives of the subproblems."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from reference.heco_de import ReferenceHECODE
from reference.options import named, settings_of, tried
from reference.small_problems import PROBLEMS, end_of
from reference.walking import (
    archived,
    assert_same_archive,
    assert_same_memory,
    assert_same_points,
    listed,
    members_of,
    remembered,
    walk_together,
)

from ppsde.algorithms.heco_de import HECODE, State, normalised, weighted
from ppsde.population import evaluated

SMALL: dict[str, Any] = {"population_size": 24, "subproblems": 8, "memory_size": 3}
BUDGET = 300
ALTERNATIVES: list[dict[str, Any]] = [
    {"population_size": 8},
    {"subproblems": 16},
    {"bias": 0.1},
    {"memory_size": 1},
    {"pbest": 0.9},
    {"archive_rate": 0.0},
    {"prior": 20},
    {"least_share": 0.2},
]


def assert_same(fast: State, slow: ReferenceHECODE, where: str) -> None:
    N = len(slow.everyone)
    counted = [int(v) for v in (fast.generation, fast.size, fast.evaluations)]
    assert counted == [slow.G, N, slow.FES], where
    assert_same_points(members_of(fast), slow.everyone, where)
    learned = fast.strategies
    assert learned.successes.tolist() == slow.n, where
    assert_same_memory(learned.memory, slow.M_F, slow.M_CR, slow.pos, where)
    assert_same_archive(learned.archive, slow.A, where)


def follow(slow: ReferenceHECODE, fast: State) -> None:
    slow.everyone, slow.A = listed(members_of(fast)), archived(fast.strategies.archive)
    slow.M_F, slow.M_CR = remembered(fast.strategies.memory)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_both_take_every_step_alike(problem: str) -> None:
    walk_together(ReferenceHECODE, HECODE(**SMALL), problem, BUDGET, assert_same, follow)


@pytest.mark.parametrize("options", ALTERNATIVES, ids=named)
def test_both_take_every_step_alike_whatever_the_setting_and_it_makes_a_difference(options: dict[str, Any]) -> None:
    settings = HECODE(**{**SMALL, **options})
    walk_together(ReferenceHECODE, settings, "failing", BUDGET, assert_same, follow)
    ends = [(end_of(settings, p, BUDGET), end_of(HECODE(**SMALL), p, BUDGET)) for p in ("failing", "equalities")]
    assert any(one != other for one, other in ends)


def test_no_setting_is_forgotten() -> None:
    assert tried(ALTERNATIVES) == settings_of(HECODE)


def test_the_objectives_of_subproblems_by_hand() -> None:
    np.testing.assert_allclose(normalised(np.array([2.0, 4.0, np.inf, 3.0])), [0.0, 1.0, 1.0, 0.5])
    f, g = np.array([1.0, 3.0, 5.0, np.nan]), np.array([[4.0], [0.0], [1.0], [0.0]])
    points = evaluated(np.zeros((4, 1)), f, g, g[:, :0], 0.0)
    i = np.array([1, 2, 4, 1])
    # e = |f - 3| + v = 6, 0, 3; on scales from 0 to 1: e 1, 0, 1/2; f 0, 1/2, 1; v 1, 0, 1/4
    late, early = 0.25 ** (0.5 * i), 0.75 ** (0.5 * i)
    expected = [late[0] + 0.25 * early[0], 0.5 * early[1] * 0.5, late[2] / 2 + early[2] / 4, np.inf]
    np.testing.assert_allclose(weighted(points, 3.0, i, np.float64(0.25), 0.5, 4), expected)


@pytest.mark.parametrize("options", [{"subproblems": 3}, {"population_size": 9}, {"pbest": 2}, {"bias": -1}], ids=named)
def test_a_wrong_setting_is_named(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(options))):
        HECODE(**options)
