"""What a user's function may do, and what becomes of it."""

import asyncio
from typing import Any

import numpy as np
import pytest

import ppsde
from ppsde.algorithms import DEFAULT
from ppsde.engines.ending import CONVERGED, SPENT
from ppsde.evaluation import evaluator_for
from ppsde.evaluation.evaluate import Evaluate

BOX = [(-5.0, 5.0)] * 2


def half_fails(x):
    if x[0] < 0:
        raise RuntimeError("the mesh collapsed")
    return (x[0] - 1.0) * (x[0] - 1.0) + x[1] * x[1], [0.5 - x[1]], []


@pytest.mark.parametrize(("method", "status"), [("pps-de", SPENT), (DEFAULT, CONVERGED)])
def test_what_raises_is_recorded_and_the_run_goes_on(method, status):
    result = ppsde.minimize(half_fails, BOX, method=method, max_evaluations=3000, rng=1)
    assert result.success and result.fun == pytest.approx(0.25, abs=1e-4)
    assert result.status == status and (result.nfev == 3000) == (status == SPENT)
    assert result.n_failed > 0 and str(result.failures[0]) == "RuntimeError: the mesh collapsed"
    assert all(failure.x[0] < 0 for failure in result.failures)


def test_a_vectorised_function_that_raises_loses_only_the_rows_that_raise():
    def rows(x):
        if (x[:, 0] < 0).any():
            raise RuntimeError("the mesh collapsed")
        return (x[:, 0] - 1.0) * (x[:, 0] - 1.0) + x[:, 1] * x[:, 1], 0.5 - x[:, 1:], None

    one = ppsde.minimize(half_fails, BOX, max_evaluations=600, rng=1)
    many = ppsde.minimize(rows, BOX, max_evaluations=600, rng=1, vectorized=True)
    assert np.array_equal(one.population.x, many.population.x) and one.n_failed == many.n_failed


@pytest.mark.parametrize("rate", [0.01, 0.3, 0.9])
@pytest.mark.parametrize("variables", [1, 2, 10])
def test_no_failure_rate_aborts_a_run(rate, variables):
    chance = np.random.default_rng(3)

    def fun(x):
        if chance.random() < rate:
            raise OSError("licence server")
        return float((x**2).sum())

    result = ppsde.minimize(fun, [(-5.0, 5.0)] * variables, method="pps-de", max_evaluations=1500, rng=2)
    assert result.nfev == 1500 and result.feasible and np.isfinite(result.fun)
    result = ppsde.minimize(fun, [(-5.0, 5.0)] * variables, max_evaluations=600, rng=2)
    assert result.status in (SPENT, CONVERGED) and result.feasible and np.isfinite(result.fun)


@pytest.mark.parametrize("budget", [40, 5000])
def test_a_function_that_always_fails_ends_soon_with_its_own_words(budget):
    result = ppsde.minimize(lambda x: undefined_name, BOX, max_evaluations=budget, rng=1)  # noqa: F821
    assert not result.success and result.status == 4 and result.nfev <= 100
    assert "NameError: name 'undefined_name' is not defined" in result.message
    assert np.isnan(result.fun) and np.isnan(result.x).all() and result.x_least_violation is None
    assert "NOT FEASIBLE" in str(result)


@pytest.mark.parametrize("value", [np.nan, -np.inf])
def test_nan_and_minus_infinity_are_never_best(value):
    result = ppsde.minimize(lambda x: value if x[0] < 0 else (x**2).sum(), BOX, max_evaluations=600, rng=1)
    assert result.fun == pytest.approx(0.0, abs=1e-3) and result.x[0] >= 0 and result.n_failed > 0


def test_a_constraint_that_is_nan_is_never_feasible():
    result = ppsde.minimize(lambda x: (x[0], [np.nan if x[0] < 0 else -1.0], []), BOX, max_evaluations=600, rng=1)
    assert result.success and result.x[0] >= 0


def test_plus_infinity_is_the_worst_objective_yet_a_value():
    result = ppsde.minimize(lambda x: (np.inf, [x[0]], []), BOX, max_evaluations=300, rng=1)
    assert result.fun == np.inf and result.feasible and result.n_failed == 0


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (1j, "the objective must be real numbers; got complex numbers"),
        ("3.0", "the objective must be real numbers; got str"),
        (None, "the objective must be real numbers; got NoneType"),
        ([1.0, 2.0], "the objective must be one number; got shape (2,)"),
        ((1.0, [2.0]), "a tuple of 2"),
        ((1.0, [2j], []), "g must be real numbers; got complex numbers"),
        ((1.0, ["a"], []), "g must be real numbers"),
        ((1.0, [], [[1.0], [2.0, 3.0]]), "h must be real numbers in a regular shape"),
    ],
)
def test_something_malformed_is_an_error_at_the_first_evaluation(value, words):
    calls = 0

    def fun(x):
        nonlocal calls
        calls += 1
        return value

    with pytest.raises(ValueError) as caught:
        ppsde.minimize(fun, BOX, max_evaluations=100, rng=1)
    assert words in str(caught.value) and calls == 1


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (lambda x: x, "must have shape (40,); got (40, 2)"),
        (lambda x: 3.0, "must have shape (40,); got ()"),
        (lambda x: (x[:, 0], np.zeros((3, 1)), []), "g of 40 rows must have shape (40, number of constraints)"),
        (lambda x: x[:, 0] * 1j, "complex"),
    ],
)
def test_a_vectorised_function_of_the_wrong_shape_is_an_error(value, words):
    with pytest.raises(ValueError) as caught:
        ppsde.minimize(value, BOX, method="pps-de", max_evaluations=100, rng=1, vectorized=True)
    assert words in str(caught.value)


def test_something_malformed_later_is_a_failure_of_that_point():
    calls = 0

    def fun(x):
        nonlocal calls
        calls += 1
        return 1j if calls % 7 == 0 else ((x**2).sum(), [1.0] * (1 + (calls % 11 == 0)), [])

    result = ppsde.minimize(fun, BOX, method="pps-de", max_evaluations=200, rng=1)
    assert result.nfev == 200 and result.n_failed == len({k for k in range(1, 201) if k % 7 == 0 or k % 11 == 0})


def test_constraints_given_both_ways_are_refused():
    with pytest.raises(ValueError, match="not both"):
        ppsde.minimize(lambda x: (1.0, [], []), BOX, constraints={"type": "eq", "fun": sum}, max_evaluations=10)


def test_the_function_cannot_change_the_points():
    def vandal(x):
        value = float((x**2).sum())
        x[:] = 77.0
        return value

    def vandal_of_rows(x):
        value = (x**2).sum(axis=1)
        x[:] = 77.0
        return value

    one = ppsde.minimize(vandal, BOX, max_evaluations=500, rng=1)
    many = ppsde.minimize(vandal_of_rows, BOX, max_evaluations=500, rng=1, vectorized=True)
    assert np.abs(one.population.x).max() <= 5 and np.array_equal(one.population.x, many.population.x)
    assert (one.x**2).sum() == one.fun


def test_failures_are_listed_up_to_a_limit():
    problem = ppsde.Problem(lambda x: x[0] if x[0] > 0 else 1 / 0, BOX)
    evaluate = Evaluate(evaluator_for(problem))
    x = np.zeros((501, 2))
    x[0] = 1.0
    for _ in range(3):
        values = evaluate(x)
    assert np.isnan(values.f[1:]).all() and values.f[0] == 1.0 and values.g.shape == values.h.shape == (501, 0)
    assert len(evaluate.failures) == Evaluate.REMEMBERED == 1000


@pytest.mark.filterwarnings("error")
def test_infinite_and_very_large_values_cause_no_warnings():
    def fun(x):
        f = np.where(x[:, 0] > 4, np.inf, np.where(x[:, 0] < -4, -np.inf, 1e308 * np.sign(x[:, 0]) + x[:, 1]))
        return f, 1e308 * (x[:, :1] < 0), np.zeros((len(x), 0))

    result = ppsde.minimize(fun, BOX, vectorized=True, max_evaluations=1000, rng=1, tol=0)
    assert result.nfev == 1000 and result.n_failed > 0
    assert {str(failure.x[0] < -4) for failure in result.failures} == {"True"}


MASKED = np.ma.array([-1.0], mask=[True])


@pytest.mark.parametrize(
    "value",
    [
        np.ma.masked,
        np.ma.array(0.0, mask=True),
        (0.0, [np.ma.masked], []),
        (0.0, MASKED, []),
        (0.0, [MASKED], []),
        (0.0, [[MASKED]], []),
        (0.0, [-1.0], [np.ma.array(0.0, mask=True)]),
    ],
    ids=str,
)
@pytest.mark.parametrize("first", [True, False])
def test_no_masked_value_is_a_value(value: Any, first: bool) -> None:
    def fun(x):
        if first or x[0] < 0:
            return value
        whole = 1 + float(x @ x)
        return (whole, [-1.0], [0.0] * len(value[2])) if isinstance(value, tuple) else whole

    def solved() -> Any:
        return ppsde.minimize(fun, [(-1, 1)] * 2, method="pps-de", max_evaluations=100, rng=1, x0=[0.5, 0.5])

    if first:
        with pytest.raises(ppsde.problem.MalformedValue, match="masked"):
            solved()
    else:
        result = solved()
        assert result.fun >= 1 and result.n_failed == len(result.failures) > 10
        assert {failure.status for failure in result.failures} <= {"malformed", "invalid"}


def test_an_int_of_any_size_is_a_number_if_a_float_can_hold_it() -> None:
    result = ppsde.minimize(lambda x: (10**20, [-(10**30)], []), [(0, 1)], method="pps-de", max_evaluations=20, rng=1)
    assert result.success and result.fun == 1e20
    with pytest.raises(ppsde.problem.MalformedValue, match=r"the objective must be numbers of at most 1\.8e308"):
        ppsde.minimize(lambda x: 10**400, [(0, 1)], max_evaluations=20)


@pytest.mark.parametrize("vectorized", [False, True])
def test_violations_whose_sum_overflows_are_named(vectorized: bool) -> None:
    def fun(x):
        g = np.where(x[..., :1] < 0, 1e308, -1e308) * np.ones(2)
        return x[..., 0] ** 2, g, g[..., :0]

    with np.errstate(all="raise"):
        result = ppsde.minimize(
            fun, [(-1, 1)], method="pps-de", max_evaluations=200, rng=1, vectorized=vectorized, x0=[0.5]
        )
    assert result.success and result.x[0] >= 0
    assert 10 < result.n_failed == len(result.failures)
    assert {failure.message for failure in result.failures} == {"the sum of the violations is larger than 1.8e308"}


def test_texts_of_failures_are_bounded_and_hold_no_variables() -> None:
    large = type("E" * 10_000, (Exception,), {})

    def fun(x):
        if x[0] < 0:
            raise large("a" * 3_000_000 + "the end")
        return float(x[0])

    for workers in (1, 2):
        result = ppsde.minimize(fun, [(-1, 1)], method="pps-de", max_evaluations=60, rng=1, workers=workers)
        assert result.n_failed > 10 and all(len(failure.reason) < 5000 for failure in result.failures)
        assert result.failures[0].message.endswith("the end")
        assert all(failure.cause is None for failure in result.failures)


@pytest.mark.parametrize("error", [GeneratorExit, asyncio.CancelledError, type("Other", (BaseException,), {})])
def test_an_exception_that_is_not_the_functions_to_raise_passes_out_of_this_process_and_crashes_another(error) -> None:
    def fun(x):
        if x[0] < 0:
            raise error
        return float(x[0])

    with pytest.raises(error):
        ppsde.minimize(fun, [(-1, 1)], method="pps-de", max_evaluations=20, rng=1)
    result = ppsde.minimize(fun, [(-1, 1)], method="pps-de", max_evaluations=20, rng=1, workers=2)
    assert result.success and {failure.status for failure in result.failures} == {"crashed"}
