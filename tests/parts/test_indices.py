"""Index draws: their law, that they are distinct, and what the shift trick does by hand."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statistics_of_draws import EXTREMES, LEVEL, p_of_counts, p_of_same_counts

from ppsde.parts.indices import best_first, best_index, best_to_worst, place, ranked_indices, uniform_index

SIZE = 40_000


def test_place_never_reaches_the_count() -> None:
    counts = np.array([1, 2, 3, 5, 7, 100, 2**20, 2**31 - 1, 10**12 + 1, 2**52])
    assert (place(np.full(len(counts), EXTREMES[1]), counts) == counts - 1).all()
    assert (place(np.zeros(len(counts)), counts) == 0).all()


def test_uniform_index_steps_over_what_is_taken() -> None:
    # n = 6, taken 1 and 3: allowed are 0 2 4 5, four places; u = 0.6 is place floor(2.4) = 2, the index 4.
    assert uniform_index(np.array([0.6]), 6, np.array([3]), np.array([1])).tolist() == [4]
    # Every place in turn: u = (k + 1/2) / 4.
    u = (np.arange(4) + 0.5) / 4
    assert uniform_index(u, 6, np.full(4, 3), np.full(4, 1)).tolist() == [0, 2, 4, 5]


def test_a_pool_steps_over_the_weight_of_what_is_taken() -> None:
    # n = 5, top 3: ranks 1 2 3 weigh 4 3 2. Without index 1 the places are 0 0 0 0 2 2.
    pool = ranked_indices(5, 3)
    assert pool.weights.tolist() == [4, 3, 2, 0, 0]
    u = (np.arange(6) + 0.5) / 6
    assert pool.draw(u, np.full(6, 1)).tolist() == [0, 0, 0, 0, 2, 2]
    # An index without weight takes nothing away: 4 + 3 + 2 places.
    u = (np.arange(9) + 0.5) / 9
    assert pool.draw(u, np.full(9, 4)).tolist() == [0, 0, 0, 0, 1, 1, 1, 2, 2]


def test_an_index_of_the_best_steps_over_the_target_where_it_is_one_of_them() -> None:
    # Of the best 3 without index 1: 0 and 2. Without index 3, or a later one: all three.
    assert best_index(np.array([0.0, 0.49, 0.5, 0.99]), 3, np.full(4, 1)).tolist() == [0, 0, 2, 2]
    assert best_index(np.array([0.0, 0.34, 0.99]), 3, np.array([3, 3, 7])).tolist() == [0, 1, 2]
    for taken in range(5):
        ends = best_index(np.array(EXTREMES), 3, np.full(2, taken)).tolist()
        assert ends == [0 if taken else 1, 2 if taken != 2 else 1]


@given(st.data())
def test_uniform_index_is_allowed_and_reaches_every_allowed_index(data: st.DataObject) -> None:
    n = data.draw(st.integers(2, 12))
    taken = data.draw(st.lists(st.integers(0, n - 1), unique=True, max_size=n - 1))
    allowed = [i for i in range(n) if i not in taken]
    u = (np.arange(len(allowed)) + 0.5) / len(allowed)
    assert uniform_index(u, n, *(np.full(len(u), t) for t in taken)).tolist() == allowed
    ends = uniform_index(np.array(EXTREMES), n, *(np.full(2, t) for t in taken))
    assert ends.tolist() == [allowed[0], allowed[-1]]


@given(st.data())
def test_a_ranked_draw_is_allowed_and_reaches_every_allowed_index(data: st.DataObject) -> None:
    n = data.draw(st.integers(6, 14))
    pool = ranked_indices(n, data.draw(st.sampled_from([(n + 1) // 2, n])))
    taken = data.draw(st.lists(st.integers(0, n - 1), unique=True, max_size=2))
    allowed = [i for i in range(n) if i not in taken and pool.weights[i] > 0]
    places = [i for i in allowed for _ in range(pool.weights[i])]
    u = (np.arange(len(places)) + 0.5) / len(places)
    assert pool.draw(u, *(np.full(len(u), t) for t in taken)).tolist() == places
    ends = pool.draw(np.array(EXTREMES), *(np.full(2, t) for t in taken))
    assert ends.tolist() == [allowed[0], allowed[-1]]


def test_uniform_index_is_uniform_over_the_allowed() -> None:
    rng = np.random.default_rng(1)
    drawn = uniform_index(rng.random(SIZE), 9, np.full(SIZE, 7), np.full(SIZE, 0), np.full(SIZE, 3))
    allowed = np.array([0, 1, 1, 0, 1, 1, 1, 0, 1])
    assert p_of_counts(drawn, allowed) > LEVEL
    # The tempting wrong way, stepping on once from a taken index, favours the neighbours.
    wrong = rng.integers(0, 9, SIZE)
    for _ in range(3):
        wrong = np.where(np.isin(wrong, [0, 3, 7]), (wrong + 1) % 9, wrong)
    assert p_of_counts(wrong, allowed) < LEVEL


def redrawn_rank(rng: np.random.Generator, n: int, top: int, taken: set[int]) -> int:
    """As IUDE writes it: a uniform rank of the top, accepted with probability (n - r) / n, until it is a new one."""
    while True:
        r = int(rng.integers(1, top + 1))
        if rng.random() <= (n - r) / n and r - 1 not in taken:
            return r - 1


@pytest.mark.parametrize(("n", "top", "taken"), [(10, 5, {0}), (10, 5, {1, 8}), (12, 12, {2, 3}), (11, 6, {0, 5})])
def test_a_ranked_draw_has_the_law_of_the_papers_redrawing(n: int, top: int, taken: set[int]) -> None:
    rng = np.random.default_rng(2)
    by_loop = [redrawn_rank(rng, n, top, taken) for _ in range(SIZE // 4)]
    at_once = ranked_indices(n, top).draw(rng.random(SIZE), *(np.full(SIZE, t) for t in taken))
    assert not set(at_once.tolist()) & taken
    assert p_of_same_counts(by_loop, at_once) > LEVEL
    flat = rng.choice([r for r in range(top) if r not in taken], SIZE)
    assert p_of_same_counts(by_loop, flat) < LEVEL, "a uniform draw from the top would be noticed"


def test_an_index_of_the_best_is_uniform_without_the_target() -> None:
    rng = np.random.default_rng(3)
    assert p_of_counts(best_index(rng.random(SIZE), 5, np.full(SIZE, 2)), [1, 1, 0, 1, 1]) > LEVEL
    assert p_of_counts(best_index(rng.random(SIZE), 5, np.full(SIZE, 9)), [1, 1, 1, 1, 1]) > LEVEL


def test_successive_draws_are_distinct_even_at_the_extremes() -> None:
    n = 8
    corners = np.array(list(itertools.product([*EXTREMES, 0.3, 0.5], repeat=3))).T
    for i in range(n):
        target = np.full(corners.shape[1], i)
        r1 = ranked_indices(n, 4).draw(corners[0], target)
        r2 = ranked_indices(n, 4).draw(corners[1], target, r1)
        r3 = uniform_index(corners[2], n, target, r1, r2)
        drawn = np.sort(np.stack([target, r1, r2, r3]), axis=0)
        assert (np.diff(drawn, axis=0) > 0).all()
        assert drawn.min() >= 0 and drawn.max() < n


def test_the_best_of_three_comes_first_and_none_is_lost() -> None:
    for trio in itertools.permutations([2, 5, 9]):
        result = [int(r[0]) for r in best_first(*(np.array([r]) for r in trio))]
        assert result[0] == 2
        assert sorted(result) == [2, 5, 9]


@given(st.data())
def test_an_index_of_the_best_steps_over_several_of_which_some_lie_beyond(data: st.DataObject) -> None:
    count = data.draw(st.integers(5, 9))
    taken = data.draw(st.lists(st.integers(0, 14), unique=True, max_size=4))
    allowed = [i for i in range(count) if i not in taken]
    u = (np.arange(len(allowed)) + 0.5) / len(allowed)
    assert best_index(u, count, *(np.full(len(u), t) for t in taken)).tolist() == allowed


def test_three_ranks_are_brought_in_order() -> None:
    for trio in itertools.permutations([2, 5, 9]):
        assert [int(r[0]) for r in best_to_worst(*(np.array([r]) for r in trio))] == [2, 5, 9]
