"""A rule that treats members differently, for blocks of trials that are smaller than the population."""

from __future__ import annotations

import numpy as np
import pytest

from ppsde.algorithms.ude import Blockwise
from ppsde.parts.rules import Feasibility
from ppsde.parts.stochastic import Coin
from ppsde.population import Scores


def test_every_block_is_judged_like_the_first_members() -> None:
    # Members 0 and 2 of three are judged by f alone; blocks of two are members 0 and 1, again and again.
    coin = Coin(np.array([0.0, 0.9, 0.0]), 0.45)
    points = Scores(np.arange(6.0), np.full(6, 7.0))
    assert coin.keys(points)[0].tolist() == [0.0, 7.0, 0.0, 0.0, 7.0, 0.0]
    first, second = Blockwise(coin, 2).keys(points)
    assert first.tolist() == [0.0, 7.0, 0.0, 7.0, 0.0, 7.0]
    assert second.tolist() == points.f.tolist()


def test_a_rule_that_treats_all_alike_stays_as_it_is() -> None:
    points = Scores(np.array([3.0, 1.0, 2.0, 5.0]), np.array([0.0, 1.0, 0.5, np.inf]))
    assert [key.tolist() for key in Blockwise(Feasibility(), 2).keys(points)] == [
        key.tolist() for key in Feasibility().keys(points)
    ]


def test_jax_gives_the_same_keys() -> None:
    pytest.importorskip("jax")
    import jax.numpy as jnp

    points = Scores(np.arange(6.0), np.full(6, 7.0))
    ours = Blockwise(Coin(np.array([0.0, 0.9, 0.0]), 0.45), 2).keys(points)
    theirs = Blockwise(Coin(jnp.asarray([0.0, 0.9, 0.0]), 0.45), 2).keys(Scores(*map(jnp.asarray, points)))
    np.testing.assert_array_equal(np.asarray(theirs), np.asarray(ours))
