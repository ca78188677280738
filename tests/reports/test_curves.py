"""Runs along their evaluations."""

from __future__ import annotations

import numpy as np

from ppsde.reports.curves import curves, grid, known_at
from ppsde.stats import Records


def test_the_grid_is_even_and_ends_at_the_budget() -> None:
    assert grid(1000, 4).tolist() == [250, 500, 750, 1000]
    assert grid(3, 80).tolist() == [1, 2, 3]
    assert len(grid(200_000)) == 80


def test_what_is_known_is_the_last_record_and_nothing_before_the_first() -> None:
    records = Records([[100, 200, np.nan, 400]], [[9.0, 7.0, np.nan, 5.0]], [[0.5, 0.0, np.nan, 0.0]])
    f, violation = known_at(records, np.array([99, 100, 199, 200, 350, 400, 900]))
    assert f.tolist() == [[np.inf, np.inf, np.inf, 7.0, 7.0, 5.0, 5.0]]
    assert violation.tolist() == [[np.inf, 0.5, 0.5, 0.0, 0.0, 0.0, 0.0]]


def test_parts_of_the_budget_in_which_no_generation_ended_hold_nothing_up() -> None:
    records = Records([np.nan, 150, np.nan, 250], [[np.nan, 9.0, np.nan, 5.0]], [[np.nan, 0.5, np.nan, 0.0]])
    f, violation = known_at(records, np.array([100, 200, 300]))
    assert f.tolist() == [[np.inf, np.inf, 5.0]]
    assert violation.tolist() == [[np.inf, 0.5, 0.0]]


def test_quartiles_are_values_of_runs_and_the_worse_of_two() -> None:
    records = Records([10], [[4.0], [1.0], [3.0], [2.0]])
    assert curves(records, np.array([10])).f[:, 0].tolist() == [1.0, 3.0, 3.0]
    records = Records([10], [[v] for v in (5.0, 1.0, 4.0, 2.0, 3.0)])
    assert curves(records, np.array([10])).f[:, 0].tolist() == [2.0, 3.0, 4.0]
    assert curves(Records([10], [[7.0]]), np.array([10])).f[:, 0].tolist() == [7.0, 7.0, 7.0]


def test_a_failed_run_makes_no_curve_better() -> None:
    good = Records([10, 20], [[2.0, 1.0], [3.0, 2.0]])
    with_failed = Records([[10, 20], [10, 20], [np.nan] * 2], [[2.0, 1.0], [3.0, 2.0], [np.nan] * 2], [[0.0] * 2] * 3)
    at = np.array([10, 20])
    assert (curves(with_failed, at).f[1] >= curves(good, at).f[1]).all()
    assert curves(with_failed, at).share.round(3).tolist() == [0.667, 0.667]
    assert curves(with_failed, at).violation[2].tolist() == [np.inf, np.inf]
