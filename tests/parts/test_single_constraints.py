"""Violations of single constraints."""

from __future__ import annotations

import numpy as np
from handmade import LOST, constrained, points

from ppsde.parts.rules import constraint_count, largest_violations, violations

TABLE = constrained((0, -1, 2, 0.5), (0, 3, 0, -0.2), (np.nan, 9, 9, 9), h=1, tolerance=0.1)


def test_inequalities_come_first_and_equalities_may_miss_by_the_tolerance() -> None:
    assert violations(TABLE, 0.1).tolist() == [[0, 2, 0.4], [3, 0, 0.1], [0, 0, 0]]
    np.testing.assert_allclose(violations(TABLE, 0.1).sum(axis=1)[:2], TABLE.violation[:2])


def test_points_without_values_count_for_nothing() -> None:
    assert largest_violations(TABLE, 0.1).tolist() == [3, 2, 0.4]
    assert violations(points(LOST, (1, 2)), 0.0).tolist() == [[0], [1]]


def test_a_column_of_zeros_is_no_constraint() -> None:
    assert constraint_count(TABLE) == 3
    assert constraint_count(constrained((0, -1, 0), (0, 2, 0))) == 1
    assert constraint_count(constrained((0, 0), (0, 0))) == 1, "at least 1, to divide by"
