"""A function that misbehaves gets the same treatment, in the same words, whichever way it is called."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ppsde
from ppsde.arrays import bits
from ppsde.experiments import Plan, run
from ppsde.experiments.store import Store

BOUNDS = [(-2.0, 2.0)] * 3
BUDGET, SEED = 700, 5


class Unprintable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


def raises(x):
    raise RuntimeError("the mesh collapsed")


def exits(x):
    raise SystemExit(3)


def unprintable(x):
    raise Unprintable


MASKED = np.ma.array([0.5], mask=[True])
# What the function does at a bad point, and the words on it.
BAD: dict[str, tuple[Callable[[np.ndarray], Any], str]] = {
    "raises": (raises, "RuntimeError: the mesh collapsed"),
    "exits": (exits, "SystemExit: 3"),
    "unprintable": (unprintable, "Unprintable: its text raises RuntimeError"),
    "nan": (lambda x: (np.nan, [x[0]], []), "NotFinite: f is nan"),
    "infinite constraint": (lambda x: (1.0, [-np.inf], []), "NotFinite: g[0] is -inf"),
    "complex": (lambda x: (1j, [x[0]], []), "MalformedValue: the objective must be real numbers; got complex numbers"),
    "four values": (
        lambda x: (1.0, [x[0]], [], 2.0),
        "MalformedValue: the function must return f or a tuple (f, g, h); got a tuple of 4",
    ),
    "wrong shape": (lambda x: ([1.0, 2.0], [x[0]], []), "MalformedValue: the objective must be one number"),
    "two constraints": (
        lambda x: (1.0, [x[0], x[1]], []),
        "MalformedValue: the function must return 1 inequalities and 0 equalities; got 2 and 0",
    ),
    "ragged": (lambda x: (1.0, [[1.0], [2.0, 3.0]], []), "MalformedValue: g must be real numbers in a regular shape"),
    "masked objective": (lambda x: (MASKED[0], [x[0]], []), "MalformedValue: the objective must be real numbers; got"),
    "masked constraint": (lambda x: (1.0, MASKED, []), "MalformedValue: g must be real numbers; got masked values"),
}
FORMS = [name for name, (_, words) in BAD.items() if words.startswith("MalformedValue") and name != "two constraints"]
FAILURES = [name for name in BAD if name not in FORMS and name != "two constraints"]


def good(x):
    return float(((x - 0.3) ** 2).sum()), [0.5 - x[0] - x[1]], []


def bad_in_a_corner(name: str) -> Callable[[np.ndarray], Any]:
    """A function that misbehaves where x[0] > 1.2, and nowhere else."""
    misbehave = BAD[name][0]
    return lambda x: misbehave(x) if float(x[0]) > 1.2 else good(x)


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The results of jobs on the host engine: by name where the function misbehaves in the corner, or always."""
    folder = tmp_path_factory.mktemp("study")
    lines = ["import ppsde", "from test_every_front import BAD, BOUNDS, bad_in_a_corner"]
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
    for front, call in fronts.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # that the host engine is used
            with pytest.raises(ValueError) as caught:
                call()
        assert str(caught.value).startswith(words), front
    row = rows[f"always {name}"]
    assert row.status == "failed" and row.message.startswith(f"MalformedValue: {words}")


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
