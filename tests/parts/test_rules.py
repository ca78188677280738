"""Rules: every clause by hand, ties, points without values, and stochastic ranking."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ppsde.parts.rules import (
    Death,
    Epsilon,
    Feasibility,
    Penalty,
    Rule,
    accepts,
    best_of,
    gain,
    push,
    ranking,
)
from ppsde.population import Population, better

inf = math.inf


def points(*pairs: tuple[float, float]) -> Population:
    """Points from (violation, f)."""
    violation, f = np.array(pairs, float).reshape(-1, 2).T
    n = len(f)
    return Population(np.arange(n, dtype=float)[:, None], f, violation, np.zeros((n, 0)), np.zeros((n, 0)))


def verdict(rule: Rule, trial: tuple[float, float], parent: tuple[float, float]) -> tuple[bool, float]:
    """Whether the trial is accepted, and its gain."""
    with np.errstate(invalid="ignore"):  # inf - inf, as the engine allows it
        y, x = points(trial), points(parent)
        return bool(accepts(rule, y, x)[0]), float(gain(rule, y, x)[0])


@pytest.mark.parametrize(
    ("rule", "trial", "parent", "accepted", "gained"),
    [
        # (violation, f) of the trial and of the parent
        (Feasibility(), (0, 1), (0, 3), True, 2),
        (Feasibility(), (0, 3), (0, 1), False, 0),
        (Feasibility(), (0, 9), (0.5, 1), True, 0.5),
        (Feasibility(), (0.5, 1), (0, 9), False, 0),
        (Feasibility(), (0.25, 9), (0.5, 1), True, 0.25),
        (Feasibility(), (0.5, 1), (0.5, 3), True, 2),  # equal violation: f decides
        (Feasibility(), (0.5, 3), (0.5, 3), True, 0),  # equal in all: accepted, no success
        (push(), (9, 1), (0, 3), True, 2),
        (push(), (0, 3), (9, 1), False, 0),
        (push(), (9, 3), (0, 3), True, 0),
        (push(), (1e308, 1), (0, 3), True, 2),  # however large the violation
        (Epsilon(0.5), (0.5, 1), (0.1, 3), True, 2),  # both within, one exactly at epsilon: f decides
        (Epsilon(0.5), (0.1, 3), (0.5, 1), False, 0),  # within, less violation does not help a worse f
        (Epsilon(0.5), (0.5, 9), (0.75, 1), True, 0.25),  # one within: violation decides and is the gain
        (Epsilon(0.5), (0.75, 1), (0.5, 9), False, 0),
        (Epsilon(0.5), (0.75, 9), (1.0, 1), True, 0.25),  # both outside: violation
        (Epsilon(0.5), (0.75, 1), (0.75, 3), True, 2),  # both outside, equal: f
        (Epsilon(0.5), (0.75, 3), (0.75, 1), False, 0),
        (Epsilon(0.0), (0, 9), (0.25, 1), True, 0.25),  # epsilon 0 is the feasibility rule
        (Penalty(10.0), (0.5, 1), (0, 7), True, 1),  # 1 + 10 * 0.5 = 6 against 7
        (Penalty(10.0), (0.5, 3), (0, 7), False, 0),  # 8 against 7
        (Death(), (0, 1), (0, 3), True, 2),
        (Death(), (0, 3), (0, 1), False, 0),
        (Death(), (0, 9), (0.5, 1), True, 0.5),
        (Death(), (1e-9, -9), (0, 1), False, 0),
        (Death(), (9, 9), (0.5, 1), True, 0),  # among the infeasible nobody is better
    ],
)
def test_a_trial_against_its_parent(
    rule: Rule, trial: tuple[float, float], parent: tuple[float, float], accepted: bool, gained: float
) -> None:
    assert verdict(rule, trial, parent) == (accepted, gained)


RULES = [Feasibility(), push(), Epsilon(0.5), Epsilon(0.0), Penalty(3.0), Death()]


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_a_point_without_values_is_never_accepted_and_nothing_is_gained_on_it(rule: Rule) -> None:
    assert verdict(rule, (inf, inf), (0, 1)) == (False, 0)
    assert verdict(rule, (inf, inf), (1e300, 1e300)) == (False, 0)
    assert verdict(rule, (inf, inf), (inf, inf)) == (False, 0)
    assert verdict(rule, (7, 1), (inf, inf)) == (True, 0)
    assert verdict(rule, (0, inf), (inf, inf)) == (True, 0)  # an infinite objective is a value
    assert verdict(rule, (0, 1), (0, inf)) == (True, 0)  # the gain on it is not a number to weigh by
    assert ranking(rule, points((inf, inf), (0, 2), (9, inf), (inf, inf), (9, 1)))[-2:].tolist() == [0, 3]


pairs = st.tuples(st.sampled_from([0.0, 0.25, 0.5, 0.75, 2.0]), st.sampled_from([-1.0, 0.0, 1.0, 5.0]))


@pytest.mark.parametrize("rule", RULES, ids=str)
@given(first=pairs, second=pairs, third=pairs)
def test_a_rule_is_an_order(
    rule: Rule, first: tuple[float, float], second: tuple[float, float], third: tuple[float, float]
) -> None:
    a, b, c = (rule.keys(points(pair)) for pair in (first, second, third))
    assert not (better(a, b)[0] and better(b, a)[0])
    assert not (better(a, b)[0] and better(b, c)[0]) or better(a, c)[0]
    accepted, gained = verdict(rule, first, second)
    assert (gained > 0) == bool(better(a, b)[0])
    assert accepted == (not better(b, a)[0])


def test_ranking_by_each_rule() -> None:
    table = points((0.4, 1), (0, 5), (2, 0), (0.4, -1), (0, 3))
    assert ranking(Feasibility(), table).tolist() == [4, 1, 3, 0, 2]
    assert ranking(Epsilon(0.4), table).tolist() == [3, 0, 4, 1, 2]
    assert ranking(push(), table).tolist() == [3, 2, 0, 4, 1]
    # f + 2 phi: 1.8, 5, 4, -0.2, 3
    assert ranking(Penalty(2.0), table).tolist() == [3, 0, 4, 2, 1]
    assert ranking(Death(), table).tolist() == [4, 1, 0, 2, 3]


def test_ties_keep_their_order() -> None:
    assert ranking(Feasibility(), points((1, 1), (0, 1), (0, 1), (1, 1))).tolist() == [1, 2, 0, 3]


def test_the_best_of_three_blocks_and_ties_to_the_earlier() -> None:
    blocks = points((0, 5), (1, 0), (0, 1), (0, 4), (0, 9), (0, 1), (0, 6), (2, 0), (0, 1))
    # Rows k, 3 + k, 6 + k compete: f 5 4 6 -> row 3; violation 1 0 2 -> row 4; all alike -> row 2.
    assert best_of(Feasibility(), blocks, 3).tolist() == [3, 4, 2]
    assert best_of(push(), blocks, 3).tolist() == [3, 1, 2]  # f 0 9 0: the tie of rows 1 and 7 goes to 1


def test_a_point_without_values_wins_only_among_its_like() -> None:
    blocks = points((inf, inf), (inf, inf), (5, 9), (inf, inf))
    for rule in RULES:
        assert best_of(rule, blocks, 2).tolist() == [2, 1]
