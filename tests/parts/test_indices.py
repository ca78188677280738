"""Random indices: distinct, in range, and drawn by their laws; parents by each scheme."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import get_args, get_type_hints

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statistics_of_draws import EXTREMES, LEVEL, p_of_counts, p_of_same_counts

from ppsde.algorithms.pps_de import PPSDE
from ppsde.parts.indices import best_first, best_index, best_to_worst, place, ranked_indices, trio, uniform_index

# Index draws: their law, that they are distinct, and what the shift trick does by hand.


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
    for ranks in itertools.permutations([2, 5, 9]):
        result = [int(r[0]) for r in best_first(*(np.array([r]) for r in ranks))]
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
    for ranks in itertools.permutations([2, 5, 9]):
        assert [int(r[0]) for r in best_to_worst(*(np.array([r]) for r in ranks))] == [2, 5, 9]


# The three parents of a trial under every scheme: distinct always, and with the law the scheme names.


SCHEMES = get_args(get_type_hints(PPSDE)["parents"])

N, TOP = 10, 5
NO_GUIDE = -1


def drawn(scheme: str, i: int, is_rand: bool, guide: int, seed: int) -> np.ndarray:
    """r1, r2, r3 of many trials of one target, (3, SIZE)."""
    u = np.random.default_rng(seed).random((3, SIZE))
    led = np.full(SIZE, guide != NO_GUIDE)
    return np.stack(trio(scheme, u, np.full(SIZE, i), np.full(SIZE, is_rand), led, np.full(SIZE, guide), N))


def redrawn(scheme: str, i: int, is_rand: bool, guide: int, seed: int) -> np.ndarray:
    """The same as the papers write it, by redrawing; (3, SIZE // 8)."""
    rng = np.random.default_rng(seed)

    def until(accept: Callable[[int], bool], below: int) -> int:
        while True:
            r = int(rng.integers(below))
            if accept(r):
                return r

    def parent(taken: set[int]) -> int:
        if scheme == "ranked-top":
            return until(lambda r: rng.random() < (N - (r + 1)) / N and r not in taken, TOP)
        if scheme == "ranked-rand" and is_rand:
            return until(lambda r: rng.random() < (N - (r + 1)) / N and r not in taken, N)
        return until(lambda r: r not in taken, N)

    rows = []
    for _ in range(SIZE // 8):
        r1 = guide if guide != NO_GUIDE else parent({i})
        r2 = parent({i, r1})
        r3 = until(lambda r, r1=r1, r2=r2: r not in (i, r1, r2), N)  # type: ignore[misc]
        trio_of_row = [r1, r2, r3]
        if scheme == "best-of-three" and is_rand:
            best = min(trio_of_row)
            others = [r for r in trio_of_row if r != best]
            rng.shuffle(others)
            trio_of_row = [best, *others]
        rows.append(trio_of_row)
    return np.array(rows).T


@pytest.mark.parametrize("scheme", SCHEMES)
def test_parents_are_distinct_whatever_the_draws(scheme: str) -> None:
    u = np.array(list(itertools.product([*EXTREMES, 0.25, 0.5, 0.75], repeat=3))).T
    m = u.shape[1]
    for n in (8, 9):
        for i, guide, is_rand in itertools.product(range(n), [NO_GUIDE, *range(n)], [False, True]):
            if guide == i:
                continue
            led = np.full(m, guide != NO_GUIDE)
            r1, r2, r3 = trio(scheme, u, np.full(m, i), np.full(m, is_rand), led, np.full(m, guide), n)
            rows = np.sort(np.stack([np.full(m, i), r1, r2, r3]), axis=0)
            assert (np.diff(rows, axis=0) > 0).all()
            assert rows.min() >= 0 and rows.max() < n
            if guide != NO_GUIDE and not (scheme == "best-of-three" and is_rand):
                assert (r1 == guide).all()


@pytest.mark.parametrize(("is_rand", "guide"), [(True, NO_GUIDE), (False, NO_GUIDE), (False, 3)])
@pytest.mark.parametrize("i", [1, 7])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_parents_have_the_law_of_the_redrawing(scheme: str, i: int, is_rand: bool, guide: int) -> None:
    fast, slow = drawn(scheme, i, is_rand, guide, seed=4), redrawn(scheme, i, is_rand, guide, seed=5)
    for role in range(3):
        if not (role == 0 and guide != NO_GUIDE):
            assert p_of_same_counts(fast[role], slow[role]) > LEVEL, f"r{role + 1}"
    # Pairs too, so that the law of one given another is seen.
    assert p_of_same_counts(fast[0] * N + fast[1], slow[0] * N + slow[1]) > LEVEL
    assert p_of_same_counts(fast[1] * N + fast[2], slow[1] * N + slow[2]) > LEVEL


def test_the_schemes_can_be_told_apart() -> None:
    bases = {scheme: drawn(scheme, 7, True, NO_GUIDE, seed=6)[0] for scheme in SCHEMES}
    for first, second in itertools.combinations(SCHEMES, 2):
        assert p_of_same_counts(bases[first], bases[second]) < LEVEL


def test_a_uniform_parent_is_any_other_member() -> None:
    allowed = [1, 1, 0, 1, 1, 1, 1, 1, 1, 1]
    for role in range(3):
        assert p_of_counts(drawn("uniform", 2, True, NO_GUIDE, seed=7)[role], allowed) > LEVEL


def test_rows_may_mix_strategies() -> None:
    """Each row is as if it stood alone."""
    rng = np.random.default_rng(8)
    m = 200
    u, i = rng.random((3, m)), rng.integers(0, N, m)
    is_rand, guide = rng.random(m) < 0.3, rng.integers(0, N, m)
    guide = np.where(is_rand | (guide == i), NO_GUIDE, guide)
    led = guide != NO_GUIDE
    for scheme in SCHEMES:
        together = np.stack(trio(scheme, u, i, is_rand, led, guide, N))
        alone = [
            np.stack(trio(scheme, u[:, [k]], i[[k]], is_rand[[k]], led[[k]], guide[[k]], N))[:, 0].tolist()
            for k in range(m)
        ]
        assert together.T.tolist() == alone
