"""Rates and medians of strategies over a window of generations, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from ppsde.algorithms.sade import History


def history_of(generations: list[tuple[list[int], list[float], list[bool]]], window: int) -> History:
    history = History.fresh(window, len(generations[0][0]))
    for G, (strategy, CR, success) in enumerate(generations):
        history = history.record(np.asarray(G), np.array(strategy), np.array(CR), np.array(success))
    return history


GENERATIONS: list[tuple[list[int], list[float], list[bool]]] = [
    ([0, 0, 1, 2], [0.9, 0.9, 0.9, 0.9], [True, True, True, True]),  # falls out of a window of two
    ([0, 0, 1, 1], [0.1, 0.2, 0.3, 0.4], [True, False, True, True]),
    ([0, 2, 1, 0], [0.5, 0.6, 0.7, 0.8], [True, False, True, True]),
]


def test_rates_by_hand() -> None:
    # Over the last two: strategy 0 won 3 of 4, 1 won 3 of 3, 2 won 0 of 1, 3 was not used; 0.01 more for each.
    history = history_of(GENERATIONS, 2)
    expected = np.array([0.76, 1.01, 0.01, 0.01])
    np.testing.assert_allclose(history.rates(np.asarray(3), 0.01), expected / 1.79, rtol=1e-14)
    assert history.rates(np.asarray(1), 0.01).tolist() == [0.25] * 4, "until the window is full"


def test_medians_by_hand() -> None:
    # Strategy 0: of 0.1, 0.5, 0.8 the middle. Strategy 1: of 0.3, 0.4, 0.7 the middle. 2 and 3: no success.
    history = history_of(GENERATIONS, 2)
    otherwise = np.array([0.91, 0.92, 0.93, 0.94])
    np.testing.assert_allclose(history.medians(np.asarray(3), otherwise), [0.5, 0.4, 0.93, 0.94], rtol=1e-14)
    assert history.medians(np.asarray(1), otherwise).tolist() == [0.5] * 4, "until the window is full"
    # Over all three: 0 has 0.9, 0.9, 0.1, 0.5, 0.8; 1 has an even number, 0.9, 0.3, 0.4, 0.7; 2 has 0.9 alone.
    whole = history_of(GENERATIONS, 3).medians(np.asarray(3), otherwise)
    np.testing.assert_allclose(whole, [0.8, 0.55, 0.9, 0.94], rtol=1e-14)


def test_a_window_full_of_successes_of_one_strategy_has_a_median_too() -> None:
    history = history_of([([0, 0], [0.2, 0.4], [True, True])], 1)
    assert history.medians(np.asarray(1), np.zeros(4))[0] == pytest.approx(0.3)
