"""The historical versions of the CEC2017 suite: they differ where, and only where, the old code did."""

from __future__ import annotations

import numpy as np
import pytest

from ppsde.problem import Problem
from ppsde.suites import get

SUITE = get("cec2017")
CHANGED = {"2016-matlab-batch": {"C18", "C27"}, "2016-cpp": {"C09", "C15", "C24"}}


def pair(name: str, version: str, d: int = 10) -> tuple[Problem, Problem]:
    return SUITE.problem(name, d, instance=1), SUITE.problem(name, d, instance=1, version=version)


@pytest.mark.parametrize("version", CHANGED)
def test_a_historical_version_differs_in_its_own_problems_only(version: str) -> None:
    for name in SUITE.names:
        now, then = pair(name, version)
        x = np.random.default_rng(1).uniform(now.lower, now.upper, (8, 10))
        same = all(np.array_equal(a, b) for a, b in zip(now.evaluate(x), then.evaluate(x), strict=True))
        assert same == (name not in CHANGED[version])
        assert then.properties["version"] == version


@pytest.mark.parametrize("name", ["C18", "C27"])
def test_the_batch_defect_takes_the_chain_from_the_first_row(name: str) -> None:
    now, then = pair(name, "2016-matlab-batch")
    x = np.random.default_rng(2).uniform(now.lower, now.upper, (6, 10))
    right, wrong = now.evaluate(x)[2][:, 0], then.evaluate(x)[2][:, 0]
    assert wrong[0] == right[0]
    assert np.allclose(wrong, right[0], rtol=1e-12)  # the product, at most 1, is lost beside the chain term
    alone = [then.evaluate(row[None, :])[2][0, 0] for row in x]
    assert alone == right.tolist()  # one row at a time it was always right


@pytest.mark.parametrize("name", ["C15", "C24"])
def test_the_old_maximum_lacks_the_absolute_value(name: str) -> None:
    now, then = pair(name, "2016-cpp")
    fun = then.fun
    target = np.full(10, -5.0 * np.pi / 4.0)  # the optimum of the defective problem, known from published tables
    y = np.linalg.solve(fun.matrices[0], target) if fun.matrices else target
    f, g, h = then.evaluate((fun.shift + y)[None, :])
    assert f[0] == pytest.approx(-5.0 * np.pi / 4.0)
    assert g[0, 0] <= 0.0
    assert abs(h[0, 0]) < 1e-10
    assert now.evaluate((fun.shift + y)[None, :])[0][0] == pytest.approx(5.0 * np.pi / 4.0)


def test_the_old_c09_pairs_neighbours_from_the_second_pair_on() -> None:
    fun = SUITE.problem("C09", 6, instance=1, version="2016-cpp").fun
    _, _, (h,) = fun.formula(np.array([[9.0, 9.0, 2.0, 1.0, 3.0, 4.0]]))
    assert h[0] == (2.0**2 - 1.0) ** 2 + (3.0**2 - 4.0) ** 2


def test_a_changed_problem_claims_no_optimum() -> None:
    for version, names in CHANGED.items():
        for name in names:
            assert pair(name, version)[1].optimum is None
