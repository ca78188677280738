"""FADE beside its literal version, and its fuzzy rules by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from reference.fade import ReferenceFADE
from reference.options import settings_of, tried
from reference.small_problems import PROBLEMS, end_of, feasible_best_of, states_of
from reference.walking import Walk, assert_close, assert_same_points, follow_population, walk_together

from ppsde.algorithms.fade import FADE, FOR_CR, FOR_F, State, change, depth
from ppsde.parts.handling import RULES

SMALL: dict[str, Any] = {"population_size": 12}
BUDGET = 12 * 20 + 5  # the last generation is cut
ALTERNATIVES: list[dict[str, Any]] = [
    {"population_size": 4},
    {"F": 0.4},
    {"CR": 0.1},
    {"repair": "clamp"},
    {"repair": "midpoint"},
    {"repair": "reflect"},
]


def assert_same(fast: State, slow: ReferenceFADE, where: str) -> None:
    assert int(fast.generation) == slow.G, where
    assert_same_points(fast.population, slow.population, where)
    assert_close([fast.F, fast.CR], [slow.F, slow.CR], where)


def walk(settings: FADE, problem: str) -> Walk:
    return walk_together(ReferenceFADE, settings, problem, BUDGET, assert_same, follow_population)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_both_take_every_step_alike(problem: str) -> None:
    walk(FADE(**SMALL), problem)


@pytest.mark.parametrize("options", ALTERNATIVES, ids=str)
def test_both_take_every_step_alike_whatever_the_setting(options: dict[str, Any]) -> None:
    other = walk(FADE(**{**SMALL, **options}), "failing").states[-1].population.x.tolist()
    assert other != end_of(FADE(**SMALL), "failing", BUDGET), "the setting has no effect here"


def test_no_setting_is_forgotten() -> None:
    assert tried(ALTERNATIVES) | {"rule"} == settings_of(FADE)


def test_there_are_ten_members_per_variable_unless_given() -> None:
    _, states = states_of(FADE(), "unconstrained", 40)
    assert states[0].population.size == 40


def test_changes_are_roots_of_mean_squares() -> None:
    new, old = np.array([[3.0, 4.0], [0.0, 0.0]]), np.zeros((2, 2))
    np.testing.assert_allclose(change(new, old), [np.sqrt(25 / 2)])
    np.testing.assert_allclose(change(np.array([[np.inf], [2.0]]), np.zeros((2, 1))), [np.sqrt(4 / 2)])
    np.testing.assert_allclose(depth(np.array([0.0, 1.0, np.inf])), [0, 1 - 2 / np.e, 1])


def test_large_changes_ask_for_large_values() -> None:
    still, moved = np.array([0.0]), np.array([50.0])
    for controller in (FOR_F, FOR_CR):
        values = [float(controller.infer(PC, FC)) for PC, FC in ((still, still), (moved, still), (moved, moved))]
        assert values == sorted(values) and 0 < values[0] < values[2] < controller.largest


@pytest.mark.parametrize("rule", RULES)
def test_every_technique_of_constraint_handling_can_serve(rule: str) -> None:
    feasible_best_of(FADE(**SMALL, rule=rule), "inequalities", 1500)


def test_wrong_settings_are_named() -> None:
    with pytest.raises(ValueError, match="population_size must be an int >= 4; got 3"):
        FADE(population_size=3)
