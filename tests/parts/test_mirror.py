"""Mirrored once at the bound, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from ppsde.engines.compiled import float64
from ppsde.parts.repairs import mirrored, mirrored_or_put

LOWER, UPPER = np.array([0.0, 0.0, -4.0, 0.0]), np.array([10.0, 10.0, 4.0, 10.0])


def test_mirrored_by_hand() -> None:
    v = np.array([[-3.0, 12.0, 3.0, 10.0], [-11.0, 25.0, -4.5, 0.0]])
    # -11 is mirrored to 11, beyond the other bound, and 25 to -5.
    assert mirrored(v, LOWER, UPPER).tolist() == [[3.0, 8.0, 3.0, 10.0], [10.0, 0.0, -3.5, 0.0]]


def test_mirrored_or_put_by_hand() -> None:
    v = np.array([[-3.0, 12.0, 3.0, 10.0]] * 4)
    below, above = np.array([True, True, False, False]), np.array([True, False, True, False])
    assert mirrored_or_put(v, LOWER, UPPER, below, above).tolist() == [
        [3.0, 8.0, 3.0, 10.0],
        [3.0, 10.0, 3.0, 10.0],
        [10.0, 8.0, 3.0, 10.0],  # below the box and not mirrored: put on the upper bound, too
        [10.0, 10.0, 3.0, 10.0],
    ]


def test_what_is_mirrored_out_of_the_other_side_is_put_on_the_lower_bound() -> None:
    yes = np.array([True])
    v = np.array([[-11.0, 25.0, 13.0, 5.0]])
    assert mirrored_or_put(v, LOWER, UPPER, yes, yes).tolist() == [[0.0, 0.0, -4.0, 5.0]]


def test_whatever_comes_ends_in_the_box_and_what_is_inside_is_not_touched() -> None:
    rng = np.random.default_rng(1)
    v = rng.normal(0.0, 20.0, (300, 4))
    v[0], v[1] = np.inf, -np.inf
    below, above = rng.random(300) < 0.5, rng.random(300) < 0.5
    inside = (v >= LOWER) & (v <= UPPER)
    for repaired in (mirrored(v, LOWER, UPPER), mirrored_or_put(v, LOWER, UPPER, below, above)):
        assert ((repaired >= LOWER) & (repaired <= UPPER)).all()
        assert (repaired[inside] == v[inside]).all()


def test_jax_gives_the_same_points() -> None:
    pytest.importorskip("jax")
    import jax.numpy as jnp

    rng = np.random.default_rng(2)
    v, below, above = rng.normal(0.0, 20.0, (50, 4)), rng.random(50) < 0.5, rng.random(50) < 0.5
    with float64():
        box = jnp.asarray(LOWER), jnp.asarray(UPPER)
        np.testing.assert_allclose(mirrored(jnp.asarray(v), *box), mirrored(v, LOWER, UPPER), rtol=1e-14)
        theirs = mirrored_or_put(jnp.asarray(v), *box, jnp.asarray(below), jnp.asarray(above))
        np.testing.assert_allclose(theirs, mirrored_or_put(v, LOWER, UPPER, below, above), rtol=1e-14)
