"""Mutation by hand, crossover by hand and by law."""

from __future__ import annotations

import numpy as np
from scipy import stats
from statistics_of_draws import EXTREMES, LEVEL, p_of_counts

from ppsde.parts.indices import place
from ppsde.parts.variation import binomial, current_to_pbest_1, current_to_rand_1, guided, rand_1

X = np.array([[1.0, 2.0], [3.0, 10.0], [5.0, -4.0], [0.0, 8.0]])


def index(i: int) -> np.ndarray:
    return np.array([i])


def test_rand_1_by_hand() -> None:
    # x_1 + 0.5 (x_2 - x_3) = (3, 10) + 0.5 (5, -12) = (5.5, 4)
    assert rand_1(X, index(1), index(2), index(3), np.array([0.5])).tolist() == [[5.5, 4.0]]


def test_current_to_rand_1_by_hand() -> None:
    # x_0 + 0.25 (x_1 - x_0) + 0.5 (x_2 - x_3) = (1, 2) + 0.25 (2, 8) + 0.5 (5, -12) = (4, -2)
    F, K = np.array([0.5]), np.array([0.25])
    assert current_to_rand_1(X, index(0), index(1), index(2), index(3), F, K).tolist() == [[4.0, -2.0]]


def test_current_to_pbest_1_by_hand() -> None:
    # x_3 + 0.5 (x_0 - x_3) + 0.5 (x_1 - x_2) = (0, 8) + 0.5 (1, -6) + 0.5 (-2, 14) = (-0.5, 12)
    F = np.array([0.5])
    assert current_to_pbest_1(X, index(3), index(0), index(1), index(2), F).tolist() == [[-0.5, 12.0]]


def test_one_formula_serves_rows_of_different_strategies() -> None:
    # Row 0: base 1 is its guide, so rand/1 as above. Row 1: current-to-rand as above.
    base, guide = np.array([1, 0]), np.array([1, 1])
    plus, minus = np.array([2, 2]), np.array([3, 3])
    mutants = guided(X, base, guide, plus, minus, np.array([0.5, 0.5]), np.array([0.9, 0.25]))
    assert mutants.tolist() == [[5.5, 4.0], [4.0, -2.0]]


def test_binomial_by_hand() -> None:
    mutants, parents = np.array([[1.0, 2.0, 3.0, 4.0]]), np.array([[-1.0, -2.0, -3.0, -4.0]])
    u = np.array([[0.3, 0.30001, 0.9, 0.0]])
    # CR = 0.3: component 0 (equal counts) and 3 by chance, component 2 always.
    assert binomial(mutants, parents, np.array([0.3]), u, np.array([2])).tolist() == [[1.0, -2.0, 3.0, 4.0]]


def test_crossover_at_rate_one_takes_all_and_at_rate_zero_one_component() -> None:
    rng = np.random.default_rng(1)
    m, d = 500, 6
    mutants, parents, kept = np.ones((m, d)), np.zeros((m, d)), place(rng.random(m), d)
    u = rng.random((m, d))
    u[0] = EXTREMES[1]
    assert (binomial(mutants, parents, np.ones(m), u, kept) == 1).all()
    one = binomial(mutants, parents, np.zeros(m), u, kept)
    assert (one.sum(axis=1) == 1).all()
    assert (one.argmax(axis=1) == kept).all()


def test_the_number_of_components_from_the_mutant_is_one_plus_binomial() -> None:
    rng = np.random.default_rng(2)
    m, d, CR = 30_000, 7, 0.4
    taken = binomial(np.ones((m, d)), np.zeros((m, d)), np.full(m, CR), rng.random((m, d)), place(rng.random(m), d))
    counts = taken.sum(axis=1).astype(int) - 1  # one component is certain, the other d - 1 have probability CR each
    assert p_of_counts(counts, stats.binom.pmf(np.arange(d), d - 1, CR)) > LEVEL
    assert p_of_counts(np.nonzero(taken)[1], np.ones(d)) > LEVEL, "no component is preferred"
    # Normal numbers in the place of uniform ones, a mistake found in the wild, would be noticed.
    wrong = binomial(
        np.ones((m, d)), np.zeros((m, d)), np.full(m, CR), rng.standard_normal((m, d)), place(rng.random(m), d)
    )
    assert p_of_counts(wrong.sum(axis=1).astype(int) - 1, stats.binom.pmf(np.arange(d), d - 1, CR)) < LEVEL
