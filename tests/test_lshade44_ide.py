"""LSHADE44+IDE beside its literal version, and what is its own: two stages, and the points handed over between them."""

from __future__ import annotations

import tracemalloc
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from handmade import LOST, points
from reference.lshade44_ide import ReferenceLSHADE44IDE
from reference.options import named, settings_of, tried
from reference.small_problems import PROBLEMS, D, end_of, states_of
from reference.walking import (
    Walk,
    archived,
    assert_answers_about_the_best_of,
    assert_same_archive,
    assert_same_members,
    assert_same_memory,
    assert_same_points,
    listed,
    members_of,
    remembered,
    walk_together,
)
from scipy import stats
from statistics_of_draws import EXTREMES, LEVEL, p_of_counts, p_of_same_law

import ppsde
from ppsde.algorithm import Task
from ppsde.algorithms.lshade44_ide import LSHADE44IDE, Individual, State, by_rank, some_feasible, without_values
from ppsde.streams import Tape

# LSHADE44+IDE beside its literal version, and what is its own: two stages, and the points handed over between them.


SMALL: dict[str, Any] = {"population_size": 30, "memory_size": 3, "refined_size": 20}
BUDGET = 1500

ALTERNATIVES: list[dict[str, Any]] = [
    {"refined_size": 10},
    {"refined_size": 60},  # more than the population has
    {"search_share": 0.0},
    {"search_share": 1.0},
    {"population_size": None},
    {"final_size": 20},
    {"memory_size": 1},
    {"pbest": 0.5},
    {"archive_rate": 1.0},
    {"prior": 20},
    {"least_share": 0.2},
    {"CR_deviation": 0.1},
    {"randrl": "random"},
]


def assert_same(fast: State, slow: ReferenceLSHADE44IDE, where: str) -> None:
    learned, search, individual = fast.strategies, slow.search, fast.individual
    assert_same_members(fast, slow, where)
    assert bool(fast.refining) == slow.refining, where
    assert fast.found.valid.sum() == len(slow.found), where
    if slow.found:
        assert_same_points(fast.found.take(slice(0, len(slow.found))), slow.found, where)
    assert learned.successes.tolist() == search.n, where
    assert_same_memory(learned.memory, search.M_F, search.M_CR, search.pos, where)
    assert_same_archive(learned.archive, search.A, where)
    state = [int(v) for v in (individual.made, individual.total, individual.idle, individual.random_base)]
    assert state == [slow.g, slow.g_max, slow.idle, slow.random_base], where


def follow(slow: ReferenceLSHADE44IDE, fast: State) -> None:
    if slow.refining:
        slow.members = listed(members_of(fast))
        return
    search = slow.search
    search.population = listed(members_of(fast))
    slow.found = listed(fast.found.take(slice(0, len(slow.found))))
    search.A = archived(fast.strategies.archive)
    search.M_F, search.M_CR = remembered(fast.strategies.memory)


def walk(settings: LSHADE44IDE, problem: str, following: bool = True) -> Walk:
    way = walk_together(ReferenceLSHADE44IDE, settings, problem, BUDGET, assert_same, follow if following else None)
    assert_answers_about_the_best_of(way.run, way.slow.population)
    return way


@pytest.mark.parametrize("problem", PROBLEMS)
def test_both_walk_the_same_way_from_start_to_end(problem: str) -> None:
    states = walk(LSHADE44IDE(**SMALL), problem, following=False).states
    assert {bool(state.refining) for state in states} == {False, True}


@pytest.mark.parametrize("problem", ["inequalities", "failing"])
@pytest.mark.parametrize("options", ALTERNATIVES, ids=named)
def test_both_take_every_step_alike_whatever_the_setting(options: dict[str, Any], problem: str) -> None:
    walk(LSHADE44IDE(**{**SMALL, **options}), problem)


@pytest.mark.parametrize("options", ALTERNATIVES, ids=named)
def test_every_setting_makes_a_difference(options: dict[str, Any]) -> None:
    usual, other = (end_of(LSHADE44IDE(**{**SMALL, **more}), "equalities", BUDGET) for more in ({}, options))
    assert usual != other


def test_no_setting_is_forgotten() -> None:
    assert tried(ALTERNATIVES) == settings_of(LSHADE44IDE)


def test_enough_feasible_points_begin_the_refinement_and_are_its_first_population() -> None:
    _, states = states_of(LSHADE44IDE(**SMALL), "inequalities", BUDGET)
    before, after = next(pair for pair in pairwise(states) if pair[1].refining and not pair[0].refining)
    assert before.found.feasible.all() and before.found.size == 20
    assert before.evaluations < 0.3 * BUDGET, "long before its share of the budget is spent"
    assert after.size == 20 and after.individual.made == 1
    known = {tuple(row) for row in before.found.x.tolist()}
    assert len(known & {tuple(row) for row in after.population.x.tolist()}) > 5, "the rest has been improved"


def test_without_enough_feasible_points_the_least_violating_ones_are_refined_when_the_share_is_spent() -> None:
    settings = LSHADE44IDE(**SMALL)
    _, states = states_of(settings, "equalities", BUDGET)
    before, after = next(pair for pair in pairwise(states) if pair[1].refining and not pair[0].refining)
    spent = settings.search_share * BUDGET
    assert spent <= before.evaluations < spent + before.size + 2
    assert before.found.valid.sum() < 20
    assert after.population.violation[0] <= before.population.violation[0]


def test_the_search_looks_at_violation_alone_and_the_refinement_at_the_objective_too() -> None:
    _, refined = states_of(LSHADE44IDE(**SMALL), "unconstrained", BUDGET)
    endless = {**SMALL, "refined_size": BUDGET + 1, "search_share": 1.0}
    _, searched = states_of(LSHADE44IDE(**endless), "unconstrained", BUDGET)
    assert refined[-1].refining and not searched[-1].refining
    assert refined[-1].population.f.min() < 0.1 < searched[-1].population.f.min()
    replaced = (searched[1].population.x[:26] != searched[0].population.x[:26]).any(axis=1)
    assert replaced.all(), "where all are feasible every trial is as good as its parent"


def test_bases_become_random_after_long_stagnation() -> None:
    _, states = states_of(LSHADE44IDE(**SMALL), "equalities", BUDGET)
    stages = [int(state.individual.random_base) for state in states]
    assert stages == sorted(stages) and stages[-1] == 1
    first = next(state for state in states if state.individual.random_base)
    assert first.individual.idle >= 0.1 * first.individual.total


def test_defaults_fit_the_population_of_more_and_of_fewer_variables() -> None:
    _, states = states_of(LSHADE44IDE(), "equalities", 3000)
    assert states[0].population.size == 125 and states[0].size == 18 * D and states[-1].size == 125


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"refined_size": 9}, "refined_size must be an int >= 10; got 9"),
        ({"search_share": 1.5}, "search_share must be a number from 0 to 1; got 1.5"),
        ({"final_size": 3}, "final_size must be an int >= 4; got 3"),
        ({"population_size": 8, "final_size": 9}, "population_size must be an int >= 9; got 8"),
        ({"memory_size": 0}, "memory_size must be an int >= 1; got 0"),
        ({"prior": 0}, "prior must be an int >= 1; got 0"),
        ({"pbest": 2}, "pbest must be a number from 0 to 1; got 2"),
        ({"least_share": 0.5}, "least_share must be a number from 0 to 0.25; got 0.5"),
        ({"archive_rate": -0.1}, "archive_rate must be a number from 0 to 100; got -0.1"),
        ({"randrl": "swapped"}, "randrl must be one of 'ranked', 'random'; got 'swapped'"),
    ],
)
def test_wrong_settings_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LSHADE44IDE(**options)


# The store of feasible points, by hand, and that its choice is a fair one.


def test_feasible_points_come_first_by_their_numbers_and_the_rest_has_no_values() -> None:
    found, more = points((0, 7), LOST), points((2, 1), (0, 5), (0, 6))
    chosen = some_feasible(4, found, more, np.array([0.5, 0.0, 0.0, 0.9, 0.1]))
    assert chosen.f.tolist() == [6.0, 7.0, 5.0, np.inf]
    assert chosen.violation.tolist() == [0.0, 0.0, 0.0, np.inf]
    assert chosen.valid.tolist() == [True, True, True, False]


def test_of_more_feasible_points_than_there_is_room_for_each_is_as_likely() -> None:
    found, more = points((0, 0), (0, 1)), points((0, 2), (1, 3), (0, 4))
    rng, counts, times = np.random.default_rng(5), np.zeros(5), 4000
    for _ in range(times):
        chosen = some_feasible(2, found, more, rng.uniform(size=5))
        counts[chosen.f.astype(int)] += 1
    assert counts[3] == 0
    deviation = np.sqrt(times * 0.5 * 0.5)
    assert (abs(counts[[0, 1, 2, 4]] - times / 2) < 5 * deviation).all()


def test_points_without_values_have_as_many_constraints_as_others() -> None:
    like = points((0, 1)).take(np.array([0, 0]))
    blank = without_values(np.array([[1.0], [2.0], [3.0]]), like)
    assert blank.x.tolist() == [[1.0], [2.0], [3.0]] and not blank.valid.any()
    assert blank.g.shape == (3, like.g.shape[1]) and blank.h.shape == (3, like.h.shape[1])


# IDE: who leads whom, and when bases become random.


N = 60


def at(made: int, total: int, random_base: bool = False, idle: int = 0) -> Individual:
    return Individual(np.asarray(made), np.asarray(total), np.asarray(idle), np.asarray(random_base))


def test_its_length_is_what_the_budget_allows() -> None:
    # 1000 / 125 = 8; 1062 / 125 = 8.496; 1063 / 125 = 8.504; and never none.
    assert [int(Individual.fresh(k, 125).total) for k in (1000, 1062, 1063, 0)] == [8, 8, 9, 1]


def test_the_superior_are_a_tenth_for_long_and_all_at_the_end() -> None:
    # 0.1 + 0.9 * 10^(5 (g / g_max - 1)): 10^-5, 10^-1 and 1 at shares 0, 0.8 and 1.
    shares = [float(at(g, 10).superior_share) for g in (0, 8, 10)]
    np.testing.assert_allclose(shares, [0.1 + 0.9e-5, 0.19, 1.0], rtol=1e-12)


def test_stagnation_is_counted_by_a_threshold_that_rises_in_the_second_half() -> None:
    assert int(at(10, 100, idle=3).after(np.asarray(0.0)).idle) == 4
    assert int(at(10, 100, idle=3).after(np.asarray(0.05)).idle) == 0, "any success ends it at first"
    assert int(at(50, 100, idle=3).after(np.asarray(0.1)).idle) == 4, "a tenth is too few from the middle on"
    assert int(at(50, 100, idle=3).after(np.asarray(0.11)).idle) == 0


def test_bases_become_random_after_a_tenth_of_all_generations_and_stay_so() -> None:
    before = at(40, 100, idle=8)
    almost = before.after(np.asarray(0.0))
    assert (int(almost.idle), bool(almost.random_base)) == (9, False)
    switched = almost.after(np.asarray(0.0))
    assert (int(switched.idle), bool(switched.random_base), int(switched.made)) == (10, True, 42)
    later = switched.after(np.asarray(1.0))
    assert (int(later.idle), bool(later.random_base)) == (0, True)


def roles(individual: Individual, seed: int) -> np.ndarray:
    """Mutants of a population of unit vectors: the base has 1 - F, r1 and r2 have F, r3 has -F, all others 0.

    The draws of crossover and perturbation are set so that all of the mutant is seen and nothing is perturbed.
    """
    rng = np.random.default_rng(seed)
    u, components = rng.random((8, N)), rng.random((4, N, N))
    u[5], components[0], components[2] = 0.5, 0.999, 0.0
    task = Task(np.full(N, -2.0), np.full(N, 2.0), 10**6)
    mutants: np.ndarray = individual.trials(np.eye(N), N, task, Tape([u, components]))
    return mutants


def parents(individual: Individual) -> tuple[np.ndarray, list[np.ndarray], np.ndarray]:
    """Of many trials the target i, the three members that a mutant has a positive share of, and r3."""
    targets, positive, last = [], [], []
    for seed in range(60):
        for i, row in enumerate(roles(individual, seed)):
            assert (row < 0).sum() == 1
            targets.append(i)
            positive.append(np.flatnonzero(row > 0))
            last.append(int(row.argmin()))
    return np.array(targets), positive, np.array(last)


def test_at_first_the_base_is_the_target_and_an_inferior_one_is_led_by_a_superior_one() -> None:
    individual = at(0, 100)
    superior = 6  # a tenth of 60
    targets, positive, last = parents(individual)
    led = []
    for i, three in zip(targets, positive, strict=True):
        assert i in three and len(three) == 3
        others = three[three != i]
        led.append((others < superior).any())
    led = np.array(led)
    assert led[targets >= superior].all()
    # A superior target's r1 and r2 are uniform: both inferior with probability 54/59 * 53/58.
    share = led[targets < superior].mean()
    assert share == pytest.approx(1 - 54 / 59 * 53 / 58, abs=0.1)
    assert p_of_counts(last[targets == 30], [int(k != 30) for k in range(N)]) > LEVEL


def test_later_the_base_is_another_member() -> None:
    targets, positive, _ = parents(at(0, 100, random_base=True))
    assert all(i not in three for i, three in zip(targets, positive, strict=True))
    assert all(len(three) == 3 for three in positive)


def test_components_are_perturbed_with_a_tenth_of_the_superior_share() -> None:
    """All members are 0, so what is not 0 in a mutant is a perturbation."""
    rng = np.random.default_rng(1)
    u, components = rng.random((8, N)), rng.random((4, N, 50))
    u[6] = 0.0
    task = Task(np.full(50, -2.0), np.full(50, 2.0), 10**6)
    for made, expected in ((0, 0.01), (100, 0.1)):
        mutants = at(made, 100).trials(np.zeros((N, 50)), N, task, Tape([u, components]))
        assert (mutants != 0).mean() == pytest.approx(expected, rel=0.2)


def test_trials_stay_in_the_box_and_dead_rows_are_no_parents() -> None:
    rng = np.random.default_rng(2)
    x = np.concatenate([rng.uniform(-1, 1, (N, 3)), np.full((20, 3), 1e9)])
    task = Task(np.full(3, -1.0), np.ones(3), 10**6)
    u, components = rng.random((8, 80)), rng.random((4, 80, 3))
    for random_base in (False, True):
        trials = at(30, 100, random_base).trials(x, N, task, Tape([u, components]))[:N]
        assert (np.abs(trials) <= 1).all()
    still = np.concatenate([np.zeros((N, 3)), np.full((20, 3), 1e9)])
    components[0] = 0.999  # nothing is perturbed, nor out of the box
    assert (at(30, 100).trials(still, N, task, Tape([u, components]))[:N] == 0).all()


DRAWS = 20_000


def redrawn_normal(rng: np.random.Generator, location: float) -> float:
    """As the paper writes it: again until 0 < F <= 1."""
    while True:
        value = rng.normal(location, 0.1)
        if 0 < value <= 1:
            return float(value)


@pytest.mark.parametrize("rank", [0, 3, 24, 49])
def test_a_factor_by_rank_has_the_law_of_the_papers_redrawing(rank: int) -> None:
    rng = np.random.default_rng(2)
    by_loop = np.array([redrawn_normal(rng, (rank + 1) / 50) for _ in range(DRAWS // 4)])
    at_once = by_rank(np.full(DRAWS, rank), 50, rng.random(DRAWS))
    assert p_of_same_law(by_loop, at_once) > LEVEL
    if rank in (0, 49):
        cut = np.clip(rng.normal((rank + 1) / 50, 0.1, DRAWS), 0, 1)
        assert p_of_same_law(by_loop, cut) < LEVEL, "what is outside is drawn again, not cut off"


def test_a_factor_by_rank_by_hand() -> None:
    # The last of all ranks lies around 1: half of the normal law is left, u = 1/2 is its lower quarter.
    expected = 1.0 + 0.1 * stats.norm.ppf(0.25)
    assert by_rank(np.array([9]), 10, np.array([0.5]))[0] == pytest.approx(expected, rel=1e-9)
    # Rank 4 of 10 lies around 1/2, five deviations from either end: u = 1/2 is the middle.
    assert by_rank(np.array([4]), 10, np.array([0.5]))[0] == pytest.approx(0.5, rel=1e-9)


def test_a_factor_by_rank_is_in_its_range_for_extreme_draws_and_dead_rows() -> None:
    for rank in (0, 5, 124, 125, 900, 10**6):
        factors = by_rank(np.full(2, rank), 125, np.array(EXTREMES))
        assert (factors > 0).all() and (factors <= 1).all()


def test_jax_gives_the_same_factors() -> None:
    pytest.importorskip("jax")
    import jax

    from ppsde.engines.compiled import float64

    rng = np.random.default_rng(3)
    rank, u = rng.integers(0, 60, 500), rng.random(500)
    with float64():
        theirs = jax.jit(lambda rank, u: by_rank(rank, 60, u))(rank, u)
        np.testing.assert_allclose(theirs, by_rank(rank, 60, u), rtol=1e-9)


@pytest.mark.parametrize("budget", [1000, 3000], ids=["the first points", "some generations"])
def test_it_needs_hardly_more_memory_than_lshade44(budget: int) -> None:
    """A run at D = 1000 took twice as much."""

    def fun(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return (x**2).sum(axis=1), 1 - x[:, :1], x[:, :0]

    def most_bytes(method: str, evaluations: int) -> int:
        tracemalloc.start()
        try:
            ppsde.minimize(fun, [(-5, 5)] * 60, method=method, max_evaluations=evaluations, rng=1, vectorized=True)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    for method in ("lshade44", "lshade44-ide"):
        most_bytes(method, 1100)  # imports
    assert most_bytes("lshade44-ide", budget) < 1.1 * most_bytes("lshade44", budget)
