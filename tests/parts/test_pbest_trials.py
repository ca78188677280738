"""Trials by current-to-pbest/1/bin with an archive: one by hand, and whom they may be made of."""

from __future__ import annotations

import numpy as np

from ppsde.algorithm import Task
from ppsde.parts.archive import Archive, pbest_trials
from ppsde.streams import NumpyStream, Tape

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
