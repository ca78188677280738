"""Outcomes: what counts as failed and feasible, and the one order of runs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppsde.stats import Outcomes, cells_of, positions

NAN, INF = float("nan"), float("inf")

RUN = st.tuples(st.sampled_from([-1.0, 0.0, 0.5, 3.0, INF, -INF, NAN]), st.sampled_from([0.0, 0.0, 0.2, 4.0, INF, NAN]))
RUNS = st.lists(RUN, min_size=1, max_size=8).map(lambda runs: Outcomes(*zip(*runs, strict=True)))


def better(f_a: float, v_a: float, f_b: float, v_b: float) -> bool:
    """The order, written out case by case."""
    failed_a = np.isnan(f_a) or np.isnan(v_a) or f_a == -INF or v_a == INF
    failed_b = np.isnan(f_b) or np.isnan(v_b) or f_b == -INF or v_b == INF
    if failed_a or failed_b:
        return failed_b and not failed_a
    if v_a == 0 and v_b == 0:
        return f_a < f_b
    return v_a < v_b


def test_failed_runs_are_those_without_usable_values() -> None:
    runs = Outcomes([1.0, NAN, 1.0, -INF, INF, 1.0], [0.0, 0.0, NAN, 0.0, 0.0, INF])
    assert runs.failed.tolist() == [False, True, True, True, False, True]
    assert runs.feasible.tolist() == [True, False, False, False, True, False]


def test_runs_are_ordered_feasible_by_objective_then_infeasible_by_violation_then_failed() -> None:
    runs = Outcomes([NAN, 9.0, 0.0, 2.0, 1.0], [0.0, 0.0, 0.5, 0.0, 0.1])
    assert runs.order().tolist() == [3, 1, 4, 2, 0]


def test_positions_by_hand() -> None:
    a = Outcomes([1.0, 0.0, NAN], [0.0, 0.5, 0.0])  # feasible 1, violation 0.5, failed
    b = Outcomes([1.0, 7.0, 8.0], [0.0, 0.5, 0.4])  # feasible 1, violation 0.5, violation 0.4
    places_a, places_b = positions(a, b)
    assert places_a.tolist() == [1.5, 4.5, 6.0]  # the objective of an infeasible run does not count
    assert places_b.tolist() == [1.5, 4.5, 3.0]


@given(RUNS, RUNS)
def test_a_place_is_one_more_than_the_runs_ahead_and_half_of_those_beside(a: Outcomes, b: Outcomes) -> None:
    f, v = np.concatenate([a.f, b.f]), np.concatenate([a.violation, b.violation])
    every = range(len(f))
    ahead = [sum(better(f[j], v[j], f[i], v[i]) for j in every) for i in every]
    behind = [sum(better(f[i], v[i], f[j], v[j]) for j in every) for i in every]
    expected = [1 + ahead[i] + (len(f) - 1 - ahead[i] - behind[i]) / 2 for i in every]
    assert np.concatenate(positions(a, b)).tolist() == expected


@given(RUNS)
def test_the_order_of_runs_agrees_with_their_places(runs: Outcomes) -> None:
    (places,) = positions(runs)
    assert (np.diff(places[runs.order()]) >= 0).all()


def test_outcomes_keep_their_own_copy() -> None:
    f = np.array([1.0, 2.0])
    runs = Outcomes(f)
    f[0] = 9.0
    assert runs.f.tolist() == [1.0, 2.0]


def test_a_long_table_becomes_cells_in_order_of_appearance() -> None:
    cells = cells_of(
        ["C02", "C01", "C02", "C02"],
        ["x", "x", "y", "x"],
        [1.0, 2.0, 3.0, 4.0],
        [0.0, 0.5, 0.0, 0.25],
        by_constraint=[[0.0, 0.0], [0.5], [0.0, 0.0], [0.25, 0.25]],
    )
    assert list(cells) == ["C02", "C01"]
    assert cells["C02"]["x"].f.tolist() == [1.0, 4.0]
    assert cells["C02"]["x"].violation.tolist() == [0.0, 0.25]
    amounts = cells["C02"]["x"].by_constraint
    assert amounts is not None
    assert amounts.tolist() == [[0.0, 0.0], [0.25, 0.25]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([],), r"shape \(0,\)"),
        (([[1.0]],), r"shape \(1, 1\)"),
        (([1.0], [0.0, 0.0]), r"got \(2,\)"),
        (([1.0], [-0.5]), "got -0.5"),
        (([1.0], [0.0], [[0.0], [0.0]]), r"got \(2, 1\)"),
        (([1.0], [0.0], [[-2.0]]), "got -2"),
    ],
)
def test_bad_outcomes_are_refused(arguments: tuple, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Outcomes(*arguments)


def test_columns_of_unlike_length_are_refused() -> None:
    with pytest.raises(ValueError, match=r"got \[1, 2\]"):
        cells_of(["C01"], ["x"], [1.0, 2.0])
