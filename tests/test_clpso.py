"""CLPSO beside its literal version, and the draws of its exemplars."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from reference.clpso import ReferenceCLPSO
from reference.options import settings_of, tried
from reference.small_problems import LOWER, PROBLEMS, UPPER, end_of, feasible_best_of, states_of
from reference.walking import Walk, assert_close, assert_same_points, follow_population, walk_together

from ppsde.algorithms.clpso import CLPSO, State
from ppsde.parts.handling import RULES
from ppsde.streams import NumpyStream

SMALL: dict[str, Any] = {"population_size": 10, "rule": "feasibility", "gap": 3}
BUDGET = 250
ALTERNATIVES: list[dict[str, Any]] = [
    {"population_size": 6},
    {"c": 0.7},
    {"first_inertia": 0.2},
    {"last_inertia": 0.9},
    {"least_Pc": 0.4},
    {"largest_Pc": 1.0},
    {"gap": 1},
    {"largest_step": 0.02},
]


def assert_same(fast: State, slow: ReferenceCLPSO, where: str) -> None:
    assert [int(fast.generation), int(fast.evaluations)] == [slow.G, slow.FES], where
    assert_same_points(fast.population, slow.population, where)
    assert_close(fast.x, slow.x, where)
    assert_close(fast.velocity, slow.v, where)
    np.testing.assert_equal(fast.exemplar.tolist(), slow.exemplar, err_msg=where)
    np.testing.assert_equal(fast.idle.tolist(), slow.idle, err_msg=where)


def follow(slow: ReferenceCLPSO, fast: State) -> None:
    follow_population(slow, fast)
    slow.x, slow.v = fast.x.tolist(), fast.velocity.tolist()


def walk(settings: CLPSO, problem: str) -> Walk:
    return walk_together(ReferenceCLPSO, settings, problem, BUDGET, assert_same, follow)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_both_take_every_step_alike(problem: str) -> None:
    walk(CLPSO(**SMALL), problem)


@pytest.mark.parametrize("options", ALTERNATIVES, ids=str)
def test_both_take_every_step_alike_whatever_the_setting(options: dict[str, Any]) -> None:
    other = walk(CLPSO(**{**SMALL, **options}), "failing").states[-1].population.x.tolist()
    assert other != end_of(CLPSO(**SMALL), "failing", BUDGET), "the setting has no effect here"


def test_no_setting_is_forgotten() -> None:
    assert tried(ALTERNATIVES) | {"rule"} == settings_of(CLPSO)


def test_particles_outside_the_box_are_not_evaluated_and_come_back() -> None:
    _, states = states_of(CLPSO(population_size=10), "unconstrained", 600)
    outside = [((s.x < LOWER) | (s.x > UPPER)).any(axis=1) for s in states]
    assert any(rows.any() for rows in outside) and not outside[-2].all()
    for before, after, out in zip(states, states[1:-1], outside[1:], strict=False):
        assert int(after.evaluations - before.evaluations) == int((~out).sum())


def test_exemplars_are_others_with_the_probability_of_the_particle_and_never_all_its_own() -> None:
    n, d = 5, 4
    rank = np.array([2, 0, 4, 1, 3])
    drawn = np.stack([CLPSO(population_size=n)._exemplars(rank, d, NumpyStream(k)) for k in range(1500)])
    others = drawn != np.arange(n)[:, None]
    assert others.any(axis=2).all()
    Pc = 0.05 + 0.45 * np.expm1(10 * np.arange(n) / (n - 1)) / np.expm1(10)
    expected = Pc + (1 - Pc) ** d / d  # and one of d where none came by chance
    assert np.abs(others.mean(axis=(0, 2)) - expected).max() < 0.03
    # Of the exemplars of particle 4 the best of the others, particle 1, is the most frequent: 7 of 16 pairs.
    of_last = drawn[:, 4][others[:, 4]]
    assert abs((of_last == 1).mean() - 7 / 16) < 0.04 and abs((of_last == 2).mean() - 1 / 16) < 0.03


@pytest.mark.parametrize("rule", RULES)
def test_every_technique_of_constraint_handling_can_serve(rule: str) -> None:
    feasible_best_of(CLPSO(population_size=12, rule=rule), "inequalities", 1500)


def test_wrong_settings_are_named() -> None:
    with pytest.raises(ValueError, match="gap must be an int >= 1; got 0"):
        CLPSO(gap=0)
