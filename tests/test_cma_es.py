"""CMA-ES beside its literal version, and what is its own: a law that learns the shape of the function."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from reference.cma_es import ReferenceCMAES
from reference.options import settings_of, tried
from reference.small_problems import PROBLEMS, end_of, feasible_best_of
from reference.walking import Walk, assert_close, assert_same_points, listed, walk_together

import ppsde
from ppsde.algorithms.cma_es import CMAES, Law, State, best_half, roots
from ppsde.parts.handling import RULES

SMALL: dict[str, Any] = {"population_size": 8}
BUDGET = 8 * 30 + 5  # the last generation is cut
ALTERNATIVES: list[dict[str, Any]] = [{"population_size": 15}, {"sigma": 0.05}]


def assert_same(fast: State, slow: ReferenceCMAES, where: str) -> None:
    assert int(fast.generation) == slow.G, where
    assert_same_points(fast.population, slow.population, where)
    law = fast.law
    for ours, theirs in ((law.mean, slow.m), (law.sigma, slow.sigma), (law.C, slow.C)):
        assert_close(ours, theirs, where)
    assert_close([law.path, law.even_path], [slow.p_c, slow.p_sigma], where)


def follow(slow: ReferenceCMAES, fast: State) -> None:
    slow.population, law = listed(fast.population), fast.law
    slow.m, slow.sigma, slow.C = law.mean.tolist(), float(law.sigma), law.C
    slow.p_c, slow.p_sigma = law.path, law.even_path


def walk(settings: CMAES, problem: str) -> Walk:
    return walk_together(ReferenceCMAES, settings, problem, BUDGET, assert_same, follow)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_both_take_every_step_alike(problem: str) -> None:
    walk(CMAES(**SMALL), problem)


@pytest.mark.parametrize("options", ALTERNATIVES, ids=str)
def test_both_take_every_step_alike_whatever_the_setting(options: dict[str, Any]) -> None:
    other = walk(CMAES(**{**SMALL, **options}), "failing").states[-1].population.x.tolist()
    assert other != end_of(CMAES(**SMALL), "failing", BUDGET), "the setting has no effect here"


def test_no_setting_is_forgotten() -> None:
    assert tried(ALTERNATIVES) | {"rule"} == settings_of(CMAES)


@pytest.mark.parametrize(("n", "raw"), [(6, [3.5, 3.5 / 2, 3.5 / 3]), (7, [4, 4 / 2, 4 / 3, 1])])
def test_weights_are_those_of_the_tutorial_for_odd_and_even_numbers_of_offspring(n: int, raw: list[float]) -> None:
    """Proportional to ln((n + 1) / 2) - ln i; n // 2 in the place of n / 2 would make the last of an odd n larger."""
    np.testing.assert_allclose(best_half(n, 3).weights, np.log(raw) / np.log(raw).sum(), atol=1e-15)


def ellipsoid(x: Any) -> Any:
    """Axes a thousand times longer than others, turned."""
    turned = x @ np.array([[0.6, 0.8, 0], [-0.8, 0.6, 0], [0, 0, 1.0]])
    return (turned**2 * np.array([1.0, 1e3, 1e6])).sum(axis=1)


def test_the_matrix_learns_the_shape_of_an_ellipsoid() -> None:
    result = ppsde.minimize(ellipsoid, [(-5, 4)] * 3, method="cma-es", max_evaluations=2500, rng=1, vectorized=True)
    assert result.fun < 1e-12


def test_roots_of_a_matrix_and_of_one_that_is_nearly_singular() -> None:
    C = np.array([[2.0, 1.0], [1.0, 2.0]])
    root, inverse = roots(C)
    np.testing.assert_allclose(root @ root, C)
    np.testing.assert_allclose(root @ inverse, np.eye(2), atol=1e-15)
    root, inverse = roots(np.diag([1.0, 0.0]))
    np.testing.assert_allclose(np.diag(root), [1.0, 1e-7])
    assert np.isfinite(inverse).all()


def test_a_law_that_overflows_starts_again_with_the_identity() -> None:
    law = Law.fresh(np.array([0.5, 0.5]), 1e-200)
    by = best_half(4, 2)
    with np.errstate(all="ignore"):
        later = law.learn(np.array([[0.0, 1.0], [1.0, 0.0]]), by.weights, np.eye(2), by, np.asarray(1))
    np.testing.assert_array_equal(later.C, np.eye(2))
    assert np.isfinite(later.sigma) and (later.mean >= 0).all() and not later.path.any()


@pytest.mark.parametrize("rule", RULES)
def test_every_technique_of_constraint_handling_can_serve(rule: str) -> None:
    feasible_best_of(CMAES(population_size=12, rule=rule), "inequalities", 1500)


def test_wrong_settings_are_named() -> None:
    with pytest.raises(ValueError, match="sigma must be a number from 1e-100 to 10; got 0"):
        CMAES(sigma=0)
