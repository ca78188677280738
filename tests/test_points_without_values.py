"""Random problems that fail at random points: such a point is never feasible, never best, never learned from."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import pytest

import ppsde
from ppsde.algorithm import Task
from ppsde.engines.run import Run

WAYS = ((np.nan, 0.0, 0.0), (-np.inf, -1.0, 0.0), (-9.0, np.nan, 0.0), (-9.0, -np.inf, 0.0), (-9.0, -1.0, np.nan))


class Failing:
    """A random quadratic with an inequality and an equality, failing in a random way; it remembers where."""

    def __init__(self, rng: np.random.Generator, d: int) -> None:
        self.centre, self.normal, self.phase = rng.uniform(-2, 2, d), rng.normal(size=d), rng.uniform(0, 6)
        self.share = rng.choice([0.01, 0.3, 0.9])
        self.way = np.array(WAYS[rng.integers(len(WAYS))])
        self.failed: list[np.ndarray] = []

    def __call__(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        f = ((x - self.centre) ** 2).sum(axis=1)
        g, h = (x @ self.normal - 1.0)[:, None], (x[:, :1] - self.centre[0]) * 1e-3
        fails = (np.sin(91.0 * x.sum(axis=1) + self.phase) + 1) / 2 < self.share
        self.failed.extend(row.tobytes() for row in x[fails])
        bad_f, bad_g, bad_h = self.way
        pick = fails[:, None]
        return np.where(fails, bad_f, f), np.where(pick, bad_g, g), np.where(pick, bad_h, h)


def leaves(tree: Any, path: str = "state") -> Any:
    if is_dataclass(tree):
        for field in fields(tree):
            if field.name not in ("g", "h"):  # values as they came, which nothing looks at where a point failed
                yield from leaves(getattr(tree, field.name), f"{path}.{field.name}")
    elif isinstance(tree, tuple):
        for k, part in enumerate(tree):
            yield from leaves(part, f"{path}[{k}]")
    else:
        yield path, np.asarray(tree)


def survive(method: str, seed: int) -> int:
    """One case; the number of points that failed in it."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 5))
    problem = Failing(rng, d)
    task = Task(np.full(d, -3.0), np.full(d, 3.0), int(rng.integers(20, 400)))
    run = Run(ppsde.ALGORITHMS[method], task, seed=seed, tolerance=1e-4)
    failed: set[bytes] = set()
    while run.wanted is not None:
        run.supply(*problem(run.wanted))
        failed.update(problem.failed)
        problem.failed.clear()
        if run.best is not None:
            assert run.best.x[0].tobytes() not in failed, "a failed point became the best"
            assert np.isfinite(run.best.f[0]) and np.isfinite(run.best.violation[0])
        if run.state is not None:
            population = run.state.population
            for row in np.flatnonzero(population.valid):
                assert population.x[row].tobytes() not in failed, "a failed point counts as valid"
            for path, leaf in leaves(run.state):
                if leaf.dtype.kind == "f":
                    assert not np.isnan(leaf).any(), f"{path} holds NaN"
    assert run.failed >= len(failed)
    return len(failed)


@pytest.mark.parametrize("method", ppsde.ALGORITHMS)
def test_points_without_values_leave_no_trace(method: str) -> None:
    assert sum(survive(method, seed) for seed in range(12)) > 0


@pytest.mark.slow
@pytest.mark.parametrize("method", ppsde.ALGORITHMS)
def test_ten_thousand_cases_over_all_methods(method: str) -> None:
    cases = -(-10_000 // len(ppsde.ALGORITHMS))
    assert sum(survive(method, 1000 + seed) for seed in range(cases)) > cases


@pytest.mark.parametrize("method", ppsde.ALGORITHMS)
@pytest.mark.parametrize(
    ("lower", "upper"),
    [([0.0], [1.0]), ([2.0], [2.0]), ([0.0, 5.0, -1.0], [1.0, 5.0, 1.0]), ([0.0], [5e-324]), ([-1e300], [1e300])],
    ids=["one variable", "one fixed", "one of three fixed", "next to nothing", "nearly everything"],
)
@pytest.mark.parametrize("budget", [1, 7, 150])
@pytest.mark.filterwarnings("ignore:max_evaluations=. is too few:UserWarning")
def test_odd_boxes_work(method: str, lower: list[float], upper: list[float], budget: int) -> None:
    result = ppsde.minimize(
        lambda x: (float(np.tanh(x).sum()), [x[0] - upper[0]], []),
        list(zip(lower, upper, strict=True)),
        method=method,
        max_evaluations=budget,
        rng=3,
        tol=0,
    )
    assert result.nfev == budget and result.success
    assert np.all((result.x >= lower) & (result.x <= upper))


class NotAtFirst:
    """A function of one point whose first evaluations return NaN alone, as a simulator that does not start."""

    def __init__(self, value: Any) -> None:
        self.value, self.calls = value, 0

    def __call__(self, x: np.ndarray) -> Any:
        self.calls += 1
        return ((x**2).sum(), [1 - x[0]], []) if self.calls > 3 else self.value


@pytest.mark.parametrize("value", [np.nan, (np.nan, [], []), {"f": np.nan}])
@pytest.mark.parametrize("more", [{}, {"n_ineq": 1, "n_eq": 0}], ids=["open", "counts"])
def test_a_first_point_that_is_nan_alone_fails_and_says_nothing_about_constraints(value: Any, more: Any) -> None:
    with ThreadPoolExecutor(1) as worker:
        for given in ({}, {"asynchronous": True, "workers": worker}):
            problem = ppsde.Problem(NotAtFirst(value), [(-5, 5)] * 2, **more)
            result = ppsde.minimize(problem, max_evaluations=200, rng=1, **given)
            assert result.feasible and result.fun == pytest.approx(1.0, abs=1e-3)
            assert [failure.message for failure in result.failures] == ["f is nan"] * 3
