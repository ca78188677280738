"""The epsilon of C2oDE and IUDE, by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ppsde.engines.compiled import float64
from ppsde.parts.epsilon import ClosingEpsilon
from ppsde.population import Population


def of_violations(*violation: float) -> ClosingEpsilon:
    n = len(violation)
    none = np.empty((n, 0))
    return ClosingEpsilon.of(Population(np.zeros((n, 1)), np.array(violation), np.array(violation), none, none))


def value(closing: ClosingEpsilon, elapsed: float, closes: float) -> float:
    return float(closing.at(np.asarray(elapsed)).epsilon(closes))


def test_it_starts_at_the_largest_violation_of_the_points_that_have_values() -> None:
    closing = of_violations(2.0, 7.0, 0.0, math.inf)
    assert value(closing, 0.0, 0.5) == 7.0
    assert float(closing.elapsed) == 0.0


def test_it_comes_down_to_exp_minus_6_at_its_end_and_is_0_after() -> None:
    closing = of_violations(7.0)
    for closes in (0.2, 0.5, 0.8):
        assert value(closing, closes, closes) == pytest.approx(math.exp(-6.0), rel=1e-12)
        assert value(closing, closes + 1e-9, closes) == 0.0
        assert value(closing, 1.0, closes) == 0.0


def test_on_its_way_by_hand() -> None:
    # start e^2, from there to e^-6 at half time: the power is 8 / ln 2, so a quarter is e^2 (3/4)^(8 / ln 2).
    closing = of_violations(math.exp(2.0))
    assert value(closing, 0.25, 0.5) == pytest.approx(math.exp(2.0) * 0.75 ** (8.0 / math.log(2.0)), rel=1e-12)
    # start 1, to e^-6 at 1 - 1/e: the power is 6.
    assert value(of_violations(1.0), 0.5, 1.0 - math.exp(-1.0)) == pytest.approx(0.5**6, rel=1e-12)


def test_one_that_starts_low_stays_and_one_that_starts_at_0_is_0() -> None:
    low = of_violations(1e-3)
    assert [value(low, elapsed, 0.5) for elapsed in (0.0, 0.3, 0.5, 0.51)] == [1e-3, 1e-3, 1e-3, 0.0]
    assert [value(of_violations(0.0, 0.0), elapsed, 0.5) for elapsed in (0.0, 0.3, 0.5, 1.0)] == [0.0] * 4
    assert value(of_violations(math.inf), 0.0, 0.5) == 0.0, "no point has values"


def test_jax_gives_the_same_numbers() -> None:
    pytest.importorskip("jax")
    import jax.numpy as jnp

    with float64():
        for start in (0.0, 1e-3, 7.0):
            ours = of_violations(start, 0.0)
            theirs = ClosingEpsilon(jnp.asarray(start), jnp.asarray(0.0))
            for elapsed in (0.0, 0.3, 0.5, 0.8):
                later = theirs.at(jnp.asarray(elapsed)).epsilon(0.5)
                np.testing.assert_allclose(later, value(ours, elapsed, 0.5), rtol=1e-13)
