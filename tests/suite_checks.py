"""What tests of several suites share: points to try, JAX in 64 bits, and equality up to rounding."""

from __future__ import annotations

from contextlib import AbstractContextManager

import numpy as np
import pytest

from ppsde.problem import Problem


def points_inside_and_on_the_edges(problem: Problem, n: int, seed: int) -> np.ndarray:
    """Points (n, d) whose coordinates are each the lower limit, the upper limit or between them."""
    rng = np.random.default_rng(seed)
    inside = rng.uniform(problem.lower, problem.upper, (n, problem.dimension))
    choice = rng.integers(0, 4, (n, problem.dimension))
    x = np.where(choice == 0, problem.lower, np.where(choice == 1, problem.upper, inside))
    x[0], x[1] = problem.lower, problem.upper
    return x


def double_precision() -> AbstractContextManager[None]:
    pytest.importorskip("jax")
    from ppsde.engines.compiled import float64

    return float64()


def assert_same(actual: np.ndarray, expected: np.ndarray, relative: float) -> None:
    """Equal up to rounding, measured against the largest value of each column: sums of large terms cancel.

    +inf, which is a value of objectives, must be at the same places.
    """
    assert actual.shape == expected.shape
    assert ((actual == np.inf) == (expected == np.inf)).all()
    actual, expected = (np.where(values == np.inf, 0.0, values) for values in (actual, expected))
    if expected.size:
        assert (np.abs(actual - expected) <= relative * np.abs(expected).max(axis=0)).all()


def assert_rows_do_not_depend_on_each_other(problem: Problem) -> None:
    x = points_inside_and_on_the_edges(problem, 12, seed=3)
    together = problem.evaluate(x)
    alone = [np.concatenate(parts) for parts in zip(*(problem.evaluate(row[None]) for row in x), strict=True)]
    for whole, part in zip(together, alone, strict=True):
        assert_same(part, whole, 1e-14)


def assert_numpy_and_jax_agree(problem: Problem) -> None:
    """To rounding, and in double precision."""
    x = points_inside_and_on_the_edges(problem, 40, seed=4)
    expected = problem.evaluate(x)
    with double_precision():
        import jax
        import jax.numpy as jnp

        actual = [np.asarray(part) for part in jax.jit(problem.evaluate)(jnp.asarray(x))]
    for ours, theirs in zip(actual, expected, strict=True):
        assert ours.dtype == np.float64
        assert_same(ours, theirs, 1e-12)
