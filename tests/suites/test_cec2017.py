"""The CEC2017 suite against values of the organisers' code and the best points known, and its historical versions."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from suite_checks import double_precision

from ppsde.population import competition_violation
from ppsde.problem import Problem
from ppsde.suites import get
from ppsde.suites.cec2017_data import OFFICIAL_DIMENSIONS, find

SUITE = get("cec2017")
FOLDER = find().parent if find() else None
needs_official_data = pytest.mark.skipif(FOLDER is None, reason="the official CEC2017 data is not on this machine")

Values = tuple[np.ndarray, np.ndarray, np.ndarray]


@cache
def stored(file: str) -> Mapping[str, np.ndarray]:
    path = Path(str(FOLDER)) / file
    if not path.is_file():
        pytest.skip(f"the official data on this machine comes without {file}")
    with np.load(path) as arrays:
        return dict(arrays)


@cache
def best_known() -> dict[str, Any]:
    path = Path(str(FOLDER)) / "best_known.json"
    if not path.is_file():
        pytest.skip("the official data on this machine comes without best_known.json")
    problems: dict[str, Any] = json.loads(path.read_text())["problems"]
    return problems


def references(name: str) -> list[tuple[Problem, np.ndarray, Values]]:
    """Problem, points and values, at every dimension; without the zero column for constraints a problem lacks."""
    table, cases = stored("reference.npz"), []
    for d in OFFICIAL_DIMENSIONS:
        problem = SUITE.problem(name, d, instance="official")
        for kind in ("", "special_"):
            if f"{kind}X_{name}_D{d}" in table:
                x, f, g, h = (table[f"{kind}{what}_{name}_D{d}"] for what in "Xfgh")
                cases.append((problem, x, (f, g if problem.n_ineq else g[:, :0], h if problem.n_eq else h[:, :0])))
    assert len(cases) == (8 if name in ("C17", "C18") else 4)
    return cases


def assert_close(name: str, expected: Values, found: Values) -> None:
    for a, b in zip(expected, found, strict=True):
        assert a.shape == b.shape
        assert b.dtype == np.float64
        difference = np.abs(a - b) / np.maximum(1.0, np.abs(a))
        assert (difference <= (1e-9 if name == "C28" else 1e-11)).all()  # C28: sin z^3 with z up to 300


def row_by_row(evaluate: Callable[[np.ndarray], Values], x: np.ndarray) -> Values:
    f, g, h = zip(*(evaluate(row[None, :]) for row in x), strict=True)
    return np.concatenate(f), np.concatenate(g), np.concatenate(h)


@needs_official_data
@pytest.mark.parametrize("name", SUITE.names)
def test_numpy_gives_the_values_of_the_official_code(name: str) -> None:
    for problem, x, expected in references(name):
        assert_close(name, expected, problem.evaluate(x))
        assert_close(name, expected, row_by_row(problem.evaluate, x))


@needs_official_data
@pytest.mark.parametrize("name", SUITE.names)
def test_jax_gives_the_values_of_the_official_code(name: str) -> None:
    """In a batch, and each row alone in a loop; all in one program, since compiling is what takes the time."""
    jax = pytest.importorskip("jax")
    cases = references(name)

    def values(problem: Problem, x: Any) -> Any:
        return problem.fun(x), jax.lax.map(lambda row: problem.fun(row[None, :]), x)

    with double_precision():
        found = jax.jit(lambda points: [values(case[0], x) for case, x in zip(cases, points, strict=True)])(
            [x for _, x, _ in cases]
        )
    for (_, _, expected), (together, alone) in zip(cases, found, strict=True):
        assert_close(name, expected, tuple(map(np.asarray, together)))
        assert_close(name, expected, tuple(np.asarray(column)[:, 0] for column in alone))


@needs_official_data
@pytest.mark.parametrize("name", SUITE.names)
def test_best_known_points_have_the_stated_value_and_violation(name: str) -> None:
    points, facts = stored("best_known_points.npz"), best_known()[name]
    for d in OFFICIAL_DIMENSIONS:
        problem, stated = SUITE.problem(name, d, instance="official"), facts["dims"][str(d)]
        x = points[f"x_{name}_D{d}"][None, :]
        assert ((problem.lower <= x) & (x <= problem.upper)).all()
        f, g, h = problem.evaluate(x)
        violation = competition_violation(g, h)[0]
        assert abs(f[0] - stated["f_best"]) <= 1e-11 * max(1.0, abs(stated["f_best"]))
        assert (violation == 0.0) == facts["feasible_points_exist"]
        assert abs(violation - stated["violation_mean"]) <= 1e-11 * max(1.0, stated["violation_mean"])


@needs_official_data
@pytest.mark.parametrize("name", SUITE.names)
def test_the_stated_optimum_is_the_best_known_value(name: str) -> None:
    facts = best_known()[name]
    for d in OFFICIAL_DIMENSIONS:
        problem, stated = SUITE.problem(name, d, instance="official"), facts["dims"][str(d)]
        assert problem.optimum is not None
        assert (problem.optimum.value, problem.optimum.violation) == (stated["f_best"], stated["violation_mean"])
        assert (problem.optimum.status == "infeasible problem") == (not facts["feasible_points_exist"])
        assert problem.properties["feasible"] == facts["feasible_points_exist"]
        if problem.optimum.status == "proved":
            assert facts["optimality"].startswith("proved")


def test_ties_round_away_from_zero() -> None:
    from ppsde.suites.cec2017_formulas import half_integers

    y = np.array([0.25, -0.49, 0.5, -0.5, 0.75, -0.75, 1.25, -1.25, 1.2, 2.25, -2.25])
    assert half_integers(y).tolist() == [0.25, -0.49, 0.5, -0.5, 1.0, -1.0, 1.5, -1.5, 1.0, 2.5, -2.5]


def test_simple_formulas_agree_with_a_calculation_by_hand() -> None:
    y = np.array([[1.0, 2.0, -3.0, 4.0]])
    assert np.array_equal(at(y, "C08")[2], [[1.0 + 4.0, 4.0 + 36.0]])  # odd-numbered 1, -3; even-numbered 2, 4
    f, g, h = at(y, "C09")
    assert (f[0], g[0, 0], h[0, 0]) == (4.0, 8.0, (1.0 + 3.0) ** 2)
    f, g, h = at(y, "C11")
    assert (f[0], g[0, 0], h[0, 0]) == (4.0, -24.0, 1.0 + 25.0 + 49.0)
    assert np.array_equal(at(y, "C13")[1][0, 1:], [4.0 - 8.0, 5.0 - 4.0])
    # |y_i| - sum of the other squares - 1: only zeros and minus signs here, so g = 1 + 3 + 0 at (1, 0, 0, 0).
    assert at(np.array([[1.0, 0.0, 0.0, 0.0]]), "C17")[1][0, 0] == 1.0 + 3.0


def at(y: np.ndarray, name: str) -> Values:
    """Values at shifted points: on numbered instances rounding in x - shift would spoil exact numbers."""
    from ppsde.suites.cec2017_formulas import Evaluation

    fun = SUITE.problem(name, y.shape[1], instance=1).fun
    return Evaluation(fun.formula, np.zeros(y.shape[1]), fun.matrices, fun.everything_rotated)(y)


@pytest.mark.parametrize("name", SUITE.names)
def test_each_row_does_not_depend_on_the_others(name: str) -> None:
    for d in (10, 50):
        problem = SUITE.problem(name, d, instance=3)
        x = np.random.default_rng(d).uniform(problem.lower, problem.upper, (40, d))
        whole = problem.evaluate(x)
        for part in (slice(0, 1), slice(7, 8), slice(3, 5), slice(1, 30), slice(None, None, -1)):
            for all_rows, some_rows in zip(whole, problem.evaluate(x[part]), strict=True):
                assert np.array_equal(all_rows[part], some_rows)  # to the last bit


@pytest.mark.parametrize("name", SUITE.names)
def test_the_layout_of_the_points_in_memory_does_not_matter(name: str) -> None:
    problem = SUITE.problem(name, 30, instance=3)
    x = np.random.default_rng(5).uniform(problem.lower, problem.upper, (20, 30))
    for a, b in zip(problem.evaluate(x), problem.evaluate(np.asfortranarray(x)), strict=True):
        assert np.array_equal(a, b)


@pytest.mark.parametrize("name", SUITE.names)
def test_no_rows_give_no_values(name: str) -> None:
    problem = SUITE.problem(name, 10, instance=1)
    f, g, h = problem.evaluate(np.empty((0, 10)))
    assert (f.shape, g.shape, h.shape) == ((0,), (0, problem.n_ineq), (0, problem.n_eq))


def test_one_compiled_program_switches_between_all_problems() -> None:
    jax = pytest.importorskip("jax")
    problems = [SUITE.problem(name, 10, instance=2) for name in SUITE.names]
    x = np.random.default_rng(0).uniform(-10.0, 10.0, (5, 10))

    def branch(problem: Problem) -> Callable[[Any], Any]:
        def values(x: Any) -> Any:
            f, g, h = problem.fun(x)
            return f, competition_violation(g, h)

        return values

    program = jax.jit(lambda k, x: jax.lax.switch(k, [branch(problem) for problem in problems], x))
    with double_precision():
        for k, problem in enumerate(problems):
            f, g, h = problem.evaluate(x)
            found = program(k, x)
            np.testing.assert_allclose(np.asarray(found[0]), f, rtol=1e-9, atol=1e-9)
            np.testing.assert_allclose(np.asarray(found[1]), competition_violation(g, h), rtol=1e-9, atol=1e-9)


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
