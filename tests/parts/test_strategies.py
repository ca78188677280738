"""Several strategies: how they compete, and how their trials are made."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, get_args, get_type_hints

import numpy as np
import pytest
from statistics_of_draws import EXTREMES, LEVEL, p_of_counts

from ppsde.algorithm import Task
from ppsde.algorithms.lshade44 import LSHADE44
from ppsde.algorithms.pps_de import PPSDE
from ppsde.parts.indices import trio
from ppsde.parts.memory import Memory
from ppsde.parts.repairs import REPAIRS
from ppsde.parts.strategies import (
    CURRENT_TO_PBEST,
    CURRENT_TO_RAND,
    RAND,
    Competition,
    FourStrategies,
    Made,
    SuccessCounts,
    ThreeStrategies,
    best_count,
    strategy_by_rate,
)
from ppsde.parts.variation import binomial, current_to_pbest_1, rand_1
from ppsde.streams import NumpyStream, Stream, Tape

# Strategy competition: a window of wins by hand, and draws by rate.


def test_rates_are_equal_until_the_window_has_filled_and_then_shares_of_the_last_wins() -> None:
    competition = Competition.fresh(window=2, strategies=3)
    wins = [[4, 0, 0], [1, 2, 1], [0, 3, 1], [2, 2, 0]]
    rates = []
    for G, won in enumerate(wins, start=1):
        competition = competition.record(G, np.array(won))
        rates.append(competition.rates(G).tolist())
    assert rates[0] == rates[1] == [1 / 3, 1 / 3, 1 / 3]  # G <= 2
    assert rates[2] == [1 / 8, 5 / 8, 2 / 8]  # generations 2 and 3: 1+0, 2+3, 1+1 of 8
    assert rates[3] == [2 / 8, 5 / 8, 1 / 8]  # generations 3 and 4: 0+2, 3+2, 1+0 of 8


def test_rates_are_equal_where_nobody_won() -> None:
    competition = Competition.fresh(1, 3).record(5, np.zeros(3))
    assert competition.rates(5).tolist() == [1 / 3, 1 / 3, 1 / 3]


def test_recording_leaves_the_old_window_as_it_was() -> None:
    old = Competition.fresh(2, 3)
    old.record(1, np.array([1, 2, 3]))
    assert (old.wins == 0).all()


def test_a_strategy_comes_as_often_as_its_rate() -> None:
    u = np.random.default_rng(1).random(30_000)
    rates = np.array([0.2, 0.5, 0.3])
    assert p_of_counts(strategy_by_rate(u, rates), rates) > LEVEL
    assert p_of_counts(strategy_by_rate(u, rates), [1, 1, 1]) < LEVEL


def test_a_strategy_without_wins_never_comes() -> None:
    u = np.array([*EXTREMES, 0.5])
    assert strategy_by_rate(u, np.array([0.0, 1.0, 0.0])).tolist() == [1, 1, 1]
    assert strategy_by_rate(u, np.array([0.0, 0.0, 1.0])).tolist() == [2, 2, 2]
    assert strategy_by_rate(u, np.array([1.0, 0.0, 0.0])).tolist() == [0, 0, 0]


def test_strategies_by_hand() -> None:
    u = np.array([0.0, 0.24, 0.25, 0.74, 0.75, 0.99])
    assert strategy_by_rate(u, np.array([0.25, 0.5, 0.25])).tolist() == [0, 0, 1, 1, 2, 2]


# Success counts by hand: rates, successes, and the return of those that became rare.


def test_rates_are_equal_at_first_and_follow_the_successes() -> None:
    counts = SuccessCounts.fresh(3, 2)
    np.testing.assert_allclose(counts.rates, [1 / 3] * 3)
    operator, success = np.array([0, 0, 2, 2, 1]), np.array([True, True, True, False, False])
    later = counts.record(operator, success)
    assert later.counts.tolist() == [4, 2, 3]
    np.testing.assert_allclose(later.rates, [4 / 9, 2 / 9, 3 / 9])
    assert counts.counts.tolist() == [2, 2, 2], "the old ones are as they were"


def test_all_begin_again_when_one_has_become_rare() -> None:
    counts = SuccessCounts(np.array([19, 1, 20]))  # the rate of the second is 1/40
    assert counts.renewed(0.025, 2).counts.tolist() == [19, 1, 20]
    assert counts.renewed(0.026, 2).counts.tolist() == [2, 2, 2]


# Trials of three strategies: every row is what the named formulas make of the same draws.


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
            is_rand, led = np.full(m, strategy == RAND), np.full(m, strategy == CURRENT_TO_PBEST)
            r1, r2, r3 = trio(settings.parents, u_parents[:, rows], i, is_rand, led, pbest, N)
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


# The four strategies: how they compete, and what trials each makes.


MANY = 20_000


def learned(successes: list[int], n: int, d: int, CR: float = 0.5) -> FourStrategies:
    fresh = FourStrategies.fresh(prior=2, memory_size=6, archive_size=round(2.6 * n), d=d)
    return dataclasses.replace(fresh, successes=np.array(successes), memory=Memory.fresh(4, 6, CR=CR))


def numbers(**options: Any) -> dict[str, Any]:
    """The numbers that LSHADE44 gives to `make`, of which some may be others."""
    names = ("pbest", "prior", "least_share", "CR_deviation", "randrl")
    return {name: getattr(LSHADE44(**options), name) for name in names}


def made(strategies: FourStrategies, x: np.ndarray, size: int | None = None, **options: Any) -> Made:
    n, d = x.shape
    task = Task(np.full(d, -1e9), np.full(d, 1e9), 10**6)
    return strategies.make(x, np.asarray(size or n), task, NumpyStream(7), **numbers(**options))


def test_strategies_are_used_as_often_as_they_succeeded() -> None:
    trials = made(learned([10, 20, 30, 40], MANY, 1), np.zeros((MANY, 1)))
    assert p_of_counts(trials.strategy, [10, 20, 30, 40]) > LEVEL
    assert trials.successes.tolist() == [10, 20, 30, 40]


def test_a_rare_strategy_sets_all_counts_back_for_all_members_but_the_first() -> None:
    # 1 of 97 is less than 0.05.
    strategies = learned([1, 32, 32, 32], MANY, 1)
    trials = made(strategies, np.zeros((MANY, 1)))
    assert p_of_counts(trials.strategy, [1, 1, 1, 1]) > LEVEL
    assert trials.successes.tolist() == [2, 2, 2, 2]
    first = [
        int(strategies.make(np.zeros((4, 1)), np.asarray(4), Task(*np.ones((2, 1)), 9), rng, **numbers()).strategy[0])
        for rng in (NumpyStream(k) for k in range(400))
    ]
    assert p_of_counts(np.array(first), [1, 32, 32, 32]) > LEVEL


def test_successes_count_for_their_strategies_and_parents_go_to_the_archive() -> None:
    x = np.arange(6.0)[:, None]
    strategies = learned([2, 2, 2, 2], 6, 1)
    how = Made(x + 9, np.array([0, 1, 1, 3, 3, 3]), np.full(6, 0.7), np.full(6, 0.2), np.array([5, 5, 5, 5]))
    success = np.array([True, False, True, True, False, True])
    gains = np.array([1.0, 0.0, 0.0, 3.0, 0.0, 1.0])
    after = strategies.learn(how, x, success, gains, np.asarray(16), np.zeros(6))
    assert after.successes.tolist() == [6, 6, 5, 7]
    assert after.archive.x[: int(after.archive.size), 0].tolist() == [0.0, 2.0, 3.0, 5.0]
    assert after.memory.next.tolist() == [1, 1, 0, 1], "a tie is a success too"
    np.testing.assert_allclose(after.memory.F[:, 0], [0.7, 0.7, 0.5, 0.7])
    np.testing.assert_allclose(after.rates, np.array([6, 6, 5, 7]) / 24)
    assert int(after.cut(np.asarray(2), np.random.default_rng(1).random(16)).archive.size) == 2


def test_randrl_steps_from_the_best_of_three_away_from_the_worst() -> None:
    """In a population where rank k has x = k: the best less F times (worst - second) lies below the best."""
    n = 2000
    x = np.arange(float(n))[:, None]
    trials = made(learned([0, 0, 1, 0], n, 1, CR=1.0), x, least_share=0.0)
    assert (trials.strategy == 2).all()
    # Best b, second s, worst w of three distinct ranks: b - F (w - s) < b <= n - 3.
    assert trials.x.max() < n - 3 and (trials.x < 0).mean() > 0.2
    either = made(learned([0, 0, 1, 0], n, 1, CR=1.0), x, least_share=0.0, randrl="random")
    # The best of three lies at n / 4 on average; steps to either side leave the mean there, those away from it do not.
    assert either.x.mean() == pytest.approx(n / 4, rel=0.08) and trials.x.mean() < 0.15 * n


def test_the_dead_are_no_parents() -> None:
    """Living rows lie at 0; a dead parent would show."""
    x = np.where(np.arange(40)[:, None] < 9, 0.0, np.full((40, 2), 1e6))
    trials = made(learned([1, 1, 1, 1], 40, 2), x, size=9)
    assert (trials.x[:9] == 0.0).all()


@pytest.mark.parametrize(("strategy", "expected"), [(0, [[-0.75]]), (2, [[-0.6]])])
def test_out_of_bounds_a_pbest_trial_goes_half_way_back_and_a_local_one_is_mirrored(
    strategy: int, expected: list[list[float]]
) -> None:
    from ppsde.parts.strategies import _repaired

    task = Task(np.array([-1.0]), np.array([1.0]), 9)
    x, trials, local = np.array([[-0.5]]), np.array([[-1.4]]), np.array([strategy >= 2])
    np.testing.assert_allclose(_repaired(trials, x, local, task), expected)


def test_trials_stay_in_the_box_whatever_the_strategy() -> None:
    rng = np.random.default_rng(2)
    x = rng.uniform(-1, 1, (400, 3))
    for k in range(4):
        successes = [int(j == k) for j in range(4)]
        strategies = learned(successes, 400, 3, CR=0.9)
        task = Task(np.full(3, -1.0), np.ones(3), 99)
        trials = strategies.make(x, np.asarray(400), task, NumpyStream(3), **numbers(least_share=0.0))
        assert (trials.strategy == k).all()
        assert (np.abs(trials.x) <= 1).all() and (trials.x != x).any(axis=1).mean() > 0.9
