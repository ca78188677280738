"""Ensembles: each part of the population by another technique."""

from __future__ import annotations

import numpy as np
from handmade import LOST, points

from ppsde.parts.ensemble import Ensemble, OneOfSeveral, part
from ppsde.parts.handling import handling_of
from ppsde.parts.penalties import Distance
from ppsde.parts.rules import Epsilon, Feasibility, accepts
from ppsde.parts.stochastic import Coin
from ppsde.streams import NumpyStream

TABLE = points((0, 5), (1, 1), (3, 0), (8, 4))
EARLY = np.asarray(0.1)


def mixed(technique: list[int], coin: float = 0.0) -> OneOfSeveral:
    coins = Coin(np.full(len(technique), coin), 0.45)
    return OneOfSeveral((Feasibility(), Epsilon(1.0), Distance.of(TABLE, 0.0), coins), np.array(technique))


def test_each_row_has_the_keys_of_its_technique() -> None:
    same = points(*[(1.0, 1.0)] * 4)
    first, second = mixed([0, 1, 2, 3]).keys(same)
    penalised = Distance.of(TABLE, 0.0).keys(same)[1][0]
    assert first.tolist() == [1.0, 0.0, 0.0, 0.0]
    assert second.tolist() == [1.0, 1.0, penalised, 1.0]
    assert mixed([3, 3, 3, 3], coin=0.5).keys(same)[0].tolist() == [1.0] * 4


def test_the_same_trial_lives_under_one_technique_and_not_under_another() -> None:
    trials, parents = points(*[(1.0, 1.0)] * 4), points(*[(0.0, 5.0)] * 4)
    # Feasibility: no. Epsilon 1: f decides. Distance: f = 0.2, v = 0.125 against f = 1. Coin 0: f decides.
    assert accepts(mixed([0, 1, 2, 3]), trials, parents).tolist() == [False, True, True, True]


def test_more_rows_than_members_repeat_their_techniques() -> None:
    eight = points(*[(1.0, 1.0)] * 8)
    first, _ = mixed([0, 1, 2, 3]).keys(eight)
    assert first.tolist() == [1.0, 0.0, 0.0, 0.0] * 2


def test_quarters_are_of_the_points_with_values_by_feasibility() -> None:
    table = points((3, 0), (0, 5), LOST, (9, 9), (0, 1), (1, 1), (2, 2), LOST, (5, 0), (4, 4))
    # With values, best first: rows 4 1 | 5 6 | 0 9 | 8 3.
    assert part(table, 4).tolist() == [2, 0, 3, 3, 0, 1, 1, 3, 3, 2]
    assert part(points((1, 0), (0, 0)), 4).tolist() == [2, 0]
    assert part(points(LOST, LOST), 4).tolist() == [0, 3], "nobody to judge"
    rule = Ensemble.fresh().rule(table, EARLY, NumpyStream(1))
    assert rule.technique.tolist() == part(table, 4).tolist()


def test_the_probability_of_the_coin_falls_along_the_run() -> None:
    for elapsed, probability in ((0.0, 0.475), (0.5, 0.25), (1.0, 0.025)):
        rule = Ensemble.fresh().rule(TABLE, np.asarray(elapsed), NumpyStream(1))
        assert abs(float(rule.rules[3].probability) - probability) < 1e-15


def test_its_epsilon_is_that_of_the_first_population() -> None:
    first = Ensemble.fresh()
    ten = points(*[(float(k), 0.0) for k in range(10)])
    later = first.after(ten, EARLY).after(TABLE, EARLY)
    assert float(later.epsilon.start) == 2.0
    assert float(later.rule(TABLE, EARLY, NumpyStream(1)).rules[1].epsilon) == 2.0 * 0.5**5


def test_the_ranks_are_by_feasibility() -> None:
    table = points((1, 0), (0, 5), LOST, (0, 1))
    technique = Ensemble.fresh()
    assert technique.rank(technique.rule(table, EARLY, NumpyStream(1)), table, NumpyStream(1)).tolist() == [3, 1, 0, 2]


def test_the_ensemble_of_three_has_no_coins() -> None:
    table = points((3, 0), (0, 5), (9, 9), (0, 1), (1, 1), (2, 2))
    three = handling_of("ensemble-of-three").rule(table, EARLY, NumpyStream(1))
    assert [type(rule).__name__ for rule in three.rules] == ["Feasibility", "Epsilon", "Distance"]
    assert three.technique.tolist() == [2, 0, 2, 0, 1, 1]
    four = handling_of("ensemble").rule(table, EARLY, NumpyStream(1))
    assert [type(rule).__name__ for rule in four.rules] == ["Feasibility", "Epsilon", "Distance", "Coin"]
