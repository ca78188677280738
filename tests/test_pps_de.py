"""PPS-DE and its literal version, fed the same draws, must go the same way, point by point."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from handmade import LOST, points
from reference.options import named, settings_of, tried
from reference.pps_de import ReferencePPSDE
from reference.pps_de_settings import RESTLESS, SMALL, alternatives, company_of
from reference.small_problems import D, Problem, Values, end_of, failing_beyond, states_of
from reference.walking import (
    assert_close,
    assert_same_draws,
    assert_same_memory,
    assert_same_points,
    listed,
    remembered,
    walk_together,
)

import ppsde
from ppsde.algorithm import Task
from ppsde.algorithms import ALGORITHMS
from ppsde.algorithms.pps_de import PPSDE, PUBLISHED, Cycle, State, around, is_near_miss, nearer, violate_alike
from ppsde.engines.run import Run
from ppsde.population import Population
from ppsde.testing import CONTRACT, check_numpy_and_jax_agree_step_by_step

# PPS-DE and its literal version, fed the same draws, must go the same way, point by point.


GENERATIONS = 70  # enough for several cycles
PUBLISHED_GENERATIONS = 35  # one cycle, and not so many that gains become differences of nearly equal numbers
LITERAL = dataclasses.replace(PUBLISHED, **SMALL, tau=0.3)  # all of epsilon's way in that time


def inequalities(x: Sequence[float]) -> Values:
    f = 0.01 + sum((v - 1.0) ** 2 for v in x)
    return f, [6.0 - sum(x), x[0] * x[1] - 3.0], []


def equalities(x: Sequence[float]) -> Values:
    f = -7.0 + sum((j + 1) * (v - 0.5) ** 2 for j, v in enumerate(x))
    return f, [x[3] - 2.0], [x[0] + x[1] - 3.0, x[2] * x[3] - 2.0]


def failing(x: Sequence[float]) -> Values:
    return failing_beyond(1.5, 2.2, x, inequalities)


def terraces(x: Sequence[float]) -> Values:
    """In steps, so that gains are exact in the longest run, and a search soon finds nothing more."""
    f, g, _ = inequalities(x)
    return math.floor(4.0 * f) / 4.0, [math.ceil(8.0 * g_i) / 8.0 for g_i in g], []


def plateau(x: Sequence[float]) -> Values:
    """Infeasible by the same amount wherever a search will look; its objective falls in steps."""
    return math.floor(4.0 * sum((v - 1.0) ** 2 for v in x)) / 4.0, [1.0 if sum(x) < 18.0 else -1.0], []


PROBLEMS: dict[str, Problem] = {
    "inequalities": inequalities,
    "equalities": equalities,
    "failing": failing,
    "terraces": terraces,
}
VARIED = ("inequalities", "failing")  # on which every setting is tried; together they have all kinds of values


def budget_of(settings: PPSDE, generations: int) -> int:
    """For so many generations and a part of one more, which is cut off in its first request."""
    n = settings.population_size or max(5 * D, 40)
    return n + generations * (n + 2 * ((n + 1) // 2)) + 7


def assert_same(fast: State, slow: ReferencePPSDE, where: str) -> None:
    where = f"{where}, {slow.G} of cycle {slow.cycle}"
    cycle, stage = fast.cycle, fast.stage
    assert [int(v) for v in (fast.generation, cycle.number, cycle.age)] == [slow.made, slow.cycle, slow.G], where
    assert_same_points(fast.population, slow.population, where)
    assert_same_points(fast.seen, slow.seen, f"{where}, the points seen")
    assert_same_points(fast.nearest, [slow.nearest], f"{where}, the least violating point")
    assert_same_memory(fast.memory, slow.M_F, slow.M_CR, slow.k, where)
    assert [bool(stage.pull), int(stage.began)] == [slow.pull, slow.G_switch], where
    assert_close([stage.epsilon, stage.start], [slow.eps, slow.eps_0], where)
    assert int(cycle.idle) == slow.idle, where
    assert_close([cycle.violation, cycle.f], [slow.record_phi, slow.record_f], where)
    assert_close(fast.rates, slow.rates, where)
    window = fast.competition.wins.shape[0]
    for g in range(max(1, slow.G - window + 1), slow.G + 1):
        assert fast.competition.wins[g % window].tolist() == slow.wins[g - 1], where


def follow(slow: ReferencePPSDE, fast: State) -> None:
    slow.population, slow.seen = listed(fast.population), listed(fast.seen)
    (slow.nearest,) = listed(fast.nearest)
    slow.M_F, slow.M_CR = remembered(fast.memory)
    slow.eps, slow.eps_0 = float(fast.stage.epsilon), float(fast.stage.start)
    slow.record_phi, slow.record_f = float(fast.cycle.violation), float(fast.cycle.f)


def walk(settings: PPSDE, problem: str, following: bool, generations: int = GENERATIONS) -> list[State]:
    budget, follow_or_not = budget_of(settings, generations), follow if following else None
    way = walk_together(ReferencePPSDE, settings, PROBLEMS[problem], budget, assert_same, follow_or_not)
    assert way.slow.made == generations + 1
    assert way.run.best is not None
    assert_same_points(way.run.best, [way.slow.judge.best], "the best point")
    return way.states


@pytest.mark.parametrize("problem", PROBLEMS)
def test_both_walk_the_same_way_from_start_to_end(problem: str) -> None:
    walk(PPSDE(**RESTLESS), problem, following=False)


def test_both_give_up_a_cycle_in_which_no_epsilon_tells_the_members_apart() -> None:
    settings = PPSDE(**{**RESTLESS, "pull_length": 1.0})
    budget = budget_of(settings, GENERATIONS)
    way = walk_together(ReferencePPSDE, settings, plateau, budget, assert_same, None)
    last = [before for before, after in pairwise(way.states) if after.cycle.number > before.cycle.number]
    assert len(last) >= 2
    for state in last:
        assert state.stage.pull and state.stage.epsilon == 1.0 and state.cycle.idle == 3, "long before epsilon is 0"


def steep(x: Sequence[float]) -> Values:
    """Feasible on a curve so thin that a short run ends beside it."""
    return sum((v - 1.0) ** 2 for v in x), [], [1e3 * (x[0] * x[1] + x[2] - 2.0), 30.0 * (x[3] - x[0])]


def test_both_rescue_a_run_without_a_feasible_point_in_the_same_way_and_it_helps() -> None:
    ends = {}
    for rescue in (0.0, 0.4):
        settings = PPSDE(**{**RESTLESS, "rescue": rescue})
        budget = budget_of(settings, GENERATIONS)
        way = walk_together(ReferencePPSDE, settings, steep, budget, assert_same, follow)
        violations = [float(state.nearest.violation[0]) for state in way.states]
        ends[rescue] = violations[round(0.6 * GENERATIONS)], violations[-1]
    (at, without), (same, helped) = ends.values()
    assert at == same > 0, "until then there is no difference"
    assert helped == 0.0 and without > 1.0


@pytest.mark.parametrize("problem", PROBLEMS)
def test_both_walk_the_same_way_as_published(problem: str) -> None:
    states = walk(LITERAL, problem, following=False, generations=PUBLISHED_GENERATIONS)
    assert all(state.cycle.number == 0 for state in states)


@pytest.mark.parametrize("method", ["pps-de", "pps-de-published"])
def test_both_take_every_step_alike_with_nothing_set(method: str) -> None:
    """As users get them: windows, patience and all, long enough for a second cycle of the default."""
    states = walk(ALGORITHMS[method], "terraces", following=True, generations=700)
    cycles = int(states[-1].cycle.number) + 1
    assert cycles >= 2 if ALGORITHMS[method].patience else cycles == 1


@pytest.mark.parametrize("problem", VARIED)
@pytest.mark.parametrize("options", alternatives(), ids=named)
def test_both_take_every_step_alike_whatever_the_setting(options: dict[str, Any], problem: str) -> None:
    walk(PPSDE(**{**RESTLESS, **options}), problem, following=True)


@pytest.mark.parametrize("options", [{}, *alternatives()], ids=named)
def test_both_ask_for_the_same_draws(options: dict[str, Any]) -> None:
    settings = PPSDE(**{**RESTLESS, **options})
    assert_same_draws(ReferencePPSDE, settings, inequalities, budget_of(settings, GENERATIONS), assert_same)


def history(options: dict[str, Any], problem: str) -> tuple[Run, list[State]]:
    settings = PPSDE(**{**RESTLESS, **options})
    return states_of(settings, PROBLEMS[problem], budget_of(settings, GENERATIONS))


@pytest.mark.parametrize("problem", PROBLEMS)
def test_these_runs_see_several_cycles_of_push_pull_and_epsilon_zero(problem: str) -> None:
    """Otherwise the agreement above would say little."""
    states = history({}, problem)[1][:-1]  # the budget cuts the last generation
    cycles = [[state for state in states if state.cycle.number == k] for k in range(int(states[-1].cycle.number) + 1)]
    assert len(cycles) >= 3
    for cycle in cycles[:-1]:
        assert not cycle[0].stage.pull, "a push at its beginning"
        assert any(state.stage.epsilon > 0 for state in cycle), "a pull with room"
        assert cycle[-1].stage.closed and cycle[-1].cycle.idle == 3, "three idle generations at its end"
    assert len({tuple(state.memory.F.ravel()) for state in states}) > GENERATIONS // 2, "the memory learns"
    assert any((state.rates != 1 / 3).all() for state in states), "the window of wins fills"


@pytest.mark.parametrize("problem", ["inequalities", "equalities", "failing"])
def test_these_runs_see_a_population_replaced_and_one_reseeded(problem: str) -> None:
    states = history({}, problem)[1][:-1]  # the budget cuts the last generation
    replaced, reseeded = [], []
    for old, new in pairwise(states):
        if new.cycle.number > old.cycle.number:
            replaced.append(len(rows_of(old.population) & rows_of(new.population)))
        elif new.stage.pull and not old.stage.pull and new.cycle.number % 2 == 1:
            reseeded.append(len(rows_of(new.population) & (rows_of(old.seen) - rows_of(old.population))))
    assert replaced and (problem == "failing" or max(replaced) == 0), "a new cycle keeps nothing that it can replace"
    if problem != "failing":  # there the reseeded cycle is cut before its points come into play
        assert reseeded and max(reseeded) > 0, "points seen in the push come back"
    assert not any((old.seen.x == new.seen.x).all() for old, new in seen_in_a_push(states)), "and are gathered there"


def rows_of(points: Population) -> set[tuple[float, ...]]:
    return {tuple(row) for row in points.x.tolist()}


def seen_in_a_push(states: list[State]) -> list[tuple[State, State]]:
    """The first generation of each cycle that remembers what it sees, with the state before it."""
    return [
        (old, new)
        for old, new in pairwise(states)
        if new.cycle.number > old.cycle.number and new.cycle.number % 2 == 1 and not new.stage.pull
    ]


def test_the_improved_epsilon_takes_both_its_branches() -> None:
    """Shrinking while few are feasible; the polynomial once nearly all are."""
    _, states = states_of(LITERAL, terraces, budget_of(LITERAL, PUBLISHED_GENERATIONS))
    ratios = [
        float(new.stage.epsilon / old.stage.epsilon)
        for old, new in pairwise(states)
        if old.stage.epsilon > 0 and new.stage.epsilon > 0
    ]
    shrunk = [math.isclose(ratio, 1.0 - LITERAL.tau) for ratio in ratios]
    assert any(shrunk) and not all(shrunk)


def test_these_runs_meet_points_without_values_and_leave_them() -> None:
    run, states = history({}, "failing")
    assert run.failed > 20
    assert not states[0].population.valid.all()
    assert any(state.population.valid.all() for state in states)


@pytest.mark.parametrize("options", alternatives(), ids=named)
def test_every_setting_makes_a_difference(options: dict[str, Any]) -> None:
    company = company_of(options)
    differs = any(end(options, problem) != end(company, problem) for problem in VARIED)
    assert differs, "on these problems, with this seed, it has no effect; the agreement above says nothing about it"


def end(options: dict[str, Any], problem: str) -> list[list[float]]:
    settings = PPSDE(**{**RESTLESS, **options})
    return end_of(settings, PROBLEMS[problem], budget_of(settings, GENERATIONS))


def test_no_setting_is_forgotten() -> None:
    """A new setting needs a line in the table of numbers, or choices of its own."""
    assert tried(alternatives()) | {"rule"} == settings_of(PPSDE)


def test_the_published_reading_has_none_of_the_additions() -> None:
    plain: dict[str, Any] = {
        "push_limit": 1.0,
        "push_growth": 0.0,
        "schedule": "improved",
        "cp": 2.0,
        "pull_length": 0.0,
        "patience": 0,
        "reseed": False,
        "rescue": 0.0,
    }
    assert PPSDE(**plain) == PUBLISHED == ALGORITHMS["pps-de-published"]
    assert PPSDE() == ALGORITHMS["pps-de"] != PUBLISHED


def test_the_push_of_a_new_cycle_is_not_measured_by_the_cycle_before() -> None:
    """Otherwise it ends when its window has filled, as a fresh population rarely beats a converged one by then."""
    states = history({}, "inequalities")[1][:-1]
    begun = [(old, new) for old, new in pairwise(states) if new.cycle.number > old.cycle.number]
    assert begun
    assert not any((new.stage.lowest.values == old.population.f.min()).any() for old, new in begun)


# Cycles: what counts as progress and what as idleness, worked by hand.


inf = math.inf


def best(violation: float, f: float) -> Population:
    """A population whose best point has these values; the second row is worse, whatever its objective."""
    empty = np.zeros((2, 0))
    return Population(np.zeros((2, 1)), np.array([f, -1e9]), np.array([violation, inf]), empty, empty)


def idle_after(*points: tuple[float, float], counts: bool = True) -> list[int]:
    cycle, idle = Cycle.fresh(), []
    for violation, f in points:
        cycle = cycle.older(best(violation, f), np.asarray(counts))
        idle.append(int(cycle.idle))
    return idle


def test_a_fresh_cycle_has_seen_nothing() -> None:
    cycle = Cycle.fresh(4)
    assert [int(cycle.number), int(cycle.age), int(cycle.idle)] == [4, 0, 0]
    assert [float(cycle.violation), float(cycle.f)] == [inf, inf]


def test_a_cycle_counts_its_generations_and_keeps_its_number() -> None:
    cycle = Cycle.fresh(4)
    for _ in range(3):
        cycle = cycle.older(best(0.0, 1.0), np.asarray(True))
    assert [int(cycle.number), int(cycle.age), int(cycle.idle)] == [4, 3, 2]


def test_generations_without_progress_are_idle_until_there_is_some() -> None:
    assert idle_after((0, 9), (0, 9), (0, 9), (0, 8), (0, 8), (0, 8), (0, 8)) == [0, 1, 2, 0, 1, 2, 3]


def test_only_generations_that_count_can_be_idle() -> None:
    assert idle_after((0, 9), (0, 9), (0, 9), counts=False) == [0, 0, 0]
    cycle = Cycle.fresh()
    for counts in (True, True, True, False, True):
        cycle = cycle.older(best(0.0, 9.0), np.asarray(counts))
    assert cycle.idle == 1, "one that does not count begins the counting anew"


@pytest.mark.parametrize(
    ("old", "new", "progress"),
    [
        # (violation, f) at the last progress, and now
        ((0, 2.0), (0, 2.0 - 4.1e-9), True),  # by more than a billionth of |f|
        ((0, 2.0), (0, 2.0 - 0.9 * 2e-9), False),
        ((0, -2.0), (0, -2.0 - 4.1e-9), True),  # of |f|, so downwards for negative f too
        ((0, -2.0), (0, -2.0 - 0.9 * 2e-9), False),
        ((0, 0.0), (0, -1e-300), True),  # any fall from 0
        ((0, 2.0), (0, 3.0), False),
        ((1.0, 2.0), (1.0 - 2e-6, 9.0), True),  # by more than a millionth of the violation, whatever f
        ((1.0, 2.0), (1.0 - 0.5e-6, 9.0), False),
        ((1.0, 2.0), (1.0 - 0.5e-6, 1.0), True),  # not more violation and a lower f
        ((1.0, 2.0), (1.0, 1.0), True),
        ((1.0, 2.0), (1.1, 1.0), False),  # more violation
        ((1e-9, 2.0), (0.0, 9.0), True),  # feasible at last
        ((0.0, inf), (0.0, 9.0), True),  # an infinite objective is a value
        ((0.0, inf), (0.0, inf), False),
        ((inf, inf), (5.0, 9.0), True),  # the first point that has values
        ((inf, inf), (inf, inf), False),
    ],
)
def test_what_counts_as_progress(old: tuple[float, float], new: tuple[float, float], progress: bool) -> None:
    before = Cycle(np.asarray(0), np.asarray(7), np.asarray(3), np.asarray(old[0], float), np.asarray(old[1], float))
    after = before.older(best(*new), np.asarray(True))
    assert int(after.idle) == (0 if progress else 4)
    assert (float(after.violation), float(after.f)) == (new if progress else old)


def test_falls_too_small_to_count_add_up() -> None:
    """The measure is the last progress, not the last generation."""
    falls = [(0.0, 2.0 - k * 0.4 * 2e-9) for k in range(6)]
    assert idle_after(*falls) == [0, 1, 2, 0, 1, 2]


# The least violating point of a run, and the points around it, by hand.


TASK = Task(np.array([-1.0, 0.0]), np.array([1.0, 10.0]), 100)
NONE = np.zeros((1, 0))
POINT = Population(np.array([[0.5, 9.9999]]), np.array([3.0]), np.array([1.0]), NONE, NONE)


def test_the_least_violating_point_of_all_is_found_the_lower_one_of_two() -> None:
    some, more = points((3, 1), LOST, (2, 5)), points((2, 9), (1, 8), (1, 4))
    found = nearer(points((2.5, 0)), some, more)
    assert [found.violation.tolist(), found.f.tolist(), found.x.tolist()] == [[1], [4], [[2]]]


def test_points_that_are_no_better_change_nothing() -> None:
    found = nearer(POINT, points((3, 1), LOST), points((1, 3), (1, 4)))
    assert found.x.tolist() == POINT.x.tolist() and float(found.violation[0]) == 1


def test_a_feasible_point_is_the_last_one_looked_for() -> None:
    feasible = nearer(points((2.5, 0)), points((3, 1), (0, 7)), points((0, 2)))
    assert [feasible.violation.tolist(), feasible.f.tolist()] == [[0], [7]] and not is_near_miss(feasible)
    assert nearer(feasible, points((0, 1))) is feasible


def test_nothing_is_known_of_a_run_in_which_everything_failed() -> None:
    assert not is_near_miss(points(LOST))
    assert is_near_miss(points((2.5, 0)))


def test_points_around_it_lie_in_the_box_each_closer_than_the_last_and_so_again() -> None:
    # Four distances: 10^-1, 10^-2.75, 10^-4.5 and 10^-6.25 of the width of the box, 2 and 10.
    u = np.array([[1.0, 1.0], [0.0, 0.0], [0.5, 0.5], [1.0, 0.0], [0.0, 1.0]])
    x = around(POINT, u, 4, TASK)
    expected = [[0.7, 10.0], [0.5 - 2 * 10**-2.75, 9.9999 - 10**-1.75], [0.5, 9.9999]]
    expected += [[0.5 + 2 * 10**-6.25, 9.9999 - 10**-5.25], [0.3, 10.0]]
    np.testing.assert_allclose(x, expected, rtol=0, atol=1e-14)


def test_every_distance_has_its_turn() -> None:
    x = around(POINT, np.random.default_rng(1).random((7000, 2)), 7000, TASK)
    decades = np.floor(-np.log10(np.abs(x[:, 0] - 0.5) / 2.0)).astype(int)
    # |2 u - 1| is above a tenth in nine cases of ten, so most of each thousand lie within a decade of their step.
    for k in range(7):
        of_this_step = decades[1000 * k : 1000 * (k + 1)]
        assert 0.85 < np.isin(of_this_step, [k + 1, k + 2]).mean() <= 1.0


@pytest.mark.parametrize(
    ("rows", "alike"),
    [
        ([(2, 1), (2, 5), LOST], True),
        ([(2, 1), (2 * (1 + 5e-10), 5)], True),
        ([(2, 1), (2 * (1 + 2e-9), 5)], False),
        ([(0, 1), (0, 5)], False),  # feasible, all of them
        ([(0, 1), (1e-300, 5)], False),
        ([(1e-300, 1)], True),
        ([LOST, LOST], False),
    ],
)
def test_points_violate_alike_if_they_are_infeasible_by_the_same_amount(rows: list[Any], alike: bool) -> None:
    assert bool(violate_alike(points(*rows))) is alike


# Another rule in place of push and pull


def test_the_stage_can_be_given_another_rule_and_no_rule_changes_nothing() -> None:
    task = {"max_evaluations": 900, "rng": 3, "method": "pps-de"}

    def fun(x: np.ndarray) -> Any:
        return float((x - 2).sum() ** 2 + x[0]), [1 - x[0] * x[1]], [x[0] + x[1] - 3]

    usual = ppsde.minimize(fun, [(0, 5)] * 3, **task)
    assert ppsde.minimize(fun, [(0, 5)] * 3, options={"rule": None}, **task).x.tolist() == usual.x.tolist()
    for rule in ("feasibility", "stochastic-ranking", "ensemble"):
        other = ppsde.minimize(fun, [(0, 5)] * 3, options={"rule": rule}, **task)
        assert other.x.tolist() != usual.x.tolist() and other.nfev == 900, rule
    with pytest.raises(ValueError, match="unknown rule 'pull'"):
        PPSDE(rule="pull")


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["epsilon", "stochastic-ranking"])
def test_with_another_rule_the_contract_holds(rule: str) -> None:
    settings = PPSDE(rule=rule, population_size=12, patience=3)
    for check in CONTRACT:
        if "jax" not in check.__name__ and "compiled" not in check.__name__ and "easy" not in check.__name__:
            check(settings)


@pytest.mark.slow
def test_with_another_rule_numpy_and_jax_agree() -> None:
    pytest.importorskip("jax")
    check_numpy_and_jax_agree_step_by_step(PPSDE(rule="epsilon-quantile", population_size=8, patience=2))
