"""A function that misbehaves gets the same treatment, in the same words, whichever way it is called."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from misbehaving import BAD, bad_in_a_corner, good

import ppsde
from ppsde.arrays import bits
from ppsde.experiments import Plan, run
from ppsde.experiments.store import Store

BOUNDS = [(-2.0, 2.0)] * 3
BUDGET, SEED = 700, 5
FORMS = [name for name, (_, words) in BAD.items() if words.startswith("MalformedValue") and name != "two constraints"]
FAILURES = [name for name in BAD if name not in FORMS and name != "two constraints"]


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The results of jobs on the host engine: by name where the function misbehaves in the corner, or always."""
    folder = tmp_path_factory.mktemp("study")
    lines = ["import ppsde", "from misbehaving import BAD, bad_in_a_corner", f"BOUNDS = {BOUNDS}"]
    for k, name in enumerate(BAD):
        lines.append(f"corner_{k} = ppsde.Problem(bad_in_a_corner({name!r}), BOUNDS)")
        lines.append(f"always_{k} = ppsde.Problem(BAD[{name!r}][0], BOUNDS)")
    (folder / "bad.py").write_text("\n".join(lines))
    problems = [f"{folder}/bad.py:{kind}_{k}" for kind in ("corner", "always") for k in range(len(BAD))]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(Path(__file__).parent), prepend=":")
        plan = Plan(["pps-de"], problems=problems, runs=1, budget=BUDGET, rng=SEED, engine="host")
        run(plan, folder / "study.db", progress=False)
    with Store(folder / "study.db") as store:
        found = {result.problem.partition(":")[2]: result for result in store.results()}
    return {f"{kind} {name}": found[f"{kind}_{k}"] for kind in ("corner", "always") for k, name in enumerate(BAD)}


def asked_and_told(fun: Callable[[np.ndarray], Any]) -> Any:
    """The result of a loop of one's own, which gives NaN where its function misbehaves."""
    optimizer = ppsde.Optimizer(BOUNDS, method="pps-de", n_ineq=1, max_evaluations=BUDGET, rng=SEED)
    while not optimizer.done:
        x = optimizer.ask()
        f, g = np.full(len(x), np.nan), np.full((len(x), 1), np.nan)
        for k in np.flatnonzero(x[:, 0] <= 1.2):
            f[k], g[k], _ = fun(x[k])
        optimizer.tell(f, g)
    return optimizer.result


def refuse(fronts: dict[str, Callable[[], Any]], words: str) -> None:
    """Check that every front raises a ValueError that begins with these words."""
    for front, call in fronts.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # that the host engine is used
            with pytest.raises(ValueError) as caught:
                call()
        assert str(caught.value).startswith(words), front


@pytest.mark.parametrize("name", BAD)
def test_a_point_that_fails_costs_itself_alone_on_every_front(name: str, tmp_path: Path, rows: dict[str, Any]) -> None:
    fun, words = bad_in_a_corner(name), BAD[name][1]
    settings: dict[str, Any] = {"method": "pps-de", "max_evaluations": BUDGET, "rng": SEED}
    called = ppsde.minimize(fun, BOUNDS, **settings)
    assert called.nfev == BUDGET and called.feasible and 0 < called.n_failed == len(called.failures) < BUDGET
    assert all(str(failure).startswith(words) and failure.x[0] > 1.2 for failure in called.failures)

    def stop(intermediate_result: Any) -> None:
        if intermediate_result.nfev > BUDGET // 2:
            raise StopIteration

    path = tmp_path / "run.ppsde"
    ppsde.minimize(fun, BOUNDS, **settings, callback=stop, checkpoint=path)
    resumed = ppsde.resume(path, fun)
    in_workers = ppsde.minimize(fun, BOUNDS, **settings, workers=2)
    for other in (resumed, in_workers):
        assert bits(other.x) == bits(called.x) and other.n_failed == called.n_failed
        assert [str(failure) for failure in other.failures] == [str(failure) for failure in called.failures]

    told = asked_and_told(fun)
    with pytest.warns(RuntimeWarning, match="the host engine is used"):
        batch = ppsde.solve_batch(ppsde.Problem(fun, BOUNDS), runs=1, max_evaluations=BUDGET, rng=SEED)
    assert bits(told.x) == bits(called.x) == bits(batch.x[0]) and told.n_failed == called.n_failed
    row = rows[f"corner {name}"]
    assert row.status == "ok" and bits(row.arrays["x"]) == bits(called.x)
    assert int(row.arrays["failed_evaluations"]) == called.n_failed


@pytest.mark.parametrize("name", FORMS)
def test_a_value_of_the_wrong_form_at_the_first_evaluation_is_an_error_on_every_front(
    name: str, tmp_path: Path, rows: dict[str, Any]
) -> None:
    fun, words = BAD[name]
    words = words.removeprefix("MalformedValue: ")
    problem = ppsde.Problem(lambda x: fun(np.asarray(x)), BOUNDS)
    fronts: dict[str, Callable[[], Any]] = {
        "minimize": lambda: ppsde.minimize(problem, method="pps-de", max_evaluations=BUDGET, rng=SEED),
        "minimize in workers": lambda: ppsde.minimize(
            problem, method="pps-de", max_evaluations=BUDGET, rng=SEED, workers=2
        ),
        "solve_batch": lambda: ppsde.solve_batch(problem, runs=2, max_evaluations=BUDGET, rng=SEED),
        "evaluate": lambda: problem.evaluate([[0.0, 0.0, 0.0]]),
    }
    refuse(fronts, words)
    row = rows[f"always {name}"]
    assert row.status == "failed" and row.message.startswith(f"MalformedValue: {words}")


MASKED = np.ma.array([0.5], mask=[True])
# Functions that JAX traces, of one point, and the beginning of the words on their values.
TRACED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "complex": (lambda x: (x[0] * 1j, [x[0]], []), "the objective must be real numbers; got complex numbers"),
    "complex constraint": (lambda x: (x[0], [x[0], 1j], []), "g must be real numbers; got complex numbers"),
    "masked objective": (lambda x: (MASKED[0], [x[0]], []), "the objective must be real numbers; got masked values"),
    "masked constraint": (lambda x: (x[0], [np.ma.masked], []), "g must be real numbers; got masked values"),
    "two objectives": (lambda x: x[:2], "the objective must be one number; got shape (2,)"),
    "four values": (
        lambda x: (x[0], [], [], x[1]),
        "the function must return f or a tuple (f, g, h); got a tuple of 4",
    ),
}


@pytest.mark.parametrize("name", TRACED)
@pytest.mark.parametrize("maximize", [False, True])  # values are then converted first
def test_a_value_of_the_wrong_form_is_an_error_in_compiled_programs_too(name: str, maximize: bool) -> None:
    pytest.importorskip("jax")
    fun, words = TRACED[name]
    problem = ppsde.Problem(fun, BOUNDS, maximize=maximize)
    settings: dict[str, Any] = {"method": "jde", "max_evaluations": BUDGET, "rng": SEED}
    fronts: dict[str, Callable[[], Any]] = {
        "minimize on the host": lambda: ppsde.minimize(problem, backend="numpy", **settings),
        "solve_batch": lambda: ppsde.solve_batch(problem, runs=2, **settings),
    }
    if not maximize:
        fronts["minimize compiled"] = lambda: ppsde.minimize(problem, backend="jax", **settings)
    refuse(fronts, words)


def test_columns_of_constraints_are_not_taken_for_rows_in_compiled_programs() -> None:
    pytest.importorskip("jax")
    problem = ppsde.Problem(lambda x: (x[:, 0], x[:, :2].T, None), BOUNDS, vectorized=True)
    for backend in ("numpy", "jax"):
        with pytest.raises(ValueError, match=r"^vectorised g of \d+ rows must have shape .*; got \(2, \d+\)"):
            ppsde.minimize(problem, backend=backend, method="jde", max_evaluations=BUDGET, rng=SEED)


@pytest.mark.parametrize("name", FAILURES)
def test_a_function_that_always_fails_ends_soon_and_says_why_on_every_front(
    name: str, tmp_path: Path, rows: dict[str, Any]
) -> None:
    fun, words = BAD[name]
    called = ppsde.minimize(fun, BOUNDS, method="pps-de", max_evaluations=BUDGET, rng=SEED)
    assert called.message == f"every evaluation failed (100 of 100); the first with {words}"
    problem = ppsde.Problem(lambda x: fun(np.asarray(x)), BOUNDS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        batch = ppsde.solve_batch(problem, runs=2, max_evaluations=BUDGET, rng=SEED)
    assert batch.evaluations.tolist() == [100, 100] and np.isinf(batch.violation).all()
    row = rows[f"always {name}"]
    assert row.status == "failed" and row.message == f"every evaluation failed (100); the first with {words}"


@pytest.mark.parametrize(
    ("f", "g", "words"),
    [
        (lambda x: x[:, 0] * 1j, lambda x: x[:, :1], "the objective must be real numbers; got complex numbers"),
        (lambda x: x[:9, 0], lambda x: x[:, :1], "f of 40 points must have shape (40,); got (9,)"),
        (
            lambda x: np.ma.array(x[:, 0], mask=x[:, 0] > 0),
            lambda x: x[:, :1],
            "the objective must be real numbers; got m",
        ),
        (lambda x: x[:, 0], lambda x: x, "expected 1 inequalities and 0 equalities; got (3, 0)"),
    ],
)
def test_tell_refuses_values_in_the_words_of_minimize(f: Any, g: Any, words: str) -> None:
    optimizer = ppsde.Optimizer(BOUNDS, method="pps-de", n_ineq=1, max_evaluations=BUDGET, rng=SEED)
    x = optimizer.ask()
    with pytest.raises(ValueError) as caught:
        optimizer.tell(f(x), g(x))
    assert str(caught.value).startswith(words)
    assert bits(optimizer.ask()) == bits(x)  # nothing is lost


class Other(BaseException):
    """One that is not an `Exception`."""


class WithAResult(Other):
    result = "its own"


class Closed(Other):
    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("__"):  # else nobody could raise it
            raise AttributeError(name)
        super().__setattr__(name, value)


CALLS = 150
NOTE = "what the search had found until then is in `result`, an attribute of this exception"


def raises_at_last(error: type[BaseException], values: list[float], calls: int = CALLS) -> Callable[[np.ndarray], Any]:
    """A function that raises what is no failure of its point, after so many calls; `values` get its objectives."""

    def fun(x):
        if len(values) == calls:
            raise error
        f, g, h = good(x)
        values.append(f if g[0] <= 0 else np.inf)
        return f, g, h

    return fun


@pytest.mark.parametrize("error", [GeneratorExit, asyncio.CancelledError, Other])
@pytest.mark.parametrize("front", ["minimize", "asynchronous", "resume", "callback"])
@pytest.mark.filterwarnings("ignore:.*the function is not the one")  # since one of them ends by itself
def test_an_exception_that_passes_out_takes_along_what_was_found(
    front: str, error: type[BaseException], tmp_path: Path
) -> None:
    values: list[float] = []
    fun, path = raises_at_last(error, values), tmp_path / "run.ppsde"
    settings: dict[str, Any] = {"method": "pps-de", "max_evaluations": BUDGET, "rng": SEED}
    settings |= {"asynchronous": True} if front == "asynchronous" else {}

    def callback(intermediate_result: Any) -> None:
        if front == "resume":
            raise StopIteration
        if front == "callback" and intermediate_result.nfev > CALLS // 2:
            raise error

    with pytest.raises(error) as raised:
        ppsde.minimize(fun, BOUNDS, **settings, callback=callback, checkpoint=path)
        ppsde.resume(path, fun)
    result = raised.value.result  # type: ignore[attr-defined]
    assert result.feasible and result.fun == min(values) == good(result.x)[0] and result.n_calls >= len(values)
    assert result.message == "stopped by an error" and raised.value.__notes__ == [NOTE]
    unbroken, resumed = ppsde.minimize(good, BOUNDS, **settings), ppsde.resume(path, good)
    assert bits(resumed.x) == bits(unbroken.x) and resumed.n_calls == unbroken.n_calls == BUDGET


@pytest.mark.parametrize("calls", [12, 18])  # in the search, which is of 15 points, or in the polishing
def test_an_exception_that_passes_out_of_the_front_of_scipy_takes_along_what_was_found(calls: int) -> None:
    values: list[float] = []

    def fun(x):
        if len(values) == calls:
            raise Other
        values.append(good(x)[0])
        return values[-1]

    with pytest.raises(Other) as raised:
        first = np.random.default_rng(SEED).uniform(-2, 2, (5, 3))
        ppsde.scipy.differential_evolution(fun, BOUNDS, rng=SEED, maxiter=2, init=first)
    result = raised.value.result  # type: ignore[attr-defined]
    assert result.fun == min(values[:15]) == good(result.x)[0] and raised.value.__notes__ == [NOTE]


@pytest.mark.parametrize(("error", "kept"), [(WithAResult, "its own"), (Closed, None)])
def test_an_exception_passes_out_as_it_is_if_it_has_no_place_for_a_result(error: type[Other], kept: str | None) -> None:
    with pytest.raises(error) as raised:
        ppsde.minimize(raises_at_last(error, []), BOUNDS, method="pps-de", max_evaluations=BUDGET, rng=SEED)
    assert getattr(raised.value, "result", None) == kept and not hasattr(raised.value, "__notes__")


def test_an_exception_out_of_a_run_inside_another_has_the_result_of_the_outer_one() -> None:
    values: list[float] = []

    def outer(x):
        inner = ppsde.minimize(raises_at_last(Other, values), BOUNDS, method="jde", max_evaluations=40, rng=SEED)
        return float((x**2).sum() + inner.fun)

    with pytest.raises(Other) as raised:
        ppsde.minimize(outer, [(-1, 1)], method="jde", max_evaluations=100, rng=SEED)
    result = raised.value.result  # type: ignore[attr-defined]
    assert result.x.shape == (1,) and result.n_calls == 4 and len(raised.value.__notes__) == 1


def test_an_exception_before_anything_was_found_has_no_result() -> None:
    with pytest.raises(ppsde.problem.MalformedValue) as raised:
        ppsde.minimize(lambda x: "text", BOUNDS, rng=SEED)
    assert not hasattr(raised.value, "result") and not hasattr(raised.value, "__notes__")
