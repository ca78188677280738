"""Mutation and crossover, by hand and by law."""

from __future__ import annotations

import numpy as np
from scipy import stats
from statistics_of_draws import EXTREMES, LEVEL, p_of_counts, p_of_same_counts

from ppsde.parts.indices import place
from ppsde.parts.variation import (
    Roles,
    binomial,
    binomial_or_one,
    current_to_pbest_1,
    distinct,
    exponential,
    guided,
    rand_1,
    two_differences,
)

# Mutation by hand, crossover by hand and by law.


X = np.array([[1.0, 2.0], [3.0, 10.0], [5.0, -4.0], [0.0, 8.0]])


def index(i: int) -> np.ndarray:
    return np.array([i])


def test_rand_1_by_hand() -> None:
    # x_1 + 0.5 (x_2 - x_3) = (3, 10) + 0.5 (5, -12) = (5.5, 4)
    assert rand_1(X, index(1), index(2), index(3), np.array([0.5])).tolist() == [[5.5, 4.0]]


def test_current_to_rand_1_by_hand() -> None:
    # x_0 + 0.25 (x_1 - x_0) + 0.5 (x_2 - x_3) = (1, 2) + 0.25 (2, 8) + 0.5 (5, -12) = (4, -2)
    F, K = np.array([0.5]), np.array([0.25])
    assert guided(X, index(0), index(1), index(2), index(3), F, K).tolist() == [[4.0, -2.0]]


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


def test_the_spare_component_is_taken_only_where_no_other_is() -> None:
    mutants, parents = np.ones((3, 3)), np.zeros((3, 3))
    u = np.array([[0.3, 0.6, 0.9], [0.5, 0.6, 0.9], [0.1, 0.2, 0.3]])
    # CR = 0.5: component 0 of the first row; none of the second (equal does not count), so its spare; all of the third.
    taken = binomial_or_one(mutants, parents, np.full(3, 0.5), u, np.array([2, 1, 0]))
    assert taken.tolist() == [[1, 0, 0], [0, 1, 0], [1, 1, 1]]


def test_the_number_of_components_with_a_spare_is_binomial_with_none_made_one() -> None:
    rng = np.random.default_rng(3)
    m, d, CR = 30_000, 7, 0.2
    u, spare = rng.random((m, d)), place(rng.random(m), d)
    taken = binomial_or_one(np.ones((m, d)), np.zeros((m, d)), np.full(m, CR), u, spare)
    law = stats.binom.pmf(np.arange(d + 1), d, CR)
    expected = np.array([0.0, law[0] + law[1], *law[2:]])
    assert p_of_counts(taken.sum(axis=1).astype(int), expected) > LEVEL
    usual = binomial(np.ones((m, d)), np.zeros((m, d)), np.full(m, CR), u, spare)
    assert p_of_counts(usual.sum(axis=1).astype(int), expected) < LEVEL, "the usual crossover takes more"


def test_exponential_by_hand() -> None:
    mutants, parents = np.array([[1.0, 2.0, 3.0, 4.0]] * 4), -np.array([[1.0, 2.0, 3.0, 4.0]] * 4)
    # CR = 0.5: on with chances 0.5, 0.25, 0.125. From component 2: u = 0.3 takes one more, u = 0.2 two more, round the
    # end; u = 0.125 no third, as equal does not count; u = 0 all.
    u, start = np.array([0.3, 0.2, 0.125, 0.0]), np.full(4, 2)
    assert exponential(mutants, parents, np.full(4, 0.5), u, start).tolist() == [
        [-1, -2, 3, 4],
        [1, -2, 3, 4],
        [1, -2, 3, 4],
        [1, 2, 3, 4],
    ]


def crossed_in_a_loop(rng: np.random.Generator, d: int, CR: float) -> list[int]:
    """As the papers write it: from a random component on, while a new number is below CR."""
    start, taken = int(rng.integers(d)), 1
    while taken < d and rng.random() < CR:
        taken += 1
    return [int((j - start) % d < taken) for j in range(d)]


def test_exponential_crossover_has_the_law_of_the_papers_loop() -> None:
    rng = np.random.default_rng(4)
    m, d, CR = 20_000, 5, 0.7
    rows = exponential(np.ones((m, d)), np.zeros((m, d)), np.full(m, CR), rng.random(m), place(rng.random(m), d))
    by_loop = np.array([crossed_in_a_loop(rng, d, CR) for _ in range(m // 2)])
    powers = 2 ** np.arange(d)  # every pattern of components is a number
    assert p_of_same_counts(rows.astype(int) @ powers, by_loop @ powers) > LEVEL


def test_exponential_crossover_at_the_ends_of_the_rate() -> None:
    rng = np.random.default_rng(5)
    m, d = 200, 6
    start = place(rng.random(m), d)
    u = np.concatenate([np.tile(EXTREMES, 10), rng.random(m - 20)])
    assert (exponential(np.ones((m, d)), np.zeros((m, d)), np.ones(m), u, start) == 1).all()
    one = exponential(np.ones((m, d)), np.zeros((m, d)), np.zeros(m), u, start)
    assert (one.sum(axis=1) == 1).all() and (one.argmax(axis=1) == start).all()


# Mutants with two differences by hand, and the indices they are made of by law.


MEMBERS = np.array([[1.0, 2.0], [3.0, 10.0], [5.0, -4.0], [0.0, 8.0], [2.0, 2.0], [-1.0, 6.0]])
HALF = np.array([[0.5]])


def single_rows(*rows: int) -> list[np.ndarray]:
    return [np.array([row]) for row in rows]


def test_best_2_by_hand() -> None:
    # x_0 + 0.5 (x_1 - x_2) + 0.5 (x_3 - x_4) = (1, 2) + 0.5 (-2, 14) + 0.5 (-2, 6) = (-1, 12)
    assert two_differences(MEMBERS, Roles(*single_rows(0, 0, 1, 2, 3, 4)), HALF, HALF, HALF).tolist() == [[-1.0, 12.0]]


def test_rand_2_by_hand() -> None:
    # x_5 + 0.5 (x_1 - x_2) + 0.5 (x_3 - x_4) = (-1, 6) + (-1, 7) + (-1, 3)
    assert two_differences(MEMBERS, Roles(*single_rows(5, 5, 1, 2, 3, 4)), HALF, HALF, HALF).tolist() == [[-3.0, 16.0]]


def test_current_to_best_2_by_hand() -> None:
    # x_5 + 0.5 (x_0 - x_5) + 0.5 (x_1 - x_2) + 0.5 (x_3 - x_4) = (-1, 6) + (1, -2) + (-1, 7) + (-1, 3)
    assert two_differences(MEMBERS, Roles(*single_rows(5, 0, 1, 2, 3, 4)), HALF, HALF, HALF).tolist() == [[-2.0, 14.0]]


def test_one_formula_serves_rows_of_different_strategies_and_factors_of_each_component() -> None:
    # Row 0: rand/1 on x_5, (-1, 6) + (0.5, 2) (x_1 - x_2). Row 1: current-to-rand, K = (0.5, 0.25), F = 1.
    roles = Roles(*(np.array(pair) for pair in ([5, 5], [5, 0], [1, 1], [2, 2], [3, 3], [4, 4])))
    K = np.array([[0.9, 0.9], [0.5, 0.25]])
    F = np.array([[0.5, 2.0], [1.0, 1.0]])
    mutants = two_differences(MEMBERS, roles, K, F, np.zeros((2, 1)))
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
