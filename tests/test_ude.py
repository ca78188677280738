"""UDE and its literal version, fed the same draws, must go the same way; and what is special to UDE."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from reference.options import named, settings_of, tried
from reference.small_problems import PROBLEMS, end_of, states_of
from reference.ude import ReferenceUDE
from reference.walking import assert_close, assert_same_points, follow_population, walk_together
from statistics_of_draws import LEVEL, p_of_counts, p_of_law

from ppsde.algorithm import Task
from ppsde.algorithms.ude import UDE, State, around_the_best, with_best_replaced
from ppsde.engines.compiled import float64
from ppsde.parts.handling import RULES
from ppsde.parts.rules import Blockwise, Feasibility
from ppsde.parts.stochastic import Coin
from ppsde.population import Population, Scores
from ppsde.streams import NumpyStream, Tape

# UDE and its literal version, fed the same draws, must go the same way; and what is special to UDE.


SMALL: dict[str, Any] = {"population_size": 14, "strategy_window": 4}
GENERATIONS = 30
VARIED = ("inequalities", "failing")  # on which every setting is tried
ALTERNATIVES: list[dict[str, Any]] = [
    {"population_size": None},
    {"population_size": 13},
    {"pbest": 2},
    {"strategy_window": 20},
    *({"parents": parents} for parents in ("ranked-top", "best-of-three", "uniform")),
    *({"repair": repair} for repair in ("reflect", "midpoint", "resample")),
    {"local_steps": 0},
    {"local_steps": 3},
    {"penalty_weight": 1.0},
]


def budget_of(settings: UDE) -> int:
    """For so many generations and a part of one more, which is cut off in its first request."""
    n = settings.population_size or 12
    return n + GENERATIONS * (n + 2 * ((n + 1) // 2) + settings.local_steps) + 7


def walk(settings: UDE, problem: str, following: bool) -> None:
    def assert_same(fast: State, slow: ReferenceUDE, where: str) -> None:
        assert_same_points(fast.population, slow.population, where)
        seen = settings.watch(fast)
        rates = [float(seen[f"rate_{name}"]) for name in ("rand", "current_to_rand", "current_to_pbest")]
        assert_close(rates, slow.strategy_rates(), where)

    budget, follow = budget_of(settings), follow_population if following else None
    way = walk_together(ReferenceUDE, settings, problem, budget, assert_same, follow)
    assert way.slow.G == GENERATIONS + 1


@pytest.mark.parametrize("problem", PROBLEMS)
def test_both_walk_the_same_way_from_start_to_end(problem: str) -> None:
    walk(UDE(**SMALL), problem, following=False)


def test_both_take_every_step_alike_with_nothing_set() -> None:
    walk(UDE(), "equalities", following=True)


@pytest.mark.parametrize("problem", VARIED)
@pytest.mark.parametrize("options", ALTERNATIVES, ids=named)
def test_both_take_every_step_alike_whatever_the_setting(options: dict[str, Any], problem: str) -> None:
    walk(UDE(**{**SMALL, **options}), problem, following=True)


def end(options: dict[str, Any], problem: str) -> list[list[float]]:
    settings = UDE(**{**SMALL, **options})
    return end_of(settings, problem, budget_of(settings))


@pytest.mark.parametrize("options", ALTERNATIVES, ids=named)
def test_every_setting_makes_a_difference(options: dict[str, Any]) -> None:
    assert any(end(options, problem) != end({}, problem) for problem in VARIED)


@pytest.mark.parametrize("rule", [name for name in RULES if name != "static-penalty"])
def test_every_rule_can_be_set_and_leads_another_way(rule: str) -> None:
    assert end({"rule": rule}, "inequalities") != end({}, "inequalities")


def test_no_setting_is_forgotten() -> None:
    assert tried(ALTERNATIVES) | {"rule"} == settings_of(UDE)


def test_the_strategies_rates_follow_their_wins() -> None:
    settings = UDE(**SMALL)
    run, _ = states_of(settings, "equalities", budget_of(settings))
    rates = run.history["rate_current_to_rand"]
    assert rates[: settings.strategy_window].tolist() == [1 / 3] * settings.strategy_window
    assert len(set(rates)) > 5


def test_the_answer_is_the_first_by_penalised_fitness_be_it_feasible_or_not() -> None:
    settings = UDE(**SMALL)
    run, states = states_of(settings, "equalities", budget_of(settings))
    last = states[-1].population
    row = int(np.argmin(last.f + settings.penalty_weight * last.violation))
    assert run.answer is not None
    assert run.answer.x[0].tolist() == last.x[row].tolist()


@pytest.mark.parametrize(
    "options",
    [
        {"population_size": 7},
        {"pbest": 1},
        {"strategy_window": 0},
        {"local_steps": -1},
        {"parents": "anyone"},
        {"repair": "none"},
        {"rule": "hope"},
        {"penalty_weight": -1.0},
    ],
    ids=named,
)
def test_a_wrong_setting_is_named(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(options))):
        UDE(**options)


# A rule that treats members differently, for blocks of trials that are smaller than the population.


def test_every_block_is_judged_like_the_first_members() -> None:
    # Members 0 and 2 of three are judged by f alone; blocks of two are members 0 and 1, again and again.
    coin = Coin(np.array([0.0, 0.9, 0.0]), 0.45)
    points = Scores(np.arange(6.0), np.full(6, 7.0))
    assert coin.keys(points)[0].tolist() == [0.0, 7.0, 0.0, 0.0, 7.0, 0.0]
    first, second = Blockwise(coin, 2).keys(points)
    assert first.tolist() == [0.0, 7.0, 0.0, 7.0, 0.0, 7.0]
    assert second.tolist() == points.f.tolist()


def test_a_rule_that_treats_all_alike_stays_as_it_is() -> None:
    points = Scores(np.array([3.0, 1.0, 2.0, 5.0]), np.array([0.0, 1.0, 0.5, np.inf]))
    assert [key.tolist() for key in Blockwise(Feasibility(), 2).keys(points)] == [
        key.tolist() for key in Feasibility().keys(points)
    ]


def test_jax_gives_the_same_keys() -> None:
    pytest.importorskip("jax")
    import jax.numpy as jnp

    points = Scores(np.arange(6.0), np.full(6, 7.0))
    ours = Blockwise(Coin(np.array([0.0, 0.9, 0.0]), 0.45), 2).keys(points)
    theirs = Blockwise(Coin(jnp.asarray([0.0, 0.9, 0.0]), 0.45), 2).keys(Scores(*map(jnp.asarray, points)))
    np.testing.assert_array_equal(np.asarray(theirs), np.asarray(ours))


# Steps around the best member: by hand, by law, and who is replaced.


X = np.array([[1.0, 2.0], [3.0, 10.0], [5.0, -4.0], [0.0, 8.0]])
WIDE = Task(np.full(2, -1000.0), np.full(2, 1000.0), 1)


def population(f: list[float], violation: list[float]) -> Population:
    n = len(f)
    none = np.empty((n, 0))
    return Population(np.arange(2.0 * n).reshape(n, 2), np.array(f), np.array(violation), none, none)


def test_around_the_best_by_hand() -> None:
    # F = 0.5, CR = 0.3, r1 = 2 (place 1 of 1, 2, 3), r2 = 1 (place 0 of 1, 3), component 1 kept.
    draws = [np.array([[0.5], [0.3], [0.34], [0.0], [0.5]]), np.array([[0.31, 0.9]])]
    # x_0 + 0.5 (x_2 - x_1) = (1, 2) + 0.5 (2, -14) = (2, -5), of which component 1
    assert around_the_best(X, 1, WIDE, Tape(draws)).tolist() == [[1.0, -5.0]]
    draws[1] = np.array([[0.3, 0.9]])
    assert around_the_best(X, 1, WIDE, Tape(draws)).tolist() == [[2.0, -5.0]]
    narrow = Task(np.array([0.0, -1.0]), np.array([1.5, 20.0]), 1)
    assert around_the_best(X, 1, narrow, Tape(draws)).tolist() == [[1.0, 3.0]], "2 mirrored at 1.5, -5 at -1"


def test_the_differences_are_those_of_two_other_members_with_a_uniform_factor() -> None:
    x = np.array([[0.0], [1.0], [10.0], [100.0]])
    task = Task(np.array([-1000.0]), np.array([1000.0]), 1)
    made = around_the_best(x, 20_000, task, NumpyStream(1))[:, 0]
    sizes = np.array([9.0, 90.0, 99.0])
    # All differences of members 1, 2, 3 in both directions: 9, 90, 99, each as often, each with F in [0, 1).
    assert abs((made > 0).mean() - 0.5) < 0.02

    def distribution(v: np.ndarray) -> np.ndarray:
        shares: np.ndarray = np.mean([np.clip(v / size, 0.0, 1.0) for size in sizes], axis=0)
        return shares

    assert p_of_law(np.abs(made), distribution) > LEVEL


def test_between_one_and_all_components_change_all_numbers_of_them_alike() -> None:
    d = 4
    x = np.random.default_rng(1).random((6, d))
    task = Task(np.full(d, -1000.0), np.full(d, 1000.0), 1)
    changed = (around_the_best(x, 20_000, task, NumpyStream(2)) != x[0]).sum(axis=1)
    # One for certain and d - 1 with a chance that is itself uniform: every number is as likely.
    assert p_of_counts(changed - 1, np.ones(d)) > LEVEL


def test_the_best_step_replaces_the_best_member_unless_it_is_worse() -> None:
    before = population([3.0, 1.0, 2.0], [0.0, 1.0, 2.0])
    steps = population([9.0, 2.5, -7.0], [0.0, 0.0, 0.1])
    after = with_best_replaced(Feasibility(), steps, before)
    assert after.f.tolist() == [2.5, 1.0, 2.0]
    assert after.violation.tolist() == [0.0, 1.0, 2.0]
    assert after.x.tolist() == [steps.x[1].tolist(), *before.x[1:].tolist()]
    worse = population([3.5, -7.0], [0.0, 0.1])
    assert with_best_replaced(Feasibility(), worse, before).f.tolist() == before.f.tolist()
    failed = population([np.inf], [np.inf])
    assert with_best_replaced(Feasibility(), failed, before).f.tolist() == before.f.tolist()


def test_jax_takes_the_same_steps() -> None:
    pytest.importorskip("jax")
    import jax.numpy as jnp

    tape = Tape.record(NumpyStream(3))
    ours = around_the_best(X, 6, WIDE, tape)
    before, steps = population([3.0, 1.0, 2.0], [0.0, 1.0, 2.0]), population([9.0, 2.5, -7.0], [0.0, 0.0, 0.1])
    with float64():
        task = Task(jnp.asarray(WIDE.lower), jnp.asarray(WIDE.upper), 1)
        theirs = around_the_best(jnp.asarray(X), 6, task, Tape(tape.draws, jnp.asarray))
        np.testing.assert_allclose(theirs, ours, rtol=1e-13)
        before_there, steps_there = (
            Population(*map(jnp.asarray, (p.x, p.f, p.violation, p.g, p.h))) for p in (before, steps)
        )
        after = with_best_replaced(Feasibility(), steps_there, before_there)
    np.testing.assert_array_equal(after.x, with_best_replaced(Feasibility(), steps, before).x)
