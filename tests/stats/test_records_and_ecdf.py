"""Records along runs, when they reach targets, and the distribution of that over problems."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppsde.stats import Records, target_ecdf

NAN, INF = float("nan"), float("inf")


def test_only_feasible_records_count_towards_the_objective() -> None:
    records = Records([1, 2, 3, 4, 5], [[0.0, 7.0, 9.0, -3.0, 6.0]], [[0.4, 0.0, 0.0, 0.1, 0.0]])
    assert records.feasible_f.tolist() == [[INF, 7.0, 7.0, 7.0, 6.0]]
    assert records.least_violation.tolist() == [[0.4, 0.0, 0.0, 0.0, 0.0]]
    assert records.outcomes.f.tolist() == [6.0]
    assert records.outcomes.violation.tolist() == [0.0]


def test_a_run_without_feasible_records_ends_with_its_least_violating_one() -> None:
    records = Records([1, 2, 3], [[5.0, 8.0, 1.0]], [[0.4, 0.2, 0.3]])
    assert (records.outcomes.f.tolist(), records.outcomes.violation.tolist()) == ([8.0], [0.2])


def test_records_without_values_count_as_none() -> None:
    f = [[NAN, -INF, 3.0, 2.0, 1.0], [NAN] * 5]
    violation = [[0.0, 0.0, 0.0, INF, NAN], [0.0] * 5]
    records = Records([1, 2, 3, 4, 5], f, violation)
    assert records.feasible_f[0].tolist() == [INF, INF, 3.0, 3.0, 3.0]
    assert records.outcomes.failed.tolist() == [False, True]
    assert records.first_feasible_below([INF]).tolist() == [[3.0], [INF]]


def test_a_record_before_the_first_evaluation_count_is_not_looked_at() -> None:
    records = Records([[NAN, 20, 30]], [[1.0, 5.0, 2.0]])
    assert records.first_feasible_below([5.0, 2.0, 1.0]).tolist() == [[20.0, 30.0, INF]]


def test_first_reached_by_hand() -> None:
    records = Records([10, 20, 30], [[5.0, 3.0, 3.0], [0.0, 9.0, 1.0]], [[0.0, 0.0, 0.0], [0.6, 0.2, 0.0]])
    assert records.first_feasible_below([5.0, 4.0, 3.0, 2.0, 1.0]).tolist() == [
        [10, 20, 20, INF, INF],
        [30, 30, 30, 30, 30],
    ]
    assert records.first_violation_below([0.6, 0.3, 0.0]).tolist() == [[10, 10, 10], [10, 20, 30]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1], [1.0]), r"got \(1,\)"),
        (([1, 2], [[1.0]]), r"got \(2,\)"),
        (([2, 1], [[1.0, 1.0]]), "never fall"),
        (([-1, 1], [[1.0, 1.0]]), "never fall"),
        (([1], [[1.0]], [[-0.1]]), "got -0.1"),
        (([1], [[1.0]], [[0.0, 0.0]]), r"got \(1, 2\)"),
    ],
)
def test_bad_records_are_refused(arguments: tuple, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Records(*arguments)


def test_an_ecdf_by_hand() -> None:
    records = {
        "C01": Records([10, 20, 30], [[4.0, 2.0, 1.0], [4.0, 4.0, 2.0]]),
        "C02": Records([15, 30, 45], [[0.0, 0.0, 3.0]], [[0.5, 0.5, 0.0]]),
    }
    # (C01, 2): runs at 20 and 30; (C01, 1): one run of two at 30; (C02, 5): at 45; (C02, 0): never feasible so low.
    curve = target_ecdf(records, {"C01": [2.0, 1.0], "C02": [5.0, 0.0]})
    assert curve.evaluations.tolist() == [20, 30, 45]
    assert curve.share.tolist() == [0.5 / 4, (0.5 + 0.5 + 0.5) / 4, 2.5 / 4]
    assert (curve.pairs, curve.runs, curve.n_never_feasible) == (4, 3, 0)

    sampled = target_ecdf(records, {"C01": [2.0, 1.0], "C02": [5.0, 0.0]}, at=[100, 0, 29.9])
    assert sampled.evaluations.tolist() == [0, 29.9, 100]
    assert sampled.share.tolist() == [0.0, 0.125, 0.625]

    scaled = target_ecdf(records, {"C01": [2.0], "C02": [5.0]}, variables={"C01": 10, "C02": 30})
    assert scaled.evaluations.tolist() == [1.5, 2.0, 3.0]
    assert scaled.share.tolist() == [0.5, 0.75, 1.0]


def test_what_is_never_feasible_is_never_reached_and_is_counted() -> None:
    records = {"C01": Records([1, 2], [[-9.0, -9.0], [NAN, NAN], [1.0, 1.0]], [[0.1, 0.1], [0.0, 0.0], [0.0, 0.0]])}
    curve = target_ecdf(records, {"C01": [INF]})
    assert curve.share.tolist() == [pytest.approx(1 / 3)]
    assert curve.n_never_feasible == 2


def test_problems_count_alike_however_many_runs_they_have() -> None:
    records = {"C01": Records([1], np.zeros((9, 1))), "C02": Records([1], [[5.0]])}
    assert target_ecdf(records, {"C01": [0.0], "C02": [0.0]}).share.tolist() == [pytest.approx(0.5)]


RECORD = st.tuples(st.sampled_from([0.0, 1.0, 2.0, NAN]), st.sampled_from([0.0, 0.0, 0.3, NAN]))


@given(st.lists(st.lists(RECORD, min_size=4, max_size=4), min_size=1, max_size=4), st.data())
def test_the_curve_rises_to_at_most_one_and_never_gains_by_infeasibility(runs: list, data: st.DataObject) -> None:
    spoiled = data.draw(st.integers(0, len(runs) - 1))
    f = np.array([[r[0] for r in run] for run in runs])
    violation = np.array([[r[1] for r in run] for run in runs])
    worse = violation.copy()
    worse[spoiled] += 0.5
    at = np.arange(6)
    before, after = (
        target_ecdf({"C": Records([1, 2, 3, 4], f, v)}, {"C": [2.0, 0.5]}, at=at) for v in (violation, worse)
    )
    for curve in (before, after):
        assert (np.diff(curve.share) >= 0).all()
        assert 0 <= curve.share[0] <= curve.share[-1] <= 1
    assert (after.share <= before.share).all()


@pytest.mark.parametrize("targets", [{}, {"C02": [1.0]}, {"C01": []}, {"C01": [NAN]}])
def test_targets_that_do_not_fit_are_refused(targets: dict) -> None:
    with pytest.raises(ValueError, match="targets"):
        target_ecdf({"C01": Records([1], [[1.0]])}, targets)
