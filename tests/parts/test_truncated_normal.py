"""Normal numbers in [0, 1]: the law of drawing again, by formula and by loop."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from statistics_of_draws import EXTREMES, LEVEL, p_of_law, p_of_same_law

from ppsde.parts.memory import truncated_normal

SIZE = 20_000


@pytest.mark.parametrize("location", [0.0, 0.04, 0.5, 1.0])
def test_it_has_the_law_of_drawing_again_until_inside(location: float) -> None:
    rng = np.random.default_rng(1)
    z = location + 0.1 * rng.standard_normal(4 * SIZE)
    redrawn = z[(z >= 0) & (z <= 1)]
    at_once = truncated_normal(np.full(SIZE, location), rng.random(SIZE), 0.1)
    assert p_of_same_law(redrawn, at_once) > LEVEL
    assert p_of_law(at_once, stats.truncnorm(-10 * location, 10 * (1 - location), location, 0.1).cdf) > LEVEL


def test_cutting_off_instead_would_be_noticed() -> None:
    rng = np.random.default_rng(2)
    cut = np.clip(0.04 + 0.1 * rng.standard_normal(SIZE), 0.0, 1.0)
    assert p_of_same_law(cut, truncated_normal(np.full(SIZE, 0.04), rng.random(SIZE), 0.1)) < LEVEL


def test_by_hand() -> None:
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
        theirs = truncated_normal(jax.numpy.asarray(location), jax.numpy.asarray(u), 0.1)
        np.testing.assert_allclose(theirs, truncated_normal(location, u, 0.1), rtol=1e-9, atol=1e-10)
