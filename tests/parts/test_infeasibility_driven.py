"""IDEA: sums of ranks, the order of the population and survival, by hand."""

from __future__ import annotations

import numpy as np
from handmade import constrained

from ppsde.parts.handling import handling_of
from ppsde.parts.infeasibility_driven import InfeasibleFirst, sums_of_ranks
from ppsde.parts.rules import accepts
from ppsde.population import Population
from ppsde.streams import NumpyStream

# f and two constraints. Infeasible: rows 1, 2, 3, 5 and 6; row 7 has no values.
ROWS = ((5, -1, -1), (3, 2, -1), (4, 1, 7), (2, 3, 4), (6, -1, -1), (9, 2, 9), (4, -1, 1), (np.nan, 0, 0))
TABLE = constrained(*ROWS)
NOW = np.asarray(0.5)


def test_ranks_of_each_constraint_are_added() -> None:
    missed = np.maximum(TABLE.g[:7], 0.0)
    # First constraint: violations 2, 1, 3, 2: ranks 2, 1, 4, 2. Second: 7, 4, 9, 1: ranks 3, 2, 4, 1.
    assert sums_of_ranks(missed, missed).tolist() == [0, 2, 4, 6, 0, 6, 1]
    assert sums_of_ranks(missed, np.array([[2.5, 0.5], [0, 100], [0, 0]])).tolist() == [5, 5, 0]


def test_the_order_is_the_best_infeasible_then_the_feasible_then_the_others() -> None:
    # By f and sum of ranks, rows 1 (3, 2), 3 (2, 6) and 6 (4, 1) are not dominated, row 2 (4, 4) only by those, row 5
    # (9, 6) by all. Within a layer less of the sum is first: 6, 1, 3, then 2, then 5. Of seven members 0.2 is one.
    technique = handling_of("idea")
    rule = technique.rule(TABLE, NOW, NumpyStream(1))
    assert technique.rank(rule, TABLE, NumpyStream(1)).tolist() == [6, 0, 4, 1, 3, 2, 5, 7]
    technique = handling_of("idea(alpha=0.6)")  # four
    assert technique.rank(rule, TABLE, NumpyStream(1)).tolist() == [6, 1, 3, 2, 0, 4, 5, 7]
    assert InfeasibleFirst.of(TABLE, 0.2, 0.0).places(TABLE)[[1, 2, 3, 5, 6]].tolist() == [1, 3, 2, 4, 0]


def accepted(alpha: float, *trials: tuple[float, ...]) -> list[bool]:
    rule = InfeasibleFirst.of(TABLE, alpha, 0.0)
    found: Population = constrained(*trials)
    survived: list[bool] = accepts(rule, found, TABLE).tolist()
    return survived


def test_feasible_against_feasible_by_objective_and_infeasible_against_infeasible_by_place() -> None:
    #         feasible      row 1: place 1  place 3      place 2      feasible       place 4   place 0          lost
    trials = (4.9, -1, -1), (3.5, 0, 0.5), (5, 0, 8), (1.9, 3, 4), (6.1, -1, -1), (9, 2, 9), (4.5, -1, 1.5), (9, 9, 9)
    assert accepted(0.2, *trials) == [True, True, False, True, False, True, False, True]


def test_a_feasible_trial_replaces_an_infeasible_parent_unless_that_is_one_of_the_best() -> None:
    feasible = [(8, -1, -1)] * 8
    assert accepted(0.2, *feasible) == [False, True, True, True, False, True, False, True], "row 6 alone is held"
    assert accepted(0.6, *feasible) == [False, False, False, False, False, True, False, True]
    better = [(1, -1, -1)] * 8
    assert all(accepted(0.6, *better)), "but one that is better in every respect is not refused"


def test_an_infeasible_trial_replaces_a_feasible_parent_only_while_there_are_too_few_of_them() -> None:
    trial = [(1, 0, 0.5)] * 8  # better than every infeasible member
    assert accepted(0.6, *trial)[0] is False, "five of four"
    assert accepted(0.9, *trial)[0] is True, "five of six"
    assert accepted(0.9, *[(10, 9, 9)] * 8)[0] is True, "the sixth place is free"
    assert accepted(0.7, *[(10, 9, 9)] * 8)[0] is False, "five of five"
