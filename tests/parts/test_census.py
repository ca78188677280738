"""Shares, quantiles and extents of a population, by hand; rows without values count for nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from handmade import LOST, points

from ppsde.algorithms.pps_de import violate_alike
from ppsde.arrays import HUGE
from ppsde.parts.epsilon import violation_at
from ppsde.parts.penalties import extent, scaled
from ppsde.parts.push_pull import filled

TABLE = points((3, 1), LOST, (0, 2), (1, 3), LOST, (0, 9), (2, 4))
NOBODY = points(LOST, LOST)


def test_the_feasible_share_is_of_the_points_with_values() -> None:
    assert float(TABLE.feasible_share) == 2 / 5
    assert float(NOBODY.feasible_share) == 0.0


def test_a_violation_quantile_is_of_the_points_with_values() -> None:
    # Sorted: 0 0 1 2 3.
    assert [float(violation_at(TABLE, theta)) for theta in (0.0, 0.4, 0.6, 0.99, 1.0)] == [0, 1, 2, 3, 3]
    assert float(violation_at(TABLE, 0.8, np.asarray(0.5), 2.0)) == 0.0  # 0.8 * 5 * 0.25 = 1: the second zero
    assert float(violation_at(TABLE, 0.8, np.asarray(1.0), 2.0)) == 0.0
    assert float(violation_at(NOBODY, 0.2)) == HUGE


def test_the_largest_violation_is_of_the_points_with_values() -> None:
    assert float(TABLE.largest_violation) == 3.0
    assert float(NOBODY.largest_violation) == 0.0


@pytest.mark.parametrize(
    ("rows", "alike"),
    [
        ([(2, 1), (2, 5), LOST], True),
        ([(2, 1), (2 * (1 + 5e-10), 5)], True),
        ([(2, 1), (2 * (1 + 2e-9), 5)], False),
        ([(0, 1), (0, 5)], False),  # feasible, all of them
        ([(0, 1), (1e-300, 5)], False),
        ([(1e-300, 1)], True),
        ([LOST, LOST], False),
    ],
)
def test_points_violate_alike_if_they_are_infeasible_by_the_same_amount(rows: list[Any], alike: bool) -> None:
    assert bool(violate_alike(points(*rows))) is alike


def test_the_extent_leaves_out_rows_and_infinities() -> None:
    f = np.array([5.0, np.inf, -2.0, 7.0])
    assert [float(end) for end in extent(f, np.array([True, True, True, False]))] == [-2.0, 5.0]
    assert [float(end) for end in extent(f, np.array([False, True, False, False]))] == [0.0, 0.0]


def test_scaling_by_an_extent() -> None:
    values = np.array([-1.0, 1.0, 2.0, 5.0, 9.0, np.inf])
    assert scaled(values, np.asarray(1.0), np.asarray(5.0)).tolist() == [-0.5, 0.0, 0.25, 1.0, 2.0, np.inf]
    assert scaled(values, np.asarray(2.0), np.asarray(2.0)).tolist() == [-3.0, -1.0, 0.0, 3.0, 7.0, np.inf]
    assert scaled(np.array([-HUGE, 0.0, HUGE]), np.asarray(-HUGE), np.asarray(HUGE)).tolist() == [0.0, 0.5, 1.0]


def test_a_population_filled_with_its_points_that_have_values() -> None:
    # Five of seven: places 0 .. 6 take floor(k 5 / 7) = 0 0 1 2 2 3 4 of them, in their order.
    assert filled(TABLE).f.tolist() == [1, 1, 2, 3, 3, 9, 4]
    assert filled(TABLE).violation.tolist() == [3, 3, 0, 1, 1, 0, 2]
    assert not filled(NOBODY).valid.any()


@pytest.mark.parametrize("dead", [0, 10, 37, 70])
def test_a_filled_population_keeps_its_feasible_share(dead: int) -> None:
    rng = np.random.default_rng(dead)
    living = [(float(rng.random() < 0.4), 1.0) for _ in range(100 - dead)]
    population = points(*living, *[LOST] * dead)
    assert filled(population).valid.all()
    assert filled(population).feasible.mean() == pytest.approx(float(population.feasible_share), abs=0.07)
