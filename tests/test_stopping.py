"""Runs that end before their budget: at a target, when the method has converged, or because a callback wants it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compiled_programs import optimised
from experiments.studies import a_job
from killing import digest
from stopping import NAME, SIZE, Halving, Stairs, in_the_table

import ppsde
from ppsde.algorithms import DEFAULT
from ppsde.arrays import bits
from ppsde.cli import main
from ppsde.engines.ending import CONVERGED, INFEASIBLE, SPENT, STOPPED, TARGET, TIME_UP

# A function that counts or stops is wrapped on one side only.
pytestmark = pytest.mark.filterwarnings("ignore:.*not the one that the run began with")

BOX = [(-5.0, 5.0)] * 3
BUDGET = 3000
TOL, STEPS = 2.0**-10, 10  # reached after so many generations
CONVERGED_AT = SIZE * (STEPS + 1)


def fun(x: Any) -> Any:
    """The sum of squares beyond a plane: 1 at best."""
    return (x**2).sum(), [1.0 - x[0]], []


def rows(x: np.ndarray) -> Any:
    return (x**2).sum(axis=1), 1.0 - x[:, :1], x[:, :0]


@pytest.fixture(autouse=True)
def halving() -> Iterator[None]:
    with in_the_table(Halving()):
        yield


class Counted:
    """A function that counts its calls."""

    def __init__(self, fun: Callable[[Any], Any] = fun) -> None:
        self.fun, self.calls = fun, 0

    def __call__(self, x: np.ndarray) -> Any:
        self.calls += 1
        return self.fun(x)


# --- tol -------------------------------------------------------------------------------------------------------------


def test_a_run_ends_when_its_method_has_converged_and_says_so() -> None:
    counted = Counted()
    result = ppsde.minimize(counted, BOX, method=NAME, max_evaluations=BUDGET, rng=1, tol=TOL)
    assert result.status == CONVERGED and result.limited_by == "tol" and result.message.startswith("converged: ")
    assert result.nfev == counted.calls == CONVERGED_AT and result.nit == STEPS and result.success
    assert result.history["reach"].tolist() == [2.0**-k for k in range(STEPS + 1)]


def test_the_bits_until_then_are_those_of_a_run_that_does_not_end_by_itself() -> None:
    early, long = (ppsde.minimize(fun, BOX, method=NAME, max_evaluations=BUDGET, rng=1, tol=tol) for tol in (TOL, 0))
    assert long.nfev == BUDGET and long.status == SPENT
    for name, column in early.history.items():
        assert bits(column) == bits(long.history[name][: STEPS + 1]), name


@pytest.mark.parametrize(("tol", "nfev"), [(1.0, SIZE), (0.5, 2 * SIZE), (None, 28 * SIZE), (0, BUDGET)])
def test_the_start_can_converge_the_default_is_1e_8_and_0_means_never(tol: float | None, nfev: int) -> None:
    result = ppsde.minimize(fun, BOX, method=NAME, max_evaluations=BUDGET, rng=1, tol=tol)
    assert result.nfev == nfev and result.nit == nfev // SIZE - 1


def test_a_budget_that_is_spent_first_ends_the_run() -> None:
    result = ppsde.minimize(fun, BOX, method=NAME, max_evaluations=CONVERGED_AT, rng=1, tol=TOL)
    assert result.status == SPENT and result.nfev == CONVERGED_AT


def test_a_run_may_converge_where_nothing_is_feasible() -> None:
    result = ppsde.minimize(lambda x: (x.sum(), [1.0], []), BOX, method=NAME, rng=1, tol=TOL)
    assert result.status == CONVERGED and not result.success and "no feasible point was found" in result.message


def test_methods_that_cannot_converge_use_their_budget_and_refuse_a_tol() -> None:
    for tol in (None, 0, 0.0):
        assert ppsde.minimize(fun, BOX, method="jde", max_evaluations=300, rng=1, tol=tol).nfev == 300
    with pytest.raises(ValueError, match=r"jde cannot tell when it has converged: tol must be 0 or None; got 1e-06"):
        ppsde.minimize(fun, BOX, method="jde", max_evaluations=300, rng=1, tol=1e-6)


# --- target ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ppsde.ALGORITHMS)
def test_a_search_is_done_with_the_request_that_reaches_the_target(method: str) -> None:
    """Until then it is the search without a target, to the last bit."""
    common = {"method": method, "n_ineq": 1, "max_evaluations": BUDGET, "rng": 2}
    optimizer, without = ppsde.Optimizer(BOX, target=3.0, **common), ppsde.Optimizer(BOX, **common)
    told = 0
    reached = False
    while not optimizer.done:
        assert not reached and not without.done
        x = optimizer.ask()
        assert bits(x) == bits(without.ask())
        f, g, h = rows(x)
        reached = bool(((f <= 3.0) & (g[:, 0] <= 0)).any())
        told += len(x)
        optimizer.tell(f, g, h)
        without.tell(f, g, h)
    result = optimizer.result
    assert reached and result.status == TARGET and result.limited_by == "target" and result.success
    assert result.message == "the target is reached" and result.fun <= 3.0
    assert result.nfev == told == result.history["evaluations"][-1] < BUDGET
    assert result.population is not None and result.nit == len(result.history["f"]) - 1


def test_the_target_must_be_feasible() -> None:
    never = ppsde.minimize(lambda x: (x[0], [1.0], []), BOX, max_evaluations=300, rng=1, target=1e9)
    assert never.status == INFEASIBLE and never.nfev == 300


def test_an_infinite_target_is_reached_by_the_first_feasible_point() -> None:
    result = ppsde.minimize(fun, BOX, method="pps-de", max_evaluations=BUDGET, rng=1, target=np.inf)
    assert result.status == TARGET and result.nit == 0 and result.nfev == len(result.population.x)


def test_a_target_that_is_missed_changes_nothing() -> None:
    for method, status in ((DEFAULT, CONVERGED), ("pps-de", SPENT)):
        common = {"method": method, "max_evaluations": 500, "rng": 1}
        missed, without = (ppsde.minimize(fun, BOX, target=t, **common) for t in (0.9, None))
        assert digest(missed) == digest(without) and missed.status == status


@pytest.mark.parametrize(("target", "nfev"), [(0.0, 10), (-0.28, 10 + 2 * 15 + 10), (-0.33, 10 + 3 * 15)])
@pytest.mark.parametrize("backend", ["numpy", "jax"])
def test_a_target_in_the_middle_of_a_generation_ends_it_there(target: float, nfev: int, backend: str) -> None:
    """Whatever else the generation asks for is not evaluated, as if the budget were spent."""
    if backend == "jax":
        pytest.importorskip("jax")
    with in_the_table(Stairs(), "stairs"):
        result = ppsde.minimize(
            lambda x: -x[0], BOX, method="stairs", max_evaluations=500, rng=1, target=target, backend=backend
        )
    assert result.status == TARGET and result.nfev == nfev and result.nit == (nfev - 10 + 14) // 15
    assert result.population.valid.any()


def test_workers_make_the_same_run_to_the_target() -> None:
    alone, shared = (ppsde.minimize(fun, BOX, rng=1, target=1.1, workers=workers) for workers in (1, 2))
    assert digest(alone) == digest(shared) and alone.n_calls == shared.n_calls == alone.nfev


# --- both: stored and resumed ----------------------------------------------------------------------------------------

ENDS: list[tuple[dict[str, Any], int]] = [
    ({"method": NAME, "tol": TOL}, CONVERGED),
    ({"method": "jde", "target": 1.1}, TARGET),
    ({"method": "pps-de", "target": 1.01}, TARGET),
]


@pytest.mark.parametrize(("arguments", "status"), ENDS)
def test_a_run_that_has_ended_by_itself_stays_so_in_its_checkpoint(
    arguments: dict[str, Any], status: int, tmp_path: Path
) -> None:
    path = tmp_path / "run.ppsde"
    first = ppsde.minimize(fun, BOX, max_evaluations=BUDGET, rng=1, checkpoint=path, **arguments)
    counted = Counted()
    again = ppsde.resume(path, counted)
    assert counted.calls == 0 and digest(again) == digest(first)
    assert again.status == first.status == status and again.nfev == first.nfev < BUDGET


@pytest.mark.parametrize(("arguments", "status"), ENDS)
@pytest.mark.parametrize("every", [0.0, 1e6])
def test_a_run_stopped_on_the_way_is_resumed_to_the_same_end(
    arguments: dict[str, Any], status: int, every: float, tmp_path: Path
) -> None:
    common = {"max_evaluations": BUDGET, "rng": 1, **arguments}
    unbroken = ppsde.minimize(fun, BOX, **common)
    path = tmp_path / "run.ppsde"
    stopped = ppsde.minimize(
        fun, BOX, checkpoint=path, checkpoint_every=every, callback=lambda result: result.nfev > 60, **common
    )
    assert stopped.status == STOPPED and stopped.nfev < unbroken.nfev
    counted = Counted()
    resumed = ppsde.resume(path, counted)
    assert digest(resumed) == digest(unbroken) and resumed.status == status
    assert counted.calls == unbroken.nfev - stopped.nfev


@pytest.mark.parametrize(("arguments", "status"), ENDS)
def test_a_search_saved_and_loaded_at_every_request_ends_where_the_unbroken_one_does(
    arguments: dict[str, Any], status: int, tmp_path: Path
) -> None:
    optimizer = ppsde.Optimizer(BOX, n_ineq=1, max_evaluations=BUDGET, rng=1, **arguments)
    while not optimizer.done:
        optimizer.tell(*rows(optimizer.ask()))
        optimizer.save(tmp_path / "search.ppsde")
        optimizer = ppsde.Optimizer.load(tmp_path / "search.ppsde")
    called = ppsde.minimize(rows, BOX, max_evaluations=BUDGET, rng=1, vectorized=True, **arguments)
    assert optimizer.result.status == called.status == status and optimizer.result.nfev == called.nfev
    assert bits(optimizer.result.x) == bits(called.x)


# --- both: compiled --------------------------------------------------------------------------------------------------


@pytest.fixture
def as_users_have_it() -> Iterator[None]:
    """Whether two programs round alike depends on the optimisations."""
    with optimised():
        yield


QUICK: dict[str, Any] = {"max_evaluations": BUDGET, "tol": TOL}
FOUR: dict[str, Any] = {"method": "jde", "max_evaluations": BUDGET, "record": BUDGET // 100, "runs": 4, "rng": 1}


def test_a_compiled_run_converges_after_the_same_number_of_generations(as_users_have_it: None) -> None:
    pytest.importorskip("jax")
    result = ppsde.minimize(fun, BOX, method=NAME, rng=1, backend="jax", **QUICK)
    assert result.status == CONVERGED and result.limited_by == "tol" and result.success
    assert result.nfev == CONVERGED_AT == result.history["evaluations"][-1] and result.nit == STEPS
    batch = ppsde.solve_batch(ppsde.Problem(fun, BOX), method=NAME, runs=3, rng=1, **QUICK)
    assert bits(batch.x[0]) == bits(result.x) and (batch.status == CONVERGED).all()
    assert (batch.evaluations == CONVERGED_AT).all() and np.isnan(batch.record["f"][:, -1]).all()


def test_a_compiled_run_ends_with_the_request_that_reaches_the_target(as_users_have_it: None) -> None:
    pytest.importorskip("jax")
    problem = ppsde.Problem(fun, BOX)
    without = ppsde.solve_batch(problem, **FOUR)
    target = 1.5
    batch = ppsde.solve_batch(problem, target=target, **FOUR)
    generations = [int(np.flatnonzero((f <= target) & (v == 0))[0]) for f, v in _along(without)]
    assert batch.evaluations.tolist() == [100 * (k + 1) for k in generations]  # jDE has 100 members
    assert (batch.status == TARGET).all() and (batch.f <= target).all() and batch.feasible.all()
    assert (without.status == SPENT).all() and (without.evaluations == BUDGET).all()
    np.testing.assert_allclose(batch.f, [without.record["f"][run, k] for run, k in enumerate(generations)], rtol=1e-12)
    alone = ppsde.minimize(problem, method="jde", max_evaluations=BUDGET, rng=1, backend="jax", target=target)
    assert alone.status == TARGET and bits(alone.x) == bits(batch.x[0])
    assert alone.nfev == batch.evaluations[0] and alone.nit == generations[0] and alone.message.startswith("the target")


def _along(batch: ppsde.BatchResult) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    return zip(batch.record["f"], batch.record["violation"], strict=True)


def test_a_compiled_run_may_reach_the_target_at_the_start_or_never() -> None:
    pytest.importorskip("jax")
    common: dict[str, Any] = {"method": NAME, "rng": 1, "backend": "jax", **QUICK}
    first = ppsde.minimize(fun, BOX, target=1e9, **common)
    assert first.status == TARGET and first.nfev == SIZE and first.nit == 0 and not len(first.history["f"])
    never = ppsde.minimize(fun, BOX, target=0.5, **common)
    assert never.status == CONVERGED and never.nfev == CONVERGED_AT


def test_runs_side_by_side_end_each_for_itself(monkeypatch: pytest.MonkeyPatch, as_users_have_it: None) -> None:
    """As a GPU does them: the last one decides how long the program runs, and the others wait unchanged."""
    pytest.importorskip("jax")
    from ppsde import batch as module
    from ppsde.engines import compiled

    problem = ppsde.Problem(fun, BOX)
    after = ppsde.solve_batch(problem, target=1.5, **FOUR)  # by the program of the test above
    monkeypatch.setattr(compiled, "goes_aside", lambda device: True)
    monkeypatch.setattr(compiled, "SIDE_BY_SIDE", 4)
    module._program.cache_clear()
    beside = ppsde.solve_batch(problem, device="cpu", target=1.5, **FOUR)
    module._program.cache_clear()
    assert (beside.evaluations == after.evaluations).all() and len(set(after.evaluations.tolist())) > 1
    assert (beside.status == TARGET).all()
    np.testing.assert_allclose(beside.f, after.f, rtol=1e-9)


def test_a_batch_on_the_host_ends_the_same_way() -> None:
    pytest.importorskip("jax")
    problem = ppsde.Problem(lambda x: (float(x[0]) ** 2, [], []), [(-5.0, 5.0)])
    with pytest.warns(RuntimeWarning, match="the host engine is used"):
        batch = ppsde.solve_batch(problem, method=NAME, runs=3, target=1e-12, **QUICK)
    assert (batch.status == CONVERGED).all() and (batch.evaluations == CONVERGED_AT).all()
    with pytest.warns(RuntimeWarning, match="the host engine is used"):
        batch = ppsde.solve_batch(problem, method=NAME, runs=3, target=1e9, **QUICK)
    assert (batch.status == TARGET).all() and (batch.evaluations == SIZE).all()


# --- the other fronts ------------------------------------------------------------------------------------------------


def test_the_command_has_both_options_and_a_resumed_run_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, saved = tmp_path / "out.json", tmp_path / "run.ppsde"
    command = ["solve", "engineering:welded-beam", "--quiet", "--seed", "1"]
    assert main([*command, "--target", "2.5", "--json", str(out), "--checkpoint", str(saved)]) == 0
    data = json.loads(out.read_text())
    assert data["status"] == TARGET and data["limited_by"] == "target" and data["fun"] <= 2.5
    assert "FEASIBLE, the target is reached" in capsys.readouterr().out
    assert main(["solve", "engineering:welded-beam", "--quiet", "--resume", str(saved), "--json", str(out)]) == 0
    assert json.loads(out.read_text())["nfev"] == data["nfev"]
    assert main(["solve", "engineering:welded-beam", "--resume", str(saved), "--target", "2"]) == 2
    assert "--target cannot be given with --resume" in capsys.readouterr().err
    assert main([*command, "--method", NAME, "--tol", str(TOL), "--json", str(out)]) in (0, 1)
    assert json.loads(out.read_text())["nfev"] == CONVERGED_AT
    assert main([*command, "--method", "jde", "--tol", "1e-3"]) == 2
    assert "jde cannot tell when it has converged" in capsys.readouterr().err


def test_studies_use_their_budget() -> None:
    problem = ppsde.Problem(fun, BOX)
    run = a_job(method=NAME, settings={}, dimension=3, budget=500).request(problem, 0).run()
    assert run.task.tol == 0.0 and run.target is None


# --- callbacks -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("answer", [True, np.True_])
def test_a_callback_that_returns_true_ends_the_run(answer: Any) -> None:
    result = ppsde.minimize(fun, BOX, max_evaluations=500, rng=1, callback=lambda result: result.nit == 2 and answer)
    assert result.status == STOPPED and result.nit == 2 and result.limited_by == "callback"


@pytest.mark.parametrize("answer", [None, False, np.False_, 1, "stop", np.ones(3)])
def test_a_callback_that_returns_anything_else_does_not(answer: Any) -> None:
    common: dict[str, Any] = {"method": "pps-de", "max_evaluations": 500, "rng": 1}
    assert ppsde.minimize(fun, BOX, **common, callback=lambda result: answer).nfev == 500


# --- wrong arguments -------------------------------------------------------------------------------------------------

WRONG: list[tuple[dict[str, Any], str]] = [
    *(({"tol": tol}, "tol must be a finite number >= 0; got") for tol in (-1e-9, np.nan, np.inf, True, "small", [0.1])),
    *(({"target": f}, "target must be a number > -inf, or None; got") for f in (np.nan, -np.inf, True, "low", [1.0])),
]


@pytest.mark.parametrize(("arguments", "words"), WRONG)
def test_wrong_arguments_are_refused_by_every_front(arguments: dict[str, Any], words: str) -> None:
    common = {"method": NAME, "max_evaluations": 50, **arguments}
    for backend in ("numpy", "jax"):
        with pytest.raises(ValueError, match=words):
            ppsde.minimize(fun, BOX, backend=backend, **common)
    with pytest.raises(ValueError, match=words):
        ppsde.Optimizer(BOX, **common)
    pytest.importorskip("jax")
    with pytest.raises(ValueError, match=words):
        ppsde.solve_batch(ppsde.Problem(fun, BOX), **common)


def test_the_time_is_still_a_limit() -> None:
    result = ppsde.minimize(fun, BOX, method=NAME, tol=0, max_evaluations=10**9, rng=1, max_time=0.2, target=0.0)
    assert result.status == TIME_UP
