"""Stochastic ranking as a technique: coins shared by trial and parent, ranks like a literal bubbling."""

from __future__ import annotations

import math

import numpy as np
import pytest
from handmade import LOST, points
from statistics_of_draws import LEVEL, p_of_counts

from ppsde.parts.rules import Feasibility, accepts, best_of, gain, ranking
from ppsde.parts.stochastic import Coin, Stochastic, stochastic_ranking
from ppsde.population import Population
from ppsde.streams import NumpyStream, Tape

EARLY = np.asarray(0.1)


def test_the_coin_of_a_row_decides_for_trial_and_parent() -> None:
    coin = Coin(np.array([0.44, 0.45, 0.44, 0.45]), 0.45)
    trials = points((5, 1), (5, 1), (0, 9), (0, 9))  # twice a lower f, twice feasible
    parents = points((0, 3), (0, 3), (2, 3), (2, 3))
    assert accepts(coin, trials, parents).tolist() == [True, False, False, True]
    assert gain(coin, trials, parents).tolist() == [2.0, 0.0, 0.0, 2.0]  # 3 - 1 in f; 2 - 0 in violation


def test_keys_by_hand() -> None:
    coin = Coin(np.array([0.1, 0.9, 0.1]), 0.45)
    first, second = coin.keys(points((2, 5), (2, 5), LOST))
    assert first.tolist() == [0.0, 2.0, np.inf]
    assert second.tolist() == [5.0, 5.0, np.inf]


def test_blocks_of_trials_use_the_coins_of_their_members() -> None:
    coin = Coin(np.array([0.1, 0.9]), 0.45)
    blocks = points((9, 1), (9, 1), (0, 5), (0, 5), (1, 3), (1, 3))  # three trials for each of two members
    assert best_of(coin, blocks, 3).tolist() == [0, 3]
    assert coin.keys(points((7, 1)))[0].tolist() == [0.0], "a single row is that of the first member"


@pytest.mark.parametrize(("elapsed", "probability"), [(0.0, 0.475), (0.5, 0.25), (1.0, 0.025)])
def test_coins_fall_for_the_objective_less_often_towards_the_end(elapsed: float, probability: float) -> None:
    table = points(*[(1.0, 0.0)] * 50)
    now = np.asarray(elapsed)
    keys = [Stochastic().rule(table, now, NumpyStream(7, 0, k)).keys(table)[0] for k in range(400)]
    by_objective = (np.concatenate(keys) == 0.0).astype(int)
    assert p_of_counts(by_objective, [1 - probability, probability]) > LEVEL
    assert p_of_counts(by_objective, [0.97 - probability, probability + 0.03]) < LEVEL


def bubbled(population: Population, u: np.ndarray, probability: float) -> list[int]:
    """Pair after pair, as the text says."""
    rows = list(range(population.size))
    f, v = population.f, population.violation
    for sweep in range(len(u)):
        for pair, place in enumerate(range(sweep % 2, len(rows) - 1, 2)):
            a, b = rows[place], rows[place + 1]
            lost = np.inf in (v[a], v[b])
            by_objective = not lost and ((v[a] == 0 and v[b] == 0) or u[sweep, pair] < probability)
            if f[a] > f[b] if by_objective else v[a] > v[b]:
                rows[place], rows[place + 1] = b, a
    return rows


@pytest.mark.parametrize("n", [1, 2, 5, 12, 31])
def test_ranks_are_those_of_a_literal_bubbling(n: int) -> None:
    rng = np.random.default_rng(n)
    for _ in range(20):
        pairs = [(float(rng.choice([0, 0, 1, 2.5, 4])), float(rng.integers(-3, 4))) for _ in range(n)]
        table = points(*(LOST if rng.random() < 0.1 else pair for pair in pairs))
        tape = Tape.record(NumpyStream(n))
        rows = Stochastic().rank(Stochastic().rule(table, EARLY, NumpyStream(1)), table, tape)
        (u,) = tape.draws
        assert len(u) == n, "as many sweeps as rows"
        assert rows.tolist() == bubbled(table, u, 0.45)
        few = u[: max(1, n // 3)]
        assert stochastic_ranking(table, few, 0.9).tolist() == bubbled(table, few, 0.9)


def test_a_ranking_lets_low_objectives_pass_now_and_then() -> None:
    # The last has the lowest f and the largest violation. With probability 0.45 per comparison it seldom gets far.
    table = points((0, 5), (1, 4), (2, 3), (3, 2), (4, 1))
    firsts = [int(Stochastic().rank(Coin(np.zeros(5), 0.45), table, NumpyStream(3, 0, k))[0]) for k in range(400)]
    counts = np.bincount(firsts, minlength=5)
    assert counts[0] > counts[4] > 0


def sweeps(n: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).random((n, n // 2 + 1))


@pytest.mark.parametrize("n", [2, 3, 8, 9])
def test_stochastic_ranking_at_its_two_ends_is_a_sort(n: int) -> None:
    rng = np.random.default_rng(n)
    table = points(*zip(rng.choice([0.0, 1.0, 2.0, 3.5], n) * rng.random(n), rng.random(n), strict=True))
    by_f = stochastic_ranking(table, sweeps(n), probability=1.0)
    by_feasibility = stochastic_ranking(table, sweeps(n), probability=0.0)
    assert by_f.tolist() == np.argsort(table.f).tolist()
    assert by_feasibility.tolist() == ranking(Feasibility(), table).tolist()


def test_two_points_swap_by_objective_with_the_given_probability() -> None:
    # The first has less violation, the second the lower f: only a comparison by f swaps them.
    pair = points((1, 5), (2, 3))
    rng = np.random.default_rng(3)
    swapped = [int(stochastic_ranking(pair, rng.random((1, 2)), probability=0.45)[0]) for _ in range(4000)]
    assert p_of_counts(swapped, [0.55, 0.45]) > LEVEL
    assert p_of_counts(swapped, [0.5, 0.5]) < LEVEL
    # Two feasible points are always compared by f.
    assert all(
        stochastic_ranking(points((0, 5), (0, 3)), rng.random((1, 2)), probability=0.0)[0] == 1 for _ in range(50)
    )


def test_stochastic_ranking_loses_nobody_and_puts_points_without_values_last() -> None:
    for seed in range(20):
        table = points(LOST, (1, 5), (0, 7), LOST, (3, 1), (0, math.inf), (2, 2))
        rows = stochastic_ranking(table, sweeps(7, seed), probability=0.45).tolist()
        assert sorted(rows) == list(range(7))
        assert set(rows[-2:]) == {0, 3}
