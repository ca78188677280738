"""Gradient-based repair: probes, slopes and steps by hand; which points it asks for, and which it leaves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ppsde.algorithm import Ask, Task
from ppsde.algorithms.emages import gradient_repair, jacobian, probes, residual
from ppsde.population import Population, choose, evaluated, forgotten

TASK = Task(np.array([0.0, -1.0]), np.array([2.0, 4.0]), 1000)
TOLERANCE = 1e-4


def values(x: Any) -> tuple[Any, Any, Any]:
    """g = x0 - 1, h = x0 + 2 x1 - 3: both linear, so that one step is exact."""
    return x[:, 0] * 1.0, x[:, :1] - 1.0, x[:, :1] + 2.0 * x[:, 1:] - 3.0


def curved(x: Any) -> tuple[Any, Any, Any]:
    return x[:, 0] * 1.0, x[:, :0], x[:, :1] ** 2 + x[:, 1:] ** 2 - 1.0


def points_at(x: Any, of: Callable[[Any], Any] = values) -> Population:
    return evaluated(x, *of(x), TOLERANCE)


def run(
    points: Population, wanted: Any, steps: int = 3, of: Callable[[Any], Any] = values, fails: Any = None
) -> tuple[Population, list[Ask]]:
    """The repaired points, and what was asked for on the way. Points where `fails(x)` holds give no values."""
    coroutine = gradient_repair(points, wanted, TASK, steps=steps, difference=1e-4)
    asked: list[Ask] = []
    answer: Any = None
    while True:
        try:
            request = coroutine.send(answer)
        except StopIteration as end:
            return end.value, asked
        asked.append(request)
        answer = points_at(request.x, of)
        counts = request.wanted if fails is None else request.wanted & ~fails(request.x)
        answer = choose(counts, answer, forgotten(answer))


def test_probes_go_forward_or_at_the_upper_side_backward() -> None:
    x = np.array([[1.0, 2.0], [2.0, 3.9]])
    made = probes(x, TASK, 0.25)
    assert made.tolist() == [[[1.25, 2.0], [1.0, 2.25]], [[1.75, 3.9], [2.0, 3.65]]]


def test_probes_stay_in_a_narrow_box() -> None:
    narrow = Task(np.array([0.0, 1.0]), np.array([0.1, 1.0]), 10)
    made = probes(np.array([[0.05, 1.0]]), narrow, 0.25)
    assert made.tolist() == [[[0.0, 1.0], [0.05, 1.0]]]


def test_slopes_by_hand_forward_and_backward() -> None:
    x = np.array([[0.5, 0.5], [2.0, 4.0]])
    points = points_at(x)
    measured = points_at(probes(x, TASK, 0.25).reshape(4, 2))
    slopes = jacobian(points, measured, np.array([True, True]))
    np.testing.assert_allclose(slopes, [[[1.0, 0.0], [1.0, 2.0]]] * 2, atol=1e-12)
    assert (jacobian(points, measured, np.array([False, True]))[0] == 0).all()


def test_a_component_without_room_has_no_slope() -> None:
    narrow = Task(np.array([0.0, 1.0]), np.array([2.0, 1.0]), 10)
    x = np.array([[0.5, 1.0]])
    measured = points_at(probes(x, narrow, 0.25).reshape(2, 2))
    np.testing.assert_allclose(jacobian(points_at(x), measured, np.array([True])), [[[1.0, 0.0], [1.0, 0.0]]])


def test_what_is_left_of_the_constraints_by_hand() -> None:
    # g = 0.5 counts, g = -0.5 does not; h counts in full, within the tolerance too.
    left = residual(points_at(np.array([[1.5, 1.0], [0.5, 1.250025]])))
    np.testing.assert_allclose(left, [[0.5, 0.5], [0.0, 5e-5]], atol=1e-12)


def test_a_step_on_linear_constraints_ends_where_they_hold() -> None:
    repaired, asked = run(points_at(np.array([[1.5, 2.0]])), np.array([True]))
    # g = 0.5 and h = 2.5 vanish at x0 = 1, x1 = 1; rounding may leave g a hair above 0, for another step.
    np.testing.assert_allclose(repaired.x, [[1.0, 1.0]], atol=1e-9)
    assert asked[0].x.tolist() == [[1.5001, 2.0], [1.5, 2.0001]]


def test_only_wanted_points_that_violate_are_moved() -> None:
    x = np.array([[0.5, 1.25], [1.5, 2.0], [1.9, 0.0], [0.5, 0.5]])  # feasible, not wanted, wanted, without values
    points = points_at(x)
    points = choose(np.array([True, True, True, False]), points, forgotten(points))
    repaired, asked = run(points, np.array([True, False, True, True]))
    assert [request.wanted.tolist() for request in asked[:2]] == [
        [False] * 4 + [True] * 2 + [False] * 2,
        [False, False, True, False],
    ]
    assert repaired.x[[0, 1, 3]].tolist() == x[[0, 1, 3]].tolist()
    assert not np.allclose(repaired.x[2], x[2])


def test_steps_end_when_the_point_is_feasible_and_at_the_latest_after_their_number() -> None:
    far = points_at(np.array([[2.0, 3.0]]), curved)
    for steps in (0, 1, 2, 3):
        repaired, asked = run(far, np.array([True]), steps, curved)
        assert len(asked) == 2 * steps
    assert not repaired.feasible[0], "three steps are not enough from there"
    near, asked = run(points_at(np.array([[1.01, 0.0]]), curved), np.array([True]), 3, curved)
    assert near.feasible[0] and len(asked) == 2


def test_newton_steps_converge_quadratically() -> None:
    point = points_at(np.array([[1.2, 0.5]]), curved)
    missed = []
    for steps in (1, 2):
        repaired, _ = run(point, np.array([True]), steps, curved)
        missed.append(abs(float(repaired.h[0, 0])))
    # For h = |x|^2 - 1 a step leaves h^2 / (4 |x|^2).
    first = float(point.h[0, 0])
    assert missed[0] == pytest.approx(first**2 / (4 * (1 + first)), rel=1e-3)
    assert missed[1] == pytest.approx(missed[0] ** 2 / (4 * (1 + missed[0])), rel=1e-2)


def test_a_step_that_leaves_the_box_is_folded() -> None:
    steep = evaluated(np.array([[0.5, 0.0]]), np.zeros(1), np.zeros((1, 0)), np.full((1, 1), 3.0), TOLERANCE)

    def slope(x: Any) -> Any:
        return np.zeros(len(x)), x[:, :0], 3.0 + (x[:, :1] - 0.5)  # vanishes at x0 = -2.5, a width and 0.5 outside

    repaired, asked = run(steep, np.array([True]), 1, slope)
    np.testing.assert_allclose(repaired.x, [[0.5, 0.0]], atol=1e-9)
    assert all((request.x >= TASK.lower).all() and (request.x <= TASK.upper).all() for request in asked)


def test_no_step_is_made_from_probes_without_values() -> None:
    x = np.array([[1.5, 2.0]])
    repaired, asked = run(points_at(x), np.array([True]), 1, fails=lambda x: x[:, 1] > 2.0)
    assert repaired.x.tolist() == x.tolist()
    assert not asked[1].wanted.any()


def test_a_step_to_a_point_without_values_is_not_kept() -> None:
    x = np.array([[1.5, 2.0]])
    repaired, asked = run(points_at(x), np.array([True]), 1, fails=lambda x: x[:, 0] < 1.4)
    assert asked[1].wanted.all()
    assert repaired.x.tolist() == x.tolist() and repaired.valid.all()


def test_without_constraints_nothing_is_asked_for() -> None:
    x = np.array([[1.5, 2.0]])
    free = evaluated(x, np.zeros(1), x[:, :0], x[:, :0], TOLERANCE)
    assert run(free, np.array([True]))[1] == []


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_slopes_too_steep_for_numbers_do_no_harm() -> None:
    def cliff(x: Any) -> Any:
        return np.zeros(len(x)), 1e306 * (1.0 + x[:, :1]), x[:, :0]

    repaired, _ = run(points_at(np.array([[0.5, 0.0]]), cliff), np.array([True]), 2, cliff)
    assert np.isfinite(repaired.x).all()


def test_both_namespaces_repair_alike() -> None:
    jax = pytest.importorskip("jax")
    x = np.random.default_rng(1).uniform(TASK.lower, TASK.upper, (6, 2))
    wanted = np.arange(6) % 3 != 0
    ours, _ = run(points_at(x, curved), wanted, 2, curved)
    with jax.enable_x64(True):
        theirs, asked = run(points_at(jax.numpy.asarray(x), curved), jax.numpy.asarray(wanted), 2, curved)
        assert len(asked) == 4
        np.testing.assert_allclose(theirs.x, ours.x, rtol=1e-9, atol=1e-9)
