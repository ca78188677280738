"""Ranks, and the tests of Friedman, of aligned ranks and of Quade."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ppsde.stats import aligned_ranks, average_ranks, friedman, friedman_aligned, quade, rank_rows

NAN, INF = float("nan"), float("inf")
SHAPES = st.tuples(st.integers(2, 7), st.integers(2, 6))
VALUES = arrays(float, SHAPES, elements=st.sampled_from([-2.0, 0.0, 0.5, 1.0, 3.0, INF, -INF, NAN]))


def statistic(test: object, name: str) -> float:
    return next(row["statistic"] for row in test.test_rows() if row["test"] == name)  # type: ignore[attr-defined]


def p_value(test: object, name: str) -> float:
    return next(row["p"] for row in test.test_rows() if row["test"] == name)  # type: ignore[attr-defined]


def test_ranks_by_hand() -> None:
    ranks = rank_rows([[3.0, 1.0, 1.0, 2.0], [NAN, INF, -INF, -5.0]])
    assert ranks.tolist() == [[4, 1.5, 1.5, 3], [3.5, 2, 3.5, 1]]


@given(VALUES)
def test_the_ranks_of_a_row_add_up(values: np.ndarray) -> None:
    k = values.shape[1]
    assert (rank_rows(values).sum(axis=1) == k * (k + 1) / 2).all()


@given(VALUES, st.data())
def test_a_value_that_goes_missing_never_improves_its_rank(values: np.ndarray, data: st.DataObject) -> None:
    row = data.draw(st.integers(0, values.shape[0] - 1))
    column = data.draw(st.integers(0, values.shape[1] - 1))
    lost = values.copy()
    lost[row, column] = NAN
    before, after = rank_rows(values), rank_rows(lost)
    assert after[row, column] >= before[row, column]
    others = np.arange(values.shape[1]) != column
    assert (after[row, others] <= before[row, others]).all()


@given(VALUES, st.randoms())
def test_average_ranks_follow_their_columns_and_ignore_the_order_of_rows(values: np.ndarray, random: object) -> None:
    rows, columns = (list(range(size)) for size in values.shape)
    random.shuffle(rows)  # type: ignore[attr-defined]
    random.shuffle(columns)  # type: ignore[attr-defined]
    assert np.allclose(average_ranks(values[rows][:, columns]), average_ranks(values)[columns])


def test_friedman_by_hand() -> None:
    # Ranks 1 2 3 / 1 3 2 / 1 2 3 / 2 1 3; rank sums 5, 8, 11; n = 4, k = 3.
    # chi2 = 12 / (4 * 3 * 4) * (25 + 64 + 121) - 3 * 4 * 4 = 52.5 - 48 = 4.5; F = 3 * 4.5 / (8 - 4.5).
    test = friedman([[1, 2, 3], [1, 3, 2], [1, 2, 3], [2, 1, 3]])
    assert test.average_ranks.tolist() == [1.25, 2.0, 2.75]
    assert statistic(test, "chi-square") == pytest.approx(4.5)
    assert p_value(test, "chi-square") == pytest.approx(np.exp(-2.25))  # chi-square of 2 degrees of freedom
    assert statistic(test, "Iman-Davenport") == pytest.approx(13.5 / 3.5)
    assert p_value(test, "Iman-Davenport") == pytest.approx((1 + 2 * 13.5 / 3.5 / 6) ** -3)  # F of (2, 6)
    assert test.p == p_value(test, "Iman-Davenport")


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("levels", [3, 1000])
def test_chi_square_is_that_of_scipy_with_and_without_ties(seed: int, levels: int) -> None:
    values = np.random.default_rng(seed).integers(levels, size=(9, 5))
    expected = scipy.stats.friedmanchisquare(*values.T)
    test = friedman(values)
    assert statistic(test, "chi-square") == pytest.approx(expected.statistic)
    assert p_value(test, "chi-square") == pytest.approx(expected.pvalue)


@pytest.mark.parametrize("seed", range(6))
def test_iman_davenport_is_the_analysis_of_variance_of_the_ranks(seed: int) -> None:
    values = np.random.default_rng(seed).integers(4, size=(8, 4))
    r = rank_rows(values)
    n, k = r.shape
    algorithms = n * ((r.mean(axis=0) - r.mean()) ** 2).sum()
    problems = k * ((r.mean(axis=1) - r.mean()) ** 2).sum()
    rest = ((r - r.mean()) ** 2).sum() - algorithms - problems
    expected = (algorithms / (k - 1)) / (rest / ((k - 1) * (n - 1)))
    test = friedman(values)
    assert statistic(test, "Iman-Davenport") == pytest.approx(expected)
    assert p_value(test, "Iman-Davenport") == pytest.approx(scipy.stats.f.sf(expected, k - 1, (k - 1) * (n - 1)))


def test_over_all_permutations_within_problems_the_mean_of_chi_square_is_its_degrees_of_freedom() -> None:
    rows = [[1.0, 2.0, 3.0], [0.0, 0.0, 7.0], [5.0, 6.0, 8.0]]  # the second has a tie
    every = [statistic(friedman(list(t)), "chi-square") for t in itertools.product(*map(itertools.permutations, rows))]
    assert np.mean(every) == pytest.approx(2.0)


def test_problems_that_all_agree_leave_nothing_to_chance() -> None:
    test = friedman([[1, 2, 3]] * 5)
    assert statistic(test, "chi-square") == pytest.approx(10.0)  # n (k - 1), the largest there is
    assert statistic(test, "Iman-Davenport") == INF
    assert test.p == 0.0


def test_values_that_are_all_equal_show_no_difference() -> None:
    test = friedman(np.zeros((4, 3)))
    assert [row["statistic"] for row in test.test_rows()] == [0.0, 0.0]
    assert [row["p"] for row in test.test_rows()] == [1.0, 1.0]


@given(VALUES)
def test_p_values_are_probabilities_whatever_the_values(values: np.ndarray) -> None:
    for row in friedman(values).test_rows():
        assert 0 <= row["p"] <= 1  # type: ignore[operator]


@pytest.mark.parametrize("values", [[1.0, 2.0], [[1.0, 2.0]], [[1.0], [2.0]]])
def test_tables_too_small_are_refused(values: list) -> None:
    with pytest.raises(ValueError, match=r"at least \(2, 2\)"):
        friedman(values)


def test_names_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="2 different names"):
        friedman([[1.0, 2.0], [1.0, 2.0]], ["a", "a"])


def only_statistic(test: object) -> float:
    return test.test_rows()[0]["statistic"]  # type: ignore[attr-defined]


def test_aligned_ranks_worked_out() -> None:
    values = [
        [1.0, 2.0, 6.0],  # mean 3
        [2.0, 5.0, 8.0],  # mean 5
        [1.0, 3.0, 14.0],  # mean 6
        [4.0, 4.5, 6.5],  # mean 5
    ]
    # Less their means: -2 -1 3 | -3 0 3 | -5 -3 8 | -1 -0.5 1.5. In order, with ranks:
    # -5: 1, -3 -3: 2.5, -2: 4, -1 -1: 5.5, -0.5: 7, 0: 8, 1.5: 9, 3 3: 10.5, 8: 12.
    ranks = [[4, 5.5, 10.5], [2.5, 8, 10.5], [1, 2.5, 12], [5.5, 7, 9]]
    assert aligned_ranks(values).tolist() == ranks

    test = friedman_aligned(values, ["a", "b", "c"])
    assert test.average_ranks.tolist() == [13 / 4, 23 / 4, 42 / 4]
    # n = 4, k = 3. Columns: 13^2 + 23^2 + 42^2 = 169 + 529 + 1764 = 2462, of which 3 * 4^2 * 13^2 / 4 = 2028 goes off.
    # Rows: 20, 21, 15.5, 21.5; squares 400 + 441 + 240.25 + 462.25 = 1543.5, a third of it 514.5.
    # Squares of all ranks: 16 + 30.25 + 110.25 + 6.25 + 64 + 110.25 + 1 + 6.25 + 144 + 30.25 + 49 + 81 = 648.5.
    T = 2 * (2462 - 2028) / (648.5 - 514.5)  # 868 / 134
    assert only_statistic(test) == pytest.approx(T)
    assert test.p == pytest.approx(np.exp(-T / 2))  # chi-square of 2 degrees of freedom


def test_without_ties_the_statistic_is_the_one_usually_printed() -> None:
    values = np.random.default_rng(4).normal(size=(6, 4))
    n, k = values.shape
    ranks = aligned_ranks(values)
    squares = k * n * (k * n + 1) * (2 * k * n + 1) / 6
    numerator = (k - 1) * ((ranks.sum(axis=0) ** 2).sum() - k * n**2 * (k * n + 1) ** 2 / 4)
    expected = numerator / (squares - (ranks.sum(axis=1) ** 2).sum() / k)
    assert only_statistic(friedman_aligned(values)) == pytest.approx(expected)


@pytest.mark.parametrize("rows", [[[1, 2, 6], [2, 5, 8.5], [1, 3, 15]], [[1, 2, 6], [2, 5, 8], [1, 1, 1], [0, 0, 3]]])
def test_over_all_permutations_within_problems_the_mean_is_the_degrees_of_freedom(rows: list) -> None:
    every = [only_statistic(friedman_aligned(list(t))) for t in itertools.product(*map(itertools.permutations, rows))]
    assert np.mean(every) == pytest.approx(2.0)


def test_problems_without_differences_tie_whatever_their_level() -> None:
    ranks = aligned_ranks([[0.1, 0.1, 0.1], [0.0, 0.0, 0.0], [1e6 / 3, 1e6 / 3, 1e6 / 3], [1.0, 2.0, 3.0]])
    assert ranks.tolist() == [[6.5] * 3, [6.5] * 3, [6.5] * 3, [1.0, 6.5, 12.0]]


def test_a_constant_added_to_a_problem_changes_nothing() -> None:
    values = np.random.default_rng(1).integers(50, size=(5, 4)).astype(float)
    shifted = values + np.array([[0], [1000], [-50], [7], [300]])
    assert aligned_ranks(shifted).tolist() == aligned_ranks(values).tolist()


def test_equal_values_show_no_difference_by_aligned_ranks_or_quade() -> None:
    assert friedman_aligned(np.ones((3, 3))).p == 1.0
    assert quade(np.ones((3, 3))).p == 1.0


@pytest.mark.parametrize("test", [friedman_aligned, quade])
def test_a_missing_value_is_refused_where_it_could_not_be_ranked(test: object) -> None:
    with pytest.raises(ValueError, match="nan in row 1, column 0"):
        test([[1.0, 2.0], [float("nan"), 3.0]])  # type: ignore[operator]


def test_quade_worked_out() -> None:
    # Ranges 2, 8, 6: weights 1, 3, 2. Ranks 1 2 3 | 1 3 2 | 2 1 3.
    # Weighted distances from 2: -1 0 1 | -3 3 0 | 0 -2 2; A = 2 + 18 + 8 = 28; sums -4, 1, 3; B = 26 / 3.
    test = quade([[1.0, 2.0, 3.0], [1.0, 9.0, 5.0], [2.0, 1.0, 7.0]])
    assert only_statistic(test) == pytest.approx(2 * (26 / 3) / (28 - 26 / 3))
    assert test.average_ranks.tolist() == pytest.approx([(1 + 3 + 4) / 6, (2 + 9 + 2) / 6, (3 + 6 + 6) / 6])


def test_quade_gives_the_numbers_of_the_textbook() -> None:
    """Sales of five brands in seven stores (Conover, 3rd edition, p. 375), as in the manual of R's quade.test."""
    sales = [
        [5, 4, 7, 10, 12],
        [1, 3, 1, 0, 2],
        [16, 12, 22, 22, 35],
        [5, 4, 3, 5, 4],
        [10, 9, 7, 13, 10],
        [19, 18, 28, 37, 58],
        [10, 7, 6, 8, 7],
    ]
    (row,) = quade(sales).test_rows()
    assert round(row["statistic"], 4) == 3.8293  # type: ignore[arg-type]
    assert row["df"] == (4, 24)
    assert round(row["p"], 5) == 0.01519  # type: ignore[arg-type]


def test_quade_is_infinite_where_all_problems_agree_and_weigh_the_same() -> None:
    test = quade([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0], [1.0, 2.0, 3.0]])
    assert (only_statistic(test), test.p) == (np.inf, 0.0)


# --- against exact arithmetic ---------------------------------------------------------------------------------------


def exact_aligned_p(values: list[list[str]]) -> float:
    """Return p of the aligned ranks of decimal numbers, computed with fractions throughout."""
    rows = [[Fraction(text) for text in row] for row in values]
    n, k = len(rows), len(rows[0])
    apart = [[value - sum(row) / k for value in row] for row in rows]
    everything = sorted(value for row in apart for value in row)
    rank = {value: Fraction(2 * everything.index(value) + 1 + everything.count(value), 2) for value in set(everything)}
    r = [[rank[value] for value in row] for row in apart]
    columns = sum(sum(row[j] for row in r) ** 2 for j in range(k)) - Fraction(k * n**2 * (k * n + 1) ** 2, 4)
    rest = sum(x**2 for row in r for x in row) - sum(sum(row) ** 2 for row in r) / k
    return float(scipy.stats.chi2.sf(float((k - 1) * columns / rest), k - 1)) if rest else 1.0


def decimal_table(rng: np.random.Generator) -> list[list[str]]:
    """Return a random table with many ties across problems: integers, or numbers of one or two decimals."""
    n, k = int(rng.integers(2, 13)), int(rng.integers(2, 9))
    places = int(rng.integers(0, 3))
    return [[f"{value / 10**places:.{places}f}" for value in row] for row in rng.integers(0, 12, (n, k)).tolist()]


def off(tables: int, seed: int) -> int:
    rng = np.random.default_rng(seed)
    wrong = 0
    for _ in range(tables):
        values = decimal_table(rng)
        given = np.array(values, dtype=float)
        expected = exact_aligned_p(values)
        shuffled = given[rng.permutation(len(given))][:, rng.permutation(given.shape[1])]
        wrong += any(abs(friedman_aligned(one).p - expected) > 1e-12 for one in (given, shuffled))
    return wrong


def test_aligned_ranks_with_ties_are_exact() -> None:
    assert off(tables=150, seed=0) == 0


@pytest.mark.slow
def test_aligned_ranks_with_ties_are_exact_in_a_thousand_tables() -> None:
    assert off(tables=1000, seed=1) == 0


def test_rows_that_are_equal_up_to_a_constant_get_equal_aligned_ranks() -> None:
    assert aligned_ranks([[1, 1, 0], [3, 3, 2], [0, 0, 1]]).tolist() == [
        [6.5, 6.5, 1.5],
        [6.5, 6.5, 1.5],
        [3.5, 3.5, 9],
    ]
    p = friedman_aligned([[2, 3, 2], [0, 1, 0], [1, 2, 1], [3, 3, 2]]).p
    assert p == pytest.approx(exact_aligned_p([["2", "3", "2"], ["0", "1", "0"], ["1", "2", "1"], ["3", "3", "2"]]))
    assert p == pytest.approx(0.04140, abs=5e-6)


def test_the_order_of_algorithms_does_not_change_p_of_aligned_ranks() -> None:
    rng = np.random.default_rng(2)
    for _ in range(20):
        values = np.round(rng.normal(size=(28, 8)), 2)
        assert len({friedman_aligned(values[:, rng.permutation(8)]).p for _ in range(5)}) == 1


def test_values_of_any_size_are_aligned_exactly() -> None:
    ranks = aligned_ranks([[1e300, 2e300], [1e-300, 2e-300], [0.1, 0.3], [0.3, 0.5], [1e16, 1e16 + 2]])
    assert ranks.tolist() == [[1, 10], [5, 6], [3.5, 7.5], [3.5, 7.5], [2, 9]]


def test_equal_ranges_get_equal_weights_in_quade() -> None:
    # 0.3 - 0.1 < 0.5 - 0.3 in floats. With equal weights 1.5 the sums of signed ranks cancel.
    test = quade([[0.1, 0.3], [0.5, 0.3]])
    assert (only_statistic(test), test.p) == (0.0, 1.0)
