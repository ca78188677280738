"""Ranks and Friedman's test: by hand, against SciPy, and as an analysis of variance of ranks."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ppsde.stats import average_ranks, friedman, rank_rows

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
