"""Populations: what counts as a failure, the order of best, and putting rows together."""

from __future__ import annotations

import math

import numpy as np
import pytest
from handmade import LOST, points
from hypothesis import given
from hypothesis import strategies as st

from ppsde.population import Population, better_rows, choose, evaluated, forgotten, join, join_scores, reseeded

inf, nan = math.inf, math.nan


def judged(f: float, g: list[float], h: list[float]) -> tuple[float, float, bool, bool]:
    """f, violation, valid, feasible of one point at tolerance 0.1."""
    point = evaluated(np.zeros((1, 1)), np.array([f]), np.array([g]), np.array([h]), 0.1)
    return float(point.f[0]), float(point.violation[0]), bool(point.valid[0]), bool(point.feasible[0])


@pytest.mark.parametrize(
    ("f", "g", "h", "expected"),
    [
        (3.0, [-1.0, 0.0], [0.1], (3.0, 0.0, True, True)),  # at both limits: feasible
        (3.0, [2.0, -9.0], [], (3.0, 2.0, True, False)),
        (3.0, [], [-0.6, 0.05], (3.0, 0.5, True, False)),
        (inf, [0.0], [], (inf, 0.0, True, True)),  # the worst objective, yet a value
        (nan, [0.0], [], (inf, inf, False, False)),
        (-inf, [0.0], [], (inf, inf, False, False)),
        (3.0, [nan], [], (inf, inf, False, False)),
        (3.0, [inf], [], (inf, inf, False, False)),
        (3.0, [-inf], [], (inf, inf, False, False)),
        (3.0, [], [nan], (inf, inf, False, False)),
        (3.0, [], [inf], (inf, inf, False, False)),
        (3.0, [], [-inf], (inf, inf, False, False)),
    ],
)
def test_what_a_point_counts_as(
    f: float, g: list[float], h: list[float], expected: tuple[float, float, bool, bool]
) -> None:
    assert judged(f, g, h) == pytest.approx(expected, rel=1e-15)


def rows(*pairs: tuple[float, float]) -> Population:
    """Points numbered in x, from (violation, f)."""
    violation, f = np.array(pairs, float).reshape(-1, 2).T
    number = np.arange(len(f), dtype=float)[:, None]
    return Population(number, f, violation, 10 + number, 20 + number)


def test_sorting_takes_violation_then_objective_then_position() -> None:
    population = rows((1, 0), (0, 5), (inf, inf), (0, 2), (1, 0), (0, inf)).sorted()
    assert population.x[:, 0].tolist() == [3, 1, 5, 0, 4, 2]
    assert population.g[:, 0].tolist() == [13, 11, 15, 10, 14, 12], "all of a row moves together"
    assert population.h[:, 0].tolist() == [23, 21, 25, 20, 24, 22]
    assert population.f.tolist() == [2, 5, inf, 0, 0, inf]
    assert population.violation.tolist() == [0, 0, 0, 1, 1, inf]


values = st.sampled_from([0.0, 0.5, 1.0, 7.0, inf])


@given(st.lists(st.tuples(values, values), min_size=1, max_size=6))
def test_the_best_is_the_first_of_the_sorted(pairs: list[tuple[float, float]]) -> None:
    population = rows(*pairs)
    assert population.x[population.best(), 0] == population.sorted().x[0, 0]


def test_a_feasible_point_with_an_infinite_objective_is_better_than_a_violating_one() -> None:
    population = rows((1.0, 5.0), (0.0, inf))
    assert population.sorted().x[0, 0] == 1
    assert population.best() == 1


def test_scores_are_what_rules_compare_of_some_rows() -> None:
    scores = rows((1, 0), (0, 5), (inf, inf)).scores(np.array([2, 0, 0]))
    assert scores.f.tolist() == [inf, 0, 0]
    assert scores.violation.tolist() == [inf, 1, 1]
    assert scores.valid.tolist() == [False, True, True]


def test_rows_are_taken_by_a_mask_as_by_their_indices() -> None:
    population = evaluated(np.arange(8.0).reshape(4, 2), np.arange(4.0), np.arange(4.0)[:, None], np.zeros((4, 0)), 0.1)
    by_mask, by_index = population.take(np.array([True, False, False, True])), population.take(np.array([0, 3]))
    assert by_mask.x.tolist() == by_index.x.tolist() == [[0, 1], [6, 7]]
    assert by_mask.f.tolist() == [0, 3] and by_mask.g.tolist() == [[0], [3]] and by_mask.h.shape == (2, 0)


def test_choosing_takes_whole_rows() -> None:
    first, second = rows((0, 1), (0, 2), (0, 3)), rows((1, 4), (1, 5), (1, 6))
    mixed = choose(np.array([True, False, True]), first, second)
    assert mixed.f.tolist() == [1, 5, 3]
    assert mixed.violation.tolist() == [0, 1, 0]
    assert mixed.x[:, 0].tolist() == [0, 1, 2]


def test_joining_puts_one_after_the_other() -> None:
    both = join(rows((0, 1), (0, 2)), rows((1, 4)))
    assert both.size == 3
    assert both.f.tolist() == [1, 2, 4]
    assert both.g[:, 0].tolist() == [10, 11, 10]
    for chosen in ([2, 0], np.array([2, 0]), slice(None, None, -2)):
        taken = both.take(chosen)
        assert taken.f.tolist() == [4, 1] and taken.violation.tolist() == [1, 0]
        assert taken.x[:, 0].tolist() == [0, 0] and taken.h[:, 0].tolist() == [20, 20]


def test_reseeding_replaces_the_last_rows() -> None:
    population, seeds = rows((0, 2), (1, 0), (3, 0)), rows((0, 1))
    assert reseeded(population, seeds).violation.tolist() == [0, 1, 0]
    assert reseeded(population, seeds).f.tolist() == [2, 0, 1]


def test_the_better_rows_are_those_with_less_violation_then_less_objective() -> None:
    better = better_rows(rows((0, 2), (1, 5), (3, 4), (inf, inf)), rows((1, 0), (1, 4), (3, 4), (0, 7)))
    assert better.violation.tolist() == [0, 1, 3, 0]
    assert better.f.tolist() == [2, 4, 4, 7]


def test_forgotten_points_have_no_values() -> None:
    points = forgotten(rows((0, 2), (1, -3)))
    assert not points.valid.any() and points.f.tolist() == [inf, inf]


def test_scores_of_two_populations_follow_one_another() -> None:
    scores = join_scores(rows((1, 0)), rows((0, 5), (inf, inf)))
    assert scores.f.tolist() == [0, 5, inf] and scores.violation.tolist() == [1, 0, inf]


TABLE = points((3, 1), LOST, (0, 2), (1, 3), LOST, (0, 9), (2, 4))
NOBODY = points(LOST, LOST)


def test_the_feasible_share_is_of_the_points_with_values() -> None:
    assert float(TABLE.feasible_share) == 2 / 5
    assert float(NOBODY.feasible_share) == 0.0


def test_the_largest_violation_is_of_the_points_with_values() -> None:
    assert float(TABLE.largest_violation) == 3.0
    assert float(NOBODY.largest_violation) == 0.0
