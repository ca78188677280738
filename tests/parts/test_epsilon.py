"""How epsilon closes, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from ppsde.arrays import HUGE
from ppsde.parts.epsilon import closing, improved, quantile


def test_the_polynomial_by_hand() -> None:
    start = np.asarray(8.0)
    assert closing(start, np.asarray(0.0), 2.0) == 8.0
    assert closing(start, np.asarray(0.5), 2.0) == 2.0  # 8 * 0.5^2
    assert closing(start, np.asarray(0.5), 3.0) == 1.0  # 8 * 0.5^3
    assert closing(start, np.asarray(1.0), 2.0) == 0.0
    assert closing(start, np.asarray(1.5), 2.0) == 0.0, "not (-0.5)^2"


def test_the_improved_epsilon_shrinks_below_alpha_and_follows_the_polynomial_from_alpha_on() -> None:
    def value(share: float) -> float:
        return float(improved(np.asarray(1.0), np.asarray(8.0), np.asarray(0.5), np.asarray(share), 0.1, 0.95, 2.0))

    assert value(0.0) == value(0.94) == pytest.approx(0.9, rel=1e-15)  # (1 - 0.1) * 1
    assert value(0.95) == value(1.0) == 2.0  # 8 * 0.5^2, above the current 1: opened again


def test_the_quantile_by_hand() -> None:
    violation = np.array([0.0, 0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, np.inf])

    def value(elapsed: float, theta: float, cp: float = 2.0) -> float:
        return float(quantile(violation, np.asarray(elapsed), theta, cp))

    assert value(0.0, 0.8) == 32.0  # place floor(0.8 * 10)
    assert value(0.5, 0.8) == 0.5  # place floor(0.8 * 10 * 0.25) = 2
    assert value(0.5, 0.8, cp=1.0) == 2.0  # place floor(0.8 * 10 * 0.5) = 4
    assert value(0.25, 0.8) == 2.0  # place floor(8 * 0.5625 = 4.5)
    assert value(0.9, 0.8) == 0.0  # place floor(8 * 0.01) = 0
    assert value(0.0, 0.0) == 0.0  # place 0


def test_the_quantile_is_zero_from_the_end_on_even_if_all_violate() -> None:
    violation = np.array([3.0, 4.0])
    assert [float(quantile(violation, np.asarray(e), 0.5, 2.0)) for e in (0.99, 1.0, 1.5)] == [3.0, 0.0, 0.0]
    assert float(quantile(violation, np.asarray(1.0), 0.5, 0.0)) == 0.0, "though 0^0 is 1"


def test_the_quantile_stays_inside_the_population_and_finite() -> None:
    # theta 1 is place n, of which there is none: the last one is taken; a failed point's violation is no epsilon.
    assert float(quantile(np.array([1.0, 2.0, 3.0]), np.asarray(0.0), 1.0, 2.0)) == 3.0
    assert float(quantile(np.array([1.0, 2.0, np.inf]), np.asarray(0.0), 1.0, 2.0)) == HUGE


def test_the_quantile_of_the_first_rows_alone() -> None:
    violation = np.array([0.0, 1.0, 2.0, 3.0, np.inf, np.inf])
    assert float(quantile(violation, np.asarray(0.0), 0.5, 2.0, np.asarray(4))) == 2.0  # place floor(0.5 * 4)
    assert float(quantile(violation, np.asarray(0.0), 1.0, 2.0, np.asarray(4))) == 3.0  # the last of them
    assert float(quantile(np.full(2, np.inf), np.asarray(0.0), 1.0, 2.0, np.asarray(0))) == HUGE
