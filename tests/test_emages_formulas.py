"""eMAg-ES's own formulas by hand: matrix adaptation and gradient-based repair."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats
from statistics_of_draws import LEVEL, p_of_law

from ppsde.algorithm import Ask, Task
from ppsde.algorithms.emages import gradient_repair
from ppsde.parts.matrix_adaptation import Mutation, recombination
from ppsde.parts.slopes import jacobian, probes, residual
from ppsde.population import Population, choose, evaluated, forgotten

# Matrix adaptation: weights and rates by hand, a step by hand, draws by law, and what must teach nothing.


def test_weights_and_rates_by_hand() -> None:
    by = recombination(2, 3)
    # ln 2.5 = 0.9162907, ln 2.5 - ln 2 = 0.2231436; together 1.1394343.
    np.testing.assert_allclose(by.weights, [0.8041628, 0.1958372], rtol=1e-6)
    mu_w = 1 / (0.8041628**2 + 0.1958372**2)  # 1.459826
    assert by.mu_w == pytest.approx(mu_w, rel=1e-6)
    assert by.c_sigma == pytest.approx((mu_w + 2) / (3 + mu_w + 5), rel=1e-6)
    assert by.c_1 == pytest.approx(2 / (4.3**2 + mu_w), rel=1e-6)
    assert by.c_mu == pytest.approx(2 * (mu_w - 2 + 1 / mu_w) / (25 + mu_w), rel=1e-5)
    assert by.mu == 2


def test_one_parent_has_all_the_weight_and_teaches_the_matrix_by_the_path_alone() -> None:
    by = recombination(1, 5)
    assert by.weights.tolist() == [1.0] and by.mu_w == 1.0 and by.c_mu == 0.0


def test_the_rates_of_the_matrix_are_never_more_than_one_together() -> None:
    for mu in (10, 1000, 100_000):
        by = recombination(mu, 2)
        assert by.c_1 + by.c_mu <= 1.0


def test_a_step_by_hand() -> None:
    law = Mutation(np.array([1.0, 2.0]), np.array([[2.0, 0.0], [0.0, 1.0]]), np.array([0.0, 1.0]), np.asarray(0.5))
    z = np.array([[1.0, 0.0], [9.0, 9.0], [8.0, 8.0]])
    directions = law.directions(z)
    assert directions.tolist() == [[2.0, 0.0], [18.0, 9.0], [16.0, 8.0]]
    by = dataclasses.replace(recombination(1, 2), c_sigma=0.5, c_1=0.2, c_mu=0.4)  # round numbers
    after = law.learn(z, directions, np.ones(3, bool), by, 100.0)
    # mean = (1, 2) + 0.5 (2, 0). path = 0.5 (0, 1) + sqrt(1 * 0.5 * 1.5) (1, 0).
    root = math.sqrt(0.75)
    assert after.mean.tolist() == [2.0, 2.0]
    np.testing.assert_allclose(after.path, [root, 0.5], rtol=1e-15)
    # M path = (2 root, 0.5). M = 0.7 M + 0.1 (2 root, 0.5) (root, 0.5)^T + 0.2 (2, 0) (1, 0)^T.
    expected = [[1.4 + 0.1 * 2 * 0.75 + 0.4, 0.1 * root], [0.05 * root, 0.7 + 0.025]]
    np.testing.assert_allclose(after.M, expected, rtol=1e-14)
    # |path|^2 = 1: sigma exp(0.25 (1/2 - 1)).
    assert after.sigma == pytest.approx(0.5 * math.exp(-0.125), rel=1e-14)


def test_rows_count_by_their_weights_and_those_after_the_best_not_at_all() -> None:
    law = Mutation.fresh(np.zeros(2), 2.0)
    by = recombination(2, 2)
    z = np.array([[1.0, 0.0], [0.0, 1.0], [50.0, 50.0]])
    after = law.learn(z, z, np.ones(3, bool), by, 100.0)
    np.testing.assert_allclose(after.mean, 2.0 * by.weights, rtol=1e-14)


def test_rows_without_values_do_not_count() -> None:
    law = Mutation.fresh(np.zeros(2), 2.0)
    by = recombination(2, 2)
    z = np.array([[1.0, 0.0], [0.0, 1.0]])
    after = law.learn(z, z, np.array([True, False]), by, 100.0)
    np.testing.assert_allclose(after.mean, [2.0, 0.0])
    same = law.learn(z, z, np.array([False, False]), by, 100.0)
    assert same is law


def test_moved_points_are_traced_back_to_what_would_have_made_them() -> None:
    rng = np.random.default_rng(1)
    law = Mutation(rng.normal(size=3), rng.normal(size=(3, 3)), np.zeros(3), np.asarray(0.3))
    true_z, z = rng.normal(size=(2, 5, 3))
    x = law.points(law.directions(true_z))
    moved = np.array([True, False, True, False, False])
    traced_z, traced = law.traced_back(x, moved, z, law.directions(z))
    np.testing.assert_allclose(traced_z[moved], true_z[moved], rtol=1e-8)
    np.testing.assert_allclose(traced[moved], law.directions(true_z)[moved], rtol=1e-10)
    assert (traced_z[~moved] == z[~moved]).all() and (traced[~moved] == law.directions(z)[~moved]).all()


def test_tracing_back_by_hand() -> None:
    # (5 - 1) / 2 = 2 along the first axis, whose scale is 4; (2 - 0) / 2 = 1 along the second, less half the first.
    law = Mutation(np.array([1.0, 0.0]), np.array([[4.0, 0.0], [1.0, 1.0]]), np.zeros(2), np.asarray(2.0))
    z, directions = law.traced_back(np.array([[5.0, 2.0]]), np.array([True]), np.zeros((1, 2)), np.zeros((1, 2)))
    assert directions.tolist() == [[2.0, 1.0]] and z.tolist() == [[0.5, 0.5]]


def test_a_matrix_without_inverse_is_begun_anew_by_what_it_cannot_trace_back() -> None:
    jax = pytest.importorskip("jax")
    law = Mutation(np.zeros(2), np.array([[1.0, 1.0], [1.0, 1.0]]), np.zeros(2), np.asarray(1.0))
    x, drawn, everywhere = np.array([[1.0, 2.0]]), np.zeros((1, 2)), np.array([True])
    z, directions = law.traced_back(x, everywhere, drawn, drawn)
    assert not np.isfinite(z).all() and directions.tolist() == [[1.0, 2.0]]
    after = law.learn(z, directions, everywhere, recombination(1, 2), 100.0)
    assert after.M.tolist() == [[1.0, 0.0], [0.0, 1.0]] and after.mean.tolist() == [1.0, 2.0]
    with jax.enable_x64(True):
        there = Mutation(*(jax.numpy.asarray(v) for v in (law.mean, law.M, law.path, law.sigma)))
        z, directions = there.traced_back(*(jax.numpy.asarray(v) for v in (x, everywhere, drawn, drawn)))
        after = there.learn(z, directions, jax.numpy.asarray(everywhere), recombination(1, 2), 100.0)
        assert after.M.tolist() == [[1.0, 0.0], [0.0, 1.0]]


@pytest.mark.parametrize("entry", [np.nan, np.inf, 1e25])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_matrix_gone_wrong_is_begun_anew(entry: float) -> None:
    law = Mutation.fresh(np.zeros(2), 1.0)
    z = np.array([[entry, 0.0]])
    after = law.learn(z, np.zeros((1, 2)), np.ones(1, bool), recombination(1, 2), 100.0)
    assert after.M.tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert after.path.tolist() == [1.0, 1.0]
    assert after.sigma == 1.0, "a path of length sqrt(d) leaves the step size as it is"


def test_the_step_size_keeps_its_limits() -> None:
    by = recombination(1, 2)
    far, near = np.array([[30.0, 30.0]]), np.zeros((1, 2))
    assert Mutation.fresh(np.zeros(2), 1.0).learn(far, near, np.ones(1, bool), by, 7.0).sigma == 7.0
    law = Mutation.fresh(np.zeros(2), 1.0)
    for _ in range(20_000):
        law = law.learn(near, near, np.ones(1, bool), by, 7.0)
    assert 0.0 < law.sigma < 1e-150


def test_points_follow_the_normal_law_of_the_matrix() -> None:
    rng = np.random.default_rng(2)
    M = np.array([[2.0, 0.0], [1.0, 0.5]])
    law = Mutation(np.array([3.0, -1.0]), M, np.zeros(2), np.asarray(0.4))
    x = law.points(law.directions(rng.standard_normal((20_000, 2))))
    # Variances along the axes: 0.16 * 4 and 0.16 * (1 + 0.25); covariance 0.16 * 2.
    assert p_of_law(x[:, 0], stats.norm(3.0, 0.8).cdf) > LEVEL
    assert p_of_law(x[:, 1], stats.norm(-1.0, 0.4 * math.sqrt(1.25)).cdf) > LEVEL
    assert np.cov(x.T)[0, 1] == pytest.approx(0.32, rel=0.05)


def test_the_matrix_learns_a_narrow_ellipse() -> None:
    """On f = x0^2 + (30 x1)^2 the mutations become thirty times longer along x0."""
    rng = np.random.default_rng(3)
    scales = np.array([1.0, 30.0])
    law = Mutation.fresh(np.array([5.0, 5.0]), 1.0)
    by = recombination(4, 2)
    for _ in range(60):
        z = rng.standard_normal((12, 2))
        directions = law.directions(z)
        rank = np.argsort((((law.points(directions)) * scales) ** 2).sum(axis=1))
        law = law.learn(z[rank], directions[rank], np.ones(12, bool), by, 100.0)
    C = law.M @ law.M.T
    assert 10.0 < math.sqrt(C[0, 0] / C[1, 1]) < 90.0
    assert ((law.mean * scales) ** 2).sum() < 1e-6


def test_both_namespaces_learn_alike() -> None:
    jax = pytest.importorskip("jax")
    rng = np.random.default_rng(4)
    law = Mutation(rng.normal(size=3), rng.normal(size=(3, 3)), rng.normal(size=3), np.asarray(0.3))
    z, directions = rng.normal(size=(2, 6, 3))
    valid = np.array([True, False, True, True, True, True])
    by = recombination(3, 3)
    ours = law.learn(z, directions, valid, by, 100.0)
    with jax.enable_x64(True):
        there = Mutation(*(jax.numpy.asarray(v) for v in (law.mean, law.M, law.path, law.sigma)))
        theirs = there.learn(*(jax.numpy.asarray(v) for v in (z, directions, valid)), by, 100.0)
        for name in ("mean", "M", "path", "sigma"):
            np.testing.assert_allclose(getattr(theirs, name), getattr(ours, name), rtol=1e-12, err_msg=name)
        there_z, _ = there.traced_back(directions, jax.numpy.asarray(valid), z, directions)
        np.testing.assert_allclose(there_z, law.traced_back(directions, valid, z, directions)[0], rtol=1e-9)


# Gradient-based repair: probes, slopes and steps by hand; which points it asks for, and which it leaves.


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
        requests: list[int] = []

        @jax.jit
        def repaired(x: Any, wanted: Any) -> Any:
            theirs, asked = run(points_at(x, curved), wanted, 2, curved)
            requests.append(len(asked))
            return theirs.x

        np.testing.assert_allclose(repaired(x, wanted), ours.x, rtol=1e-9, atol=1e-9)
    assert requests == [4]
