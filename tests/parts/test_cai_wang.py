"""CW: survival by dominance over the own parent, by hand."""

from __future__ import annotations

import numpy as np
from handmade import LOST, points

from ppsde.parts.handling import handling_of
from ppsde.parts.rules import accepts, best_of, gain
from ppsde.population import Population
from ppsde.streams import NumpyStream


def accepted(trials: Population, parents: Population) -> list[bool]:
    rule = handling_of("cw").rule(parents, np.asarray(0.5), NumpyStream(1))
    found: list[bool] = accepts(rule, trials, parents).tolist()
    return found


def test_a_trial_replaces_a_parent_that_it_dominates() -> None:
    parents = points((2, 5), (2, 5), (2, 5), (2, 5), (0, 5), (0, 5), LOST)
    trials = points((1, 5), (2, 4), (2, 5), (3, 1), (0, 6), (0, 4), (9, 9))
    assert accepted(trials, parents) == [True, True, True, False, False, True, True]


def test_while_no_trial_is_feasible_the_least_violating_replaces_a_parent_that_violates_more() -> None:
    parents = points((2, 5), (2, 5), (2, 5))
    assert accepted(points((1, 9), (1.5, 9), (3, 9)), parents) == [True, False, False]
    assert accepted(points((0, 9), (1.5, 9), (3, 9)), parents) == [False, False, False], "one is feasible"
    assert accepted(points((2.5, 9), (3, 9), (3, 9)), parents) == [False, False, False]


def test_of_several_trials_of_a_parent_one_that_dominates_it_is_picked() -> None:
    parents = points((2, 5), (2, 5))
    rule = handling_of("cw").rule(parents, np.asarray(0.5), NumpyStream(1))
    blocks = points((0, 6), (0, 9), (1, 4), (2, 5), (0, 7), (1, 3))
    assert best_of(rule, blocks, 3).tolist() == [2, 5]


def test_a_success_has_a_gain() -> None:
    parents = points((2, 5), (0, 5), (0, 5))
    rule = handling_of("cw").rule(parents, np.asarray(0.5), NumpyStream(1))
    gains = gain(rule, points((1, 5), (0, 4), (0, 5)), parents)
    assert (gains[:2] > 0.4).all() and gains[2] == 0.0


def test_ranks_are_by_dominance() -> None:
    technique = handling_of("cw")
    table = points((3, 9), (2, 6), (0, 9), (4, 1), (1, 5))
    rule = technique.rule(table, np.asarray(0.5), NumpyStream(1))
    assert technique.rank(rule, table, NumpyStream(1)).tolist() == [2, 4, 3, 1, 0]
