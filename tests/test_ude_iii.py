"""UDE-III beside its literal version; what is its own: losses count, stored trials replace stagnated members."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from reference.options import named, settings_of, tried
from reference.small_problems import PROBLEMS, end_of, states_of
from reference.ude_iii import ReferenceUDEIII
from reference.walking import assert_same_memory, assert_same_points, listed, remembered, walk_together

from ppsde.algorithms.ude_iii import UDEIII, State

SMALL: dict[str, Any] = {
    "population_size": 12,
    "top_size": 5,
    "memory_size": 4,
    "strategy_window": 4,
    "stagnation_generations": 2,
    "stagnation_share": 0.3,
    "least_spread": 0.1,
}
BUDGET = 12 + 22 * 20 + 7
ALTERNATIVES: list[dict[str, Any]] = [
    {"population_size": 9},
    {"top_size": 12},
    {"memory_size": 1},
    {"pbest_least": 2},
    {"pbest_most": 5},
    {"strategy_window": 9},
    {"least_share": 1.0},
    {"closes": 0.9},
    {"most_power": 0.5},
    {"stagnation_generations": 0},
    {"stagnation_share": 0.9},
    {"least_spread": 5.0},
]


def assert_same(fast: State, slow: ReferenceUDEIII, where: str) -> None:
    assert_same_points(fast.population, slow.population, where)
    assert_same_memory(fast.memory, slow.M_F, slow.M_CR, slow.k, where)
    np.testing.assert_equal(fast.idle.tolist(), slow.c, err_msg=where)
    assert int(fast.rejected.valid.sum()) == len(slow.archive), where
    if slow.archive:
        assert_same_points(fast.rejected.take(slice(0, len(slow.archive))), slow.archive, where)
    for g in range(max(1, slow.G - slow.settings.strategy_window + 1), slow.G + 1):
        place = g % slow.settings.strategy_window
        assert fast.wins.wins[place].tolist() == slow.W[g - 1], where
        assert fast.losses.wins[place].tolist() == slow.L[g - 1], where


def follow(slow: ReferenceUDEIII, fast: State) -> None:
    slow.population = listed(fast.population)
    slow.archive = [p for p in listed(fast.rejected) if not p.failed]
    slow.M_F, slow.M_CR = remembered(fast.memory)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_both_take_every_step_alike(problem: str) -> None:
    walk_together(ReferenceUDEIII, UDEIII(**SMALL), problem, BUDGET, assert_same, follow)


@pytest.mark.parametrize("options", ALTERNATIVES, ids=named)
def test_both_take_every_step_alike_whatever_the_setting_and_it_makes_a_difference(options: dict[str, Any]) -> None:
    settings = UDEIII(**{**SMALL, **options})
    walk_together(ReferenceUDEIII, settings, "failing", BUDGET, assert_same, follow)
    ends = [(end_of(settings, p, BUDGET), end_of(UDEIII(**SMALL), p, BUDGET)) for p in ("failing", "inequalities")]
    assert any(one != other for one, other in ends)


def test_no_setting_is_forgotten() -> None:
    assert tried(ALTERNATIVES) == settings_of(UDEIII)


def test_these_runs_replace_stagnated_members_and_lose() -> None:
    """Otherwise the agreement above would say little."""
    with_cure, without = (
        states_of(UDEIII(**{**SMALL, "stagnation_share": share}), "equalities", BUDGET)[1] for share in (0.3, 1.0)
    )
    assert with_cure[-1].population.x.tolist() != without[-1].population.x.tolist()
    assert with_cure[-1].losses.wins.sum() > 0


@pytest.mark.parametrize(
    "options",
    [
        {"population_size": 7},
        {"top_size": 3},
        {"top_size": 101},
        {"pbest_least": 1},
        {"closes": 1.0},
        {"least_share": 0},
    ],
    ids=named,
)
def test_a_wrong_setting_is_named(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(options))):
        UDEIII(**options)
