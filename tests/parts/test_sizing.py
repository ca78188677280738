"""Sizes by hand, and what is left of a population that shrinks."""

from __future__ import annotations

import numpy as np
import pytest

from ppsde.algorithm import Task
from ppsde.parts.sizing import alive, elapsed_share, linear_size, rounded, shrunk
from ppsde.population import Population


def population(n: int) -> Population:
    k = np.arange(n, dtype=float)
    return Population(np.stack([k, -k], axis=1), k, k / 10, k[:, None] / 10, np.empty((n, 0)))


def test_halves_are_rounded_up() -> None:
    assert [int(rounded(v)) for v in (0.0, 0.49, 0.5, 1.5, 2.5, 7.49)] == [0, 0, 1, 2, 3, 7]


def test_the_elapsed_share_never_exceeds_one() -> None:
    task = Task(np.zeros(2), np.ones(2), 200)
    assert [float(elapsed_share(k, task)) for k in (0, 50, 200, 260)] == [0.0, 0.25, 1.0, 1.0]


def test_the_size_falls_along_a_line() -> None:
    # 180 - 176 e: 180, 136, 92, 90.24 -> 90, 4.
    sizes = linear_size(180, 4, np.array([0.0, 0.25, 0.5, 0.51, 1.0]))
    assert sizes.tolist() == [180, 136, 92, 90, 4]
    assert linear_size(7, 7, np.array([0.3])).tolist() == [7]


def test_the_first_rows_are_alive() -> None:
    assert alive(5, np.asarray(3)).tolist() == [True, True, True, False, False]


def test_dead_rows_have_no_values_and_sort_last() -> None:
    before = population(6)
    after = shrunk(before, np.asarray(4))
    assert after.f.tolist() == [0.0, 1.0, 2.0, 3.0, np.inf, np.inf]
    assert after.violation[:4].tolist() == before.violation[:4].tolist()
    assert not after.valid[4:].any() and not after.feasible[4:].any()
    assert after.sorted().f.tolist() == after.f.tolist()


def test_a_population_as_large_as_its_size_is_left_alone() -> None:
    before = population(3)
    after = shrunk(before, np.asarray(3))
    assert after.f.tolist() == before.f.tolist() and after.violation.tolist() == before.violation.tolist()


def test_jax_gives_the_same_numbers() -> None:
    jnp = pytest.importorskip("jax.numpy")
    elapsed = np.linspace(0.0, 1.0, 41)
    assert linear_size(90, 4, jnp.asarray(elapsed)).tolist() == linear_size(90, 4, elapsed).tolist()
    assert alive(5, jnp.asarray(2)).tolist() == [True, True, False, False, False]
