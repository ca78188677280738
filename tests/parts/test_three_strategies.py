"""Trials of three strategies: every row is what the named formulas make of the same draws."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import get_args, get_type_hints

import numpy as np
import pytest
from statistics_of_draws import EXTREMES, LEVEL, p_of_counts

from ppsde.algorithm import Task
from ppsde.algorithms.pps_de import PPSDE
from ppsde.parts.indices import trio
from ppsde.parts.memory import Memory
from ppsde.parts.repairs import REPAIRS
from ppsde.parts.strategies import CURRENT_TO_PBEST, CURRENT_TO_RAND, RAND, ThreeStrategies, best_count
from ppsde.parts.variation import binomial, current_to_pbest_1, rand_1
from ppsde.streams import NumpyStream, Stream, Tape

N, D = 14, 5
TASK = Task(np.full(D, -1.0), np.full(D, 1.0), 1000)
WIDE = replace(TASK, lower=np.full(D, -100.0), upper=np.full(D, 100.0))  # which no trial leaves
TARGETS = np.tile(np.arange(N), 3)
STRATEGY = np.repeat([RAND, CURRENT_TO_RAND, CURRENT_TO_PBEST], N)
M = len(TARGETS)


Settings = partial(ThreeStrategies, parents="ranked-top", pbest=3, repair="reflect")


@dataclass
class Case:
    """A population, a memory that differs from cell to cell, and the draws of a call."""

    x: np.ndarray
    memory: Memory
    u: np.ndarray  # (M, D), of the crossover
    draws: list[np.ndarray]  # (5, M), (3, M), (M,), and spare ones

    def trials(self, settings: ThreeStrategies, task: Task) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return settings.trials(self.x, TARGETS, STRATEGY, self.u, self.memory, task, Tape(self.draws))

    def rows_by_name(self, settings: ThreeStrategies) -> np.ndarray:
        """The same before the repair, strategy by strategy."""
        (u_cell, u_F, u_best, u_kept, u_K), u_parents, z = self.draws[:3]
        made = np.empty((M, D))
        for strategy in (RAND, CURRENT_TO_RAND, CURRENT_TO_PBEST):
            rows = np.equal(STRATEGY, strategy)
            i, m = TARGETS[rows], int(rows.sum())
            F, CR = self.memory.draw(np.full(m, strategy), u_cell[rows], u_F[rows], z[rows])
            pbest = np.array([drawn_of_best(u, settings.pbest, t) for u, t in zip(u_best[rows], i, strict=True)])
            guide = pbest if strategy == CURRENT_TO_PBEST else np.full(m, -1)
            r1, r2, r3 = trio(settings.parents, u_parents[:, rows], i, np.full(m, strategy == RAND), guide, N)
            if strategy == RAND:
                mutants = rand_1(self.x, r1, r2, r3, F)
            elif strategy == CURRENT_TO_RAND:
                K = u_K[rows] if settings.random_K else F
                x = self.x
                mutants = x[i] + K[:, None] * (x[r1] - x[i]) + F[:, None] * (x[r2] - x[r3])
            else:
                mutants = current_to_pbest_1(self.x, i, pbest, r2, r3, F)
            kept = np.floor(u_kept[rows] * D).astype(int)
            crossed = strategy != CURRENT_TO_RAND or settings.cross_current_to_rand
            made[rows] = binomial(mutants, self.x[i], CR, self.u[rows], kept) if crossed else mutants
        return made


def drawn_of_best(u: float, pbest: int | float | tuple[int, int], target: int) -> int:
    assert not isinstance(pbest, tuple)
    count = pbest if isinstance(pbest, int) else max(2, round(pbest * N))
    others = [r for r in range(min(count, N)) if r != target]
    return others[int(u * len(others))]


def case(seed: int) -> Case:
    rng = np.random.default_rng(seed)
    memory = Memory(rng.uniform(0.2, 0.9, (3, 4)), rng.uniform(0.1, 0.9, (3, 4)), np.zeros(3, int))
    stream: Stream = NumpyStream(seed)
    draws = [stream.uniform(5, M), stream.uniform(3, M), stream.normal(M), stream.uniform(M, D)]
    return Case(rng.uniform(-1, 1, (N, D)), memory, rng.random((M, D)), draws)


EVERY = [
    *(Settings(parents=scheme) for scheme in get_args(get_type_hints(PPSDE)["parents"])),
    *(Settings(pbest=pbest) for pbest in (2, 100, 0.05, 0.5)),
    Settings(random_K=True),
    Settings(cross_current_to_rand=True),
    Settings(parents="best-of-three", random_K=True, cross_current_to_rand=True),
]


@pytest.mark.parametrize("settings", EVERY, ids=str)
def test_every_row_is_what_its_named_strategy_makes(settings: ThreeStrategies) -> None:
    for seed in range(5):
        made, F, CR = case(seed).trials(settings, WIDE)
        np.testing.assert_allclose(made, case(seed).rows_by_name(settings), rtol=1e-12, atol=1e-14)
        assert F.shape == CR.shape == (M,)


def test_F_and_CR_are_those_that_the_memory_gives() -> None:
    one = case(1)
    _, F, CR = one.trials(Settings(), TASK)
    expected_F, expected_CR = one.memory.draw(STRATEGY, one.draws[0][0], one.draws[0][1], one.draws[2])
    assert F.tolist() == expected_F.tolist()
    assert CR.tolist() == expected_CR.tolist(), "also where current-to-rand does not use it"


@pytest.mark.parametrize("repair", REPAIRS)
def test_what_leaves_the_box_is_repaired_towards_its_own_parent(repair: str) -> None:
    one = case(2)
    made, _, _ = one.trials(Settings(repair=repair), TASK)
    before = one.rows_by_name(Settings())
    outside = (before < TASK.lower) | (before > TASK.upper)
    assert outside.any() and not outside.all()
    expected = REPAIRS[repair](before, TASK.lower, TASK.upper, one.x[TARGETS], one.draws[3])
    np.testing.assert_allclose(made, expected, rtol=1e-12, atol=1e-14)
    assert (made >= TASK.lower).all() and (made <= TASK.upper).all()


def test_by_hand() -> None:
    """One target, the last of four on a line, F = 0.5 and CR = 0 where a strategy crosses."""
    x = np.array([[0.0, 0.0], [1.0, 10.0], [2.0, 40.0], [4.0, 80.0]])
    memory = Memory(np.full((3, 1), 0.5), np.zeros((3, 1)), np.zeros(3, int))
    i, strategy = np.full(3, 3), np.array([RAND, CURRENT_TO_RAND, CURRENT_TO_PBEST])
    median = 0.5 / (0.5 + np.arctan(0.5 / 0.1) / np.pi)  # the number that gives F at the middle of its law
    uniform = np.array([[0.0] * 3, [median] * 3, [0.99] * 3, [0.0, 0.0, 0.99], [0.0] * 3])  # cell F best kept K
    u_parents = np.zeros((3, 3))  # the first that is free: 0, 1, 2
    box = Task(np.full(2, -100.0), np.full(2, 100.0), 1)
    tape = Tape([uniform, u_parents, np.zeros(3)])
    settings = Settings(parents="uniform", pbest=2)
    made, F, CR = settings.trials(x, i, strategy, np.full((3, 2), 0.5), memory, box, tape)
    np.testing.assert_allclose(F, 0.5, rtol=1e-12)
    assert CR.tolist() == [0.0, 0.0, 0.0]
    expected = [
        [-0.5, 80.0],  # x_0 + 0.5 (x_1 - x_2) = (-0.5, -15), of which component 0
        [1.5, 25.0],  # x_3 + 0.5 (x_0 - x_3) + 0.5 (x_1 - x_2), uncrossed: (4 - 2 - 0.5, 80 - 40 - 15)
        [4.0, 25.0],  # pbest 1, so r2 = 0 and r3 = 2: (80 + 0.5 (10 - 80) + 0.5 (0 - 40)), of which component 1
    ]
    np.testing.assert_allclose(made, expected, rtol=1e-12)


def test_a_row_does_not_depend_on_the_others() -> None:
    one, rows = case(3), np.array([40, 3, 17])
    draws = [one.draws[0][:, rows], one.draws[1][:, rows], one.draws[2][rows]]
    some, F, CR = Settings().trials(one.x, TARGETS[rows], STRATEGY[rows], one.u[rows], one.memory, TASK, Tape(draws))
    every, all_F, all_CR = one.trials(Settings(), TASK)
    np.testing.assert_allclose(some, every[rows], rtol=1e-13)
    np.testing.assert_allclose([F, CR], [all_F[rows], all_CR[rows]], rtol=1e-13)


def test_of_how_many_best_by_hand() -> None:
    tape = Tape([np.array([EXTREMES[0], 0.16, 0.17, 0.5, 0.83, 0.84, EXTREMES[1]])])
    assert best_count((5, 8), 50, 7, tape).tolist() == [5, 5, 6, 7, 7, 8, 8]  # the nearest of 5 + 3 u, halves up
    assert best_count((5, 20), 6, 7, Tape([np.full(7, 0.7)])).tolist() == [6] * 7, "no more than there are"
    assert [best_count(pbest, 14, 7, Tape([])) for pbest in (3, 100, 0.5, 0.01)] == [3, 14, 7, 2], "no draws"


def test_counts_of_a_range_are_alike_but_for_its_ends_which_come_half_as_often() -> None:
    counts = best_count((5, 20), 100, 30_000, NumpyStream(1))
    assert p_of_counts(counts - 5, [0.5, *[1.0] * 14, 0.5]) > LEVEL
    assert p_of_counts(counts - 5, [1.0] * 16) < LEVEL


def test_a_range_of_counts_moves_only_what_is_led_by_a_pbest() -> None:
    one = case(4)
    draws = [*one.draws[:3], np.full(M, EXTREMES[1]), one.draws[3]]
    arguments = (one.x, TARGETS, STRATEGY, one.u, one.memory)
    ranged = Settings(pbest=(2, 9)).trials(*arguments, WIDE, Tape(draws))[0]
    np.testing.assert_array_equal(ranged, one.trials(Settings(pbest=9), WIDE)[0])
    moved = (ranged != one.trials(Settings(pbest=2), WIDE)[0]).any(axis=1)
    assert moved[STRATEGY == CURRENT_TO_PBEST].any() and not moved[STRATEGY != CURRENT_TO_PBEST].any()


def test_where_no_component_is_certain_a_trial_at_rate_zero_is_its_target() -> None:
    one = case(5)
    one.memory = Memory(one.memory.F, np.zeros_like(one.memory.CR), one.memory.next)
    draws = [*one.draws[:2], np.zeros(M), one.draws[3]]
    arguments = (one.x, TARGETS, STRATEGY, one.u, one.memory, WIDE)
    made, certain = (Settings(certain_component=flag).trials(*arguments, Tape(draws))[0] for flag in (False, True))
    changed, surely = (made != one.x[TARGETS]).sum(axis=1), (certain != one.x[TARGETS]).sum(axis=1)
    assert changed[STRATEGY != CURRENT_TO_RAND].max() == 0 and (changed[STRATEGY == CURRENT_TO_RAND] == D).all()
    assert (surely[STRATEGY != CURRENT_TO_RAND] == 1).all()
