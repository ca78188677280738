"""Integer and log-scaled variables: the box that is searched, the way there and back, and `minimize` with them."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from statistics_of_draws import LEVEL, p_of_counts, p_of_law

import ppsde
from ppsde.arrays import bits
from ppsde.evaluation.values import EvaluationError
from ppsde.problem.variables import Variables, variables_of

BOX = [(0, 4), (0.01, 100.0), (-1.0, 1.0)]  # an integer, a logarithm, a plain one
KINDS = {"integrality": [1, 0, 0], "log": [0, 1, 0]}


def test_the_box_is_half_a_unit_wider_for_integers_and_the_logarithm_for_logs():
    variables = Variables([-2, 0.001, -1.5, 1], [3, 10.0, 2.5, 31], [1, 0, 0, 1], [0, 1, 0, 1])
    expected = [[-2.5, 3.5], [-3.0, 1.0], [-1.5, 2.5], [np.log10(0.5), np.log10(31.5)]]
    assert np.array_equal(variables.box, expected)


def test_bounds_between_integers_are_drawn_in_and_a_fixed_variable_stays_fixed():
    variables = Variables([0.3, 4.0, 1.5], [2.9, 4.0, 2.2], True, False)
    assert np.array_equal(variables.lower, [1, 4, 2]) and np.array_equal(variables.upper, [2, 4, 2])
    assert np.array_equal(variables.box, [[0.5, 2.5], [4.0, 4.0], [2.0, 2.0]])


@pytest.mark.parametrize(
    ("searched", "user"),
    [
        (-2.5, -2), (-1.5, -1), (-1.51, -2), (-0.5, 0), (0.49999999999999994, 0), (0.5, 1), (2.5, 3), (3.49, 3),
        (3.5, 3), (-1e-20, 0), (99.0, 3), (-99.0, -2),
    ],
)  # fmt: skip
def test_halves_are_rounded_up_but_never_out_of_the_bounds(searched, user):
    found = Variables([-2], [3], True, False).to_user([searched])
    assert found == [user] and np.signbit(found[0]) == (user < 0)


@given(st.integers(-(2**52) + 1, 2**52 - 1), st.integers(0, 50), st.floats(0, 1))
def test_integers_return_exactly_and_every_point_of_the_box_gives_one_within_the_bounds(first, width, share):
    last = min(first + width, 2**52 - 1)
    variables = Variables([first], [last], True, False)
    whole = np.arange(first, last + 1, dtype=float)[:, None]
    assert np.array_equal(variables.to_user(variables.to_search(whole)), whole)
    low, high = variables.box[0]
    inside = variables.to_user([low + share * (high - low)])[0]
    assert inside == np.floor(inside) and first <= inside <= last
    assert np.array_equal(variables.to_user(variables.box.T), [[first], [last]])


positive = st.floats(1e-300, 1e300)


@given(positive, positive, st.floats(0, 1))
@example(1e-300, np.nextafter(1e-300, 1.0), 0.0)  # one logarithm
def test_logs_return_to_within_rounding_and_the_ends_exactly(one, other, share):
    low, high = min(one, other), max(one, other)
    variables = Variables([low], [high], False, True)
    assert variables.to_user(variables.box[0, :1]) == [high if np.ptp(variables.box) == 0 else low]
    assert variables.to_user(variables.to_search([high])) == [high]
    user = min(max(low + share * (high - low), low), high)
    again = variables.to_user(variables.to_search([user]))[0]
    assert low <= again <= high and again == pytest.approx(user, rel=2e-13)


@given(st.integers(1, 10**6), st.integers(0, 10**6), st.integers(0, 10**6))
def test_integers_in_logarithms_return_exactly(first, width, step):
    variables = Variables([first], [first + width], True, True)
    user = float(first + min(step, width))
    assert variables.to_user(variables.to_search([user])) == [user]


def test_rows_and_single_points_agree_and_nan_stays_nan():
    variables = Variables(*np.transpose(BOX), **KINDS)
    rows = np.array([[1.2, 0.5, 0.3], [4.5, -2.0, -1.0]])
    assert np.array_equal(variables.to_user(rows), [variables.to_user(row) for row in rows])
    assert np.isnan(variables.to_user(np.full(3, np.nan))).all()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([0.2], [0.8], True, False), "no integer within the bounds of variable 0: (0.2, 0.8)"),
        (([1, 0.0], [2, 1.0], False, [0, 1]), "needs positive bounds; variable 1 has (0.0, 1.0)"),
        (([-1.0], [1.0], False, True), "positive bounds"),
        (([0.0], [2.0**53], True, False), "integers must lie within"),
        (([0.0, 0.0], [1.0, 1.0], [1, 0, 1], False), "integrality must have one entry for each of the 2 variables"),
        (([1.0, 1.0], [2.0, 2.0], False, [[1, 0]]), "log must have one entry"),
        (([0.0], [1.0], 2, False), "integrality must be True, False or an array of 0 and 1; got 2"),
        (([0.0], [1.0], "yes", False), "got 'yes'"),
        (([0.0], [1.0], [np.nan], False), "0 and 1"),
        (([0.0, 1.0], [1.0], False, False), "one shape (d,)"),
    ],
)
def test_a_bad_argument_is_named(arguments, words):
    with pytest.raises(ValueError) as caught:
        Variables(*arguments)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("x", "words"),
    [
        ([9.0, 1.0, 0.0], "inside the bounds; point 0 does not"),
        ([[1.0, 1.0, 0.0], [1.5, 1.0, 0.0]], "whole where a variable is an integer; point 1"),
        ([1.0, np.nan, 0.0], "inside the bounds"),
        ([1.0, 1.0], "x0 must be one point (3,)"),
    ],
)
def test_a_bad_x0_is_named(x, words):
    with pytest.raises(ValueError) as caught:
        ppsde.minimize(lambda x: x.sum(), BOX, x0=x, max_evaluations=10, **KINDS)
    assert words in str(caught.value)


def test_plain_variables_need_no_translation():
    lower, upper = np.zeros(2), np.ones(2)
    assert variables_of(lower, upper) is None and variables_of(lower, upper, [0, 0], False) is None
    plain = ppsde.minimize(lambda x: x.sum(), [(0, 1)] * 2, max_evaluations=100, rng=1)
    told = ppsde.minimize(lambda x: x.sum(), [(0, 1)] * 2, max_evaluations=100, rng=1, integrality=[0, 0], log=False)
    assert bits(plain.population.x) == bits(told.population.x)


def test_a_wrapped_problem_keeps_everything_else():
    problem = ppsde.Problem(
        lambda x: (x[0], [x[1]], []), BOX, n_ineq=1, n_eq=0, name="kept", constraint_names=["c"], tolerance=0.1, **KINDS
    )
    searched = problem.searched
    assert (searched.name, searched.n_ineq, searched.n_eq, searched.tolerance) == ("kept", 1, 0, 0.1)
    assert searched.constraint_names == ["c"]
    f, g, _ = searched.evaluate([[2.2, 1.0, 0.0]])
    assert f == [2.0] and g == pytest.approx(10.0)


def first_population(bounds, **kinds):
    points = [
        ppsde.minimize(
            lambda x: x[:, 0], bounds, max_evaluations=400, rng=seed, vectorized=True,
            options={"population_size": 400}, **kinds,
        ).population.x
        for seed in range(5)
    ]  # fmt: skip
    return np.concatenate(points)


def test_each_integer_of_the_box_is_equally_likely_in_a_first_population():
    x = first_population([(-3, 3), (0, 1), (0.5, 5.5)], integrality=True)
    for column, first, count in ((0, -3, 7), (1, 0, 2), (2, 1, 5)):
        assert p_of_counts((x[:, column] - first).astype(int), np.ones(count)) > LEVEL


def test_the_logarithm_is_uniform_in_a_first_population():
    x = first_population([(1e-4, 1e2)], log=True)
    assert p_of_law(np.log10(x), lambda t: (t + 4) / 6) > LEVEL


def test_the_function_sees_whole_numbers_and_so_does_all_of_the_result():
    seen = []

    def fun(x):
        seen.append(x.copy())
        if x[0] == 3:
            raise RuntimeError("three")
        return (x[0] - 1.4) ** 2 + (np.log10(x[1]) - 0.5) ** 2 + x[2] ** 2, [x[2] - 0.9], []

    called = []
    result = ppsde.minimize(fun, BOX, max_evaluations=6000, rng=1, callback=called.append, **KINDS)
    seen = np.array(seen)
    assert set(np.unique(seen[:, 0])) == {0.0, 1.0, 2.0, 3.0, 4.0}
    assert seen[:, 1].min() >= 0.01 and seen[:, 1].max() <= 100.0
    assert result.x == pytest.approx([1.0, 10**0.5, 0.0], abs=1e-3) and result.x[0] == 1.0
    assert np.array_equal(result.x_feasible, result.x) and np.array_equal(result.x_least_violation, result.x)
    assert set(np.unique(result.population.x[:, 0])) <= {0.0, 1.0, 2.0, 4.0}
    assert result.n_failed > 0 and all(failure.x[0] == 3.0 for failure in result.failures)
    assert all(stand.x[0] in (0.0, 1.0, 2.0, 4.0) for stand in called)
    assert called[-1].population.x[:, 1].min() >= 0.01
    if result.original is not None:
        assert result.original.x[0] == np.floor(result.original.x[0])


def test_x0_is_evaluated_first_as_it_was_given():
    seen = []

    def fun(x):
        seen.append(x.copy())
        return x.sum()

    first = [[2.0, 100.0, 0.25], [4.0, 0.01, -1.0], [0.0, 7.0, 0.0]]
    ppsde.minimize(fun, BOX, x0=first, max_evaluations=10, rng=1, **KINDS)
    assert np.array_equal(seen[:2], first[:2]) and seen[2] == pytest.approx(first[2], rel=1e-14)


def test_a_point_at_a_time_rows_at_a_time_and_several_workers_give_the_same_bits():
    def point(x):
        return (x[0] - 2) ** 2 + np.log(x[1]) ** 2, [x[2]], []

    def rows(x):
        return (x[:, 0] - 2) ** 2 + np.log(x[:, 1]) ** 2, x[:, 2:], []

    one = ppsde.minimize(point, BOX, max_evaluations=200, rng=5, **KINDS)
    for fun, more in ((rows, {"vectorized": True}), (point, {"workers": 2})):
        other = ppsde.minimize(fun, BOX, max_evaluations=200, rng=5, **KINDS, **more)
        assert bits(one.population.x) == bits(other.population.x) and bits(one.x) == bits(other.x)


def test_names_of_scipy_constraints_are_preserved():
    constraint = {"type": "ineq", "fun": lambda x: x[0] - 1}
    result = ppsde.minimize(lambda x: x.sum(), BOX, constraints=constraint, max_evaluations=200, rng=1, **KINDS)
    assert list(result.constr_violation) == ["c0 >= 0"]


def test_an_error_names_the_users_point():
    def fun(x):
        if x[0] == 3:
            raise RuntimeError("three")
        return x.sum()

    with pytest.raises(EvaluationError, match=r"at \[ *3\..*failed: RuntimeError: three") as caught:
        ppsde.minimize(fun, BOX, on_failure="raise", max_evaluations=500, rng=1, **KINDS)
    assert caught.value.x[0] == 3.0 and 0.01 <= caught.value.x[1] <= 100.0
    assert caught.value.result.failures[0].x[0] == 3.0


def test_where_everything_fails_the_result_has_no_point():
    def fun(x):
        raise RuntimeError("never")

    result = ppsde.minimize(fun, BOX, max_evaluations=500, rng=1, **KINDS)
    assert np.isnan(result.x).all() and result.x_feasible is None and not result.success


def test_the_gear_train_is_solved_to_its_integer_optimum():
    problem = ppsde.suites.get("engineering").problem("gear-train")
    options = {"population_size": 120}
    result = ppsde.minimize(problem, integrality=True, method="pps-de", max_evaluations=30_000, rng=1, options=options)
    assert result.fun == problem.optimum.value
    assert {*result.x[[0, 3]]} == {43.0, 49.0} and {*result.x[[1, 2]]} == {16.0, 19.0}
