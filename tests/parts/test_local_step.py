"""Steps around the best member: by hand, by law, and who is replaced."""

from __future__ import annotations

import numpy as np
import pytest
from statistics_of_draws import LEVEL, p_of_counts, p_of_law

from ppsde.algorithm import Task
from ppsde.algorithms.ude import around_the_best, with_best_replaced
from ppsde.engines.compiled import float64
from ppsde.parts.rules import Feasibility
from ppsde.population import Population
from ppsde.streams import NumpyStream, Tape

X = np.array([[1.0, 2.0], [3.0, 10.0], [5.0, -4.0], [0.0, 8.0]])
WIDE = Task(np.full(2, -1000.0), np.full(2, 1000.0), 1)


def population(f: list[float], violation: list[float]) -> Population:
    n = len(f)
    none = np.empty((n, 0))
    return Population(np.arange(2.0 * n).reshape(n, 2), np.array(f), np.array(violation), none, none)


def test_around_the_best_by_hand() -> None:
    # F = 0.5, CR = 0.3, r1 = 2 (place 1 of 1, 2, 3), r2 = 1 (place 0 of 1, 3), component 1 kept.
    draws = [np.array([[0.5], [0.3], [0.34], [0.0], [0.5]]), np.array([[0.31, 0.9]])]
    # x_0 + 0.5 (x_2 - x_1) = (1, 2) + 0.5 (2, -14) = (2, -5), of which component 1
    assert around_the_best(X, 1, WIDE, Tape(draws)).tolist() == [[1.0, -5.0]]
    draws[1] = np.array([[0.3, 0.9]])
    assert around_the_best(X, 1, WIDE, Tape(draws)).tolist() == [[2.0, -5.0]]
    narrow = Task(np.array([0.0, -1.0]), np.array([1.5, 20.0]), 1)
    assert around_the_best(X, 1, narrow, Tape(draws)).tolist() == [[1.0, 3.0]], "2 mirrored at 1.5, -5 at -1"


def test_the_differences_are_those_of_two_other_members_with_a_uniform_factor() -> None:
    x = np.array([[0.0], [1.0], [10.0], [100.0]])
    task = Task(np.array([-1000.0]), np.array([1000.0]), 1)
    made = around_the_best(x, 20_000, task, NumpyStream(1))[:, 0]
    sizes = np.array([9.0, 90.0, 99.0])
    # All differences of members 1, 2, 3 in both directions: 9, 90, 99, each as often, each with F in [0, 1).
    assert abs((made > 0).mean() - 0.5) < 0.02

    def distribution(v: np.ndarray) -> np.ndarray:
        shares: np.ndarray = np.mean([np.clip(v / size, 0.0, 1.0) for size in sizes], axis=0)
        return shares

    assert p_of_law(np.abs(made), distribution) > LEVEL


def test_between_one_and_all_components_change_all_numbers_of_them_alike() -> None:
    d = 4
    x = np.random.default_rng(1).random((6, d))
    task = Task(np.full(d, -1000.0), np.full(d, 1000.0), 1)
    changed = (around_the_best(x, 20_000, task, NumpyStream(2)) != x[0]).sum(axis=1)
    # One for certain and d - 1 with a chance that is itself uniform: every number is as likely.
    assert p_of_counts(changed - 1, np.ones(d)) > LEVEL


def test_the_best_step_replaces_the_best_member_unless_it_is_worse() -> None:
    before = population([3.0, 1.0, 2.0], [0.0, 1.0, 2.0])
    steps = population([9.0, 2.5, -7.0], [0.0, 0.0, 0.1])
    after = with_best_replaced(Feasibility(), steps, before)
    assert after.f.tolist() == [2.5, 1.0, 2.0]
    assert after.violation.tolist() == [0.0, 1.0, 2.0]
    assert after.x.tolist() == [steps.x[1].tolist(), *before.x[1:].tolist()]
    worse = population([3.5, -7.0], [0.0, 0.1])
    assert with_best_replaced(Feasibility(), worse, before).f.tolist() == before.f.tolist()
    failed = population([np.inf], [np.inf])
    assert with_best_replaced(Feasibility(), failed, before).f.tolist() == before.f.tolist()


def test_jax_takes_the_same_steps() -> None:
    pytest.importorskip("jax")
    import jax.numpy as jnp

    tape = Tape.record(NumpyStream(3))
    ours = around_the_best(X, 6, WIDE, tape)
    before, steps = population([3.0, 1.0, 2.0], [0.0, 1.0, 2.0]), population([9.0, 2.5, -7.0], [0.0, 0.0, 0.1])
    with float64():
        task = Task(jnp.asarray(WIDE.lower), jnp.asarray(WIDE.upper), 1)
        theirs = around_the_best(jnp.asarray(X), 6, task, Tape(tape.draws, jnp.asarray))
        np.testing.assert_allclose(theirs, ours, rtol=1e-13)
        before_there, steps_there = (
            Population(*map(jnp.asarray, (p.x, p.f, p.violation, p.g, p.h))) for p in (before, steps)
        )
        after = with_best_replaced(Feasibility(), steps_there, before_there)
    np.testing.assert_array_equal(after.x, with_best_replaced(Feasibility(), steps, before).x)
