"""How epsilon closes, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from ppsde.parts.epsilon import closing, improved


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
