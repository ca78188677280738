"""The four strategies: how they compete, and what trials each makes."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from statistics_of_draws import LEVEL, p_of_counts

from ppsde.algorithm import Task
from ppsde.algorithms.lshade44 import LSHADE44
from ppsde.parts.memory import Memory
from ppsde.parts.strategies import FourStrategies, Made
from ppsde.streams import NumpyStream

MANY = 20_000


def learned(successes: list[int], n: int, d: int, CR: float = 0.5) -> FourStrategies:
    fresh = FourStrategies.fresh(prior=2, memory_size=6, archive_size=round(2.6 * n), d=d)
    return dataclasses.replace(fresh, successes=np.array(successes), memory=Memory.fresh(4, 6, CR=CR))


def numbers(**options: Any) -> dict[str, Any]:
    """The numbers that LSHADE44 gives to `make`, of which some may be others."""
    names = ("pbest", "prior", "least_share", "CR_deviation", "randrl")
    return {name: getattr(LSHADE44(**options), name) for name in names}


def made(strategies: FourStrategies, x: np.ndarray, size: int | None = None, **options: Any) -> Made:
    n, d = x.shape
    task = Task(np.full(d, -1e9), np.full(d, 1e9), 10**6)
    return strategies.make(x, np.asarray(size or n), task, NumpyStream(7), **numbers(**options))


def test_strategies_are_used_as_often_as_they_succeeded() -> None:
    trials = made(learned([10, 20, 30, 40], MANY, 1), np.zeros((MANY, 1)))
    assert p_of_counts(trials.strategy, [10, 20, 30, 40]) > LEVEL
    assert trials.successes.tolist() == [10, 20, 30, 40]


def test_a_rare_strategy_sets_all_counts_back_for_all_members_but_the_first() -> None:
    # 1 of 97 is less than 0.05.
    strategies = learned([1, 32, 32, 32], MANY, 1)
    trials = made(strategies, np.zeros((MANY, 1)))
    assert p_of_counts(trials.strategy, [1, 1, 1, 1]) > LEVEL
    assert trials.successes.tolist() == [2, 2, 2, 2]
    first = [
        int(strategies.make(np.zeros((4, 1)), np.asarray(4), Task(*np.ones((2, 1)), 9), rng, **numbers()).strategy[0])
        for rng in (NumpyStream(k) for k in range(400))
    ]
    assert p_of_counts(np.array(first), [1, 32, 32, 32]) > LEVEL


def test_successes_count_for_their_strategies_and_parents_go_to_the_archive() -> None:
    x = np.arange(6.0)[:, None]
    strategies = learned([2, 2, 2, 2], 6, 1)
    how = Made(x + 9, np.array([0, 1, 1, 3, 3, 3]), np.full(6, 0.7), np.full(6, 0.2), np.array([5, 5, 5, 5]))
    success = np.array([True, False, True, True, False, True])
    gains = np.array([1.0, 0.0, 0.0, 3.0, 0.0, 1.0])
    after = strategies.learn(how, x, success, gains, np.asarray(16), np.zeros(6))
    assert after.successes.tolist() == [6, 6, 5, 7]
    assert after.archive.x[: int(after.archive.size), 0].tolist() == [0.0, 2.0, 3.0, 5.0]
    assert after.memory.next.tolist() == [1, 1, 0, 1], "a tie is a success too"
    np.testing.assert_allclose(after.memory.F[:, 0], [0.7, 0.7, 0.5, 0.7])
    np.testing.assert_allclose(after.rates, np.array([6, 6, 5, 7]) / 24)
    assert int(after.cut(np.asarray(2), np.random.default_rng(1).random(16)).archive.size) == 2


def test_randrl_steps_from_the_best_of_three_away_from_the_worst() -> None:
    """In a population where rank k has x = k: the best less F times (worst - second) lies below the best."""
    n = 2000
    x = np.arange(float(n))[:, None]
    trials = made(learned([0, 0, 1, 0], n, 1, CR=1.0), x, least_share=0.0)
    assert (trials.strategy == 2).all()
    # Best b, second s, worst w of three distinct ranks: b - F (w - s) < b <= n - 3.
    assert trials.x.max() < n - 3 and (trials.x < 0).mean() > 0.2
    either = made(learned([0, 0, 1, 0], n, 1, CR=1.0), x, least_share=0.0, randrl="random")
    # The best of three lies at n / 4 on average; steps to either side leave the mean there, those away from it do not.
    assert either.x.mean() == pytest.approx(n / 4, rel=0.08) and trials.x.mean() < 0.15 * n


def test_the_dead_are_no_parents() -> None:
    """Living rows lie at 0; a dead parent would show."""
    x = np.where(np.arange(40)[:, None] < 9, 0.0, np.full((40, 2), 1e6))
    trials = made(learned([1, 1, 1, 1], 40, 2), x, size=9)
    assert (trials.x[:9] == 0.0).all()


@pytest.mark.parametrize(("strategy", "expected"), [(0, [[-0.75]]), (2, [[-0.6]])])
def test_out_of_bounds_a_pbest_trial_goes_half_way_back_and_a_local_one_is_mirrored(
    strategy: int, expected: list[list[float]]
) -> None:
    from ppsde.parts.strategies import _repaired

    task = Task(np.array([-1.0]), np.array([1.0]), 9)
    x, trials, local = np.array([[-0.5]]), np.array([[-1.4]]), np.array([strategy >= 2])
    np.testing.assert_allclose(_repaired(trials, x, local, task), expected)


def test_trials_stay_in_the_box_whatever_the_strategy() -> None:
    rng = np.random.default_rng(2)
    x = rng.uniform(-1, 1, (400, 3))
    for k in range(4):
        successes = [int(j == k) for j in range(4)]
        strategies = learned(successes, 400, 3, CR=0.9)
        task = Task(np.full(3, -1.0), np.ones(3), 99)
        trials = strategies.make(x, np.asarray(400), task, NumpyStream(3), **numbers(least_share=0.0))
        assert (trials.strategy == k).all()
        assert (np.abs(trials.x) <= 1).all() and (trials.x != x).any(axis=1).mean() > 0.9
