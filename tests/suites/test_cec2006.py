"""The CEC2006 suite against the values of its report, and the promises every vectorised problem makes."""

from __future__ import annotations

import numpy as np
import pytest
from suite_checks import (
    assert_numpy_and_jax_agree,
    assert_rows_do_not_depend_on_each_other,
    points_inside_and_on_the_edges,
)

from ppsde.population import TOLERANCE, competition_violation, search_violation
from ppsde.suites import get
from ppsde.suites.cec2006_formulas import G20_B, G20_C, G20_D, G20_K, G20_LIMITED

SUITE = get("cec2006")
FEASIBLE = [name for name in SUITE if name != "g20"]

# Dimension, inequalities, equalities and best value of the report; it too counts the 729 balls of g12 as one.
REPORT = {
    "g01": (13, 9, 0, -15.0),
    "g02": (20, 2, 0, -0.8036191042),
    "g03": (10, 0, 1, -1.0005001000),
    "g04": (5, 6, 0, -30665.5386717834),
    "g05": (4, 2, 3, 5126.4967140071),
    "g06": (2, 2, 0, -6961.8138755802),
    "g07": (10, 8, 0, 24.3062090681),
    "g08": (2, 2, 0, -0.0958250415),
    "g09": (7, 4, 0, 680.6300573745),
    "g10": (8, 6, 0, 7049.2480205286),
    "g11": (2, 0, 1, 0.7499000000),
    "g12": (3, 1, 0, -1.0),
    "g13": (5, 0, 3, 0.0539415140),
    "g14": (10, 0, 3, -47.7648884595),
    "g15": (3, 0, 2, 961.7150222899),
    "g16": (5, 38, 0, -1.9051552586),
    "g17": (6, 0, 4, 8853.5338748065),
    "g18": (9, 13, 0, -0.8660254038),
    "g19": (15, 5, 0, 32.6555929502),
    "g20": (24, 6, 14, 0.2049794002),
    "g21": (7, 1, 5, 193.7245100700),
    "g22": (22, 1, 19, 236.4309755040),
    "g23": (9, 2, 4, -400.0551000000),
    "g24": (2, 2, 0, -5.5080132716),
}


@pytest.mark.parametrize("name", SUITE.names)
def test_shapes_and_counts_are_those_of_the_report(name: str) -> None:
    problem = SUITE.problem(name)
    dimension, n_ineq, n_eq, best = REPORT[name]
    assert (problem.dimension, problem.n_ineq, problem.n_eq) == (dimension, n_ineq, n_eq)
    assert problem.properties["published_value"] == pytest.approx(best, rel=1e-13)
    assert problem.constraint_names is not None and len(problem.constraint_names) == n_ineq + n_eq
    f, g, h = problem.evaluate(points_inside_and_on_the_edges(problem, 7, seed=0))
    assert (f.shape, g.shape, h.shape) == ((7,), (7, n_ineq), (7, n_eq))


@pytest.mark.parametrize("name", FEASIBLE)
def test_best_known_point_is_feasible_and_has_the_value_of_the_report(name: str) -> None:
    problem = SUITE.problem(name)
    optimum = problem.optimum
    assert optimum is not None and optimum.x is not None
    assert (problem.lower <= optimum.x).all() and (optimum.x <= problem.upper).all()
    f, g, h = problem.evaluate(optimum.x[None])
    assert search_violation(g, h)[0] == 0
    assert f[0] == pytest.approx(optimum.value, rel=1e-12)
    if name != "g22":
        assert f[0] == pytest.approx(REPORT[name][3], rel=1e-9, abs=1e-9)


def test_g22_has_a_feasible_point_that_is_better_than_the_reports() -> None:
    optimum = SUITE.problem("g22").optimum
    assert optimum is not None
    assert REPORT["g22"][3] - optimum.value == pytest.approx(0.1178427, abs=1e-6)


def test_g20_point_of_the_report_has_its_value_and_is_infeasible() -> None:
    problem = SUITE.problem("g20")
    optimum = problem.optimum
    assert optimum is not None and optimum.x is not None and optimum.status == "infeasible problem"
    f, g, h = problem.evaluate(optimum.x[None])
    assert f[0] == pytest.approx(REPORT["g20"][3], abs=1e-10)
    assert competition_violation(g, h)[0] == pytest.approx(optimum.violation, rel=1e-9)
    assert optimum.violation > 0.007


def test_g20_has_no_feasible_point() -> None:
    """A feasible gas would have to be lighter than the lightest that the equalities allow."""
    from scipy.optimize import linprog

    allowed = np.setdiff1d(np.arange(12), G20_LIMITED)  # g <= 0 removes the six other substances
    m = len(allowed)
    # Columns: fractions of the liquid, then of the gas, which follows the liquid up to the tolerance.
    follows = np.hstack([-np.diag(G20_C[allowed] / 40), np.eye(m)])
    lightest = linprog(
        np.concatenate([np.zeros(m), G20_B[allowed]]),
        A_ub=np.vstack([follows, -follows]),
        b_ub=np.full(2 * m, TOLERANCE),
        A_eq=np.kron(np.eye(2), np.ones(m)),
        b_eq=[1, 1],
    )
    assert lightest.success
    mass = 1 + TOLERANCE  # of everything, by h13; what h14 leaves for the gas is at least the rest of 1.671
    moles = (1.671 - TOLERANCE - mass / G20_D[allowed].min()) / G20_K
    assert mass / moles < 90 < lightest.fun


def test_g12_is_the_least_of_its_729_constraints() -> None:
    problem = SUITE.problem("g12")
    x = points_inside_and_on_the_edges(problem, 200, seed=1)
    axis = np.arange(1, 10)
    centres = np.stack(np.meshgrid(axis, axis, axis), axis=-1).reshape(-1, 3)
    least = (((x[:, None, :] - centres) ** 2).sum(axis=2) - 0.0625).min(axis=1)
    np.testing.assert_allclose(problem.evaluate(x)[1][:, 0], least, rtol=1e-13, atol=1e-13)


def test_g08_equals_its_published_quotient_away_from_zero() -> None:
    x = np.array([[0.3, 0.7], [1.1, 4.3], [9.7, 2.2]])
    expected = -(np.sin(2 * np.pi * x[:, 0]) ** 3) * np.sin(2 * np.pi * x[:, 1]) / (x[:, 0] ** 3 * x.sum(axis=1))
    np.testing.assert_allclose(SUITE.problem("g08").evaluate(x)[0], expected, rtol=1e-12)


def test_g17_costs_jump_at_their_thresholds() -> None:
    x = np.tile([299.0, 99.0, 380.0, 380.0, 0.0, 0.1], (4, 1))
    x[1, 0], x[2, 1], x[3, 1] = 300.0, 100.0, 200.0
    f = SUITE.problem("g17").evaluate(x)[0]
    assert f.tolist() == [30 * 299 + 28 * 99, 31 * 300 + 28 * 99, 30 * 299 + 29 * 100, 30 * 299 + 30 * 200]


@pytest.mark.parametrize("name", SUITE.names)
def test_every_point_of_the_box_has_finite_values(name: str) -> None:
    problem = SUITE.problem(name)
    f, g, h = problem.evaluate(points_inside_and_on_the_edges(problem, 3000, seed=2))
    assert np.isfinite(f).all() and np.isfinite(g).all() and np.isfinite(h).all()


@pytest.mark.parametrize("name", SUITE.names)
def test_each_row_does_not_depend_on_the_others(name: str) -> None:
    assert_rows_do_not_depend_on_each_other(SUITE.problem(name))


@pytest.mark.parametrize("name", SUITE.names)
def test_numpy_and_jax_give_the_same_values_in_double_precision(name: str) -> None:
    assert_numpy_and_jax_agree(SUITE.problem(name))


def test_a_dimension_other_than_the_problems_own_is_refused() -> None:
    assert SUITE.problem("g04", 5).dimension == 5
    with pytest.raises(ValueError, match="g04 has dimension 5; got 10"):
        SUITE.problem("g04", 10)


def test_the_budget_is_half_a_million_evaluations() -> None:
    assert [SUITE.budget(d) for d in (2, 24)] == [500_000, 500_000]
