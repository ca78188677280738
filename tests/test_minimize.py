"""The SciPy-like call: what it takes, what it gives, and what it refuses."""

from dataclasses import fields

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, NonlinearConstraint, OptimizeResult

import ppsde
from ppsde.arrays import bits

BOX = [(-5.0, 5.0)] * 2
SETTINGS = [field.name for field in fields(ppsde.ALGORITHMS["pps-de"])]


def disc(x):
    """Minimise x + y inside the unit disc: -sqrt(2)."""
    return x[0] + x[1], [x[0] ** 2 + x[1] ** 2 - 1.0], []


def test_without_a_method_the_run_ends_when_it_has_converged_and_says_so():
    result = ppsde.minimize(disc, BOX, max_evaluations=8000, rng=1)
    assert result.success and result.status == 8 and "converged" in result.message
    assert result.fun == pytest.approx(-np.sqrt(2), rel=1e-8)
    assert result.nfev < 800 and result.nfev == result.history["evaluations"][-1]
    assert result.nit == result.history["evaluations"].size - 1
    whole = ppsde.minimize(disc, BOX, max_evaluations=1200, rng=1, tol=0)
    assert whole.status == 0 and whole.nfev == 1200 and whole.fun <= result.fun


def test_the_result_has_every_promised_field():
    result = ppsde.minimize(disc, BOX, method="pps-de", max_evaluations=8000, rng=1)
    assert isinstance(result, OptimizeResult)
    assert result.success and result.feasible and result.status == 0
    assert result.fun == pytest.approx(-np.sqrt(2), abs=1e-6)
    assert result.nfev == 8000 and result.n_failed == 0 and result.failures == []
    assert result.nit == result.history["evaluations"].size - 1
    assert result.violation == 0 and result.maxcv == 0 and result.constr_violation == {"g[0]": 0.0}
    assert np.array_equal(result.x_feasible, result.x) and np.array_equal(result.x_least_violation, result.x)
    assert result.population.size == 40
    assert set(result.history) >= {"evaluations", "f", "violation", "feasible_share", "stage", "epsilon"}
    assert "feasible" in str(result) and "-1.41421" in str(result)


def test_the_same_seed_gives_the_same_bits_twice_and_through_ask_and_tell():
    def rows(x):
        return x.sum(axis=1), (x**2).sum(axis=1, keepdims=True) - 1.0, None

    first, again = (ppsde.minimize(rows, BOX, max_evaluations=1001, rng=9, vectorized=True) for _ in range(2))
    assert bits(first.x) == bits(again.x) and bits(first.population.x) == bits(again.population.x)
    optimizer = ppsde.Optimizer(BOX, n_ineq=1, max_evaluations=1001, rng=9)
    while not optimizer.done:
        optimizer.tell(*rows(optimizer.ask()))
    assert bits(optimizer.result.population.x) == bits(first.population.x)


def test_a_point_at_a_time_and_rows_at_a_time_give_the_same_bits():
    one = ppsde.minimize(disc, BOX, max_evaluations=1000, rng=4)
    rows = ppsde.minimize(
        lambda x: (x[:, 0] + x[:, 1], x[:, :1] ** 2 + x[:, 1:] ** 2 - 1.0, []),
        BOX,
        max_evaluations=1000,
        rng=4,
        vectorized=True,
    )
    assert bits(one.population.x) == bits(rows.population.x)


@pytest.mark.parametrize(
    "bounds",
    [BOX, Bounds([-5, -5], [5, 5]), Bounds(-5, [5, 5]), np.array(BOX), (np.array([-5, -5, -5]), np.array([5, 5, 5]))],
)
def test_bounds_may_be_pairs_two_arrays_or_a_scipy_object(bounds):
    result = ppsde.minimize(lambda x: (x**2).sum(), bounds, max_evaluations=50, rng=1)
    assert np.all(np.abs(result.x) <= 5)


@pytest.mark.parametrize(
    "constraints",
    [
        NonlinearConstraint(lambda x: x[0] ** 2 + x[1] ** 2, -np.inf, 1.0),
        [NonlinearConstraint(lambda x: [x[0] ** 2 + x[1] ** 2, x[0]], [0.0, -4.0], [1.0, 4.0])],
        {"type": "ineq", "fun": lambda x: 1.0 - x[0] ** 2 - x[1] ** 2},
        ({"type": "ineq", "fun": lambda x, r: r - x[0] ** 2 - x[1] ** 2, "args": (1.0,)},),
    ],
)
def test_every_scipy_form_of_the_same_inequality_gives_the_same_optimum(constraints):
    result = ppsde.minimize(lambda x: x[0] + x[1], BOX, constraints=constraints, max_evaluations=5000, rng=2)
    assert result.success and result.fun == pytest.approx(-np.sqrt(2), abs=1e-5)


def test_equal_limits_make_an_equality_and_linear_constraints_work():
    constraints = [LinearConstraint([[1.0, 1.0]], 1.0, 1.0), LinearConstraint(np.eye(2), [-2, -2], [0.2, 3.0])]
    result = ppsde.minimize(lambda x: (x**2).sum(), BOX, constraints=constraints, max_evaluations=10_000, rng=3)
    assert result.success and result.x == pytest.approx([0.2, 0.8], abs=1e-3)
    assert list(result.constr_violation) == [
        "c1[0] <= 0.2", "c1[1] <= 3", "c1[0] >= -2", "c1[1] >= -2", "c0 == 1",
    ]  # fmt: skip


def test_scipy_style_constraints_work_on_rows_too():
    constraint = NonlinearConstraint(lambda x: (x**2).sum(axis=1), -np.inf, 1.0)
    result = ppsde.minimize(
        lambda x: x.sum(axis=1), BOX, constraints=constraint, vectorized=True, max_evaluations=5000, rng=2
    )
    assert result.fun == pytest.approx(-np.sqrt(2), abs=1e-5)


def test_every_callable_is_called_once_per_point():
    calls = {"f": 0, "a": 0, "b": 0}

    def counted(name, value):
        def call(x):
            calls[name] += 1
            return value(x)

        return call

    ppsde.minimize(
        counted("f", lambda x: x.sum()),
        BOX,
        constraints=[
            NonlinearConstraint(counted("a", lambda x: [x[0], x[1]]), [-1, -1], [1, 1]),
            {"type": "eq", "fun": counted("b", lambda x: x[0] - x[1])},
        ],
        method="pps-de",
        max_evaluations=333,
        rng=1,
    )
    assert calls == {"f": 333, "a": 333, "b": 333}


def test_success_is_false_where_no_feasible_point_was_found():
    result = ppsde.minimize(lambda x: (x.sum(), [1.0 + x[0] ** 2], []), BOX, max_evaluations=500, rng=1)
    assert not result.success and result.status == 1 and result.x_feasible is None
    assert result.violation == pytest.approx(1.0) and result.maxcv == pytest.approx(1.0)
    assert result.x_least_violation is not None and "NOT FEASIBLE" in str(result)


def test_names_of_constraints_are_shown_and_made_distinct():
    problem = ppsde.Problem(
        lambda x: (x[0], [1.0, 2.0], [3.0]), BOX, constraint_names=["stress", "stress", "mass"], name="named"
    )
    violations = ppsde.minimize(problem, max_evaluations=30, rng=1).constr_violation
    assert violations == pytest.approx({"stress (0)": 1.0, "stress (1)": 2.0, "mass": 3.0 - 1e-4})


def test_x0_is_evaluated_first_and_may_hold_several_points():
    seen = []

    def fun(x):
        seen.append(x)
        return (x**2).sum()

    ppsde.minimize(fun, BOX, x0=[[1.0, 2.0], [3.0, 4.0]], max_evaluations=10, rng=1)
    assert np.array_equal(seen[:2], [[1.0, 2.0], [3.0, 4.0]])


def test_the_callback_sees_every_generation_and_can_stop():
    seen = []

    def callback(intermediate_result):
        seen.append(intermediate_result.nfev)
        if len(seen) == 5:
            raise StopIteration

    result = ppsde.minimize(disc, BOX, method="pps-de", max_evaluations=4000, rng=1, callback=callback)
    assert seen == [40, 120, 200, 280, 360]
    assert result.status == 2 and result.nfev == 360


def test_an_interrupt_gives_the_best_so_far():
    calls = 0

    def fun(x):
        nonlocal calls
        calls += 1
        if calls == 200:
            raise KeyboardInterrupt
        return disc(x)

    result = ppsde.minimize(fun, BOX, method="pps-de", max_evaluations=4000, rng=1)
    assert result.status == 3 and result.nfev == 199 and np.isfinite(result.fun)


@pytest.mark.parametrize("rng", [None, 3, np.random.default_rng(3), np.random.SeedSequence(3), 2**100])
def test_rng_may_be_whatever_numpy_users_have(rng):
    assert ppsde.minimize(disc, BOX, method="pps-de", max_evaluations=100, rng=rng).nfev == 100


def test_fixed_variables_and_one_variable_work():
    fixed = ppsde.minimize(lambda x: (x**2).sum(), [(2.0, 2.0), (-1.0, 1.0)], max_evaluations=2000, rng=1)
    assert fixed.x[0] == 2.0 and fixed.fun == pytest.approx(4.0)
    single = ppsde.minimize(lambda x: (x[0] - 1.0) ** 2, [(-3.0, 3.0)], max_evaluations=2000, rng=1)
    assert single.x == pytest.approx([1.0])


def test_without_a_budget_the_competition_rule_holds():
    optimizer = ppsde.Optimizer(BOX, method="pps-de", rng=1)
    total = 0
    while not optimizer.done:
        x = optimizer.ask()
        total += len(x)
        optimizer.tell(x.sum(axis=1))
    assert total == 40_000


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"bounds": [(1.0, 0.0), (0.0, 1.0)]}, "variable 0 has (1.0, 0.0)"),
        ({"bounds": [(0.0, np.nan), (0.0, 1.0)]}, "variable 0 has (0.0, nan)"),
        ({"bounds": [(np.inf, np.inf), (0.0, 1.0)]}, "numbers, None or infinite; variable 0 has (inf, inf)"),
        ({"bounds": [None, (0.0, 1.0)]}, "bounds of variable 0 must be a pair (low, high), unless it has choices"),
        ({"bounds": [1.0, 2.0, 3.0]}, "shape (3,)"),
        ({"bounds": [(1j, 2.0)]}, "complex"),
        ({"bounds": []}, "bounds"),
        ({"bounds": None}, "bounds must be given"),
        ({"method": "nonsense"}, f"unknown method 'nonsense'; expected one of {', '.join(ppsde.ALGORITHMS)}"),
        ({"max_evaluations": -5}, "max_evaluations must be an int >= 1; got -5"),
        ({"max_evaluations": 0}, "got 0"),
        ({"max_evaluations": 10.5}, "got 10.5"),
        ({"rng": -1}, "rng must be an int >= 0; got -1"),
        ({"rng": "seed"}, "got 'seed'"),
        ({"tolerance": -1e-4}, "tolerance"),
        ({"tolerance": np.nan}, "tolerance"),
        ({"options": {"population": 5}}, "unknown option 'population' of pps-sqp; it has population_size, difference"),
        (
            {"method": "pps-de", "options": {"population": 5}},
            f"unknown option 'population' of pps-de; it has {', '.join(SETTINGS)}",
        ),
        ({"options": {"population_size": 3}}, "population_size must be an int >= 8; got 3"),
        ({"method": "pps-de", "options": {"repair": "magic"}}, "repair must be one of 'reflect'"),
        ({"x0": [9.0, 0.0]}, "point 0 does not"),
        ({"x0": [1.0, 2.0, 3.0]}, "x0 must be one point (2,)"),
        ({"x0": [np.nan, 0.0]}, "inside the bounds"),
        ({"method": "pps-de", "x0": np.zeros((50, 2))}, "at most 40"),
        ({"callback": 3}, "callback"),
        ({"constraints": [3]}, "got int"),
        ({"constraints": {"type": "le", "fun": abs}}, "'eq' or 'ineq'"),
        ({"constraints": LinearConstraint([[1.0, 2.0, 3.0]], 0, 1)}, "3 columns"),
        ({"constraints": NonlinearConstraint(sum, 2.0, 1.0)}, "lb <= ub"),
        ({"constraints": NonlinearConstraint(sum, 0, 1, keep_feasible=True)}, "keep_feasible"),
    ],
)
def test_a_bad_argument_is_named_before_anything_is_evaluated(arguments, words):
    def never(x):
        raise AssertionError("evaluated")

    with pytest.raises(ValueError) as caught:
        ppsde.minimize(never, **{"bounds": BOX, **arguments})
    assert words in str(caught.value)


def test_a_problem_brings_its_own_bounds_and_constraints():
    problem = ppsde.Problem(disc, BOX, name="disc")
    assert ppsde.minimize(problem, max_evaluations=8000, rng=1).fun == pytest.approx(-np.sqrt(2), abs=1e-6)
    with pytest.raises(ValueError, match="of its own"):
        ppsde.minimize(problem, BOX)
    with pytest.raises(ValueError, match="callable"):
        ppsde.minimize(3, BOX)


def test_a_callback_may_write_into_all_that_it_is_given():
    def writes(intermediate):
        for array in (intermediate.x, *(getattr(intermediate.population, name) for name in "xfgh")):
            array[...] = -100.0
        intermediate.population.violation[:] = 0.0
        intermediate.latest.clear()

    def fun(x):
        return float(x @ x), [0.1 - x[0]], []

    for more in ({}, {"integrality": [True, False]}):
        asked = {"method": "pps-de", "max_evaluations": 300, "rng": 1, **more}
        undisturbed = ppsde.minimize(fun, [(-1, 1)] * 2, **asked)
        result = ppsde.minimize(fun, [(-1, 1)] * 2, callback=writes, **asked)
        assert np.array_equal(result.x, undisturbed.x) and result.original.fun == undisturbed.original.fun
        assert np.array_equal(result.population.x, undisturbed.population.x)


@pytest.mark.parametrize("method", ppsde.ALGORITHMS)
def test_points_stay_in_a_box_as_wide_as_numbers_are(method):
    outside = []

    def fun(x):
        outside.extend(x[~(np.abs(x) <= 8e307)])  # also true for NaN
        return float(x[0]), [1.0 if x[1] < 0 else -1.0], []

    result = ppsde.minimize(fun, [(-8e307, 8e307)] * 5, method=method, max_evaluations=300, rng=0)
    assert not outside and np.all(np.abs(result.x) <= 8e307) and result.nfev > 0
