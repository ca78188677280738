"""Mutants with two differences by hand, and the indices they are made of by law."""

from __future__ import annotations

import numpy as np
from statistics_of_draws import EXTREMES, LEVEL, p_of_counts

from ppsde.parts.variation import Roles, distinct, two_differences

X = np.array([[1.0, 2.0], [3.0, 10.0], [5.0, -4.0], [0.0, 8.0], [2.0, 2.0], [-1.0, 6.0]])
HALF = np.array([[0.5]])


def index(*rows: int) -> list[np.ndarray]:
    return [np.array([row]) for row in rows]


def test_best_2_by_hand() -> None:
    # x_0 + 0.5 (x_1 - x_2) + 0.5 (x_3 - x_4) = (1, 2) + 0.5 (-2, 14) + 0.5 (-2, 6) = (-1, 12)
    assert two_differences(X, Roles(*index(0, 0, 1, 2, 3, 4)), HALF, HALF, HALF).tolist() == [[-1.0, 12.0]]


def test_rand_2_by_hand() -> None:
    # x_5 + 0.5 (x_1 - x_2) + 0.5 (x_3 - x_4) = (-1, 6) + (-1, 7) + (-1, 3)
    assert two_differences(X, Roles(*index(5, 5, 1, 2, 3, 4)), HALF, HALF, HALF).tolist() == [[-3.0, 16.0]]


def test_current_to_best_2_by_hand() -> None:
    # x_5 + 0.5 (x_0 - x_5) + 0.5 (x_1 - x_2) + 0.5 (x_3 - x_4) = (-1, 6) + (1, -2) + (-1, 7) + (-1, 3)
    assert two_differences(X, Roles(*index(5, 0, 1, 2, 3, 4)), HALF, HALF, HALF).tolist() == [[-2.0, 14.0]]


def test_one_formula_serves_rows_of_different_strategies_and_factors_of_each_component() -> None:
    # Row 0: rand/1 on x_5, (-1, 6) + (0.5, 2) (x_1 - x_2). Row 1: current-to-rand, K = (0.5, 0.25), F = 1.
    roles = Roles(*(np.array(pair) for pair in ([5, 5], [5, 0], [1, 1], [2, 2], [3, 3], [4, 4])))
    K = np.array([[0.9, 0.9], [0.5, 0.25]])
    F = np.array([[0.5, 2.0], [1.0, 1.0]])
    mutants = two_differences(X, roles, K, F, np.zeros((2, 1)))
    assert mutants.tolist() == [[-2.0, 34.0], [-1.0 + 1.0 - 2.0, 6.0 - 1.0 + 14.0]]


def test_indices_are_distinct_and_not_the_member_itself() -> None:
    rng = np.random.default_rng(1)
    n, m = 6, 5000
    i = rng.integers(0, n, m)
    rows = np.stack([i, *distinct(rng.random((5, m)), n, i)])
    assert (np.sort(rows, axis=0) == np.arange(n)[:, None]).all(), "six different ones of six"
    assert all(row.max() < n and row.min() >= 0 for row in distinct(np.full((5, 1), EXTREMES[1]), n, np.array([5])))


def test_each_index_is_uniform() -> None:
    rng = np.random.default_rng(2)
    n, m = 8, 20_000
    for row in distinct(rng.random((4, m)), n, np.full(m, 3)):
        assert p_of_counts(row, [1, 1, 1, 0, 1, 1, 1, 1]) > LEVEL
