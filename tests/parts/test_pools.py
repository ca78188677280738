"""Pools of F and CR: every value, every pair, as often as the others."""

from __future__ import annotations

import numpy as np
import pytest
from statistics_of_draws import EXTREMES, LEVEL, p_of_counts

from ppsde.algorithms.ude import Pairs
from ppsde.engines.compiled import float64
from ppsde.parts.memory import any_of, any_pair

PAIRS = ((1.0, 0.1), (1.0, 0.9), (0.8, 0.2))


def test_by_hand() -> None:
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
