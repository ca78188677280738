"""`ppsde.scipy.differential_evolution`: called as SciPy's is, and answering as SciPy's does."""

import inspect
import subprocess
import sys
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.optimize
from scipy.optimize import Bounds, LinearConstraint, NonlinearConstraint, OptimizeResult, rosen

import ppsde
from ppsde.arrays import bits
from ppsde.population import evaluated
from ppsde.problem.constraints import constraints_of
from ppsde.scipy import differential_evolution
from ppsde.scipy.front import AfterIteration
from ppsde.scipy.local import LocalSearches
from ppsde.scipy.search import Function

SQUARE = [(-5.0, 5.0)] * 2


def sphere(x):
    return (x**2).sum()


def tilted(x):
    return x[0] + x[1]


def test_it_takes_what_scipy_takes_by_the_same_names_in_the_same_order_with_the_same_defaults():
    ours = inspect.signature(differential_evolution).parameters
    theirs = inspect.signature(scipy.optimize.differential_evolution).parameters
    names = [name for name in theirs if name != "seed"]  # older and newer versions show it or do not
    assert [name for name in ours if name != "seed"] == names
    for name in names:
        assert ours[name].kind == theirs[name].kind and ours[name].default == theirs[name].default, name


def test_scipy_itself_is_still_there_and_ours_is_an_attribute_of_the_package():
    script = "import ppsde, scipy.optimize; print(scipy.__name__, ppsde.scipy.__name__, scipy.optimize.rosen([1, 1]))"
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ended.stdout.split() == ["scipy", "ppsde.scipy", "0.0"]


@pytest.mark.parametrize(
    ("fun", "bounds", "constraints"),
    [
        (rosen, [(0.0, 2.0)] * 3, ()),
        (tilted, SQUARE, NonlinearConstraint(sphere, -np.inf, 1.0)),
        (sphere, Bounds([-5, -5], [5, 5]), [LinearConstraint([[1.0, 1.0]], 1.9, np.inf)]),
        (tilted, SQUARE, (Bounds([-1.0, -2.0], [5.0, 5.0]),)),
        (tilted, SQUARE, [NonlinearConstraint(lambda x: [x[0] * x[1], x[0]], [1.0, 0.5], [9.0, 9.0])]),
    ],
    ids=["unconstrained", "disc", "linear", "bounds", "two"],
)
def test_both_find_the_same_optimum(fun, bounds, constraints):
    ours = differential_evolution(fun, bounds, constraints=constraints, maxiter=1000, rng=1, tol=1e-6, atol=1e-12)
    theirs = scipy.optimize.differential_evolution(  # its polishing warns, or fails on Bounds
        fun, bounds, constraints=constraints, maxiter=400, rng=1, tol=1e-9, polish=False
    )
    assert ours.success and ours.fun == pytest.approx(theirs.fun, abs=1e-5)
    assert ours.x == pytest.approx(theirs.x, abs=5e-3)
    assert set(theirs) - {"jac"} <= set(ours)
    assert ours.get("maxcv") == theirs.get("maxcv")
    assert np.array_equal(ours.population[0], ours.x) and ours.population_energies[0] == ours.fun
    assert ours.population.shape == (len(ours.population_energies), len(ours.x))


def test_arguments_are_passed_on():
    result = differential_evolution(lambda x, a, b: sphere(x - a) + b, SQUARE, args=(1.5, 7.0), rng=1, maxiter=200)
    assert result.x == pytest.approx([1.5, 1.5], abs=1e-4) and result.fun == pytest.approx(7.0)


def test_the_budget_is_that_of_scipy_and_fixed_variables_do_not_count():
    calls = 0

    def fun(x):
        nonlocal calls
        calls += 1
        return sphere(x)

    result = differential_evolution(fun, [*SQUARE, (2.0, 2.0)], maxiter=9, popsize=7, tol=0, polish=False, rng=1)
    assert result.nfev == calls == (9 + 1) * 7 * 2
    assert result.nit == 9 and not result.success
    assert result.message == "Maximum number of iterations has been exceeded."


@pytest.mark.parametrize(("spread", "stops"), [(0.009, True), (0.011, False)])
def test_it_stops_when_the_values_lie_close_together(spread, stops):
    none = np.zeros((2, 0))
    members = evaluated(np.array([[0.0], [1.0]]), np.array([1 - spread, 1 + spread]), none, none, 0.0)
    task = SimpleNamespace(lower=np.zeros(1), upper=np.ones(1))
    run = SimpleNamespace(completed=3, state=SimpleNamespace(population=members), task=task)
    after_iteration = AfterIteration(None, False, 0.01, 0.0, run, dict, lambda: False)
    assert after_iteration() == after_iteration.converged == stops


def test_only_a_run_that_converged_is_a_success():
    early = differential_evolution(lambda x: 1 + sphere(x), SQUARE, polish=False, rng=1)
    assert early.success and early.message == "Optimization terminated successfully." and early.nit < 1000
    late = differential_evolution(lambda x: 1 + sphere(x), SQUARE, polish=False, rng=1, tol=0, maxiter=20)
    assert not late.success and late.nfev == 21 * 15 * 2 and late.nit == 20


@pytest.mark.parametrize("vectorized", [False, True])
def test_the_objective_is_not_called_where_constraints_are_violated(vectorized):
    points = []

    def fun(x):
        points.extend(x.T if vectorized else [x])
        return np.log(x[0] + x[1] - 1) + (x**2).sum(axis=0)

    line = NonlinearConstraint(lambda x: x[0] + x[1], 1.5, np.inf)
    options = {"vectorized": vectorized, "updating": "deferred", "polish": False, "rng": 1, "maxiter": 50}
    result = differential_evolution(fun, SQUARE, constraints=line, **options)
    assert (np.sum(points, axis=1) >= 1.5).all() and result.fun == pytest.approx(np.log(0.5) + 1.125, abs=1e-2)
    if not vectorized:
        assert result.nfev == len(points) < 51 * 30


def test_with_workers_the_calls_of_the_objective_are_counted_too():
    line = NonlinearConstraint(lambda x: x[0] + x[1], 1.0, np.inf)
    options = {"constraints": line, "updating": "deferred", "maxiter": 4, "polish": False, "rng": 1}
    alone = differential_evolution(tilted, SQUARE, **options)
    mapped = differential_evolution(tilted, SQUARE, workers=map, **options)
    assert mapped.nfev == alone.nfev < 5 * 30 and bits(mapped.x) == bits(alone.x)


def test_a_constraint_that_raises_at_some_points_forbids_only_these():
    def right(x):
        if x[0] < 0:
            raise ValueError("left of the axis")
        return x[0] + x[1]

    result = differential_evolution(
        sphere, SQUARE, constraints=NonlinearConstraint(right, 1.0, np.inf), maxiter=60, rng=1, polish=False
    )
    assert result.n_failed > 0 and result.maxcv == 0 and result.fun == pytest.approx(0.5, abs=1e-3)


@pytest.mark.parametrize("init", ["latinhypercube", "sobol", "halton", "random"])
def test_the_first_population_is_drawn_as_named(init):
    seen = []

    def fun(x):
        seen.append(x.copy())
        return sphere(x)

    differential_evolution(fun, SQUARE, init=init, maxiter=0, polish=False, rng=1)
    assert len(seen) == (32 if init == "sobol" else 30)
    counts = np.histogram(np.array(seen)[:, 0], bins=len(seen), range=(-5, 5))[0]
    assert (counts == 1).all() == (init in ("latinhypercube", "sobol"))


def test_a_strategy_of_ones_own_makes_the_trials():
    seen = []

    def strategy(candidate, population, rng=None):
        seen.append(candidate)
        assert sphere(population[0]) == min(map(sphere, population)) and (population[:, 0] % 1 == 0).all()
        return population[0] + rng.normal(size=2)

    result = differential_evolution(
        sphere, SQUARE, strategy=strategy, integrality=[1, 0], maxiter=5, rng=1, polish=False
    )
    assert seen == list(range(30)) * 5 and result.nit == 5 and result.nfev == 6 * 30
    again = differential_evolution(
        sphere, SQUARE, strategy=strategy, integrality=[1, 0], maxiter=5, rng=1, polish=False
    )
    assert bits(again.population) == bits(result.population)
    with pytest.raises(RuntimeError, match=r"strategy must have signature .* here \(2,\)"):
        differential_evolution(sphere, SQUARE, strategy=lambda candidate, population, rng: [1.0], rng=1)


def test_polishing_is_counted_and_taken_only_if_better():
    calls = 0

    def fun(x):
        nonlocal calls
        calls += 1
        return rosen(x)

    rough = differential_evolution(fun, [(0.0, 2.0)] * 3, maxiter=20, polish=False, rng=1)
    assert rough.nfev == calls and "jac" not in rough
    calls = 0
    fine = differential_evolution(fun, [(0.0, 2.0)] * 3, maxiter=20, rng=1)
    assert fine.nfev == calls > rough.nfev and not fine.success
    assert fine.fun < rough.fun and fine.fun < 1e-8 and fine.jac.shape == (3,)
    assert np.array_equal(fine.population[0], fine.x)


def test_polishing_that_fails_or_leaves_what_is_feasible_changes_nothing():
    inside = NonlinearConstraint(lambda x: x[0] + x[1], 1.0, np.inf)

    def outside(fun, x, **kwargs):
        return OptimizeResult(x=np.zeros(2), fun=-1.0, success=True)

    def broken(fun, x, **kwargs):
        raise RuntimeError("no gradient")

    common = {"constraints": inside, "maxiter": 50, "rng": 1}
    rough = differential_evolution(sphere, SQUARE, polish=False, **common)
    for polish in (outside, broken):
        result = differential_evolution(sphere, SQUARE, polish=polish, **common)
        assert np.array_equal(result.x, rough.x) and result.fun == rough.fun
    assert "Polishing failed: RuntimeError: no gradient" in result.message
    with pytest.raises(ValueError, match="should return an OptimizeResult; got int"):
        differential_evolution(sphere, SQUARE, polish=lambda *args, **kwargs: 3, **common)


def test_an_end_that_is_not_feasible_is_polished_too_with_a_warning():
    line = NonlinearConstraint(lambda x: x[0] + x[1], 2.0, 2.0)
    options = {"constraints": line, "maxiter": 2, "popsize": 3, "rng": 1}
    rough = differential_evolution(sphere, SQUARE, polish=False, **options)
    assert rough.maxcv > 0 and rough.fun == np.inf and "MAXCV" in rough.message
    with pytest.warns(UserWarning, match="attempting to polish from the least infeasible solution"):
        fine = differential_evolution(sphere, SQUARE, **options)
    assert fine.maxcv == 0 and fine.fun == pytest.approx(2.0, abs=1e-3) and not fine.success
    assert fine.message == "Maximum number of iterations has been exceeded."


def test_local_searches_that_agree_end_the_run_after_three_iterations():
    steps = []
    hyperbola = NonlinearConstraint(lambda x: x[0] * x[1], 1.0, np.inf)  # the best points are (1, 1) and (-1, -1)
    options = {"constraints": hyperbola, "rng": 1, "popsize": 10, "callback": lambda x, convergence: steps.append(x)}
    result = differential_evolution(sphere, SQUARE, **options)
    assert result.success and result.message == "Optimization terminated successfully." and result.maxcv == 0
    assert result.nit == len(steps) == 3 and np.abs(result.x) == pytest.approx([1.0, 1.0], abs=1e-6)
    assert np.array_equal(result.population[0], result.x) and result.population_energies[0] == result.fun
    for more in ({"tol": 0}, {"polish": False}):
        assert differential_evolution(sphere, SQUARE, **{**options, "maxiter": 6, **more}).nit == 6


def test_local_searches_do_not_end_a_run_with_integers_and_leave_these_as_they_are():
    def fun(x):
        assert x[0] == np.floor(x[0])
        return (x[0] - 2.2) ** 2 + x[1] ** 2

    line = NonlinearConstraint(lambda x: x[0] + x[1], 2.5, np.inf)
    result = differential_evolution(fun, SQUARE, constraints=line, integrality=[1, 0], rng=1, maxiter=20)
    assert result.nit > 3 and result.x == pytest.approx([2.0, 0.5], abs=1e-6)


def searches(fun, held=(False, False)):
    whole = np.array(SQUARE)
    limits = constraints_of([NonlinearConstraint(lambda x: x[0] + x[1], 1.0, np.inf)], 2)
    return LocalSearches(Function(fun, (), False), limits, whole, np.array(held), None, np.random.default_rng(1))


def members_at(x, f):
    x = np.array(x, float)
    return evaluated(x, np.array(f, float), 1.0 - x.sum(axis=1, keepdims=True), np.empty((len(x), 0)), 0.0)


def test_local_searches_do_not_agree_while_a_member_is_better():
    agreeing, lagging = searches(sphere), searches(sphere)
    worse, better = members_at([[3, 3], [-3, 4]], [18, 25]), members_at([[3, 3], [-3, 4]], [18, -1])
    assert [agreeing.after_iteration(k, worse) for k in (1, 2, 3, 4)] == [False, False, True, False]
    assert [lagging.after_iteration(k, better) for k in (1, 2, 3)] == [False] * 3


def test_the_evaluations_of_local_searches_that_disagree_are_limited():
    def rugged(x):
        return sphere(x) + 20 * np.sin(50 * x).sum()

    several = searches(rugged)
    several.after_iteration(1, members_at([[3, 3], [-3, 4]], [1e3, 1e3]))
    spent = several.calls
    assert 300 * 3 <= spent < 300 * 3 + 150
    several.after_iteration(2, members_at([[3, 3], [-3, 4]], [1e3, 1e3]))
    assert several.calls == spent


def test_polishing_with_constraints_survives_an_objective_that_raises_outside_of_them():
    def fun(x):
        if x[0] + x[1] < 1.0:
            raise ValueError("outside")
        return sphere(x)

    line = NonlinearConstraint(lambda x: x[0] + x[1], 1.0, np.inf)
    result = differential_evolution(fun, SQUARE, constraints=line, rng=1)
    assert result.success and result.fun == pytest.approx(0.5, abs=1e-2) and result.maxcv == 0


def test_polishing_with_constraints_works_without_bounds():
    line = NonlinearConstraint(lambda x: x[0] + x[1], 1.0, np.inf)
    result = differential_evolution(sphere, [(-np.inf, np.inf)] * 2, constraints=line, rng=1, maxiter=50)
    assert result.maxcv == 0 and result.x == pytest.approx([0.5, 0.5], abs=1e-4)


def test_a_callback_of_either_form_is_called_after_each_generation_and_may_stop():
    seen = []

    def old(x, convergence):
        seen.append((x.shape, convergence))
        return len(seen) == 3

    result = differential_evolution(sphere, SQUARE, callback=old, polish=False, rng=1)
    assert [shape for shape, _ in seen] == [(2,)] * 3 and result.nit == 3
    assert not result.success and result.message == "callback function requested stop early"

    seen = []

    def new(intermediate_result):
        seen.append(intermediate_result)
        if len(seen) == 2:
            raise StopIteration

    differential_evolution(sphere, SQUARE, callback=new, polish=False, rng=1)
    assert [stand.nit for stand in seen] == [1, 2]
    assert seen[1].fun == seen[1].population_energies[0] == seen[1].population_energies.min()


def test_x0_and_a_first_population_are_evaluated_first():
    seen = []

    def fun(x):
        seen.append(x.copy())
        return sphere(x)

    population = np.linspace(-4, 4, 20).reshape(10, 2)
    result = differential_evolution(fun, SQUARE, init=population, x0=[1.0, 2.0], maxiter=3, polish=False, rng=1)
    assert np.array_equal(seen[:10], [[1.0, 2.0], *population[1:]])
    assert result.population.shape == (10, 2) and result.nfev == 4 * 10 and result.nit == 3


def test_integers_are_exact_also_after_polishing_the_others():
    def fun(x):
        assert x[0] == np.floor(x[0])
        return (x[0] - 2.7) ** 2 + (x[1] - 0.3) ** 4

    result = differential_evolution(fun, [(0, 9), (-1.0, 1.0)], integrality=[1, 0], x0=[2.6, 0.0], maxiter=60, rng=1)
    theirs = scipy.optimize.differential_evolution(fun, [(0, 9), (-1, 1)], integrality=[1, 0], maxiter=60, rng=1)
    assert result.x[0] == theirs.x[0] == 3.0 and result.fun == pytest.approx(0.09, abs=1e-6)


def test_a_vectorised_function_gets_columns_and_its_calls_are_counted():
    count = 0

    def columns(x):
        nonlocal count
        assert x.shape[0] == 2
        count += 1
        return x[0] + x[1]

    disc = NonlinearConstraint(lambda x: x[0] ** 2 + x[1] ** 2, -np.inf, 1.0)
    several = NonlinearConstraint(lambda x: np.array([x[0] ** 2 + x[1] ** 2, x[0]]), [-np.inf, -4], [1.0, 4.0])
    for constraints in (disc, [several, LinearConstraint(np.eye(2), -3, 3)]):
        count = 0
        result = differential_evolution(
            columns, SQUARE, constraints=constraints, vectorized=True, updating="deferred", maxiter=200, rng=1
        )
        assert result.fun == pytest.approx(-np.sqrt(2), abs=1e-5) and result.nfev == count
        assert result.maxcv == 0


def test_constraints_of_a_wrong_shape_are_an_error_as_in_scipy():
    rows = NonlinearConstraint(lambda x: np.array([x[0], x[1]]).T, 0, 1)
    with pytest.raises(RuntimeError, match=r"returned from a Constraint has the wrong shape: c0 of 30 points"):
        differential_evolution(
            lambda x: x[0], SQUARE, constraints=rows, vectorized=True, updating="deferred", maxiter=2, rng=1
        )


def test_equalities_are_met_within_the_tolerance():
    both = NonlinearConstraint(lambda x: [x[0] + x[1], x[0] * x[2]], [1.0, 0.5], [1.0, 0.5])
    result = differential_evolution(sphere, [(-5.0, 5.0)] * 3, constraints=both, rng=1)
    assert result.success and result.fun == pytest.approx(1.0672, abs=1e-3) and result.maxcv == 0


def test_where_nothing_is_feasible_it_says_so():
    never = NonlinearConstraint(sphere, -np.inf, -1.0)
    with pytest.warns(UserWarning, match="attempting to polish"):
        result = differential_evolution(sphere, SQUARE, constraints=never, maxiter=60, rng=1)
    assert not result.success and "does not satisfy the constraints, MAXCV = " in result.message
    assert result.maxcv == pytest.approx(1.0, abs=0.1) and np.isinf(result.population_energies).all()


def test_maxcv_is_the_largest_of_several_violations():
    never = [NonlinearConstraint(lambda x, by=by: by + 0.0 * x[0], -np.inf, 0.0) for by in (0.5, 2.0, 1.0)]
    result = differential_evolution(sphere, SQUARE, constraints=never, maxiter=3, rng=1, polish=False)
    assert np.concatenate(result.constr).tolist() == [0.5, 2.0, 1.0]
    assert result.maxcv == result.constr_violation == 2.0 and result.message.endswith("MAXCV = 2.0")


def test_a_function_that_fails_at_some_points_is_survived():
    def fun(x):
        if x[0] < -4:
            raise RuntimeError("no")
        return sphere(x)

    result = differential_evolution(fun, SQUARE, maxiter=60, rng=1)
    assert result.fun < 1e-6 and result.n_failed > 0


def test_a_function_that_always_fails_is_reported():
    def fun(x):
        raise RuntimeError("never")

    disc = NonlinearConstraint(sphere, -np.inf, 1.0)
    result = differential_evolution(fun, SQUARE, constraints=disc, maxiter=30, rng=1, polish=False)
    assert not result.success and result.n_failed == result.nfev > 0
    assert "MAXCV = " in result.message and "failed, the first with RuntimeError: never" in result.message
    result = differential_evolution(fun, SQUARE, rng=1)
    assert np.isnan(result.x).all() and "RuntimeError: never" in result.message


def test_the_same_seed_gives_the_same_bits_by_either_name_and_with_workers():
    def fun(x):  # a function of this very test travels to other processes as it is
        return (x**2).sum()

    first = differential_evolution(fun, SQUARE, maxiter=5, rng=3, polish=False)
    two, mapped = ({"rng": 3, "workers": workers, "updating": "deferred"} for workers in (2, map))
    for more in ({"seed": 3}, two, mapped, {"rng": np.int64(3)}):
        again = differential_evolution(fun, SQUARE, maxiter=5, polish=False, **more)
        assert bits(first.population) == bits(again.population)
    one, two = (
        differential_evolution(sphere, SQUARE, maxiter=3, seed=np.random.RandomState(4), polish=False) for _ in range(2)
    )
    assert bits(one.population) == bits(two.population)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"workers": map}, ["'workers' keyword has overridden updating"]),
        ({"workers": map, "vectorized": True}, ["'workers' keyword has overridden", "overrides the 'vectorized'"]),
        ({"vectorized": True}, ["'vectorized' keyword has overridden updating"]),
        ({"workers": map, "updating": "deferred"}, []),
    ],
)
def test_arguments_that_override_others_are_warned_of_as_in_scipy(arguments, words):
    def either(x):
        return (x**2).sum(axis=0)

    messages = []
    for front in (differential_evolution, scipy.optimize.differential_evolution):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            front(either, SQUARE, maxiter=3, tol=0, polish=False, rng=1, **arguments)
        messages.append([str(warning.message) for warning in caught])
        assert all(warning.filename == __file__ for warning in caught[: len(caught) * (len(messages) == 1)])
    assert messages[0] == messages[1] and len(messages[0]) == len(words)
    assert all(part in message for part, message in zip(words, messages[0], strict=True))


def test_progress_is_printed_if_wanted(capsys):
    differential_evolution(sphere, SQUARE, maxiter=10, disp=True, rng=1)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("differential_evolution step 1: f(x)= ") and lines[-1] == (
        "Polishing solution with 'L-BFGS-B'"
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"bounds": [(1.0, 0.0), (0.0, 1.0)]}, "variable 0 has (1.0, 0.0)"),
        ({"strategy": "best9"}, "strategy must be"),
        ({"mutation": 2.5}, "mutation must be"),
        ({"mutation": (0.5, 1.0, 1.5)}, "mutation must be"),
        ({"recombination": 1.5}, "recombination must be"),
        ({"updating": "later"}, "updating must be"),
        ({"init": "magic"}, "init must be one of"),
        ({"init": np.zeros((3, 2))}, "S > 4"),
        ({"init": np.zeros((9, 3))}, "array (S, 2)"),
        ({"x0": [9.0, 0.0]}, "inside the bounds"),
        ({"maxiter": -1}, "maxiter must be an int >= 0"),
        ({"popsize": 0}, "popsize must be"),
        ({"tol": -0.1}, "tol must be"),
        ({"atol": np.nan}, "atol must be"),
        ({"integrality": [1, 0, 1]}, "integrality must have one entry"),
        ({"callback": 3}, "callback must be callable"),
        ({"constraints": {"type": "ineq", "fun": sphere}}, "got dict"),
        ({"constraints": 3}, "got int"),
        ({"func": 3}, "func must be callable"),
        ({"args": 3.0}, "args must be a tuple"),
    ],
)
def test_a_bad_argument_is_named_before_anything_is_evaluated(arguments, words):
    def never(x):
        raise AssertionError("evaluated")

    with pytest.raises(ValueError) as caught:
        differential_evolution(**{"func": never, "bounds": SQUARE, **arguments})
    assert words in str(caught.value)


def test_two_seeds_are_one_too_many():
    with pytest.raises(TypeError, match="multiple values"):
        differential_evolution(sphere, SQUARE, rng=1, seed=2)
    assert ppsde.scipy.differential_evolution is differential_evolution


def test_every_seed_of_scipy_is_taken_and_no_other():
    def found(rng):
        return differential_evolution(sphere, SQUARE, maxiter=1, polish=False, rng=rng).fun

    assert found([1, 2]) == found(np.random.default_rng([1, 2])) == found(np.random.PCG64([1, 2]))
    assert found(np.random.SeedSequence(3)) == found(np.random.SeedSequence(3))
    for wrong, error in (("a", TypeError), (1.5, TypeError), (-1, ValueError), ([-1], ValueError)):
        with pytest.raises(error):
            found(wrong)


@pytest.mark.parametrize("seed", [1, 2])
def test_an_optimum_of_zero_at_the_origin_ends_the_run(seed):
    result = differential_evolution(lambda x: (x**2).sum(), [(-5, 5)] * 2, rng=seed, polish=False)
    assert result.success and result.fun < 1e-28 and result.nit < 300, result
