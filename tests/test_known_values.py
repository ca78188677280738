"""First points whose values are known: they are not evaluated, cost no budget, and may be the result."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from killing import digest
from scipy.optimize import LinearConstraint, NonlinearConstraint

import ppsde
from ppsde.algorithm import Task
from ppsde.arrays import bits
from ppsde.engines.ending import FAILED, SPENT, TARGET
from ppsde.engines.run import GIVE_UP, Run

# A function that counts or stops is wrapped on one side only.
pytestmark = pytest.mark.filterwarnings("ignore:.*not the one that the run began with")

BOX = [(-5.0, 5.0)] * 3
LOWER, UPPER = np.full(3, -5.0), np.full(3, 5.0)
X0 = np.array([[2.0, 1.0, 0.0], [1.0, 0.25, -0.25], [-1.0, 4.0, 0.5]])  # the second is the optimum, 1.125


def rows(x: np.ndarray) -> Any:
    """The sum of squares beyond a plane, on a second plane."""
    return (x**2).sum(axis=1), 1.0 - x[:, :1], x[:, 1:2] - x[:, 2:3] - 0.5


class Fun:
    """The same function of one point, which remembers where it was evaluated."""

    def __init__(self) -> None:
        self.seen: list[list[float]] = []

    def __call__(self, x: np.ndarray) -> Any:
        self.seen.append(x.tolist())
        f, g, h = rows(x[None])
        return float(f[0]), g[0], h[0]


def a_run(method: str, known: bool) -> Run:
    task = Task(LOWER, UPPER, 700, X0)
    algorithm = ppsde.ALGORITHMS[method]
    return Run(algorithm, task, seed=1, tolerance=1e-4, x0_values=rows(X0) if known else None)


@pytest.mark.parametrize("method", ppsde.ALGORITHMS)
def test_the_first_state_is_that_of_a_run_which_evaluates_them(method: str) -> None:
    known, evaluated = a_run(method, True), a_run(method, False)
    for run in (known, evaluated):
        while run.state is None:
            assert run.wanted is not None
            run.supply(*rows(run.wanted))
    they_alone = method in ("pps-sqp", "sqp")  # the whole first request is x0
    assert evaluated.evaluations - known.evaluations == 3 and evaluated.requests - known.requests == they_alone
    for name in ("x", "f", "violation", "g", "h"):
        assert bits(getattr(known.state.population, name)) == bits(getattr(evaluated.state.population, name)), name
    assert bits(known.wanted) == bits(evaluated.wanted)
    assert bits(known.best.x) == bits(evaluated.best.x) and bits(known.best_member.x) == bits(evaluated.best_member.x)


@pytest.mark.parametrize("method", ppsde.ALGORITHMS)
def test_the_budget_is_for_the_other_points_alone(method: str) -> None:
    fun = Fun()
    result = ppsde.minimize(fun, BOX, method=method, x0=X0, x0_values=rows(X0), max_evaluations=333, rng=1, tol=0)
    assert result.nfev == result.n_calls == len(fun.seen) == 333
    assert not [x for x in fun.seen[:27] if x in X0.tolist()]  # whatever is asked for first
    assert result.fun <= 1.125 and result.feasible


@pytest.mark.parametrize("budget", [1, 5, 36, 37, 38])
def test_a_budget_smaller_than_a_population_is_met_exactly(budget: int) -> None:
    fun = Fun()
    result = ppsde.minimize(fun, BOX, method="pps-de", x0=X0, x0_values=rows(X0), max_evaluations=budget, rng=1)
    assert result.nfev == len(fun.seen) == budget
    assert result.x.tolist() == X0[1].tolist() and result.fun == 1.125 and result.status == SPENT
    assert np.isfinite(result.population.f).sum() == min(budget + 3, 40)


@pytest.mark.parametrize(
    "values",
    [
        (1.125, [0.0], [0.0]),
        (np.array([1.125]), np.array([[0.0]]), np.array([[0.0]])),
        [1.125, 0.0, 0.0],
    ],
)
def test_a_single_point_may_have_a_number_and_sequences(values: Any) -> None:
    fun = Fun()
    result = ppsde.minimize(fun, BOX, method="pps-de", x0=X0[1], x0_values=values, max_evaluations=50, rng=1)
    assert result.fun == 1.125 and X0[1].tolist() not in fun.seen and result.nfev == 50


def test_without_constraints_g_and_h_are_none_or_empty() -> None:
    for empty in (None, [], np.empty((3, 0))):
        f = (X0**2).sum(axis=1)
        known: dict[str, Any] = {"x0": X0, "x0_values": (f, empty, None)}
        result = ppsde.minimize(lambda x: (x**2).sum(), BOX, method="pps-de", **known, max_evaluations=50)
        assert result.nfev == 50 and result.fun <= f.min()


def test_a_known_failure_is_neither_evaluated_nor_counted() -> None:
    f, g, h = rows(X0)
    f[1] = np.nan
    fun = Fun()
    result = ppsde.minimize(fun, BOX, method="pps-de", x0=X0, x0_values=(f, g, h), max_evaluations=20, rng=1)
    assert X0[1].tolist() not in fun.seen and result.n_failed == 0 and result.nfev == 20
    there = (result.population.x == X0[1]).all(axis=1)
    assert result.fun != 1.125 and there.sum() == 1 and not result.population.valid[there].any()


def test_a_first_population_that_is_known_completely_costs_nothing() -> None:
    x0 = np.random.default_rng(1).uniform(-5, 5, (9, 3))
    common: dict[str, Any] = {"method": "jde", "options": {"population_size": 9}, "max_evaluations": 90, "rng": 1}
    optimizer = ppsde.Optimizer(BOX, n_ineq=1, n_eq=1, x0=x0, x0_values=rows(x0), **common)
    assert not (optimizer.ask()[:, None] == x0).all(axis=2).any()
    assert optimizer.result.nfev == 0 and optimizer.result.history["evaluations"].tolist() == [0.0]
    while not optimizer.done:
        optimizer.tell(*rows(optimizer.ask()))
    assert optimizer.result.nfev == 90 and optimizer.result.nit == 10


def test_known_failures_alone_are_no_first_population_so_other_points_are_evaluated() -> None:
    x0 = np.random.default_rng(1).uniform(-5, 5, (9, 3))
    nan = np.full(9, np.nan)
    fun = Fun()
    common: dict[str, Any] = {"method": "jde", "options": {"population_size": 9}, "max_evaluations": 90, "rng": 1}
    result = ppsde.minimize(fun, BOX, x0=x0, x0_values=(nan, nan, nan), **common)
    assert result.nfev == 90 == len(fun.seen)
    assert not any(point in x0.tolist() for point in fun.seen), "those that are known to fail are left"


def test_a_function_that_fails_everywhere_is_given_up_with_the_best_known_point() -> None:
    def failing(x: np.ndarray) -> Any:
        raise RuntimeError("no licence")

    called = ppsde.minimize(failing, BOX, x0=X0, x0_values=rows(X0), max_evaluations=5000, rng=1)
    optimizer = ppsde.Optimizer(BOX, n_ineq=1, n_eq=1, x0=X0, x0_values=rows(X0), max_evaluations=5000, rng=1)
    while not optimizer.done:
        nan = np.full(len(optimizer.ask()), np.nan)
        optimizer.tell(nan, nan[:, None], nan[:, None])
    for result in (called, optimizer.result):
        assert result.status == FAILED and GIVE_UP <= result.nfev == result.n_failed < 200
        assert result.fun == 1.125 and result.x.tolist() == X0[1].tolist()


def test_a_target_that_a_known_point_reaches_needs_no_evaluation() -> None:
    fun = Fun()
    result = ppsde.minimize(fun, BOX, x0=X0, x0_values=rows(X0), target=1.2, rng=1)
    assert result.status == TARGET and result.nfev == 0 == len(fun.seen) and result.fun == 1.125
    optimizer = ppsde.Optimizer(BOX, n_ineq=1, n_eq=1, x0=X0, x0_values=rows(X0), target=1.2)
    assert optimizer.done and optimizer.result.status == TARGET


def test_a_run_is_stored_with_them_and_resumed_without_evaluating_them(tmp_path: Path) -> None:
    common: dict[str, Any] = {"method": "pps-de", "x0": X0, "x0_values": rows(X0), "max_evaluations": 400, "rng": 2}
    unbroken = ppsde.minimize(Fun(), BOX, **common)
    for stop in (5, 90):  # in the first request, and later
        path = tmp_path / f"{stop}.ppsde"
        first = Fun()

        def stopping(x: np.ndarray, first: Fun = first, stop: int = stop) -> Any:
            if len(first.seen) == stop:
                raise KeyboardInterrupt
            return first(x)

        stopped = ppsde.minimize(stopping, BOX, checkpoint=path, **common)
        assert stopped.message == "interrupted"
        second = Fun()
        resumed = ppsde.resume(path, second)
        assert digest(resumed) == digest(unbroken) and len(first.seen) + len(second.seen) == 400
        assert not [x for x in first.seen + second.seen if x in X0.tolist()]


@pytest.mark.parametrize("method", ["pps-sqp", "pps-de", "emag-es", "l-shade"])
def test_a_search_saved_and_loaded_at_every_request_is_the_unbroken_one(method: str, tmp_path: Path) -> None:
    common: dict[str, Any] = {"method": method, "n_ineq": 1, "n_eq": 1, "max_evaluations": 300, "rng": 2}
    unbroken, broken = (ppsde.Optimizer(BOX, x0=X0, x0_values=rows(X0), **common) for _ in range(2))
    while not unbroken.done:
        broken.save(tmp_path / "search.ppsde")
        broken = ppsde.Optimizer.load(tmp_path / "search.ppsde")
        assert bits(broken.ask()) == bits(unbroken.ask())
        unbroken.tell(*rows(unbroken.ask()))
        broken.tell(*rows(broken.ask()))
    assert broken.done and repr(broken.result) == repr(unbroken.result)


def test_arrays_that_were_passed_may_be_changed_afterwards() -> None:
    f, g, h = rows(X0)
    known: dict[str, Any] = {"x0": X0, "x0_values": (f, g, h)}
    optimizer = ppsde.Optimizer(BOX, method="pps-de", n_ineq=1, n_eq=1, **known, max_evaluations=100, rng=1)
    f[:], g[:], h[:] = -1e9, -1.0, 0.0
    while not optimizer.done:
        optimizer.tell(*rows(optimizer.ask()))
    assert optimizer.result.fun == 1.125


def test_values_of_separate_constraints_are_the_columns_of_all_of_them() -> None:
    plane = LinearConstraint([[1.0, 0.0, 0.0]], 1.0, np.inf)
    pair = NonlinearConstraint(lambda x: [x[0] * x[1], x[1] + x[2]], [-9.0, 0.0], [9.0, 0.0])
    x0 = np.array([1.0, 0.25, -0.25])

    def objective(x: np.ndarray) -> float:
        return float((x**2).sum())

    common: dict[str, Any] = {
        "constraints": [plane, pair],
        "x0": x0,
        "method": "pps-de",
        "max_evaluations": 60,
        "rng": 1,
    }
    whole = ppsde.minimize(objective, BOX, **common)
    assert [report.name for report in whole.constraints] == ["c0 >= 1", "c1[0] <= 9", "c1[0] >= -9", "c1[1] == 0"]
    values = (objective(x0), [1.0 - x0[0], 0.25 - 9.0, -9.0 - 0.25], [0.0])
    known = ppsde.minimize(objective, BOX, x0_values=values, **common)
    assert known.nfev == 60 and known.fun <= values[0] and known.feasible
    assert [report.name for report in known.constraints] == [report.name for report in whole.constraints]
    with pytest.raises(ValueError, match="must return 1 inequalities and 0 equalities; got 3 and 1"):
        ppsde.minimize(objective, BOX, x0_values=(1.0, [0.0], []), **common)


def test_integer_and_log_variables_are_given_in_the_users_numbers() -> None:
    seen = []

    def fun(x: np.ndarray) -> Any:
        seen.append(x.tolist())
        return (x[0] - 4) ** 2 + x[1], [], []

    kinds: dict[str, Any] = {"integrality": [1, 0], "log": [0, 1]}
    known: dict[str, Any] = {"x0": [4, 0.01], "x0_values": (0.01, [], [])}
    result = ppsde.minimize(fun, [(1, 6), (0.01, 100.0)], method="pps-de", max_evaluations=30, rng=1, **kinds, **known)
    assert result.x.tolist() == [4.0, 0.01] and result.fun == 0.01 and result.nfev == len(seen) == 30


def test_a_compiled_run_does_not_have_them() -> None:
    with pytest.raises(ValueError, match="backend='jax' runs as one program and does not support x0_values"):
        ppsde.minimize(lambda x: x.sum(), BOX, x0=X0[0], x0_values=(3.0, [], []), backend="jax")
    jax = pytest.importorskip("jax")
    jitted = jax.jit(lambda x: (x**2).sum())
    assert ppsde.minimize(jitted, BOX, x0=np.zeros(3), x0_values=(0.0, [], []), max_evaluations=20, rng=1).fun == 0.0


F, G, H = rows(X0)
WRONG: list[tuple[dict[str, Any], str]] = [
    ({"x0_values": (F, G, H)}, "x0_values are the values of x0, which must be passed with them"),
    ({"x0": X0, "x0_values": F[0]}, r"x0_values must be \(f, g, h\); got"),
    ({"x0": X0, "x0_values": (F, G)}, r"x0_values must be \(f, g, h\); got"),
    ({"x0": X0, "x0_values": (F[:2], G, H)}, r"x0_values: f must have shape \(3,\).*; got \(2,\)"),
    ({"x0": X0, "x0_values": (1.0, G, H)}, r"x0_values: f must have shape \(3,\).*; got \(\)"),
    (
        {"x0": X0, "x0_values": (F, G[:2], H)},
        r"x0_values: g must have shape \(3, number of constraints\); got \(2, 1\)",
    ),
    ({"x0": X0, "x0_values": (F, G, H.T)}, r"x0_values: h must have shape \(3, number of constraints\); got \(1, 3\)"),
    ({"x0": X0, "x0_values": (F, None, H)}, "must have 1 inequalities and 1 equalities, as the problem; got 0 and 1"),
    ({"x0": X0, "x0_values": (F * 1j, G, H)}, "x0_values: f must be real numbers; got complex"),
    ({"x0": X0, "x0_values": (F, [["a"]] * 3, H)}, "x0_values: g must be real numbers"),
]


@pytest.mark.parametrize(("arguments", "words"), WRONG)
def test_values_that_do_not_fit_are_refused(arguments: dict[str, Any], words: str) -> None:
    problem = ppsde.Problem(rows, BOX, n_ineq=1, n_eq=1, vectorized=True)
    with pytest.raises(ValueError, match=words):
        ppsde.minimize(problem, max_evaluations=50, **arguments)
    with pytest.raises(ValueError, match=words):
        ppsde.Optimizer(BOX, n_ineq=1, n_eq=1, max_evaluations=50, **arguments)


def test_a_function_with_other_numbers_of_constraints_is_an_error_at_its_first_evaluation() -> None:
    for vectorized in (False, True):
        fun = rows if vectorized else Fun()
        with pytest.raises(ValueError, match="must return 1 inequalities and 0 equalities; got 1 and 1"):
            ppsde.minimize(fun, BOX, x0=X0, x0_values=(F, G, None), vectorized=vectorized, rng=1)
