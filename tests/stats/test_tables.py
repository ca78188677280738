"""Rows as text, and that every result has rows."""

from __future__ import annotations

import numpy as np
import pytest

from ppsde import stats


def test_a_table_by_hand() -> None:
    rows = [
        {"name": "one", "n": 3, "f": 1 / 3, "c": (1, 0, 2), "ok": True, "v": None},
        {"name": "eleven", "n": 12, "f": np.float64(1e-9), "c": None, "ok": np.False_, "v": float("nan")},
    ]
    assert stats.as_text(rows, digits=3).splitlines() == [
        "name     n      f          c   ok    v",
        "one      3  0.333  (1, 0, 2)  yes    -",
        "eleven  12  1e-09          -   no  nan",
    ]


def test_no_rows_make_no_text() -> None:
    assert stats.as_text([]) == ""


def test_rows_of_unlike_columns_are_refused() -> None:
    with pytest.raises(ValueError, match=r"got \['b'\]"):
        stats.as_text([{"a": 1}, {"b": 1}])


def test_every_result_can_be_printed() -> None:
    values = [[1.0, 2.0, 3.0], [2.0, 1.0, 3.0], [1.0, 3.0, 2.0]]
    runs = {"a": stats.Outcomes([1.0, 2.0]), "b": stats.Outcomes([2.0, 3.0])}
    records = {"a": stats.Records([1, 2], [[2.0, 1.0]]), "b": stats.Records([1, 2], [[3.0, 0.5]])}
    results = [
        stats.summarise(runs["a"]).rows(),
        stats.summary_rows({"C01": runs}),
        stats.competition_ranks({"C01": runs}).rows(),
        stats.competition_ranks({"C01": runs}).problem_rows(),
        stats.friedman(values).rows(),
        stats.friedman(values).test_rows(),
        stats.friedman_aligned(values).test_rows(),
        stats.quade(values).test_rows(),
        stats.nemenyi(values).rows(),
        stats.all_pairs(values).rows(),
        stats.against_control(values, 0).rows(),
        stats.rank_intervals(values, resamples=10).rows(),
        stats.equivalence((1.0, 0.5, 3), (1.0, 0.5, 3), region=1).rows(),
        stats.bayesian_signed_rank([1.0], [2.0], rope=1, samples=10).rows(),
        stats.signed_rank([1.0, 2.0], [2.0, 4.0]).rows(),
        stats.signed_rank_rows(values, 0),
        stats.rank_sum(runs["a"], runs["b"]).rows(),
        stats.win_tie_loss(values, 0).rows(),
        stats.significant_wins({"C01": runs}, "a").problem_rows(),
        stats.u_score({"C01": records}).rows(),
        stats.accuracy_and_speed({"C01": records}).problem_rows(),
        stats.target_ecdf({"C01": records["a"]}, {"C01": [1.0]}).rows(),
    ]
    for rows in results:
        lines = stats.as_text(rows).splitlines()
        assert len(lines) == len(rows) + 1 >= 2


def test_everything_named_is_there() -> None:
    assert sorted(stats.__all__) == list(stats.__all__)
    assert all(hasattr(stats, name) for name in stats.__all__)
