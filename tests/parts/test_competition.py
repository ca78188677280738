"""Strategy competition: a window of wins by hand, and draws by rate."""

from __future__ import annotations

import numpy as np
from statistics_of_draws import EXTREMES, LEVEL, p_of_counts

from ppsde.parts.strategies import Competition, strategy_by_rate


def test_rates_are_equal_until_the_window_has_filled_and_then_shares_of_the_last_wins() -> None:
    competition = Competition.fresh(window=2, strategies=3)
    wins = [[4, 0, 0], [1, 2, 1], [0, 3, 1], [2, 2, 0]]
    rates = []
    for G, won in enumerate(wins, start=1):
        competition = competition.record(G, np.array(won))
        rates.append(competition.rates(G).tolist())
    assert rates[0] == rates[1] == [1 / 3, 1 / 3, 1 / 3]  # G <= 2
    assert rates[2] == [1 / 8, 5 / 8, 2 / 8]  # generations 2 and 3: 1+0, 2+3, 1+1 of 8
    assert rates[3] == [2 / 8, 5 / 8, 1 / 8]  # generations 3 and 4: 0+2, 3+2, 1+0 of 8


def test_rates_are_equal_where_nobody_won() -> None:
    competition = Competition.fresh(1, 3).record(5, np.zeros(3))
    assert competition.rates(5).tolist() == [1 / 3, 1 / 3, 1 / 3]


def test_recording_leaves_the_old_window_as_it_was() -> None:
    old = Competition.fresh(2, 3)
    old.record(1, np.array([1, 2, 3]))
    assert (old.wins == 0).all()


def test_a_strategy_comes_as_often_as_its_rate() -> None:
    u = np.random.default_rng(1).random(30_000)
    rates = np.array([0.2, 0.5, 0.3])
    assert p_of_counts(strategy_by_rate(u, rates), rates) > LEVEL
    assert p_of_counts(strategy_by_rate(u, rates), [1, 1, 1]) < LEVEL


def test_a_strategy_without_wins_never_comes() -> None:
    u = np.array([*EXTREMES, 0.5])
    assert strategy_by_rate(u, np.array([0.0, 1.0, 0.0])).tolist() == [1, 1, 1]
    assert strategy_by_rate(u, np.array([0.0, 0.0, 1.0])).tolist() == [2, 2, 2]
    assert strategy_by_rate(u, np.array([1.0, 0.0, 0.0])).tolist() == [0, 0, 0]


def test_strategies_by_hand() -> None:
    u = np.array([0.0, 0.24, 0.25, 0.74, 0.75, 0.99])
    assert strategy_by_rate(u, np.array([0.25, 0.5, 0.25])).tolist() == [0, 0, 1, 1, 2, 2]
