"""CL-SRDE, RDEx and RDE26 beside their literal versions, and what is their own: two populations that shrink."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from reference.cl_srde import LatestAndBest, ReferenceCLSRDE
from reference.options import named, settings_of, tried
from reference.rdex import ReferenceRDEx
from reference.small_problems import PROBLEMS, end_of, states_of
from reference.walking import Walk, assert_close, assert_same_memory, assert_same_points, listed, walk_together

from ppsde.algorithms.cl_srde import CLSRDE
from ppsde.algorithms.rdex import RDE26, RDEx
from ppsde.parts.indices import geometric_rank, linear_rank

BUDGET = 400
SMALL: dict[str, Any] = {"population_size": 24, "memory_size": 3, "blocks": 2}
USUAL = {
    "cl-srde": CLSRDE(**SMALL),
    "rdex": RDEx(**SMALL),
    "rde26": replace(RDE26, **SMALL, first_CR=0.5, race_top=0.3),
}

OF_CLSRDE: list[dict[str, Any]] = [
    {"population_size": 9},
    {"final_size": 10},
    {"memory_size": 1},
    {"first_CR": 0.2},
    {"pbest": 1.0},
    {"rank_pressure": 1.0},
    {"success_power": 1.0},
    {"theta": 0.3},
    {"closes": 0.3},
    {"blocks": 5},
]
OF_RDE26: list[dict[str, Any]] = [
    {"population_size": None},
    {"population_size": None, "size_per_variable": 4.0},
    {"final_size": 10},
    {"memory_size": 1},
    {"first_F": 0.1},
    {"first_CR": 0.2},
    {"learning_rate": 1.0},
    {"success_power": 1.0},
    {"F_scale": 0.5},
    {"CR_deviation": 0.5},
    {"pbest": 0.1},
    {"rank_pressure": 1.0},
    {"theta": 0.3},
    {"closes": 0.3},
    {"ordered_after": 0.2},
    {"first_ordered_rate": 0.1},
    {"ordered_pbest": 0.9},
    {"ordered_pbest_decay": 0.0},
    {"ordered_F": 0.9},
    {"ordered_CR": 0.1},
    {"perturbation": 0.0},
    {"perturbation_scale": 3.0},
    {"repair_share": 0.9},
    {"race_top": 0.9},
    {"race_until": 0.4},
    {"race_feasible": 0.0},
    {"race_pbest": 0.05},
    {"race_pull": 1.5},
    {"race_difference": 0.2},
    {"race_CR_least": 0.8},
    {"race_CR_most": 0.3},
    {"blocks": 1},
]


def assert_same(fast: Any, slow: LatestAndBest, where: str) -> None:
    N = len(slow.front)
    counted = [int(v) for v in (fast.generation, fast.size, fast.evaluations, fast.next, fast.round.made)]
    assert counted == [slow.G, N, slow.FES, slow.pointer, slow.made], where
    assert_same_points(fast.front.take(slice(0, N)), slow.front, where)
    assert_same_points(fast.population.take(slice(0, N)), slow.population, where)
    assert not fast.front.valid[N:].any() and not fast.population.valid[N:].any(), where
    assert_close([fast.success_rate, fast.round.epsilon], [slow.SR, slow.eps], where)
    assert int(fast.round.success.sum()) == len(slow.S) and int(fast.round.accepted.valid.sum()) == len(slow.pool), (
        where
    )
    assert_same_memory(fast.memory, [slow.M_F], [slow.M_CR], [slow.k], where)
    if isinstance(slow, ReferenceRDEx):
        assert_close(fast.ordering.rate, slow.rate, where)
        assert_close(fast.ordering.f, slow.last_f, where)


def follow(slow: Any, fast: Any) -> None:
    N = int(fast.size)
    slow.front, slow.population = (listed(p.take(slice(0, N))) for p in (fast.front, fast.population))
    slow.pool = [p for p in listed(fast.round.accepted) if not p.failed]
    slow.eps, slow.mass = float(fast.round.epsilon), fast.round.f.tolist()[:N]
    slow.M_F, slow.M_CR = fast.memory.F[0].tolist(), fast.memory.CR[0].tolist()
    if isinstance(slow, ReferenceRDEx):
        slow.rate, slow.last_f = float(fast.ordering.rate), fast.ordering.f.tolist()


def walk(settings: Any, problem: str) -> Walk:
    reference = ReferenceCLSRDE if isinstance(settings, CLSRDE) else ReferenceRDEx
    return walk_together(reference, settings, problem, BUDGET, assert_same, follow)


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("name", USUAL)
def test_both_take_every_step_alike(name: str, problem: str) -> None:
    assert len(walk(USUAL[name], problem).states) > 20


VARIED = [
    *(pytest.param("cl-srde", options, id=f"cl-srde {named(options)}") for options in OF_CLSRDE),
    *(pytest.param("rde26", options, id=f"rde26 {named(options)}") for options in OF_RDE26),
]


@pytest.mark.parametrize(("name", "options"), VARIED)
def test_both_take_every_step_alike_whatever_the_setting_and_it_makes_a_difference(
    name: str, options: dict[str, Any]
) -> None:
    settings = replace(USUAL[name], **options)
    walk(settings, "failing")
    problems = ("failing", "inequalities", "unconstrained")
    assert any(end_of(settings, p, BUDGET) != end_of(USUAL[name], p, BUDGET) for p in problems)


def test_no_setting_is_forgotten() -> None:
    assert tried(OF_CLSRDE) == settings_of(CLSRDE) and tried(OF_RDE26) == settings_of(RDEx)


def test_these_runs_race_and_use_the_ordered_strategy() -> None:
    """Otherwise the agreement above would say little."""
    _, states = states_of(USUAL["rde26"], "inequalities", BUDGET)
    spent = np.diff([int(state.evaluations) for state in states])
    assert (spent > [-(-int(state.size) // SMALL["blocks"]) for state in states[:-1]]).any()
    assert states[-1].ordering.ordered.any() and len({float(state.ordering.rate) for state in states}) > 3


def test_ranks_are_drawn_by_their_weights() -> None:
    u = (np.arange(100_000) + 0.5) / 100_000
    n, taken = 10, 2
    weights = np.exp(-7 * np.arange(n) / n)
    weights[taken] = 0
    drawn = np.bincount(geometric_rank(u, np.int64(n), 7.0, np.full(len(u), taken)), minlength=n) / len(u)
    np.testing.assert_allclose(drawn, weights / weights.sum(), atol=3e-5)
    weights = np.where(np.isin(np.arange(n), [1, 4]) | (np.arange(n) >= 6), 0, n - np.arange(n))
    taken_ranks = [np.full(len(u), rank) for rank in (4, 8, 1)]
    drawn = np.bincount(linear_rank(u, np.int64(n), np.int64(6), *taken_ranks), minlength=n) / len(u)
    np.testing.assert_allclose(drawn, weights / weights.sum(), atol=3e-5)


@pytest.mark.parametrize("options", [{"final_size": 3}, {"population_size": 3}, {"theta": 2}, {"success_power": 0}])
@pytest.mark.parametrize("algorithm", [CLSRDE, RDEx])
def test_a_wrong_setting_is_named(algorithm: type, options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(options))):
        algorithm(**options)
