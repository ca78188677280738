"""jDE beside its literal version, and what is its own: members that carry F and CR."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from reference.jde import ReferenceJDE
from reference.options import settings_of, tried
from reference.single_points import Point
from reference.small_problems import PROBLEMS, SEED, Values, end_of, feasible_best_of, states_of
from reference.walking import Walk, assert_close, assert_same_points, follow_population, literal, walk_together
from statistics_of_draws import LEVEL, p_of_law

from ppsde.algorithms.jde import JDE, State
from ppsde.parts.handling import RULES
from ppsde.streams import NumpyStream

SMALL: dict[str, Any] = {"population_size": 12}
BUDGET = 12 * 60 + 5  # the last generation is cut

ALTERNATIVES: list[dict[str, Any]] = [
    {"population_size": 4},
    {"population_size": 30},
    {"F": 0.9},
    {"CR": 0.1},
    {"tau_F": 0.9},
    {"tau_CR": 0.9},
    {"least_F": 0.7},
    {"largest_F": 0.3},
    {"repair": "clamp"},
    {"repair": "midpoint"},
    {"repair": "resample"},
]


def assert_same(fast: State, slow: ReferenceJDE, where: str) -> None:
    assert int(fast.generation) == slow.G, where
    assert_same_points(fast.population, slow.population, where)
    assert_close(fast.F, slow.F, where)
    assert_close(fast.CR, slow.CR, where)


def walk(settings: JDE, problem: str) -> Walk:
    return walk_together(ReferenceJDE, settings, problem, BUDGET, assert_same, follow_population)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_both_take_every_step_alike(problem: str) -> None:
    walk(JDE(**SMALL), problem)


@pytest.mark.parametrize("options", ALTERNATIVES, ids=str)
def test_both_take_every_step_alike_whatever_the_setting(options: dict[str, Any]) -> None:
    other = walk(JDE(**{**SMALL, **options}), "failing").states[-1].population.x.tolist()
    assert other != end_of(JDE(**SMALL), "failing", BUDGET), "the setting has no effect here"


def test_no_setting_is_forgotten() -> None:
    assert tried(ALTERNATIVES) | {"rule"} == settings_of(JDE)


@pytest.mark.parametrize("rule", RULES)
def test_every_technique_of_constraint_handling_can_serve(rule: str) -> None:
    feasible_best_of(JDE(**SMALL, rule=rule), "inequalities", 1500)


def test_the_technique_makes_a_difference() -> None:
    both = JDE(**SMALL, rule="epsilon-quantile"), JDE(**SMALL)
    by_epsilon, usual = (states_of(settings, "inequalities", 500)[1] for settings in both)
    assert (by_epsilon[20].population.x != usual[20].population.x).any()


def test_F_and_CR_stay_with_a_member_until_a_trial_with_others_replaces_it() -> None:
    _, states = states_of(JDE(**SMALL), "inequalities", BUDGET)
    changed = 0
    for old, new in pairwise(states[:-1]):
        same_point = (old.population.x == new.population.x).all(axis=1)
        assert (old.F[same_point] == new.F[same_point]).all()
        assert (old.CR[same_point] == new.CR[same_point]).all()
        changed += int((old.F != new.F).sum())
    assert changed > 10


def flat(x: Sequence[float]) -> Values:
    """Without constraints on a flat objective every trial stays, so that what is drawn can be seen."""
    return 0.0, [], []


def test_new_values_are_uniform() -> None:
    settings = JDE(population_size=500, tau_F=1.0, tau_CR=1.0, least_F=0.2, largest_F=0.8)
    _, states = states_of(settings, flat, 500 * 8)
    F, CR = (np.concatenate([getattr(state, name) for state in states[1:]]) for name in ("F", "CR"))
    assert p_of_law((F - 0.2) / 0.6, lambda q: q) > LEVEL
    assert p_of_law(CR, lambda q: q) > LEVEL
    assert abs(np.corrcoef(F, CR)[0, 1]) < 0.06


def test_so_many_values_change_as_the_probabilities_say() -> None:
    _, states = states_of(JDE(population_size=1000, tau_F=0.1, tau_CR=0.3), flat, 1000 * 6)
    changed_F = np.mean([(old.F != new.F).mean() for old, new in pairwise(states)])
    changed_CR = np.mean([(old.CR != new.CR).mean() for old, new in pairwise(states)])
    assert changed_F == pytest.approx(0.1, abs=0.015)  # 5000 draws: three deviations are 0.013
    assert changed_CR == pytest.approx(0.3, abs=0.02)


def test_it_solves_a_problem_with_inequalities() -> None:
    best = feasible_best_of(JDE(population_size=30), "inequalities", 15_000)
    np.testing.assert_allclose(best.x[0], 1.5, atol=1e-2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"population_size": 3}, "population_size must be an int >= 4; got 3"),
        ({"tau_F": 2}, "tau_F must be a number from 0 to 1; got 2"),
        ({"least_F": 0.5, "largest_F": 0.4}, r"largest_F must be least_F \(0.5\) or more; got 0.4"),
        ({"rule": "luck"}, "unknown rule 'luck'; expected one of feasibility"),
        ({"repair": "ignore"}, "repair must be one of .*; got 'ignore'"),
    ],
)
def test_wrong_settings_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        JDE(**options)


def test_the_literal_version_keeps_points_without_values_only_until_better_come() -> None:
    slow = literal(ReferenceJDE, JDE(**SMALL), "failing", BUDGET)
    slow.start(NumpyStream(SEED, 0, 0))
    failed = [i for i, p in enumerate(slow.population) if p.failed]
    assert failed and all(slow.population[i] == Point(slow.population[i].x) for i in failed)
