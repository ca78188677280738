"""The pseudo-inverse by hand, by its four laws, and its absolute limit."""

from __future__ import annotations

import numpy as np
import pytest

from ppsde.parts.pseudo_inverse import pseudo_inverse


def test_by_hand() -> None:
    # Of a row (3, 4): its transpose divided by 25. Of a diagonal: the inverses, 0 of 0.
    np.testing.assert_allclose(pseudo_inverse(np.array([[3.0, 4.0]])), [[0.12], [0.16]], rtol=1e-14)
    np.testing.assert_allclose(pseudo_inverse(np.diag([2.0, 0.0, -4.0])), np.diag([0.5, 0.0, -0.25]), atol=1e-15)


@pytest.mark.parametrize("shape", [(3, 3), (2, 5), (5, 2)])
def test_it_keeps_the_laws_of_moore_and_penrose(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(1)
    A = rng.normal(size=(4, *shape))
    A[1, 0] = A[1, 1]  # of less than full rank
    P = pseudo_inverse(A)
    np.testing.assert_allclose(A @ P @ A, A, atol=1e-12)
    np.testing.assert_allclose(P @ A @ P, P, atol=1e-12)
    np.testing.assert_allclose(A @ P, np.swapaxes(A @ P, 1, 2), atol=1e-12)
    np.testing.assert_allclose(P @ A, np.swapaxes(P @ A, 1, 2), atol=1e-12)


def test_singular_values_count_from_an_absolute_limit_on() -> None:
    P = pseudo_inverse(np.array([np.diag([1.0, 2e-12]), np.diag([1.0, 1e-12]), np.diag([1e-13, 5e-13])]))
    np.testing.assert_allclose(P[0], np.diag([1.0, 5e11]), rtol=1e-12)
    np.testing.assert_allclose(P[1], np.diag([1.0, 0.0]))
    np.testing.assert_allclose(P[2], np.zeros((2, 2)))


def test_both_namespaces_agree() -> None:
    jax = pytest.importorskip("jax")
    A = np.random.default_rng(2).normal(size=(3, 2, 4))
    with jax.enable_x64(True):
        np.testing.assert_allclose(pseudo_inverse(jax.numpy.asarray(A)), pseudo_inverse(A), atol=1e-12)
