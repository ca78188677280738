"""Two algorithms compared: signed ranks over problems, rank sums and A12 over runs, wins and losses."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from ppsde.stats import Outcomes, a12, holm, rank_sum, signed_rank, signed_rank_rows, significant_wins, win_tie_loss

NAN, INF = float("nan"), float("inf")
RUN = st.tuples(st.sampled_from([-1.0, 0.0, 0.5, 3.0, INF, NAN]), st.sampled_from([0.0, 0.0, 0.2, 4.0, NAN]))
RUNS = st.lists(RUN, min_size=1, max_size=8)


def outcomes(runs: list) -> Outcomes:
    return Outcomes(*zip(*runs, strict=True))


# Signed ranks.


def test_signed_ranks_by_hand() -> None:
    # First less second: -1, 2, -3, 4, -5; the first is better on those of rank 1, 3 and 5.
    test = signed_rank([0.0, 2.0, 0.0, 4.0, 0.0], [1.0, 0.0, 3.0, 0.0, 5.0])
    assert (test.n, test.n_zero, test.R_plus, test.R_minus) == (5, 0, 9.0, 6.0)
    # Of the 32 choices of signs, those with a rank sum of at most 6 or at least 9, counted one by one.
    sums = [
        sum(r for r, s in zip(range(1, 6), signs, strict=True) if s) for signs in itertools.product([0, 1], repeat=5)
    ]
    assert test.p == pytest.approx(sum(s <= 6 or s >= 9 for s in sums) / 32)


def test_zero_differences_are_split_ranked_and_dropped_or_dropped_first() -> None:
    first, second = [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 2.0]  # differences 0, 0, 1, -2
    split, pratt, wilcox = (signed_rank(first, second, zeros=zeros) for zeros in ("zsplit", "pratt", "wilcox"))
    assert (split.R_plus, split.R_minus) == (4 + 1.5, 3 + 1.5)  # the zeros share the ranks 1 and 2
    assert (pratt.R_plus, pratt.R_minus) == (4, 3)
    assert (wilcox.R_plus, wilcox.R_minus) == (2, 1)
    assert split.n_zero == pratt.n_zero == wilcox.n_zero == 2


@pytest.mark.parametrize("zeros", ["zsplit", "pratt", "wilcox"])
@pytest.mark.parametrize("seed", range(3))
def test_signed_ranks_are_those_of_scipy(seed: int, zeros: str) -> None:
    rng = np.random.default_rng(seed)
    first, second = rng.integers(6, size=(2, 28)).astype(float)
    expected = scipy.stats.wilcoxon(first, second, zero_method=zeros)
    test = signed_rank(first, second, zeros=zeros)
    assert test.p == pytest.approx(expected.pvalue)
    assert min(test.R_plus, test.R_minus) == pytest.approx(expected.statistic)


def test_a_missing_value_is_the_largest_loss_and_two_are_equal() -> None:
    test = signed_rank([NAN, 1.0, NAN, INF, 0.0], [5.0, 100.0, NAN, 3.0, NAN])
    # Missing against present: ranks 4.5 each way; +inf against 3: rank 3, lost; 1 against 100: rank 2, won; a zero.
    assert test.n_zero == 1
    assert (test.R_plus, test.R_minus) == (4.5 + 2 + 0.5, 4.5 + 3 + 0.5)


def test_a_missing_value_is_a_loss_also_where_all_others_are_equal() -> None:
    test = signed_rank([1.0, 1.0, NAN], [1.0, 1.0, 7.0])
    assert test.n_zero == 2 and (test.R_plus, test.R_minus) == (1.5, 1.5 + 3)


@pytest.mark.parametrize("missing", [NAN, -INF])
@pytest.mark.parametrize("largest", [0.5, 1.0, 1e3, 1e300])
def test_a_missing_value_is_further_away_than_the_largest_difference(largest: float, missing: float) -> None:
    # Ranks 1 and 2 for the finite differences, 3 for the infinite one, 4 for the missing value.
    test = signed_rank([0.0, 0.0, INF, missing], [largest / 4, largest, 0.0, 0.0])
    assert (test.R_plus, test.R_minus) == (1 + 2, 3 + 4)
    test = signed_rank([0.0, 0.0, INF, 0.0], [largest / 4, largest, 0.0, missing])
    assert (test.R_plus, test.R_minus) == (1 + 2 + 4, 3)


def test_equal_algorithms_do_not_differ() -> None:
    assert signed_rank([1.0, INF, NAN], [1.0, INF, NAN]).p == 1.0


def test_the_table_against_a_control_has_the_single_tests_corrected_by_holm() -> None:
    values = np.random.default_rng(8).normal(size=(15, 4))
    rows = signed_rank_rows(values, "c", ["a", "b", "c", "d"])
    single = [signed_rank(values[:, 2], values[:, k]).p for k in (0, 1, 3)]
    assert [row["algorithm"] for row in rows] == ["a", "b", "d"]
    assert [row["p"] for row in rows] == single
    assert [row["p holm"] for row in rows] == pytest.approx(holm(single))


@pytest.mark.parametrize("seed", range(8))
def test_the_two_sides_share_all_ranks_and_change_places(seed: int) -> None:
    first, second = np.random.default_rng(seed).choice([0.0, 1.0, 2.5, INF, NAN], size=(2, 20))
    there, back = signed_rank(first, second), signed_rank(second, first)
    assert there.R_plus + there.R_minus == 20 * 21 / 2
    assert (there.R_plus, there.R_minus) == (back.R_minus, back.R_plus)
    assert there.p == pytest.approx(back.p)


def test_bad_pairs_are_refused() -> None:
    with pytest.raises(ValueError, match=r"got \(2,\) and \(3,\)"):
        signed_rank([1.0, 2.0], [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="'drop'"):
        signed_rank([1.0], [2.0], zeros="drop")


# Rank sums and A12.


def test_a12_by_hand() -> None:
    # 1 beats 2, 2 and 3; 2 ties twice and beats 3; 5 beats none: (3 + 2 + 0) of 9.
    assert a12([1.0, 2.0, 5.0], [2.0, 2.0, 3.0]) == pytest.approx(5 / 9)


def test_a12_puts_feasible_before_infeasible_before_failed() -> None:
    feasible, infeasible, failed = Outcomes([9.0]), Outcomes([0.0], [0.1]), Outcomes([NAN])
    assert a12(feasible, infeasible) == a12(infeasible, failed) == a12(feasible, failed) == 1.0
    assert a12(failed, failed) == 0.5


@given(RUNS, RUNS)
def test_a12_of_both_sides_adds_up_to_one(a: list, b: list) -> None:
    assert a12(outcomes(a), outcomes(b)) + a12(outcomes(b), outcomes(a)) == pytest.approx(1.0)


@given(RUNS, RUNS, st.data())
def test_a_run_that_fails_instead_never_raises_a12(a: list, b: list, data: st.DataObject) -> None:
    lost = data.draw(st.integers(0, len(a) - 1))
    worse = [(NAN, v) if k == lost else (f, v) for k, (f, v) in enumerate(a)]
    assert a12(outcomes(worse), outcomes(b)) <= a12(outcomes(a), outcomes(b))


@given(RUNS, RUNS, st.data())
def test_a_run_that_becomes_infeasible_never_raises_a12(a: list, b: list, data: st.DataObject) -> None:
    spoiled = data.draw(st.integers(0, len(a) - 1))
    worse = [(f, v + 0.5) if k == spoiled else (f, v) for k, (f, v) in enumerate(a)]
    assert a12(outcomes(worse), outcomes(b)) <= a12(outcomes(a), outcomes(b))


@given(RUNS, RUNS, st.randoms())
def test_the_order_of_runs_does_not_matter(a: list, b: list, random: object) -> None:
    mixed = list(a)
    random.shuffle(mixed)  # type: ignore[attr-defined]
    first, second = rank_sum(outcomes(a), outcomes(b)), rank_sum(outcomes(mixed), outcomes(b))
    assert (first.U, first.A12) == (second.U, second.A12)
    assert first.p == pytest.approx(second.p)


@pytest.mark.parametrize(("runs", "levels"), [(25, 1000), (25, 4), (6, 1000)])
def test_rank_sums_are_those_of_scipy(runs: int, levels: int) -> None:
    a, b = np.random.default_rng(runs + levels).integers(levels, size=(2, runs)).astype(float)
    expected = scipy.stats.mannwhitneyu(b, a)  # U of the second counts the pairs in which it is larger
    test = rank_sum(a, b)
    assert test.rows()[0]["U"] == expected.statistic
    assert test.p == pytest.approx(expected.pvalue)
    assert a12(a, b) == pytest.approx(expected.statistic / runs**2)


def test_infeasible_runs_stay_in_the_sample_behind_the_others() -> None:
    """The same test as with objectives that are just larger than all others, in the order of the violations."""
    a = Outcomes([1.0, 4.0, -9.0, -8.0], [0.0, 0.0, 0.3, 0.2])
    b = Outcomes([2.0, 3.0, 5.0, NAN], [0.0, 0.0, 0.0, 0.0])
    assert rank_sum(a, b) == rank_sum([1.0, 4.0, 101.0, 100.0], [2.0, 3.0, 5.0, 999.0])


def test_runs_that_are_all_equal_do_not_differ() -> None:
    test = rank_sum([1.0, 1.0], [1.0, 1.0, 1.0])
    assert (test.p, test.A12, test.magnitude) == (1.0, 0.5, "negligible")


@pytest.mark.parametrize(
    ("wins_of_100", "magnitude"),
    [(50, "negligible"), (55, "negligible"), (57, "small"), (65, "medium"), (72, "large"), (28, "large"), (0, "large")],
)
def test_magnitudes_are_those_of_vargha_and_delaney(wins_of_100: int, magnitude: str) -> None:
    assert rank_sum([50.0], np.arange(100) + 50.5 - (100 - wins_of_100)).magnitude == magnitude


# Wins, ties and losses.


def test_wins_by_hand() -> None:
    values = [[1.0, 2.0, 1.0], [NAN, 3.0, NAN], [0.5, 0.5 + 1e-12, 0.1], [4.0, NAN, -INF], [INF, INF, 0.0]]
    table = win_tie_loss(values, "a", ["a", "b", "c"], tolerance=1e-9)
    assert table.marks.tolist() == [[1, 0], [-1, 0], [0, -1], [1, 1], [0, -1]]
    assert [(row["against"], row["wins"], row["ties"], row["losses"]) for row in table.rows()] == [
        ("b", 2, 2, 1),
        ("c", 1, 2, 2),
    ]
    assert table.problem_rows()[1] == {"problem": "P2", "b": "-", "c": "="}


@given(st.lists(st.lists(st.sampled_from([0.0, 1.0, 2.0, INF, NAN]), min_size=3, max_size=3), min_size=1, max_size=8))
def test_one_side_wins_what_the_other_loses(values: list) -> None:
    first, second = win_tie_loss(values, 0).rows()[0], win_tie_loss(values, 1).rows()[0]
    assert (first["wins"], first["ties"], first["losses"]) == (second["losses"], second["ties"], second["wins"])
    assert first["wins"] + first["ties"] + first["losses"] == len(values)  # type: ignore[operator]


def test_significant_wins_need_significance_and_a_direction() -> None:
    low, high, near = Outcomes(np.arange(10.0)), Outcomes(np.arange(10.0) + 20), Outcomes(np.arange(10.0) + 1.5)
    infeasible = Outcomes(np.zeros(10), np.ones(10))
    cells = {
        "won": {"new": low, "old": high},
        "lost": {"new": high, "old": low},
        "tied": {"new": low, "old": near},
        "infeasible": {"new": infeasible, "old": high},
    }
    table = significant_wins(cells, "new")
    assert [row["old"] for row in table.problem_rows()] == ["+", "-", "=", "-"]
    assert table.rows() == [{"control": "new", "against": "old", "wins": 1, "ties": 1, "losses": 2}]


def test_bad_tables_of_wins_are_refused() -> None:
    with pytest.raises(ValueError, match="'z'"):
        win_tie_loss([[1.0, 2.0]], "z")
    with pytest.raises(ValueError, match="got 2"):
        win_tie_loss([[1.0, 2.0]], 0, problems=["C01", "C02"])
    with pytest.raises(ValueError, match="got -1"):
        win_tie_loss([[1.0, 2.0]], 0, tolerance=-1)
    with pytest.raises(ValueError, match="'z'"):
        significant_wins({"C01": {"a": Outcomes([1.0])}}, "z")


def test_equal_differences_share_a_rank() -> None:
    test = signed_rank([0.1, 0.5, 1.0], [0.3, 0.3, 2.0])  # 0.3 - 0.1 < 0.5 - 0.3 in floats
    assert (test.R_plus, test.R_minus) == (1.5 + 3, 1.5)
