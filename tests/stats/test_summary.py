"""Summaries of runs, by hand, and that nothing is dropped unseen."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppsde.stats import Outcomes, Summary, summarise, summary_rows

NAN, INF = float("nan"), float("inf")


def test_a_summary_by_hand() -> None:
    # In order: 2, 4, 7 feasible; then violation 0.3 (f = 1), violation 0.9 (f = -6).
    it = summarise(Outcomes([7.0, 1.0, 2.0, -6.0, 4.0], [0.0, 0.3, 0.0, 0.9, 0.0]))
    assert it == Summary(
        n=5,
        n_feasible=3,
        n_failed=0,
        FR=0.6,
        best=2.0,
        best_violation=0.0,
        median=7.0,
        c=None,
        v_bar=0.0,
        mean=8 / 5,
        std=pytest.approx(math.sqrt((5.4**2 + 0.6**2 + 0.4**2 + 7.6**2 + 2.4**2) / 4)),
        feasible_mean=13 / 3,
        worst=-6.0,
        worst_violation=0.9,
        mean_violation=pytest.approx(1.2 / 5),
    )


def test_an_infeasible_run_is_never_the_best_however_low_it_is() -> None:
    it = summarise(Outcomes([-1e9, 5.0], [1e-12, 0.0]))
    assert (it.best, it.best_violation) == (5.0, 0.0)
    assert (it.worst, it.worst_violation) == (-1e9, 1e-12)


def test_a_failed_run_is_counted_shown_as_worst_and_makes_the_mean_violation_infinite() -> None:
    it = summarise(Outcomes([1.0, NAN, 3.0], [0.0, 0.0, 0.0]))
    assert (it.n, it.n_feasible, it.n_failed, it.FR) == (3, 2, 1, 2 / 3)
    assert (it.best, it.median, it.mean, it.feasible_mean) == (1.0, 3.0, 2.0, 2.0)
    assert math.isnan(it.worst)
    assert it.mean_violation == INF


def test_runs_that_all_failed_have_no_values_but_are_counted() -> None:
    it = summarise(Outcomes([NAN, -INF], [0.0, 0.0], [[0.0], [0.0]]))
    assert (it.n, it.n_feasible, it.n_failed, it.FR, it.c) == (2, 0, 2, 0.0, None)
    assert all(math.isnan(value) for value in (it.best, it.median, it.mean, it.std, it.feasible_mean, it.worst))


def test_the_median_of_an_even_number_of_runs_is_the_worse_of_the_middle_two() -> None:
    it = summarise(Outcomes([1.0, 2.0, 0.0, 0.0], [0.0, 0.0, 0.4, 0.6]))
    assert (it.median, it.v_bar) == (0.0, 0.4)


def test_c_counts_the_violations_of_the_median_run_in_three_classes() -> None:
    by_constraint = [
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [1.5, 1.0, 0.5, 0.01, 0.005, 0.0001, 0.0],  # the median: 1.5 | 1 and 0.5 | 0.01 and 0.005 | not counted
        [9.0, 9.0, 9.0, 9.0, 9.0, 9.0, 9.0],
    ]
    it = summarise(Outcomes([0.0, 0.0, 0.0], [0.0, 3.0151, 63.0], by_constraint))
    assert it.c == (1, 2, 2)
    assert it.v_bar == 3.0151


def test_an_infinite_objective_is_a_value() -> None:
    it = summarise(Outcomes([1.0, INF]))
    assert (it.n_failed, it.n_feasible, it.mean, it.worst) == (0, 2, INF, INF)
    assert math.isnan(it.std)


def test_one_run_has_no_standard_deviation() -> None:
    assert math.isnan(summarise(Outcomes([1.0])).std)


def test_rows_show_every_cell_with_its_numbers_of_runs() -> None:
    rows = summary_rows(
        {"C01": {"a": Outcomes([1.0]), "b": Outcomes([NAN, 2.0])}, "C02": {"b": Outcomes([0.0]), "a": Outcomes([1.0])}}
    )
    shown = [(row["problem"], row["algorithm"], row["n"], row["n_feasible"], row["n_failed"]) for row in rows]
    assert shown == [("C01", "a", 1, 1, 0), ("C01", "b", 2, 1, 1), ("C02", "a", 1, 1, 0), ("C02", "b", 1, 1, 0)]


def test_a_problem_without_one_of_the_algorithms_is_refused() -> None:
    with pytest.raises(ValueError, match="C02 has"):
        summary_rows({"C01": {"a": Outcomes([1.0])}, "C02": {"b": Outcomes([1.0])}})


def place(f: float, violation: float) -> tuple[float, float]:
    """Larger is worse."""
    if math.isnan(f):
        return INF, INF
    return (violation, f if violation == 0 else 0.0)


RUN = st.tuples(st.floats(-1e6, 1e6), st.sampled_from([0.0, 0.0, 0.1, 2.0, NAN]))


@given(st.lists(RUN, min_size=1, max_size=9), st.randoms())
def test_a_summary_does_not_depend_on_the_order_of_the_runs(runs: list, random: object) -> None:
    mixed = list(runs)
    random.shuffle(mixed)  # type: ignore[attr-defined]
    first, second = (summarise(Outcomes(*zip(*some, strict=True))).rows()[0] for some in (runs, mixed))
    assert list(first) == list(second)
    for name in first:
        # Nine numbers of up to 1e6: sums in another order differ by a few times 9e6 * 2**-52 = 2e-9.
        assert first[name] == second[name] or np.isclose(
            first[name], second[name], rtol=1e-9, atol=1e-8, equal_nan=True
        )


@given(st.lists(RUN, min_size=2, max_size=9), st.data())
def test_a_run_that_fails_instead_never_improves_a_summary(runs: list, data: st.DataObject) -> None:
    lost = data.draw(st.integers(0, len(runs) - 1))
    before = summarise(Outcomes(*zip(*runs, strict=True)))
    after = summarise(
        Outcomes(*zip(*[(NAN, v) if k == lost else (f, v) for k, (f, v) in enumerate(runs)], strict=True))
    )
    assert after.FR <= before.FR
    assert after.n_failed >= before.n_failed
    assert after.mean_violation == INF
    assert place(after.best, after.best_violation) >= place(before.best, before.best_violation)
    assert place(after.median, after.v_bar) >= place(before.median, before.v_bar)
    assert place(after.worst, after.worst_violation) == (INF, INF)
