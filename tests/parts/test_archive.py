"""The archive, and trials that use it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statistics_of_draws import EXTREMES, LEVEL, p_of_counts

from ppsde.algorithm import Task
from ppsde.parts.archive import Archive, last_sent, pbest_trials
from ppsde.streams import NumpyStream, Tape

# The archive: who enters where, who leaves, whom differences may reach; by hand, by law, beside a plain list.


SIZE = 30_000


def numbered(first: int, count: int) -> np.ndarray:
    """Points of one variable that are their own numbers."""
    return np.arange(first, first + count, dtype=float)[:, None]


def held(archive: Archive) -> list[float]:
    return [float(v) for v in archive.x[: int(archive.size), 0]]


def test_the_last_row_sent_to_a_slot_wins() -> None:
    row, written = last_sent(np.array([3, 1, 3, 0, 5, 1]), 5)  # slot 5 is outside: sent nowhere
    assert written.tolist() == [True, True, False, True, False]
    assert row[written].tolist() == [3, 5, 2]


def test_points_enter_behind_the_last_until_it_is_full() -> None:
    archive = Archive.fresh(4, 1).put(numbered(1, 3), np.array([True, False, True]), 4, np.zeros(3))
    assert held(archive) == [1.0, 3.0]
    archive = archive.put(numbered(5, 1), np.array([True]), 4, np.zeros(1))
    assert held(archive) == [1.0, 3.0, 5.0]


def test_a_full_archive_gives_up_a_random_point_for_each_that_enters() -> None:
    full = Archive(numbered(1, 3), np.asarray(3))
    # Limit 3: u = 0.4 is place 1, u = 0.9 place 2, then place 1 again, whose earlier guest is lost.
    after = full.put(numbered(7, 3), np.ones(3, bool), 3, np.array([0.4, 0.9, 0.5]))
    assert held(after) == [1.0, 9.0, 8.0]
    assert held(full.put(numbered(7, 2), np.zeros(2, bool), 3, np.zeros(2))) == [1.0, 2.0, 3.0]


def test_an_archive_without_room_takes_nothing() -> None:
    empty = Archive.fresh(0, 1).put(numbered(1, 3), np.ones(3, bool), 0, np.zeros(3))
    assert int(empty.size) == 0 and empty.x.shape == (0, 1)
    assert int(Archive.fresh(5, 1).put(numbered(1, 3), np.ones(3, bool), 0, np.zeros(3)).size) == 0


@given(st.data())
def test_entering_is_what_a_plain_list_does(data: st.DataObject) -> None:
    capacity = data.draw(st.integers(1, 6))
    limit = data.draw(st.integers(1, capacity))
    archive, plain = Archive.fresh(capacity, 1), []
    for turn in range(3):
        chosen = data.draw(st.lists(st.booleans(), min_size=1, max_size=9))
        u = data.draw(
            st.lists(st.floats(0, 1, exclude_max=True), min_size=len(chosen), max_size=len(chosen)), label="u"
        )
        points = numbered(100 * turn, len(chosen))
        archive = archive.put(points, np.array(chosen), limit, np.array(u))
        for k, enters in enumerate(chosen):
            if enters and len(plain) < limit:
                plain.append(float(points[k, 0]))
            elif enters:
                plain[int(u[k] * limit)] = float(points[k, 0])
        assert held(archive) == plain


def test_those_who_leave_are_drawn_uniformly() -> None:
    rng = np.random.default_rng(1)
    archive = Archive(numbered(0, 8), np.asarray(6))  # two rows are not in use
    stayed = []
    for _ in range(3000):
        shorter = archive.cut(2, rng.random(8))
        assert int(shorter.size) == 2 and len(set(held(shorter))) == 2
        stayed += held(shorter)
    assert p_of_counts(np.array(stayed, int), [1, 1, 1, 1, 1, 1, 0, 0]) > LEVEL


def test_nobody_leaves_an_archive_that_is_short_enough() -> None:
    archive = Archive(numbered(0, 8), np.asarray(3))
    assert archive.cut(3, np.linspace(0.9, 0.1, 8)) is archive
    assert held(archive.cut(2, np.linspace(0.9, 0.1, 8))) == [2.0, 1.0], "the smallest numbers stay"


def test_r2_is_uniform_over_population_and_archive_without_i_and_r1() -> None:
    rng = np.random.default_rng(2)
    n, size = 6, 4  # two of the six rows are dead
    archive = Archive(numbered(0, 5), np.asarray(3))
    i = np.full(SIZE, 1)
    pbest, r1, r2 = archive.parents(rng.random((3, SIZE)), i, 2, size, n)
    assert p_of_counts(pbest, [1, 1]) > LEVEL
    assert p_of_counts(r1, [1, 0, 1, 1]) > LEVEL
    assert not ((r2 == r1) | (r2 == i)).any()
    # Rows 0 2 3 of the population while r1 is another of them (2 of 3 times each), archive rows 6 7 8 always.
    assert p_of_counts(r2, [2, 0, 2, 2, 0, 0, 3, 3, 3]) > LEVEL


def test_an_empty_archive_leaves_the_population() -> None:
    rng = np.random.default_rng(3)
    _, _, r2 = Archive.fresh(9, 1).parents(rng.random((3, SIZE)), np.zeros(SIZE, int), 1, 4, 4)
    assert p_of_counts(r2, [0, 1, 1, 1]) > LEVEL


def test_each_row_may_have_its_own_number_of_best() -> None:
    best = np.array([2, 5, 9])
    for u, expected in zip(EXTREMES, ([0, 0, 0], [1, 4, 8]), strict=True):
        pbest, _, _ = Archive.fresh(3, 1).parents(np.full((3, 3), u), np.arange(3), best, 9, 9)
        assert pbest.tolist() == expected


def test_the_table_holds_the_population_and_then_the_archive() -> None:
    archive = Archive(numbered(50, 2), np.asarray(2))
    assert archive.joined(numbered(0, 3))[:, 0].tolist() == [0.0, 1.0, 2.0, 50.0, 51.0]
    # Size 3 of 3 rows, u = 0.99: the last place of all is the last archived point, row 4 of the table.
    _, _, r2 = archive.parents(np.array([[0.0], [0.0], [0.99]]), np.array([0]), 1, 3, 3)
    assert r2.tolist() == [4]


def test_jax_gives_the_same_archive() -> None:
    jnp = pytest.importorskip("jax.numpy")
    rng = np.random.default_rng(4)
    ours, theirs = Archive.fresh(7, 2), Archive.fresh(7, 2, jnp)
    for limit in (7, 7, 5, 3):
        x, chosen, u, u_cut = (
            rng.normal(size=(6, 2)).astype(np.float32),
            rng.random(6) < 0.7,
            rng.random(6),
            rng.random(7),
        )
        u, u_cut = u.astype(np.float32), u_cut.astype(np.float32)
        ours = ours.cut(limit, u_cut).put(x, chosen, limit, u)
        theirs = theirs.cut(limit, jnp.asarray(u_cut)).put(jnp.asarray(x), jnp.asarray(chosen), limit, jnp.asarray(u))
        assert int(ours.size) == int(theirs.size)
        np.testing.assert_array_equal(held_rows(ours), held_rows(theirs))


def held_rows(archive: Archive) -> np.ndarray:
    return np.asarray(archive.x)[: int(archive.size)].astype(np.float32)


# Trials by current-to-pbest/1/bin with an archive: one by hand, and whom they may be made of.


TASK = Task(np.full(2, -10.0), np.full(2, 10.0), 100)


def test_a_trial_by_hand() -> None:
    x = np.array([[1.0, 2.0], [3.0, 10.0], [5.0, -4.0], [-9.0, 8.0]])
    archive = Archive(np.array([[7.0, 7.0]]), np.asarray(1))
    u = np.zeros((4, 4))
    # Target 3: pbest is place 0.6 * 2, rank 1; r1 of 0 1 2 is place 0.7 * 3, rank 2; r2 of 0 1 and the archive is place
    # 0.9 * 3, the archived point; component 0.1 * 2, the first, is always taken.
    u[:, 3] = [0.6, 0.7, 0.9, 0.1]
    u_cross = np.full((4, 2), 0.8)
    F, CR = np.full(4, 0.5), np.full(4, 0.5)
    trials = pbest_trials(x, archive, F, CR, 2, 4, TASK, Tape([u, u_cross]))
    # -9 + 0.5 (3 + 9) + 0.5 (5 - 7) = -4; the other component stays.
    assert trials[3].tolist() == [-4.0, 8.0]
    trials = pbest_trials(x, archive, F, np.ones(4), 2, 4, TASK, Tape([u, u_cross]))
    # 8 + 0.5 (10 - 8) + 0.5 (-4 - 7) = 3.5
    assert trials[3].tolist() == [-4.0, 3.5]


def test_out_of_bounds_it_goes_half_way_back_to_the_parent() -> None:
    x = np.array([[9.0, 0.0], [10.0, 0.0], [10.0, 0.0], [-10.0, 0.0]])
    u = np.zeros((4, 4))
    u[2] = 0.99  # for target 0: pbest itself, r1 = 1, r2 = 3; 9 + 0.5 * 20 = 19 is outside
    trials = pbest_trials(x, Archive.fresh(2, 2), np.full(4, 0.5), np.ones(4), 1, 4, TASK, Tape([u, np.zeros((4, 2))]))
    assert trials[0].tolist() == [9.5, 0.0]


def test_neither_the_dead_nor_what_an_archive_does_not_use_are_parents() -> None:
    x = np.where(np.arange(50)[:, None] < 7, 0.0, np.full((50, 2), 9.0))
    archive = Archive(np.where(np.arange(30)[:, None] < 5, 0.0, np.full((30, 2), 9.0)), np.asarray(5))
    for k in range(20):
        trials = pbest_trials(x, archive, np.full(50, 0.7), np.full(50, 0.9), 3, np.asarray(7), TASK, NumpyStream(k))
        assert (trials[:7] == 0.0).all()
