"""Normalised violations: sizes by hand, the same feasible points, and units that do not matter."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ppsde.arrays import bits
from ppsde.population import (
    Population,
    choose,
    constraint_sizes,
    constraint_values,
    evaluated,
    forgotten,
    normalised,
    raw,
)


@pytest.fixture(params=["numpy", "jax"])
def xp(request: pytest.FixtureRequest) -> Any:
    return np if request.param == "numpy" else pytest.importorskip("jax").numpy


def points(g: Any, h: Any, tolerance: float = 0.25, xp: Any = np) -> Population:
    g, h = np.array(g, float), np.array(h, float)
    n = len(g)
    return evaluated(*(xp.asarray(v) for v in (np.zeros((n, 1)), np.arange(float(n)), g, h)), tolerance)


NONE: list[list[float]] = [[], [], []]


def test_all_constraints_are_inequalities_then_equalities(xp: Any) -> None:
    values = constraint_values(points([[1.0, 2.0]], [[3.0]], xp=xp))
    assert values.tolist() == [[1, 2, 3]]


def test_sizes_are_medians_of_absolute_values(xp: Any) -> None:
    three = points([[1.0, -8.0], [-3.0, 2.0], [9.0, 4.0]], [[0.5], [-7.0], [6.0]], xp=xp)
    assert constraint_sizes(three).tolist() == [3, 4, 6]
    four = points([[1.0], [-3.0], [9.0], [5.0]], [[0.0]] * 4, xp=xp)
    assert constraint_sizes(four).tolist() == [4, 1], "of an even number the mean of the two; 1 if it is 0"
    assert constraint_sizes(points(NONE, NONE, xp=xp)).tolist() == []


def test_points_without_values_do_not_count(xp: Any) -> None:
    g = [[1.0], [np.nan], [3.0], [-np.inf], [100.0], [5.0]]
    some = points(g, [[0.5]] * 6, xp=xp)
    lost = xp.asarray([False, False, False, False, True, False])
    some = choose(lost, forgotten(some), some)
    assert constraint_sizes(some).tolist() == [3, 0.5]
    assert constraint_sizes(forgotten(some)).tolist() == [1, 1], "1 where no point has values"


def test_violations_by_hand(xp: Any) -> None:
    some = points([[2.0, -4.0], [-1.0, 8.0], [-1.0, -1.0]], [[0.75], [-0.25], [0.1]], xp=xp)
    sizes = xp.asarray([2.0, 4.0, 5.0])
    np.testing.assert_allclose(normalised(some, sizes, 0.25).violation, [1 + 0.1, 2, 0], rtol=1e-6)
    np.testing.assert_allclose(raw(normalised(some, sizes, 0.25), 0.25).violation, some.violation)


def test_points_without_values_stay_without() -> None:
    some = forgotten(points([[1.0], [-1.0]], [[0.0], [0.0]]))
    assert not normalised(some, np.ones(2), 0.25).valid.any() and not raw(some, 0.25).valid.any()
    nan = points([[np.nan]], [[0.0]])
    assert normalised(nan, np.ones(2), 0.25).violation.tolist() == [np.inf] == raw(nan, 0.25).violation.tolist()


def random_points(seed: int) -> Population:
    rng = np.random.default_rng(seed)
    g, h = rng.normal(-1, 1, (60, 2)), rng.normal(0, 0.2, (60, 1))
    some = points(g * [1.0, 1e-200], h)
    return choose(rng.random(60) < 0.1, forgotten(some), some)


@pytest.mark.parametrize("seed", range(5))
def test_a_point_is_feasible_by_one_violation_where_it_is_by_the_other(seed: int) -> None:
    some = random_points(seed)
    also = normalised(some, constraint_sizes(some), 0.25)
    assert also.feasible.tolist() == some.feasible.tolist() and also.valid.tolist() == some.valid.tolist()
    assert 5 < some.feasible.sum() < 55
    back = raw(also, 0.25)
    assert all(bits(getattr(back, name)) == bits(getattr(some, name)) for name in vars(some))


def test_units_of_constraints_do_not_matter() -> None:
    some = random_points(7)
    other = replace(some, g=some.g * np.array([1e6, 1e-6]), h=some.h * 1e6)
    ours = normalised(some, constraint_sizes(some), 0.25).violation
    theirs = normalised(other, constraint_sizes(other), 0.25e6).violation
    np.testing.assert_allclose(theirs, ours, rtol=1e-13)
