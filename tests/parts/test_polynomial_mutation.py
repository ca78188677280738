"""Polynomial mutation by hand, by law, and at the bounds."""

from __future__ import annotations

import numpy as np
import pytest
from statistics_of_draws import EXTREMES, LEVEL, p_of_law

from ppsde.algorithms.aga_pps import polynomial_mutation

LOWER, UPPER = np.array([0.0, -10.0]), np.array([1.0, 10.0])


def test_by_hand_with_index_one() -> None:
    # Index 1. u = 1/8, from the middle of [0, 1]: tail 1/4, 1/4 + 3/4 * (1/2)^2 = 7/16, share 1 - sqrt(7)/4 down.
    # u = 7/8 from 5 in [-10, 10]: room 1/4, 1/4 + 3/4 * (3/4)^2 = 43/64, share 1 - sqrt(43)/8 of 20 up.
    x, u = np.array([[0.5, 5.0]]), np.array([[0.125, 0.875]])
    moved = polynomial_mutation(x, LOWER, UPPER, 1.0, u, np.array([[True, True]]))
    expected = [[0.5 - (1 - np.sqrt(7) / 4), 5.0 + 20 * (1 - np.sqrt(43) / 8)]]
    np.testing.assert_allclose(moved, expected, rtol=1e-14)


def test_only_chosen_components_move() -> None:
    x, u = np.array([[0.5, 5.0]] * 2), np.full((2, 2), 0.3)
    moved = polynomial_mutation(x, LOWER, UPPER, 20.0, u, np.array([[True, False], [False, True]]))
    assert (moved != x).tolist() == [[True, False], [False, True]]


def test_one_half_moves_nothing() -> None:
    x = np.array([[0.5, 5.0]])
    np.testing.assert_allclose(polynomial_mutation(x, LOWER, UPPER, 20.0, np.full((1, 2), 0.5), x > 0), x, rtol=1e-14)


def test_the_result_stays_inside_for_extreme_draws() -> None:
    for u in EXTREMES:
        for x in (LOWER, UPPER, np.array([0.3, 9.0])):
            moved = polynomial_mutation(x[None], LOWER, UPPER, 20.0, np.full((1, 2), u), np.ones((1, 2), bool))
            assert (moved >= LOWER).all() and (moved <= UPPER).all()
    flat = polynomial_mutation(np.array([[2.0]]), np.array([2.0]), np.array([2.0]), 20.0, np.array([[0.1]]), True)
    assert flat.tolist() == [[2.0]]


@pytest.mark.parametrize("start", [0.0, 0.03, 0.5, 1.0])
def test_moves_have_the_density_of_the_polynomial_cut_at_the_bounds(start: float) -> None:
    """Down with probability one half, if there is room; the share of the width has density (1 - share)^20 up to it."""
    index, size = 20.0, 20_000
    u = np.random.default_rng(1).random((size, 1))
    x = np.full((size, 1), start)
    moved = polynomial_mutation(x, np.zeros(1), np.ones(1), index, u, np.ones((size, 1), bool))
    for share, room in ((start - moved[u < 0.5], start), (moved[u >= 0.5] - start, 1.0 - start)):
        if room == 0.0:
            assert (share == 0).all()
        else:
            whole = 1.0 - (1.0 - room) ** (index + 1)
            assert p_of_law(share, lambda q, whole=whole: (1.0 - (1.0 - q) ** (index + 1)) / whole) > LEVEL


def test_both_namespaces_agree() -> None:
    jax = pytest.importorskip("jax")
    rng = np.random.default_rng(3)
    x, u = rng.uniform(LOWER, UPPER, (50, 2)), rng.random((50, 2))
    chosen = rng.random((50, 2)) < 0.5
    ours = polynomial_mutation(x, LOWER, UPPER, 20.0, u, chosen)
    with jax.enable_x64(True):
        theirs = polynomial_mutation(*(jax.numpy.asarray(v) for v in (x, LOWER, UPPER)), 20.0, u, chosen)
        np.testing.assert_allclose(theirs, ours, rtol=1e-12)
