"""Pareto dominance, by hand and beside a literal version."""

from __future__ import annotations

import numpy as np
import pytest
from handmade import LOST, constrained, points

from ppsde.parts.dominance import Dominated, beyond, dominating, layers
from ppsde.parts.handling import handling_of
from ppsde.parts.rules import accepts, ranking
from ppsde.streams import NumpyStream

# (violation, f): the first three are not dominated; the next by the second, the next by it and by the first two.
TABLE = points((0, 9), (1, 5), (4, 1), (2, 6), (3, 9), LOST)


def test_ranks_are_the_numbers_of_dominating_members_then_violation() -> None:
    first, second = Dominated.of(TABLE).keys(TABLE)
    assert first.tolist() == [0, 0, 0, 0, 0, np.inf]
    np.testing.assert_allclose(second[:5], [0, 1 / 5, 4 / 8, 1 + 2 / 6, 3 + 3 / 7])  # v / (v + 4) for ties
    assert ranking(Dominated.of(TABLE), TABLE).tolist() == [0, 1, 2, 3, 4, 5]


def test_a_trial_is_judged_by_the_members_and_one_that_dominates_its_parent_is_better() -> None:
    rule = handling_of("pareto").rule(TABLE, np.asarray(0.5), NumpyStream(1))
    trials = points((2, 5.5), (1, 6), (9, 0), (0, 9), (3, 9), (5, 5))
    parents = points((2, 6), (1, 5), (4, 1), (0, 9), (0, 9), LOST)
    # Dominates; is dominated; neither, both with rank 0, but more violation; the same; is dominated; no values.
    assert accepts(rule, trials, parents).tolist() == [True, False, False, True, False, True]


def test_single_constraints_are_objectives_of_their_own() -> None:
    # The sums of violation are 2, 3 and 5. By sums the first dominates both; by constraints the last alone.
    table = constrained((1, 2, 0), (1, 0, 3), (1, 2, 3))
    by_sum, by_each = (handling_of(name).rule(table, 0.5, NumpyStream(1)) for name in ("pareto", "pareto-constraints"))
    assert np.floor(by_sum.keys(table)[1]).tolist() == [0, 1, 2]
    assert np.floor(by_each.keys(table)[1]).tolist() == [0, 0, 2]
    equality = constrained((1, 0.3), (1, -0.2), h=1, tolerance=0.1)
    by_each = handling_of("pareto-constraints(tolerance=0.1)").rule(equality, 0.5, NumpyStream(1))
    assert np.floor(by_each.keys(equality)[1]).tolist() == [1, 0]


@pytest.mark.parametrize("seed", range(10))
def test_layers_are_those_that_peeling_gives(seed: int) -> None:
    values = np.random.default_rng(seed).integers(0, 6, (15, 2)).astype(float)
    among = np.arange(15) < 13
    left, expected, number = set(range(13)), np.zeros(13), 0
    while left:
        number += 1
        front = {
            i for i in left if not any((values[j] <= values[i]).all() and (values[j] < values[i]).any() for j in left)
        }
        expected[sorted(front)] = number
        left -= front
    dominated = dominating(values, values, among)
    assert layers(dominated)[:13].tolist() == expected.tolist()
    assert beyond(dominated, layers(dominated))[:13].tolist() == expected.tolist()
