"""F and CR: memories, the laws they are drawn from, choices of a few values."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from statistics_of_draws import EXTREMES, LEVEL, p_of_counts, p_of_law, p_of_same_law

from ppsde.algorithms.ude import Pairs
from ppsde.engines.compiled import float64
from ppsde.parts.memory import CLOSED, Memory, any_of, any_pair, positive_cauchy, truncated_normal
from ppsde.parts.rules import Feasibility, gain
from ppsde.population import evaluated

# Success-history memory: means by hand, draws by law, and what must teach nothing.


SIZE = 30_000


def redrawn_cauchy(rng: np.random.Generator, location: float) -> float:
    """As the papers write it: again while F <= 0, then at most 1."""
    while True:
        F = location + 0.1 * math.tan(math.pi * (rng.random() - 0.5))
        if F > 0:
            return min(F, 1.0)


@pytest.mark.parametrize("location", [0.0, 0.03, 0.5, 0.97])
def test_F_has_the_law_of_the_papers_redrawing(location: float) -> None:
    rng = np.random.default_rng(1)
    by_loop = np.array([redrawn_cauchy(rng, location) for _ in range(SIZE // 3)])
    at_once = positive_cauchy(np.full(SIZE, location), rng.random(SIZE))
    assert p_of_same_law(by_loop, at_once) > LEVEL
    assert abs(np.mean(by_loop == 1.0) - np.mean(at_once == 1.0)) < 0.02, "as many are capped"


def test_F_is_drawn_again_and_not_cut_at_zero() -> None:
    """What the test above would see if the negative part were cut off instead."""
    rng = np.random.default_rng(2)
    by_loop = np.array([redrawn_cauchy(rng, 0.03) for _ in range(SIZE // 3)])
    cut = np.clip(stats.cauchy.ppf(rng.random(SIZE), 0.03, 0.1), 1e-300, 1.0)
    assert p_of_same_law(by_loop, cut) < LEVEL


def test_F_by_hand() -> None:
    # Location 0 leaves p in (1/2, 1]; u = 1/2 gives p = 3/4, tan(pi / 4) = 1, F = 0.1.
    assert positive_cauchy(np.array([0.0]), np.array([0.5]))[0] == pytest.approx(0.1, rel=1e-12)
    # Location 0.1: P(F <= 0) = 1/2 - atan(1) / pi = 1/4. u = 2/3 gives p = 1 - 2/3 * 3/4 = 1/2, the median: F = 0.1.
    assert positive_cauchy(np.array([0.1]), np.array([2 / 3]))[0] == pytest.approx(0.1, rel=1e-12)


def test_F_is_in_its_range_for_extreme_draws() -> None:
    for location in (0.0, 1e-300, 0.5, 1.0):
        F = positive_cauchy(np.full(2, location), np.array(EXTREMES))
        assert F[0] == 1.0
        assert 0.0 < F[1] <= 1.0


def test_CR_is_normal_around_its_cell_and_clipped() -> None:
    rng = np.random.default_rng(3)
    memory = Memory.fresh(1, 1, CR=0.3)
    zeros = np.zeros(SIZE, int)
    _, CR = memory.draw(zeros, rng.random(SIZE), rng.random(SIZE), rng.standard_normal(SIZE))
    inside = CR[(CR > 0) & (CR < 1)]
    assert p_of_law(inside, stats.truncnorm((0 - 0.3) / 0.1, (1 - 0.3) / 0.1, 0.3, 0.1).cdf) > LEVEL
    assert p_of_law(inside, stats.norm(0.3, math.sqrt(0.1)).cdf) < LEVEL, "0.1 is the deviation, not the variance"
    assert np.mean(CR == 0.0) == pytest.approx(stats.norm.cdf(-3), abs=5e-4)
    # By hand: 0.3 + 0.1 * 2 = 0.5, 0.3 - 0.1 * 4 clipped, 0.3 + 0.1 * 8 clipped.
    _, CR = memory.draw(np.zeros(3, int), np.zeros(3), np.full(3, 0.5), np.array([2.0, -4.0, 8.0]))
    assert CR.tolist() == [0.5, 0.0, 1.0]


def test_one_cell_drawn_uniformly_serves_both_F_and_CR() -> None:
    rng = np.random.default_rng(4)
    H = 5
    cells = np.linspace(0.1, 0.9, H)
    memory = Memory(F=np.stack([cells, cells[::-1]]), CR=np.stack([cells, cells]), next=np.zeros(2, int))
    strategy = rng.integers(0, 2, SIZE)
    # z = 0 leaves CR at the cell itself; this u gives the median of an untruncated law at each location.
    median = 0.5 / (0.5 + np.arctan(cells / 0.1) / np.pi)
    u_cell = rng.random(SIZE)
    cell = (u_cell * H).astype(int)
    u_F = np.where(strategy == 0, median[cell], median[::-1][cell])
    F, CR = memory.draw(strategy, u_cell, u_F, np.zeros(SIZE))
    np.testing.assert_allclose(CR, cells[cell])
    np.testing.assert_allclose(F, np.where(strategy == 0, cells[cell], cells[::-1][cell]))
    assert p_of_counts(cell, np.ones(H)) > LEVEL
    F, CR = memory.draw(np.zeros(2, int), np.array(EXTREMES), np.full(2, 0.5), np.zeros(2))
    assert CR.tolist() == [cells[0], cells[-1]]


def test_learning_by_hand() -> None:
    memory = Memory.fresh(3, 2)
    strategy = np.array([0, 0, 2, 0, 2])
    F, CR = np.array([0.4, 0.8, 0.5, 0.9, 0.1]), np.array([0.2, 0.6, 0.7, 0.9, 0.3])
    gains = np.array([3.0, 1.0, 2.0, 0.0, 0.0])
    # Strategy 0: w = 3/4, 1/4. sum w F^2 = 0.12 + 0.16 = 0.28; sum w F = 0.3 + 0.2 = 0.5; F = 0.56.
    #             CR = 0.75 * 0.2 + 0.25 * 0.6 = 0.3. The row without gain counts nothing.
    # Strategy 1: no trial. Strategy 2: one success, its own values.
    learned = memory.learn(strategy, F, CR, gains)
    np.testing.assert_allclose(learned.F, [[0.56, 0.5], [0.5, 0.5], [0.5, 0.5]], rtol=1e-14)
    np.testing.assert_allclose(learned.CR, [[0.3, 0.5], [0.5, 0.5], [0.7, 0.5]], rtol=1e-14)
    assert learned.next.tolist() == [1, 0, 1]
    # The next success of strategy 0 goes to the second cell, the one after that to the first again.
    again = learned.learn(strategy[:1], np.array([0.3]), np.array([0.1]), np.array([5.0]))
    np.testing.assert_allclose(again.F[0], [0.56, 0.3], rtol=1e-14)
    assert again.next.tolist() == [0, 0, 1]
    assert again.learn(strategy[:1], np.array([0.7]), np.array([0.1]), np.array([5.0])).F[0].tolist() == [0.7, 0.3]


def test_no_gain_keeps_every_cell() -> None:
    memory = Memory(np.array([[0.1, 0.2]]), np.array([[0.3, 0.4]]), np.array([1]))
    same = memory.learn(np.zeros(3, int), np.array([0.9, 0.8, 0.7]), np.ones(3), np.zeros(3))
    assert same.F.tolist() == [[0.1, 0.2]] and same.CR.tolist() == [[0.3, 0.4]] and same.next.tolist() == [1]


@pytest.mark.parametrize("scale", [1e308, 1e-300, 5e-324])
def test_gains_of_any_size_weigh_as_their_ratios(scale: float) -> None:
    memory = Memory.fresh(1, 1)
    learned = memory.learn(np.zeros(2, int), np.array([0.4, 0.8]), np.array([0.2, 0.6]), np.array([scale, scale]))
    # Equal weights: F = (0.16 + 0.64) / (0.4 + 0.8) = 2/3, CR = 0.4.
    np.testing.assert_allclose([learned.F[0, 0], learned.CR[0, 0]], [2 / 3, 0.4], rtol=1e-14)


def test_what_is_learned_is_not_the_plain_mean() -> None:
    learned = Memory.fresh(1, 1).learn(np.zeros(2, int), np.array([0.2, 1.0]), np.array([0.2, 1.0]), np.ones(2))
    # Lehmer: (0.04 + 1) / 1.2 = 13/15. Arithmetic: 0.6.
    np.testing.assert_allclose([learned.F[0, 0], learned.CR[0, 0]], [13 / 15, 0.6], rtol=1e-14)


def test_a_parent_without_values_teaches_nothing() -> None:
    x, empty = np.zeros((2, 1)), np.zeros((2, 0))
    parents = evaluated(x, np.array([np.nan, np.inf]), empty, empty, 0.0)
    trials = evaluated(x, np.array([1.0, 2.0]), empty, empty, 0.0)
    gains = gain(Feasibility(), trials, parents)
    assert gains.tolist() == [0.0, 0.0]
    memory = Memory.fresh(1, 1).learn(np.zeros(2, int), np.array([0.9, 0.9]), np.array([0.9, 0.9]), gains)
    assert memory.F.tolist() == [[0.5]]


def test_CR_may_have_another_deviation() -> None:
    rng = np.random.default_rng(5)
    zeros = np.zeros(SIZE, int)
    _, CR = Memory.fresh(1, 1).draw(
        zeros, rng.random(SIZE), rng.random(SIZE), rng.standard_normal(SIZE), math.sqrt(0.1)
    )
    inside = CR[(CR > 0) & (CR < 1)]
    edge = 0.5 / math.sqrt(0.1)
    assert p_of_law(inside, stats.truncnorm(-edge, edge, 0.5, math.sqrt(0.1)).cdf) > LEVEL
    assert np.mean(CR == 0.0) == pytest.approx(stats.norm.cdf(-edge), abs=5e-3)


def test_the_mean_of_CR_may_be_lehmers() -> None:
    # w = 3/4, 1/4: sum w CR^2 = 0.03 + 0.09 = 0.12, sum w CR = 0.15 + 0.15 = 0.3: 0.4. The arithmetic mean is 0.3.
    F, CR, gains = np.array([0.5, 0.5]), np.array([0.2, 0.6]), np.array([3.0, 1.0])
    learned = Memory.fresh(1, 1).learn(np.zeros(2, int), F, CR, gains, lehmer_CR=True)
    np.testing.assert_allclose(learned.CR, [[0.4]], rtol=1e-14)
    zero = Memory.fresh(1, 1).learn(np.zeros(2, int), F, np.zeros(2), gains, lehmer_CR=True)
    assert zero.CR.tolist() == [[0.0]], "and 0 where all are 0"


def test_a_cell_closes_when_every_success_had_no_crossover_and_never_opens() -> None:
    strategy, F = np.array([0, 0, 1, 1]), np.full(4, 0.6)
    gains = np.array([1.0, 2.0, 1.0, 0.0])
    # Strategy 0: a success with CR > 0. Strategy 1: its only success had CR = 0; the row with CR = 1 failed.
    learned = Memory.fresh(2, 1).learn(strategy, F, np.array([0.0, 0.3, 0.0, 1.0]), gains, closing=True)
    np.testing.assert_allclose(learned.CR, [[0.2], [CLOSED]], rtol=1e-14)
    again = learned.learn(strategy, F, np.full(4, 0.9), gains, closing=True)
    np.testing.assert_allclose(again.CR, [[0.9], [CLOSED]], rtol=1e-14)
    _, CR = again.draw(np.ones(50, int), np.zeros(50), np.full(50, 0.5), np.linspace(-5, 5, 50), 10.0)
    assert (CR == 0.0).all(), "whatever is drawn"
    kept = learned.learn(strategy, F, np.zeros(4), np.zeros(4), closing=True)
    assert kept.CR.tolist() == learned.CR.tolist(), "without success nothing closes"


def test_ties_teach_alike_where_nothing_else_succeeded() -> None:
    strategy = np.array([0, 0, 0, 1, 1, 2])
    F, CR = np.array([0.4, 0.8, 0.9, 0.2, 1.0, 0.7]), np.array([0.2, 0.6, 0.9, 0.1, 0.8, 0.7])
    gains = np.array([0.0, 0.0, 0.0, 5.0, 0.0, 0.0])
    ties = np.array([True, True, False, True, True, False])
    learned = Memory.fresh(3, 1).learn(strategy, F, CR, gains, ties=ties)
    # Strategy 0 has ties only: equal weights, F = (0.16 + 0.64) / 1.2 = 2/3, CR = 0.4. Strategy 1 has a gain, so its
    # tie weighs nothing. Strategy 2 did not succeed.
    np.testing.assert_allclose(learned.F, [[2 / 3], [0.2], [0.5]], rtol=1e-14)
    np.testing.assert_allclose(learned.CR, [[0.4], [0.1], [0.5]], rtol=1e-14)
    # A tie with CR > 0 keeps a cell open, although it has no weight.
    closing = Memory.fresh(3, 1).learn(strategy, F, np.array([0, 0, 1, 0, 0.8, 0.0]), gains, ties=ties, closing=True)
    assert closing.CR.tolist() == [[CLOSED], [0.0], [0.5]]


# Normal numbers in [0, 1]: the law of drawing again, by formula and by loop.


MANY = 20_000


@pytest.mark.parametrize("location", [0.0, 0.04, 0.5, 1.0])
def test_it_has_the_law_of_drawing_again_until_inside(location: float) -> None:
    rng = np.random.default_rng(1)
    z = location + 0.1 * rng.standard_normal(4 * MANY)
    redrawn = z[(z >= 0) & (z <= 1)]
    at_once = truncated_normal(np.full(MANY, location), rng.random(MANY), 0.1)
    assert p_of_same_law(redrawn, at_once) > LEVEL
    assert p_of_law(at_once, stats.truncnorm(-10 * location, 10 * (1 - location), location, 0.1).cdf) > LEVEL


def test_cutting_off_instead_would_be_noticed() -> None:
    rng = np.random.default_rng(2)
    cut = np.clip(0.04 + 0.1 * rng.standard_normal(MANY), 0.0, 1.0)
    assert p_of_same_law(cut, truncated_normal(np.full(MANY, 0.04), rng.random(MANY), 0.1)) < LEVEL


def test_a_truncated_normal_number_by_hand() -> None:
    # Around one half the law is symmetric: u = 1/2 gives its middle. At 0 only the upper half is left: u = 0 gives 0.
    location = np.array([0.5, 0.0, 1.0])
    np.testing.assert_allclose(truncated_normal(location, np.array([0.5, 0.0, 0.0]), 0.1)[:2], [0.5, 0.0], atol=1e-12)


def test_extreme_draws_stay_inside() -> None:
    for location in (0.0, 1e-9, 0.5, 1.0):
        for deviation in (1e-3, 0.1, 1.0):
            drawn = truncated_normal(np.full(2, location), np.array(EXTREMES), deviation)
            assert (drawn >= 0).all() and (drawn <= 1).all()


def test_both_namespaces_agree() -> None:
    jax = pytest.importorskip("jax")
    rng = np.random.default_rng(3)
    location, u = rng.random(200), rng.random(200)
    with jax.enable_x64(True):
        theirs = jax.jit(lambda location, u: truncated_normal(location, u, 0.1))(location, u)
        np.testing.assert_allclose(theirs, truncated_normal(location, u, 0.1), rtol=1e-9, atol=1e-10)


# Pools of F and CR: every value, every pair, as often as the others.


PAIRS = ((1.0, 0.1), (1.0, 0.9), (0.8, 0.2))


def test_choices_by_hand() -> None:
    assert any_of((0.6, 0.8, 1.0), np.array([0.0, 0.33, 0.34, 0.66, 0.67])).tolist() == [0.6, 0.6, 0.8, 0.8, 1.0]
    assert any_of((0.6, 0.8, 1.0), np.array(EXTREMES)).tolist() == [0.6, 1.0]
    F, CR = any_pair(PAIRS, np.array([0.9, 0.1, 0.5]))
    assert F.tolist() == [0.8, 1.0, 1.0]
    assert CR.tolist() == [0.2, 0.1, 0.9]


def test_every_pair_comes_as_often_and_no_other() -> None:
    F, CR = any_pair(PAIRS, np.random.default_rng(1).random(30_000))
    drawn = [PAIRS.index(pair) for pair in zip(F.tolist(), CR.tolist(), strict=True)]
    assert p_of_counts(drawn, [1, 1, 1]) > LEVEL


def test_pairs_stand_in_for_a_memory_and_need_only_the_number_that_would_draw_a_cell() -> None:
    u = np.array([0.2, 0.7])
    F, CR = Pairs(PAIRS[1:]).draw(np.array([0, 2]), u, np.array([0.5, 0.9]), np.array([3.0, -3.0]))
    assert (F.tolist(), CR.tolist()) == ([1.0, 0.8], [0.9, 0.2])


def test_jax_gives_the_same_pairs() -> None:
    pytest.importorskip("jax")
    import jax.numpy as jnp

    u = np.random.default_rng(3).random(50)
    with float64():
        theirs = any_pair(PAIRS, jnp.asarray(u))
    np.testing.assert_array_equal(np.asarray(theirs), np.asarray(any_pair(PAIRS, u)))
