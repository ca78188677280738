"""IDE: who leads whom, and when bases become random."""

from __future__ import annotations

import numpy as np
import pytest
from statistics_of_draws import LEVEL, p_of_counts

from ppsde.algorithm import Task
from ppsde.algorithms.lshade44_ide import Individual
from ppsde.streams import Tape

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
