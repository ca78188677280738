"""Matrix adaptation: weights and rates by hand, a step by hand, draws by law, and what must teach nothing."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from scipy import stats
from statistics_of_draws import LEVEL, p_of_law

from ppsde.algorithms.emages import Mutation, recombination


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
