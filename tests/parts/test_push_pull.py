"""Push and pull: when the push ends and how epsilon goes then, worked by hand; and as a technique."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from handmade import LOST, points

from ppsde.arrays import HUGE
from ppsde.parts.push_pull import (
    ByQuantile,
    Improved,
    Polynomial,
    Progress,
    PushAndPull,
    PushPull,
    Schedule,
    Stage,
    filled,
)
from ppsde.parts.rules import accepts
from ppsde.population import Population
from ppsde.streams import NumpyStream

# Push and pull: when the push ends and what epsilon does then, worked by hand.


GUARD = 1e-6


def population(*violations: float, f: float = 0.0) -> Population:
    n = len(violations)
    values = np.array(violations, float)
    return Population(
        np.zeros((n, 1)), np.where(values < np.inf, f, np.inf), values, np.zeros((n, 0)), np.zeros((n, 0))
    )


SCHEDULES: dict[str, Schedule] = {
    "improved": Improved(tau=0.1, alpha=0.95, cp=2.0),
    "polynomial": Polynomial(cp=2.0),
    "quantile": ByQuantile(theta=0.8, cp=2.0),
}


def push_pull(schedule: str = "improved", **numbers: Any) -> PushPull:
    """Epsilon closes with the last generation unless a test says otherwise."""
    return PushPull(**{"schedule": SCHEDULES[schedule], "closes": 1.0, **numbers})


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


def stages(
    values: list[float], left: int, people: Population, plan: PushPull, window: int = 2, total: int | None = None
) -> list[Stage]:
    """The stages of generations 1, 2, .. of a cycle, whose populations have these objectives and always the same
    violations; `left` of `total` generations, as many as left if not given."""
    stage, result = Stage.fresh(window), []
    for G, value in enumerate(values, start=1):
        now = replace(people, f=np.where(people.valid, value, np.inf))
        stage = stage.advance(np.asarray(G), total or left, np.asarray(left), now, plan)
        result.append(stage)
    return result


def pulls(walked: list[Stage]) -> list[bool]:
    return [bool(stage.pull) for stage in walked]


def epsilons(walked: list[Stage]) -> list[float]:
    return [float(stage.epsilon) for stage in walked]


FALLING = [2.0**-k for k in range(12)]  # halved each time: never stagnates


def test_the_push_ends_with_stagnation_and_epsilon_starts_at_the_largest_violation() -> None:
    values = [100.0, 50.0, 49.0, 49.99, 48.99, 49.99, 10.0]
    # Falls over 2: G=3 (100-49)/100; G=4 (50-49.99)/50 = 2e-4 <= 1e-3: the push ends at G = 4.
    people = population(0.0, 2.0, 3.0, math.inf)  # the point without values has no violation to start from
    walked = stages(values, 10, people, push_pull())
    assert pulls(walked) == [False] * 3 + [True] * 4
    # 3 times 0.9 in the generation of the switch already, then on (a quarter is feasible, below alpha).
    np.testing.assert_allclose(epsilons(walked), [0, 0, 0, 3 * 0.9, 3 * 0.9**2, 3 * 0.9**3, 3 * 0.9**4], rtol=1e-14)
    assert [float(stage.start) for stage in walked[3:]] == [3.0] * 4
    assert [int(stage.began) for stage in walked] == [0, 0, 0, 4, 4, 4, 4]


def test_a_fall_of_exactly_the_threshold_ends_the_push_and_a_larger_one_does_not() -> None:
    assert stages([8.0, 8.0, 7.0], 10, population(1.0), push_pull(switch_threshold=0.125))[-1].pull
    assert not stages([8.0, 8.0, 6.75], 10, population(1.0), push_pull(switch_threshold=0.125))[-1].pull


def test_the_value_that_must_fall_is_the_minimum_or_that_of_the_best() -> None:
    def switches(of: str, best: list[float], minimum: list[float]) -> bool:
        stage, people = Stage.fresh(1), population(0.0, 1.0)
        for G, pair in enumerate(zip(best, minimum, strict=True), start=1):
            now = replace(people, f=np.array(pair))
            stage = stage.advance(np.asarray(G), 10, np.asarray(10), now, push_pull(stagnation_of=of))
        return bool(stage.pull)

    falls, stays = [9.0, 5.0], [3.0, 3.0]
    assert switches("minimum", best=falls, minimum=stays) and not switches("best", best=falls, minimum=stays)
    falls, stays = [3.0, 1.0], [9.0, 9.0]
    assert switches("best", best=stays, minimum=falls) and not switches("minimum", best=stays, minimum=falls)


def test_the_push_has_at_most_its_share_of_what_is_left_of_the_run() -> None:
    # 0.3 * 10 = 3 generations of push; the run's total of 100 does not matter.
    walked = stages(FALLING[:6], 10, population(3.0), push_pull(push_limit=0.3), total=100)
    assert pulls(walked) == [False] * 3 + [True] * 3
    assert [int(stage.began) for stage in walked] == [0, 0, 0, 4, 4, 4]
    assert pulls(stages(FALLING[:3], 10, population(3.0), push_pull(push_limit=0.0))) == [False, True, True], (
        "one at least"
    )
    assert pulls(stages(FALLING[:9], 10, population(3.0), push_pull(push_limit=1.0))) == [False] * 9


def test_a_short_run_leaves_less_to_the_push() -> None:
    # 500 generations are a quarter of a long run: 0.6 sqrt(1 / 4) = 0.3 of what is left; of 4000 it is 0.6.
    growing = push_pull(push_limit=0.6, push_growth=0.5)
    assert pulls(stages(FALLING[:7], 10, population(3.0), growing, total=500)) == [False] * 3 + [True] * 4
    assert pulls(stages(FALLING[:7], 10, population(3.0), growing, total=4000)) == [False] * 6 + [True]


def test_a_feasible_population_follows_the_polynomial_in_the_improved_schedule() -> None:
    stage = stages([5.0, 5.0, 5.0], 10, population(0.0, 4.0), push_pull())[-1]
    assert stage.epsilon == pytest.approx(4 * 0.9)
    stage = stage.advance(np.asarray(4), 10, np.asarray(10), population(0.0, 0.0), push_pull())
    assert stage.epsilon == pytest.approx(4.0 * (1 - 4 / 10) ** 2)  # 1.44, from epsilon at the switch
    stage = stage.advance(np.asarray(5), 10, np.asarray(10), population(0.0, 1.0), push_pull())
    assert stage.epsilon == pytest.approx(1.44 * 0.9)  # shrinking from where it is


def test_the_improved_schedule_follows_the_polynomial_of_its_own_length() -> None:
    plan = push_pull(pull_length=0.2)
    stage = stages([5.0, 5.0, 5.0], 10, population(0.0, 4.0), plan, total=20)[-1]
    assert stage.epsilon == pytest.approx(4 * 0.9) and stage.began == 3
    stage = stage.advance(np.asarray(5), 20, np.asarray(10), population(0.0, 0.0), plan)
    assert stage.epsilon == pytest.approx(4.0 * (1 - 2 / 4) ** 2)  # 2 of 0.2 * 20 generations are over


def test_the_polynomial_schedule_ignores_how_many_are_feasible() -> None:
    walked = stages([5.0] * 6, 5, population(0.0, 4.0), push_pull(schedule="polynomial"))
    # Switch at G = 3; 4 (1 - G / 5)^2 at G = 3, 4; then 0.
    np.testing.assert_allclose(epsilons(walked), [0, 0, 4 * 0.4**2, 4 * 0.2**2, 0, 0], rtol=1e-12)


def test_the_polynomial_schedule_with_a_length_runs_from_the_switch_in_generations_of_the_whole_run() -> None:
    plan = push_pull(schedule="polynomial", pull_length=0.1)
    walked = stages([5.0] * 9, 15, population(0.0, 4.0), plan, total=40)
    # Switch at G = 3; 4 (1 - (G - 3) / 4)^2, where 4 is 0.1 * 40, so 0 from G = 7 on.
    np.testing.assert_allclose(epsilons(walked), [0, 0, 4, 2.25, 1, 0.25, 0, 0, 0], rtol=1e-12)
    # A pull shorter than a generation takes one.
    walked = stages([5.0] * 5, 15, population(0.0, 4.0), replace(plan, pull_length=0.01), total=40)
    assert epsilons(walked) == [0, 0, 4, 0, 0]


TEN = (0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, math.inf)


def test_the_quantile_schedule_lets_a_shrinking_share_of_the_population_in() -> None:
    walked = stages([5.0] * 6, 5, population(*TEN), push_pull(schedule="quantile"))
    # 0.8 * 10 * (1 - G / 5)^2 places: 1.28 at G = 3, 0.32 at G = 4; the violations there are 1 and 0.
    assert epsilons(walked) == [0, 0, 1, 0, 0, 0]


def test_the_quantile_schedule_with_a_length_starts_at_theta() -> None:
    walked = stages([5.0] * 8, 15, population(*TEN), push_pull(schedule="quantile", pull_length=0.1), total=40)
    # 8 (1 - (G - 3) / 4)^2 places from the switch at G = 3 on: 8, 4.5, 2, 0.5, then none.
    assert epsilons(walked) == [0, 0, 8, 4, 2, 0, 0, 0]
    # It has no memory: a population that violates more lets more in.
    worse = walked[3].advance(
        np.asarray(5),
        40,
        np.asarray(15),
        population(*(10 + v for v in TEN)),
        push_pull(schedule="quantile", pull_length=0.1),
    )
    assert worse.epsilon == 12.0


@pytest.mark.parametrize("pull_length", [0.0, 0.9])
@pytest.mark.parametrize("kind", ["improved", "polynomial", "quantile"])
def test_from_the_last_generation_on_it_is_pull_with_epsilon_zero(kind: str, pull_length: float) -> None:
    plan = push_pull(schedule=kind, closes=0.5, pull_length=pull_length)
    people = population(3.0, 3.0, 3.0)
    walked = stages(FALLING[:8], 9, people, plan)  # until 0.5 * 9
    assert pulls(walked) == [False] * 4 + [True] * 4
    assert epsilons(walked) == [0] * 8
    assert [bool(stage.closed) for stage in walked] == [False] * 4 + [True] * 4
    assert pulls(stages(FALLING[:8], 8, people, plan)) == [False] * 3 + [True] * 5
    exact = stages([5.0] * 5, 8, people, plan)  # generation 4 is not before 4
    assert exact[2].epsilon > 0 and exact[3].epsilon == 0


def test_a_stage_is_closed_when_it_pulls_with_epsilon_zero() -> None:
    walked = stages([5.0] * 6, 20, population(0.0, 4.0), push_pull(schedule="polynomial", pull_length=0.1))
    # 4 (1 - (G - 3) / 2)^2 is 4, 1, 0.
    assert epsilons(walked) == [0, 0, 4, 1, 0, 0]
    assert [bool(stage.closed) for stage in walked] == [False, False, False, False, True, True]


def test_there_is_no_way_back_to_the_push() -> None:
    walked = stages([5.0, 5.0, 5.0, 1.0, 0.2, 0.01], 10, population(3.0), push_pull())
    assert pulls(walked) == [False, False, True, True, True, True]


def test_a_population_without_values_starts_the_pull_from_zero() -> None:
    nothing = population(math.inf, math.inf)
    for kind in ("improved", "polynomial"):
        stage = stages([5.0, 5.0], 10, nothing, push_pull(push_limit=0.0, schedule=kind))[-1]
        assert stage.pull and stage.epsilon == stage.start == 0


def test_the_rule_of_the_stage_is_the_objective_then_epsilon() -> None:
    low_f, feasible = population(1.5, f=1.0), population(0.5, f=2.0)
    pushing, _, pulling = stages([5.0] * 3, 10, population(1.0), push_pull())
    assert accepts(pushing.rule, low_f, feasible)[0] and not accepts(pushing.rule, feasible, low_f)[0]
    # Pulling with epsilon 0.9, violation 1.5 is outside and 0.5 inside.
    assert accepts(pulling.rule, feasible, low_f)[0] and not accepts(pulling.rule, low_f, feasible)[0]
    nothing = population(math.inf)
    assert not accepts(pushing.rule, nothing, feasible)[0]


# Push and pull told of the share of the budget: the switch, the pull, its end.


def level(technique: PushAndPull, elapsed: float = 0.1) -> float:
    return float(technique.rule(points((0, 0)), np.asarray(elapsed), NumpyStream(1)).epsilon)


def after(technique: PushAndPull, population: Population, elapsed: float) -> PushAndPull:
    return technique.after(population, np.asarray(elapsed))


def test_it_starts_by_ignoring_the_constraints() -> None:
    rule = PushAndPull.fresh().rule(points((0, 3)), np.asarray(0.0), NumpyStream(1))
    assert accepts(rule, points((1e300, 1), LOST), points((0, 3), (0, 3))).tolist() == [True, False]


def test_it_pulls_when_the_minimum_has_not_fallen_for_a_window() -> None:
    table = points((4, 1), (0, 5), LOST)
    technique = PushAndPull.fresh()
    for generation in range(1, 26):
        technique = after(technique, table, 0.001 * generation)
        assert level(technique) == HUGE
    technique = after(technique, table, 0.026)
    assert level(technique) == pytest.approx(3.6)  # the largest violation, 4, and at once (1 - 0.1) of it
    assert level(after(technique, table, 0.027)) == pytest.approx(3.24)


def falling(generation: int) -> Population:
    return points((2, 100.0 - generation), (0, 500.0))


def test_a_push_that_goes_on_ends_after_a_part_of_the_budget() -> None:
    technique = PushAndPull.fresh()
    for generation in range(1, 31):
        technique = after(technique, falling(generation), generation / 100)
        assert level(technique) == HUGE
    assert level(after(technique, falling(31), 0.31)) == pytest.approx(1.8)


def test_epsilon_is_zero_towards_the_end_of_the_budget() -> None:
    technique = PushAndPull.fresh()
    for generation in range(1, 90):
        technique = after(technique, falling(generation), generation / 100)
    assert 0 < level(technique) < 2
    assert level(after(technique, falling(90), 0.9)) == 0.0


def test_it_reopens_when_nearly_all_are_feasible_and_dead_rows_are_not_counted() -> None:
    technique = PushAndPull.fresh()
    for generation in range(1, 32):
        technique = after(technique, falling(generation), generation / 100)
    half_dead = points(*[(0.0, 1.0)] * 20, *[LOST] * 20)
    reopened = after(technique, half_dead, 32 / 100)
    assert level(reopened) == pytest.approx(2 * (1 - 0.32 / 0.9) ** 2)


TABLE = points((3, 1), LOST, (0, 2), (1, 3), LOST, (0, 9), (2, 4))
NOBODY = points(LOST, LOST)


def test_a_population_filled_with_its_points_that_have_values() -> None:
    # Five of seven: places 0 .. 6 take floor(k 5 / 7) = 0 0 1 2 2 3 4 of them, in their order.
    assert filled(TABLE).f.tolist() == [1, 1, 2, 3, 3, 9, 4]
    assert filled(TABLE).violation.tolist() == [3, 3, 0, 1, 1, 0, 2]
    assert not filled(NOBODY).valid.any()


@pytest.mark.parametrize("dead", [0, 10, 37, 70])
def test_a_filled_population_keeps_its_feasible_share(dead: int) -> None:
    rng = np.random.default_rng(dead)
    living = [(float(rng.random() < 0.4), 1.0) for _ in range(100 - dead)]
    population = points(*living, *[LOST] * dead)
    assert filled(population).valid.all()
    assert filled(population).feasible.mean() == pytest.approx(float(population.feasible_share), abs=0.07)
