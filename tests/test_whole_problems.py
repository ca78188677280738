"""`Problem` holds all that `minimize` takes; what is searched is converted, and results are in the user's terms."""

from __future__ import annotations

import math
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, NonlinearConstraint

import ppsde
from ppsde.cli import main
from ppsde.experiments import Plan, Store, run
from ppsde.problem import box
from ppsde.problem.returned import ByName, MalformedValue
from ppsde.problem.variables import SPAN, Variables

SMALL: dict[str, Any] = {"max_evaluations": 1500, "rng": 1}


def same(first: Any, second: Any) -> None:
    assert first.x.tolist() == second.x.tolist() and first.fun == second.fun and first.nfev == second.nfev
    assert first.constr_violation == second.constr_violation


# --- one road ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "given",
    [
        {"constraints": NonlinearConstraint(lambda x: x[0] * x[1], 1, 2)},
        {"constraints": [LinearConstraint([[1, 1]], 2, 2), {"type": "ineq", "fun": lambda x: x[0] - 0.5}]},
        {"integrality": [1, 0]},
        {"log": [0, 1]},
        {"choices": {0: [1, 2, 3.5]}},
        {"maximize": True},
        {"tolerance": 0.01},
        {"args": (3.0,)},
        {"vectorized": False},
    ],
    ids=lambda given: next(iter(given)),
)
def test_minimize_builds_the_problem_that_a_user_would(given: dict[str, Any]) -> None:
    def fun(x: np.ndarray, shift: float = 1.0) -> float:
        return float(((x - shift) ** 2).sum())

    bounds = [(1, 5), (0.1, 4)]
    quick: dict[str, Any] = {"max_evaluations": 200, "rng": 1, "method": "jde"}
    same(ppsde.minimize(fun, bounds, **quick, **given), ppsde.minimize(ppsde.Problem(fun, bounds, **given), **quick))


def test_a_problem_is_not_given_twice_what_it_has() -> None:
    problem = ppsde.Problem(lambda x: x[0], [(0, 9)], integrality=True)
    with pytest.raises(ValueError, match="this Problem has integrality of its own; pass no other"):
        ppsde.minimize(problem, integrality=[1])
    with pytest.raises(ValueError, match="a Problem has bounds and constraints of its own; pass no others"):
        ppsde.minimize(problem, constraints=LinearConstraint([[1]], 0, 1))


FILE = """
import numpy as np
import ppsde
from scipy.optimize import LinearConstraint


def cost(x, price):
    wire, coils, steel, load = x
    strength = [1.0, 1.5, 3.0][int(steel)]
    value = -price * (wire * coils + strength) - (load - 2.0) ** 2
    return {"f": value, "g": {"load": load - 3 * wire * strength, "wire": 0.3 - wire}, "h": {"twist": load - coils / 4}}


problem = ppsde.Problem(
    cost,
    [(0.2, 4.0), None, None, (0, None)],
    n_ineq=2,
    n_eq=1,
    choices={"coils": [1, 2, 5, 10], "steel": ["mild", "hard", "spring"]},
    log=[1, 0, 0, 0],
    variable_names=["wire", "coils", "steel", "load"],
    constraint_names=["load", "wire", "twist"],
    tolerance={"twist": 0.01, "load": 1e-3},
    scale={"load": 10.0},
    args=(2.0,),
    maximize=True,
    name="spring",
)
"""


def best_by_hand() -> tuple[float, str, int]:
    """The best value by trying all coils and steels; wire is then as small as load allows."""
    best = (-math.inf, "", 0)
    for coils in (1, 2, 5, 10):
        for name, strength in (("mild", 1.0), ("hard", 1.5), ("spring", 3.0)):
            for load in np.linspace(coils / 4 - 0.01, coils / 4 + 0.01, 21):
                wire = max(0.3, (load - 1e-3) / (3 * strength))
                best = max(best, (float(-2 * (wire * coils + strength) - (load - 2) ** 2), name, coils))
    return best


def test_what_minimize_solves_the_command_and_a_study_solve_from_one_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "spring.py").write_text(FILE)
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {}
    exec(FILE, namespace)
    value, steel, coils = best_by_hand()
    result = ppsde.minimize(namespace["problem"], method="shade", max_evaluations=4000, rng=1)
    assert result.feasible and result.fun == pytest.approx(value, abs=0.1)
    assert (result.variables["steel"], result.variables["coils"]) == (steel, coils)
    assert list(result.constr_violation) == ["load", "wire", "twist"]
    argv = ["solve", "spring.py:problem", "--method", "shade", "--max-evaluations", "4000", "--seed", "1", "--quiet"]
    assert main(argv) == 0
    printed = capsys.readouterr().out
    assert f"{result.fun:.10g}" in printed and steel in printed and "wire" in printed
    plan = Plan(["shade"], problems=["spring.py:problem"], runs=1, budget=4000, engine="host", folder=tmp_path)
    assert run(plan, "study.db", workers=1).failed == 0
    with Store("study.db") as store:
        (stored,) = store.results()
    assert stored.feasible and stored.x.tolist()[1:3] == result.x.tolist()[1:3]
    assert stored.f == pytest.approx(-value, abs=0.1), "a study stores what is minimised"


# --- variables --------------------------------------------------------------------------------------------------------


def test_allowed_values_and_categories_are_the_only_ones_tried() -> None:
    seen: set[tuple[float, float]] = set()

    def fun(x: np.ndarray) -> float:
        seen.add((x[1], x[2]))
        return float((x[0] - 0.3) ** 2 + (x[1] - 6) ** 2 + (x[2] - 1) ** 2)

    choices = [None, [10, 1, 5, 2], ["red", "green", "blue"]]
    result = ppsde.minimize(fun, [(0, 1), None, None], choices=choices, method="jde", max_evaluations=1500, rng=1)
    assert {a for a, _ in seen} == {1, 2, 5, 10} and {b for _, b in seen} == {0, 1, 2}
    assert result.x[1:].tolist() == [5, 1]
    assert list(result.variables.values())[1:] == [5.0, "green"]


def test_every_allowed_value_has_the_same_share_of_the_first_points() -> None:
    choices = {0: [1, 2, 5, 10, 1000]}
    fun = ppsde.Problem(lambda x: x[:, 0], None, choices=choices, vectorized=True)
    options = {"population_size": 1000}
    first = ppsde.minimize(fun, method="jde", options=options, max_evaluations=1000, rng=1).population.x[:, 0]
    values, counts = np.unique(first, return_counts=True)
    assert values.tolist() == [1, 2, 5, 10, 1000] and counts.min() > 150


@pytest.mark.parametrize(
    ("bounds", "best"),
    [
        ([(None, None)] * 2, [-12345.0, 3.0]),
        ([(0, None), (None, 7)], [250.0, -4000.0]),
        (Bounds([-np.inf, 1e6], [np.inf, np.inf]), [0.25, 1.5e6]),
        ([(None, -3.0), (5.0, 6.0)], [-3.0, 5.0]),
    ],
)
def test_variables_without_bounds_are_found(bounds: Any, best: list[float]) -> None:
    size = np.abs(best)
    result = ppsde.minimize(lambda x: float((((x - best) / size) ** 2).sum()), bounds, max_evaluations=1000, rng=1)
    np.testing.assert_allclose(result.x, best, rtol=1e-3)
    lower, upper = box(bounds)
    assert (result.population.x >= lower).all() and (result.population.x <= upper).all()


def test_the_transformation_of_open_bounds_is_the_documented_one() -> None:
    lower, upper = np.array([-np.inf, 2.0, -np.inf, -50.0]), np.array([np.inf, np.inf, 0.5, np.inf])
    variables = Variables(lower, upper, False, False)
    t = np.array([0.7, 0.7, -0.7, 0.7])
    s = math.sinh(0.7)
    np.testing.assert_allclose(variables.to_user(t), [s, 2 + 2 * s, 0.5 - s, -50 + 50 * s], rtol=1e-15)
    np.testing.assert_allclose(variables.to_search(variables.to_user(t)), t, rtol=1e-12)
    ends = variables.to_user(variables.box.T)
    np.testing.assert_allclose(ends[1], [SPAN, 2 + 2 * SPAN, 0.5, -50 + 50 * SPAN])
    assert ends[0].tolist()[1] == 2.0 and ends[0].tolist()[3] == -50.0


@pytest.mark.slow
def test_kinds_of_variables_are_compiled_too() -> None:
    pytest.importorskip("jax")
    problem = ppsde.Problem(
        lambda x: ((x[:, 0] - 0.3) ** 2 + (x[:, 1] - 6) ** 2 + (x[:, 2] - 9) ** 2, 1 - x[:, 2:], x[:, :0]),
        [(0, None), None, (0, 20)],
        n_ineq=1,
        n_eq=0,
        choices={1: [1, 2, 5, 10]},
        integrality=[0, 0, 1],
        vectorized=True,
        scale=[2.0],
    )
    batch = ppsde.solve_batch(
        problem, method="jde", runs=2, max_evaluations=4000, record=4, options={"population_size": 20}
    )
    np.testing.assert_allclose(batch.x, [[0.3, 5, 9]] * 2, atol=1e-3)
    assert batch.x[:, 1:].tolist() == [[5, 9]] * 2 and (batch.f < 1.001).all()


# --- maximising, scales, tolerances -----------------------------------------------------------------------------------


def test_a_maximised_objective_is_shown_as_it_is_everywhere() -> None:
    def fun(x: np.ndarray) -> Any:
        return float(5 - (x**2).sum()), [1 - x[0]], []

    seen: list[float] = []
    more: dict[str, Any] = {"max_evaluations": 2000, "rng": 1, "method": "jde"}
    result = ppsde.minimize(fun, [(-5, 5)] * 2, maximize=True, callback=lambda r: seen.append(r.fun), **more)
    assert result.fun == fun(result.x)[0] == pytest.approx(4.0, abs=1e-2) and result.original.fun <= 4.0
    assert np.diff(seen).min() >= 0 and result.history["f"][-1] == seen[-1] == result.fun
    assert (result.population.f == 5 - (result.population.x**2).sum(axis=1)).all()
    stopped = ppsde.minimize(fun, [(-5, 5)] * 2, maximize=True, target=3.0, **more)
    assert stopped.fun >= 3.0 and stopped.limited_by == "target" and stopped.nfev < 2000
    known = ppsde.minimize(fun, [(-5, 5)] * 2, maximize=True, x0=[1.0, 0.0], x0_values=(4.0, [0.0], []), **more)
    assert known.fun == 4.0
    problem = ppsde.Problem(lambda x: fun(x), [(-5, 5)] * 2, maximize=True)
    with pytest.warns(RuntimeWarning, match="cannot be compiled"):
        batch = ppsde.solve_batch(problem, method="jde", runs=1, max_evaluations=600)
    assert 4.0 >= batch.f[0] > 3.0 and np.nanmax(batch.record["f"]) <= 4.0


def test_tolerance_and_scale_of_single_constraints() -> None:
    def fun(x: np.ndarray) -> Any:
        return float(x.sum()), [1 - x[0], 2000 - 1000 * x[1]], [1e6 * (x[2] - 3), x[3] - 1]

    problem = ppsde.Problem(
        fun,
        [(0, 5)] * 4,
        n_ineq=2,
        n_eq=2,
        constraint_names=["a", "b", "c", "d"],
        tolerance={"b": 100.0, "c": 5e5},
        scale=[1, 1000, 1e6, 1],
    )
    result = ppsde.minimize(problem, rng=1)
    np.testing.assert_allclose(result.x, [1, 1.9, 2.5, 1 - 1e-4], atol=1e-6)
    reports = {report.name: report for report in result.constraints}
    assert reports["b"].value == pytest.approx(100, abs=1e-3) and reports["c"].value == pytest.approx(-5e5, rel=1e-6)
    assert all(report.violation == 0 for report in result.constraints) and result.feasible
    g, h = problem.evaluate(np.array([[0.0, 0.0, 5.0, 2.0]]))[1:]
    assert g.tolist() == [[1.0, 1.9]] and h.tolist() == [[2.0, 1.0]]
    assert problem.units.tolerance.tolist() == [0.5, 1e-4]


def test_a_scaled_problem_is_resumed_to_the_same_bits(tmp_path: Path) -> None:
    def fun(x: np.ndarray) -> Any:
        return float(x.sum()), [1 - x[0]], [1e6 * (x[2] - 3), x[1] - 1]

    problem = ppsde.Problem(
        fun, [(0, 5), None, (0, None)], n_ineq=1, n_eq=2, tolerance=[0.1, 10.0, 0.1], choices={1: [1, 2]}, maximize=True
    )
    more: dict[str, Any] = {"method": "jde", "max_evaluations": 500, "rng": 1}
    whole = ppsde.minimize(problem, **more)
    ppsde.minimize(problem, **more, checkpoint=tmp_path / "a.ck", callback=lambda r: r.nfev > 200)
    same(ppsde.resume(tmp_path / "a.ck", problem), whole)


def test_a_function_with_kinds_is_resumed_from_the_function_alone(tmp_path: Path) -> None:
    def fun(x: np.ndarray, shift: float) -> float:
        return float(-((x - shift) ** 2).sum())

    more: dict[str, Any] = {"method": "jde", "max_evaluations": 400, "rng": 1, "args": (2.2,), "maximize": True}
    more |= {"choices": {1: ["a", "b", "c"]}, "integrality": [1, 0, 0]}
    bounds = [(0, 5), None, (None, 3)]
    whole = ppsde.minimize(fun, bounds, **more)
    ppsde.minimize(fun, bounds, **more, checkpoint=tmp_path / "a.ck", callback=lambda r: r.nfev > 200)
    again = ppsde.resume(tmp_path / "a.ck", fun, args=(2.2,))
    same(again, whole)
    assert list(again.variables.values())[:2] == [2, "c"]


# --- values by name ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("workers", [1, 2])
def test_constraints_by_name(workers: int) -> None:
    def fun(x: np.ndarray) -> Any:
        g = {"stress": 1 - x[0], "mass": x[1] - 3}
        return {"f": float(x.sum()), "g": g if x[0] > 2 else dict(reversed(g.items())), "h": {"balance": x[1] - 2}}

    result = ppsde.minimize(fun, [(0, 5)] * 2, workers=workers, **SMALL)
    assert list(result.constr_violation) == ["mass", "stress", "balance"]
    np.testing.assert_allclose(result.x, [1, 2 - 1e-4], atol=1e-6)


def test_names_that_are_given_set_the_order() -> None:
    fun = ByName(lambda x: (x[0], {"b": 1.0, "a": 2.0}, {"c": 3.0}), ["b", "a", "c"])
    assert fun([0.0])[1:] == ([1.0, 2.0], [3.0]) and fun.constraint_names == ("b", "a", "c")
    rows = ByName(lambda x: {"f": x[:, 0], "g": {"b": x[:, 0], "a": x[:, 1]}})
    assert rows(np.array([[1.0, 2.0], [3.0, 4.0]]))[1].tolist() == [[2.0, 1.0], [4.0, 3.0]]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"g": [1]}, "a mapping must have f, the objective"),
        ({"f": 1.0, "G": [1]}, "a mapping must have f and perhaps g and h; got 'G'"),
        ({"f": 1.0, "g": {"a": 1.0}, "h": [2.0]}, "g and h must both be mappings if one is; h is a list"),
        ([1.0, [2.0], []], r"the function must return f or a tuple (f, g, h); got a list: write (f, g, h)"),
    ],
)
def test_a_wrong_mapping_is_an_error_of_one_sentence(value: Any, message: str) -> None:
    with pytest.raises(MalformedValue) as error:
        ppsde.minimize(lambda x: value, [(0, 1)], **SMALL)
    assert message in str(error.value) and "\n" not in str(error.value)


def test_names_that_change_fail_that_point() -> None:
    def fun(x: np.ndarray) -> Any:
        return {"f": x[0], "g": {"a": 0.1 - x[0]} if x[0] < 0.8 else {"b": 0.0}}

    result = ppsde.minimize(fun, [(0, 1)], method="jde", **SMALL)
    assert result.n_failed and "must always return the constraints a" in str(result.failures[0])
    assert result.x[0] == pytest.approx(0.1, abs=1e-3)


# --- wrong input ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"choices": {2: [1, 2]}}, "choices: there is no variable 2; there are 2"),
        ({"choices": {"a": [1, 2]}}, "choices: there is no variable 'a' in variable_names"),
        ({"choices": {0: []}}, "choices of variable 0 must be a list of values; got []"),
        ({"choices": {0: "abc"}}, "choices of variable 0 must be a list of values; got 'abc'"),
        ({"choices": {0: [1, 1]}}, "choices of variable 0 must differ; got [1, 1]"),
        ({"choices": {0: [1, "a"]}}, "choices of variable 0 must be all numbers or all texts; got [1, 'a']"),
        ({"choices": {0: [True, False]}}, "choices of variable 0 must be all numbers or all texts; got [True, False]"),
        ({"choices": {0: [1, 99]}}, "choices of variable 0 must be finite and inside its bounds; got [1, 99]"),
        ({"choices": {0: [1, 2]}, "integrality": True}, "variable 0 has allowed values; it must not be an integer"),
        ({"choices": 3}, "choices must be a mapping, or a sequence of lists and None; got 3"),
        ({"variable_names": ["a"]}, "variable_names must be 2 different names; got ['a']"),
        ({"variable_names": ["a", "a"]}, "variable_names must be 2 different names; got ['a', 'a']"),
        ({"variable_names": "ab"}, "variable_names must be a sequence of names; got 'ab'"),
        ({"variable_names": [1, 2]}, "variable_names must be texts; got 1"),
        ({"constraint_names": ["a", 2]}, "constraint_names must be texts; got 2"),
        ({"maximize": "yes"}, "maximize must be True or False; got 'yes'"),
        ({"scale": [1.0]}, "tolerance or scale of single constraints needs their numbers, n_ineq and n_eq"),
        ({"scale": [1.0], "n_ineq": 2, "n_eq": 0}, "scale must have a number for each of the 2 constraints; got [1.0]"),
        ({"scale": [1.0, 0.0], "n_ineq": 2, "n_eq": 0}, "scale of a constraint must be a finite number > 0; got 0.0"),
        ({"tolerance": [-1.0], "n_ineq": 1, "n_eq": 0}, "tolerance of a constraint must be a finite number >= 0; got"),
        ({"tolerance": {"a": 1.0}, "n_ineq": 1, "n_eq": 0}, "tolerance by name needs constraint_names, 1 of them"),
        (
            {"tolerance": {"strss": 1.0}, "n_ineq": 1, "n_eq": 0, "constraint_names": ["stress"]},
            "tolerance: unknown constraint 'strss'; did you mean 'stress'?",
        ),
        ({"bounds": [(0, None), (0, 1)], "integrality": [1, 0]}, "an integer variable needs both bounds; variable 0"),
        ({"bounds": [(None, 2), (0, 1)], "log": [1, 0]}, "a log-scaled variable needs positive bounds; variable 0"),
        ({"constraints": [3]}, "each constraint must be a scipy NonlinearConstraint or LinearConstraint, or a dict"),
    ],
)
def test_a_wrong_argument_of_a_problem_is_one_sentence(given: dict[str, Any], message: str) -> None:
    bounds = given.pop("bounds", [(0, 9), (0, 9)])
    with pytest.raises(ValueError) as error:
        ppsde.Problem(lambda x: x[0], bounds, **given)
    assert str(error.value).startswith(message) and "\n" not in str(error.value)


def test_x0_of_a_variable_with_allowed_values_must_be_one() -> None:
    problem = ppsde.Problem(lambda x: x[0], [None], choices=[[1, 2, 5]])
    with pytest.raises(ValueError, match=r"x0 must have an allowed value of variable 0, \[1.0, 2.0, 5.0\]; got 3.0"):
        ppsde.minimize(problem, x0=[3.0])
    assert ppsde.minimize(problem, x0=[5.0], max_evaluations=60, rng=1).x.tolist() == [1.0]


def test_a_list_of_values_in_place_of_bounds_is_told_where_it_belongs() -> None:
    with pytest.raises(ValueError, match=r"variable 0 must be a pair .*choices=\{0"):
        ppsde.Problem(sum, [[1, 2, 5, 10], (0, 1)])
    with pytest.raises(ValueError, match="got int"):
        ppsde.Problem(sum, [(0, 1)], constraints=3)
    assert ppsde.Problem(sum, (np.zeros(3), [1, 1, 1])).dimension == 3


def test_a_notebook_shows_the_names_of_variables() -> None:
    problem = ppsde.Problem(sum, [(0, 1)] * 2, variable_names=["<width>", "height"])
    assert "&lt;width&gt;" in problem._repr_html_() and "height" in problem._repr_html_()


def test_names_of_constraints_are_as_many_as_these() -> None:
    with pytest.raises(ValueError, match="a name for each of the 1 constraints; got 2"):
        ppsde.Problem(sum, [(0, 1)], n_ineq=1, n_eq=0, constraint_names=["stress", "mass"])


@pytest.mark.parametrize(
    ("fun", "more"),
    [
        (lambda x: (x.sum(), [x[0]], []), {}),
        (lambda x: {"f": x.sum(), "g": {"a": x[0]}}, {}),
        (lambda x: (x.sum(axis=1), x[:, :1], x[:, :0]), {"vectorized": True}),
        (lambda x: x.sum(), {"constraints": LinearConstraint([[1, 1]], -np.inf, 1)}),
    ],
)
def test_more_names_than_constraints_are_an_error_of_the_first_evaluation(fun: Any, more: dict[str, Any]) -> None:
    problem = ppsde.Problem(fun, [(0, 1)] * 2, constraint_names=["a", "b"], **more)
    fronts = [lambda: ppsde.minimize(problem, max_evaluations=100, rng=1)]
    fronts.append(lambda: ppsde.minimize(problem, max_evaluations=100, rng=1, workers=1, asynchronous=True))
    if "vectorized" in more and find_spec("jax"):
        fronts.append(lambda: ppsde.minimize(problem, method="jde", max_evaluations=100, rng=1, backend="jax"))
        fronts.append(lambda: ppsde.solve_batch(problem, max_evaluations=100, runs=1))
    for front in fronts:
        with pytest.raises(MalformedValue, match="a name for each of the 1 constraints; got 2"):
            front()
