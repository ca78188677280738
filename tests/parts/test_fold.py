"""Folding into the box, by hand and at its limits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppsde.parts.repairs import fold

LOWER, UPPER = np.array([0.0, -1.0]), np.array([2.0, 4.0])


def one(v: float, low: float, high: float) -> float:
    return float(fold(np.array([[v]]), np.array([low]), np.array([high]))[0, 0])


def test_folding_by_hand() -> None:
    # On [0, 2]: -0.5 -> 0.5; 2.5 -> 1.5; 5 is 3 beyond, less a width 1 -> 2 - 1 = 1; -3.5 -> 1.5 -> 1.5; -2 -> 0.
    # On [-1, 4]: 4.5 -> 3.5; -7 is 6 below, less a width 1 -> 0; 9 is 5 beyond, a whole width -> 4.
    v = np.array([[-0.5, 4.5], [2.5, -7.0], [5.0, 0.0], [-3.5, 4.0], [-2.0, 9.0]])
    assert fold(v, LOWER, UPPER).tolist() == [[0.5, 3.5], [1.5, 0.0], [1.0, 0.0], [1.5, 4.0], [0.0, 4.0]]


moderate = st.floats(-1e6, 1e6)


@given(ends=st.tuples(moderate, moderate), v=st.floats(-1e12, 1e12))
def test_the_result_is_inside_and_inside_is_untouched(ends: tuple[float, float], v: float) -> None:
    low, high = min(ends), max(ends)
    result = one(v, low, high)
    assert low <= result <= high
    if low <= v <= high:
        assert result == v


def test_a_box_without_width_has_one_point() -> None:
    assert [one(v, 1.5, 1.5) for v in (-3.0, 1.5, 7.0)] == [1.5, 1.5, 1.5]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_is_infinite_goes_to_its_bound() -> None:
    assert [one(v, -1.0, 4.0) for v in (-np.inf, np.inf)] == [-1.0, 4.0]
    assert -8e307 <= one(1.7e308, -8e307, 8e307) <= 8e307


def test_both_namespaces_agree() -> None:
    jax = pytest.importorskip("jax")
    v = np.random.default_rng(1).uniform(-20.0, 20.0, (200, 2))
    with jax.enable_x64(True):
        np.testing.assert_allclose(fold(jax.numpy.asarray(v), LOWER, UPPER), fold(v, LOWER, UPPER), rtol=1e-13)
