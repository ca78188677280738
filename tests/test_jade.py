"""JADE beside its literal version, and what is its own: two means that follow what succeeds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from reference.jade import ReferenceJADE
from reference.options import named, settings_of, tried
from reference.small_problems import PROBLEMS, end_of, states_of
from reference.walking import (
    Walk,
    archived,
    assert_close,
    assert_same_archive,
    assert_same_points,
    follow_population,
    walk_together,
)
from scipy import stats
from statistics_of_draws import LEVEL, p_of_law

from ppsde.algorithms.jade import JADE, Means, State
from ppsde.parts.memory import positive_cauchy

SMALL: dict[str, Any] = {"population_size": 20}
BUDGET = 40 * 20 + 7  # the last generation is cut

ALTERNATIVES: list[dict[str, Any]] = [
    {"population_size": 4},
    {"population_size": 33},
    {"pbest": 0.0},
    {"pbest": 0.4},
    {"c": 0.0},
    {"c": 1.0},
    {"archive_rate": 0.0},
    {"archive_rate": 3.0},
]


def assert_same(fast: State, slow: ReferenceJADE, where: str) -> None:
    assert int(fast.generation) == slow.G, where
    assert_same_points(fast.population, slow.population, where)
    assert_close([fast.means.F, fast.means.CR], [slow.mu_F, slow.mu_CR], where)
    assert_same_archive(fast.archive, slow.A, where)


def follow(slow: ReferenceJADE, fast: State) -> None:
    follow_population(slow, fast)
    slow.A = archived(fast.archive)
    slow.mu_F, slow.mu_CR = float(fast.means.F), float(fast.means.CR)


def walk(settings: JADE, problem: str, following: bool = True) -> Walk:
    return walk_together(ReferenceJADE, settings, problem, BUDGET, assert_same, follow if following else None)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_both_walk_the_same_way_from_start_to_end(problem: str) -> None:
    assert len(walk(JADE(**SMALL), problem, following=False).states) == 41


@pytest.mark.parametrize("problem", ["equalities", "failing"])
@pytest.mark.parametrize("options", ALTERNATIVES, ids=named)
def test_both_take_every_step_alike_whatever_the_setting(options: dict[str, Any], problem: str) -> None:
    walk(JADE(**{**SMALL, **options}), problem)


@pytest.mark.parametrize("options", [options for options in ALTERNATIVES if options != {"pbest": 0.0}], ids=named)
def test_every_setting_makes_a_difference(options: dict[str, Any]) -> None:
    usual, other = (end_of(JADE(**{**SMALL, **more}), "equalities", BUDGET) for more in ({}, options))
    assert usual != other


def test_pbest_is_one_of_two_at_least() -> None:
    ends = [end_of(JADE(**SMALL, pbest=share), "equalities", BUDGET) for share in (0.0, 0.1)]
    assert ends[0] == ends[1]


def test_no_setting_is_forgotten() -> None:
    assert tried(ALTERNATIVES) | {"rule"} == settings_of(JADE)


def test_the_rule_makes_a_difference_where_there_are_constraints() -> None:
    ends = [end_of(JADE(**SMALL, rule=rule), "equalities", BUDGET) for rule in ("feasibility", "epsilon")]
    assert ends[0] != ends[1]


def test_the_means_move_and_the_archive_keeps_to_its_limit() -> None:
    _, states = states_of(JADE(**SMALL), "equalities", BUDGET)
    assert len({float(state.means.F) for state in states}) > 20
    assert len({float(state.means.CR) for state in states}) > 20
    sizes = [int(state.archive.size) for state in states]
    assert sizes[0] == 0 and max(sizes) == sizes[-1] == 20


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"population_size": 3}, "population_size must be an int >= 4; got 3"),
        ({"pbest": 1.5}, "pbest must be a number from 0 to 1; got 1.5"),
        ({"c": -0.5}, "c must be a number from 0 to 1; got -0.5"),
        ({"archive_rate": -1}, "archive_rate must be a number from 0 to 100; got -1"),
        ({"rule": "deb"}, "unknown rule 'deb'; expected one of feasibility"),
    ],
)
def test_wrong_settings_are_named(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        JADE(**options)


SIZE = 20_000


def test_means_are_followed_by_hand() -> None:
    # S_F = 0.4, 0.8: Lehmer (0.16 + 0.64) / 1.2 = 2/3. S_CR = 0.2, 0.6: mean 0.4. c = 0.1.
    F, CR = np.array([0.4, 0.9, 0.8]), np.array([0.2, 1.0, 0.6])
    after = Means.fresh().learn(F, CR, np.array([True, False, True]), 0.1)
    np.testing.assert_allclose([after.F, after.CR], [0.9 * 0.5 + 0.1 * 2 / 3, 0.9 * 0.5 + 0.1 * 0.4], rtol=1e-14)


def test_without_success_the_means_stay() -> None:
    means = Means(np.asarray(0.3), np.asarray(0.7))
    after = means.learn(np.array([0.9]), np.array([0.1]), np.array([False]), 0.5)
    assert [float(after.F), float(after.CR)] == [0.3, 0.7]


def test_the_draws_are_around_the_means() -> None:
    rng = np.random.default_rng(1)
    means = Means(np.asarray(0.3), np.asarray(0.6))
    u = rng.random(SIZE)
    F, CR = means.draw(u, rng.standard_normal(SIZE))
    assert (positive_cauchy(np.full(SIZE, 0.3), u) == F).all()
    assert p_of_law(CR[CR < 1], stats.truncnorm(-6, 4, 0.6, 0.1).cdf) > LEVEL
    assert CR.min() >= 0.0 and CR.max() <= 1.0


def test_jax_learns_the_same_means() -> None:
    pytest.importorskip("jax")
    import jax.numpy as jnp

    from ppsde.engines.compiled import float64

    rng = np.random.default_rng(3)
    F, CR, success = rng.random(500), rng.random(500), rng.random(500) < 0.3
    with float64():
        ours = Means.fresh().learn(F, CR, success, 0.1)
        theirs = Means.fresh(jnp).learn(jnp.asarray(F), jnp.asarray(CR), jnp.asarray(success), 0.1)
        np.testing.assert_allclose([theirs.F, theirs.CR], [ours.F, ours.CR], rtol=1e-12)
