"""Shortest solutions by hand, beside those of a library's pseudo-inverse, and at the limits of rank."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from ppsde.parts.slopes import _tournament, shortest_solutions


def by_pseudo_inverse(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    solutions: np.ndarray = (np.linalg.pinv(A, rcond=1e-13) @ b[:, :, None])[:, :, 0]
    return solutions


def test_by_hand() -> None:
    # One equation: along its row, (3, 4) * 5 / 25. Two orthogonal ones: each alone.
    np.testing.assert_allclose(shortest_solutions(np.array([[[3.0, 4.0]]]), np.array([[5.0]])), [[0.6, 0.8]])
    A = np.array([[[2.0, 0.0, 0.0], [0.0, 4.0, 0.0]]])
    np.testing.assert_allclose(shortest_solutions(A, np.array([[1.0, 1.0]])), [[0.5, 0.25, 0.0]], atol=1e-15)
    # Twice the same equation with different right sides: their mean.
    A = np.array([[[1.0, 1.0], [1.0, 1.0]]])
    np.testing.assert_allclose(shortest_solutions(A, np.array([[1.0, 3.0]])), [[1.0, 1.0]], rtol=1e-14)


@pytest.mark.parametrize("shape", [(1, 1), (1, 4), (2, 10), (3, 3), (5, 10), (6, 2), (9, 30), (12, 5)])
def test_it_gives_what_a_pseudo_inverse_gives(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(1)
    A, b = rng.normal(size=(50, *shape)), rng.normal(size=(50, shape[0]))
    np.testing.assert_allclose(shortest_solutions(A, b), by_pseudo_inverse(A, b), rtol=1e-8, atol=1e-9)


def test_rows_of_very_different_sizes_and_dependent_rows_are_no_trouble() -> None:
    rng = np.random.default_rng(2)
    A, b = rng.normal(size=(50, 5, 8)), rng.normal(size=(50, 5))
    A[:, 0] *= 1e5
    A[:, 1] *= 1e-3
    A[:, 4] = A[:, 2] - 2 * A[:, 3]
    np.testing.assert_allclose(shortest_solutions(A, b), by_pseudo_inverse(A, b), rtol=1e-9, atol=1e-9)


def test_equations_of_zeros_say_nothing() -> None:
    A = np.array([[[3.0, 4.0], [0.0, 0.0], [0.0, 0.0]], [[0.0, 0.0]] * 3])
    solutions = shortest_solutions(A, np.array([[5.0, 7.0, 0.0], [1.0, 2.0, 3.0]]))
    np.testing.assert_allclose(solutions, [[0.6, 0.8], [0.0, 0.0]], atol=1e-15)


def test_singular_values_count_from_an_absolute_limit_on() -> None:
    A = np.array([np.diag([1.0, 2e-12]), np.diag([1.0, 1e-12]), np.diag([1e-13, 5e-13])])
    solutions = shortest_solutions(A, np.ones((3, 2)))
    np.testing.assert_allclose(solutions, [[1.0, 5e11], [1.0, 0.0], [0.0, 0.0]], rtol=1e-12)


def test_singular_values_lost_in_the_rounding_of_the_largest_count_as_zero() -> None:
    solution = shortest_solutions(np.diag([1e8, 1.0, 1e-9])[None], np.ones((1, 3)))
    np.testing.assert_allclose(solution, [[1e-8, 1.0, 0.0]], rtol=1e-12)


@pytest.mark.parametrize("scale", [1e200, 1e-9])
def test_large_and_small_matrices_are_solved_as_well(scale: float) -> None:
    rng = np.random.default_rng(3)
    A, b = rng.normal(size=(5, 3, 4)), rng.normal(size=(5, 3))
    expected = by_pseudo_inverse(A, b) / scale
    np.testing.assert_allclose(shortest_solutions(scale * A, b), expected, rtol=1e-9)


@pytest.mark.parametrize("m", [2, 4, 6, 10])
def test_in_a_tournament_every_two_meet_once(m: int) -> None:
    first, second, back = _tournament(m)
    met = sorted(tuple(sorted(pair)) for pair in zip(first.ravel().tolist(), second.ravel().tolist(), strict=True))
    assert met == list(combinations(range(m), 2))
    for p, q, order in zip(first, second, back, strict=True):
        assert np.concatenate([p, q])[order].tolist() == list(range(m))


def test_both_namespaces_agree_and_the_unneeded_is_finite() -> None:
    jax = pytest.importorskip("jax")
    rng = np.random.default_rng(4)
    A, b = rng.normal(size=(6, 5, 7)), rng.normal(size=(6, 5))
    with jax.enable_x64(True):
        traced = jax.jit(shortest_solutions)
        needed, unneeded = (traced(A, b, jax.numpy.asarray(flag)) for flag in (True, False))
        np.testing.assert_allclose(needed, shortest_solutions(A, b), rtol=1e-10)
        assert np.isfinite(unneeded).all() and not np.allclose(unneeded, needed)
