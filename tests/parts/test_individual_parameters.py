"""F and CR around means and by rank: by hand, by the law of the papers' redrawing, and what must teach nothing."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from statistics_of_draws import EXTREMES, LEVEL, p_of_law, p_of_same_law

from ppsde.algorithms.jade import Means
from ppsde.algorithms.lshade44_ide import by_rank
from ppsde.parts.memory import positive_cauchy

SIZE = 20_000


def test_means_are_followed_by_hand() -> None:
    # S_F = 0.4, 0.8: Lehmer (0.16 + 0.64) / 1.2 = 2/3. S_CR = 0.2, 0.6: mean 0.4. c = 0.1.
    F, CR = np.array([0.4, 0.9, 0.8]), np.array([0.2, 1.0, 0.6])
    after = Means.fresh().learn(F, CR, np.array([True, False, True]), 0.1)
    np.testing.assert_allclose([after.F, after.CR], [0.9 * 0.5 + 0.1 * 2 / 3, 0.9 * 0.5 + 0.1 * 0.4], rtol=1e-14)


def test_without_success_the_means_stay() -> None:
    means = Means(np.asarray(0.3), np.asarray(0.7))
    after = means.learn(np.array([0.9]), np.array([0.1]), np.array([False]), 0.5)
    assert [float(after.F), float(after.CR)] == [0.3, 0.7]


def test_the_draws_are_around_the_means() -> None:
    rng = np.random.default_rng(1)
    means = Means(np.asarray(0.3), np.asarray(0.6))
    u = rng.random(SIZE)
    F, CR = means.draw(u, rng.standard_normal(SIZE))
    assert (positive_cauchy(np.full(SIZE, 0.3), u) == F).all()
    assert p_of_law(CR[CR < 1], stats.truncnorm(-6, 4, 0.6, 0.1).cdf) > LEVEL
    assert CR.min() >= 0.0 and CR.max() <= 1.0


def redrawn_normal(rng: np.random.Generator, location: float) -> float:
    """As the paper writes it: again until 0 < F <= 1."""
    while True:
        value = rng.normal(location, 0.1)
        if 0 < value <= 1:
            return float(value)


@pytest.mark.parametrize("rank", [0, 3, 24, 49])
def test_a_factor_by_rank_has_the_law_of_the_papers_redrawing(rank: int) -> None:
    rng = np.random.default_rng(2)
    by_loop = np.array([redrawn_normal(rng, (rank + 1) / 50) for _ in range(SIZE // 4)])
    at_once = by_rank(np.full(SIZE, rank), 50, rng.random(SIZE))
    assert p_of_same_law(by_loop, at_once) > LEVEL
    if rank in (0, 49):
        cut = np.clip(rng.normal((rank + 1) / 50, 0.1, SIZE), 0, 1)
        assert p_of_same_law(by_loop, cut) < LEVEL, "what is outside is drawn again, not cut off"


def test_a_factor_by_rank_by_hand() -> None:
    # The last of all ranks lies around 1: half of the normal law is left, u = 1/2 is its lower quarter.
    expected = 1.0 + 0.1 * stats.norm.ppf(0.25)
    assert by_rank(np.array([9]), 10, np.array([0.5]))[0] == pytest.approx(expected, rel=1e-9)
    # Rank 4 of 10 lies around 1/2, five deviations from either end: u = 1/2 is the middle.
    assert by_rank(np.array([4]), 10, np.array([0.5]))[0] == pytest.approx(0.5, rel=1e-9)


def test_a_factor_by_rank_is_in_its_range_for_extreme_draws_and_dead_rows() -> None:
    for rank in (0, 5, 124, 125, 900, 10**6):
        factors = by_rank(np.full(2, rank), 125, np.array(EXTREMES))
        assert (factors > 0).all() and (factors <= 1).all()


def test_jax_gives_the_same_factors() -> None:
    pytest.importorskip("jax")
    import jax.numpy as jnp

    from ppsde.engines.compiled import float64

    rng = np.random.default_rng(3)
    rank, u = rng.integers(0, 60, 500), rng.random(500)
    F, CR, success = rng.random(500), rng.random(500), rng.random(500) < 0.3
    with float64():
        np.testing.assert_allclose(by_rank(jnp.asarray(rank), 60, jnp.asarray(u)), by_rank(rank, 60, u), rtol=1e-9)
        ours = Means.fresh().learn(F, CR, success, 0.1)
        theirs = Means.fresh(jnp).learn(jnp.asarray(F), jnp.asarray(CR), jnp.asarray(success), 0.1)
        np.testing.assert_allclose([theirs.F, theirs.CR], [ours.F, ours.CR], rtol=1e-12)
