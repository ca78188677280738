"""Push and pull: when the push ends and what epsilon does then, worked by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ppsde.parts.push_pull import Progress, Schedule, Stage
from ppsde.parts.rules import accepts
from ppsde.population import Population

GUARD = 1e-6


def population(*violations: float, f: float = 0.0) -> Population:
    n = len(violations)
    values = np.array(violations, float)
    return Population(
        np.zeros((n, 1)), np.where(values < np.inf, f, np.inf), values, np.zeros((n, 0)), np.zeros((n, 0))
    )


def schedule(kind: str = "improved", threshold: float = 1e-3) -> Schedule:
    return Schedule(threshold, GUARD, kind, tau=0.1, alpha=0.95, cp=2.0, theta=0.8)  # type: ignore[arg-type]


def test_progress_looks_back_over_exactly_its_window() -> None:
    progress, falls = Progress.fresh(3), []
    for G, value in enumerate([10.0, 8.0, 4.0, 5.0, 4.0, 4.0], start=1):
        falls.append(float(progress.fall(G, np.asarray(value), GUARD)))
        progress = progress.record(G, np.asarray(value))
    # G = 4 against 1: (10 - 5) / 10; G = 5 against 2: (8 - 4) / 8; G = 6 against 3: (4 - 4) / 4.
    assert falls == [math.inf, math.inf, math.inf, 0.5, 0.5, 0.0]


def test_the_fall_is_relative_to_the_size_of_the_old_value() -> None:
    def fall(old: float, new: float) -> float:
        return float(Progress.fresh(1).record(1, np.asarray(old)).fall(2, np.asarray(new), GUARD))

    assert fall(-4.0, -5.0) == 0.25  # (-4 + 5) / |-4|, not divided by the guard
    assert fall(0.0, -1e-6) == pytest.approx(1.0)  # (0 + 1e-6) / 1e-6: the guard
    assert fall(2.0, 3.0) == -0.5  # a rise
    assert fall(math.inf, 3.0) == math.inf and fall(3.0, math.inf) == math.inf  # no values, no stagnation


def stages(values: list[float], last: float, people: Population, plan: Schedule, window: int = 2) -> list[Stage]:
    stage, result = Stage.fresh(window), []
    for G, value in enumerate(values, start=1):
        stage = stage.advance(np.asarray(G), last, np.asarray(value), people, plan)
        result.append(stage)
    return result


def test_the_push_ends_with_stagnation_and_epsilon_starts_at_the_largest_violation() -> None:
    values = [100.0, 50.0, 49.0, 49.99, 48.99, 49.99, 10.0]
    # Falls over 2: G=3 (100-49)/100; G=4 (50-49.99)/50 = 2e-4 <= 1e-3: the push ends at G = 4.
    people = population(0.0, 3.0, 2.0, math.inf)  # the point without values has no violation to start from
    walked = stages(values, 10.0, people, schedule())
    assert [bool(stage.pull) for stage in walked] == [False] * 3 + [True] * 4
    # 3 times 0.9 in the generation of the switch already, then on (a quarter is feasible, below alpha).
    np.testing.assert_allclose(
        [float(stage.epsilon) for stage in walked],
        [0, 0, 0, 3 * 0.9, 3 * 0.9**2, 3 * 0.9**3, 3 * 0.9**4],
        rtol=1e-14,
    )
    assert [float(stage.start) for stage in walked[3:]] == [3.0] * 4


def test_a_fall_of_exactly_the_threshold_ends_the_push_and_a_larger_one_does_not() -> None:
    assert stages([8.0, 8.0, 7.0], 10.0, population(1.0), schedule(threshold=0.125))[-1].pull
    assert not stages([8.0, 8.0, 6.75], 10.0, population(1.0), schedule(threshold=0.125))[-1].pull


def test_a_feasible_population_follows_the_polynomial_in_the_improved_schedule() -> None:
    stage = stages([5.0, 5.0, 5.0], 10.0, population(4.0, 0.0), schedule())[-1]
    assert stage.epsilon == pytest.approx(4 * 0.9)
    stage = stage.advance(np.asarray(4), 10.0, np.asarray(5.0), population(0.0, 0.0), schedule())
    assert stage.epsilon == pytest.approx(4.0 * (1 - 4 / 10) ** 2)  # 1.44, from epsilon at the switch
    stage = stage.advance(np.asarray(5), 10.0, np.asarray(5.0), population(1.0, 0.0), schedule())
    assert stage.epsilon == pytest.approx(1.44 * 0.9)  # shrinking from where it is


def test_the_polynomial_schedule_ignores_how_many_are_feasible() -> None:
    walked = stages([5.0] * 6, 5.0, population(4.0, 0.0), schedule("polynomial"))
    # Switch at G = 3; 4 (1 - G / 5)^2 at G = 3, 4; then 0.
    np.testing.assert_allclose(
        [float(stage.epsilon) for stage in walked], [0, 0, 4 * 0.4**2, 4 * 0.2**2, 0, 0], rtol=1e-12
    )


@pytest.mark.parametrize("kind", ["improved", "polynomial"])
def test_from_the_last_generation_on_it_is_pull_with_epsilon_zero(kind: str) -> None:
    values = [2.0**-k for k in range(8)]  # halved each time: never stagnates
    walked = stages(values, 4.5, population(3.0), schedule(kind))
    assert [bool(stage.pull) for stage in walked] == [False] * 4 + [True] * 4
    assert all(stage.epsilon == 0 for stage in walked)
    at_four = stages(values, 4.0, population(3.0), schedule(kind))
    assert [bool(stage.pull) for stage in at_four] == [False] * 3 + [True] * 5
    exact = stages([5.0] * 5, 4.0, population(3.0), schedule(kind))  # generation 4 is not before 4
    assert exact[2].epsilon > 0 and exact[3].epsilon == 0


def test_there_is_no_way_back_to_the_push() -> None:
    walked = stages([5.0, 5.0, 5.0, 1.0, 0.2, 0.01], 10.0, population(3.0), schedule())
    assert [bool(stage.pull) for stage in walked] == [False, False, True, True, True, True]


def test_the_rule_of_the_stage_is_the_objective_then_epsilon() -> None:
    low_f, feasible = population(1.5, f=1.0), population(0.5, f=2.0)
    pushing, _, pulling = stages([5.0] * 3, 10.0, population(1.0), schedule())
    assert accepts(pushing.rule, low_f, feasible)[0] and not accepts(pushing.rule, feasible, low_f)[0]
    # Pulling with epsilon 0.9, violation 1.5 is outside and 0.5 inside.
    assert accepts(pulling.rule, feasible, low_f)[0] and not accepts(pulling.rule, low_f, feasible)[0]
    nothing = population(math.inf)
    assert not accepts(pushing.rule, nothing, feasible)[0]


def test_the_quantile_schedule_lets_a_shrinking_share_of_the_population_in() -> None:
    people = population(0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, math.inf)
    walked = stages([5.0] * 6, 5.0, people, schedule("quantile"))
    # 0.8 * 10 * (1 - G / 5)^2 places: 1.28 at G = 3, 0.32 at G = 4; the violations there are 1 and 0.
    assert [float(stage.epsilon) for stage in walked] == [0, 0, 1, 0, 0, 0]


def test_a_collapsed_population_ends_the_push_too() -> None:
    stage = Stage.fresh(2).advance(np.asarray(1), 10.0, np.asarray(5.0), population(3.0), schedule(), np.asarray(True))
    assert stage.pull and stage.epsilon == pytest.approx(3 * 0.9)
