"""One protocol, whatever evaluates: in this process, in a pool, by an executor, by a map."""

from __future__ import annotations

import json
import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from evaluating import answers
from scipy.optimize import NonlinearConstraint

import ppsde
from ppsde.arrays import bits
from ppsde.cli import main
from ppsde.commands import exit_status
from ppsde.evaluation import EvaluationError, evaluator_for
from ppsde.evaluation.evaluate import Evaluate, Hopeless, Limits
from ppsde.evaluation.local import Serial, Vectorised, chunks
from ppsde.evaluation.pool import Pool
from ppsde.evaluation.values import Noted

BOX = [(-5.0, 5.0)] * 2
RAISES, NAN, EXITS, COMPLEX, VANDAL = 1, 2, 3, 4, 5  # what `wild` does where x[0] is one of these


def wild(x):
    what = int(x[0])
    if what == RAISES:
        raise RuntimeError("the mesh collapsed")
    if what == NAN:
        return np.nan, [x[1]], []
    if what == EXITS:
        raise SystemExit(3)
    if what == COMPLEX:
        return 1j, [x[1]], []
    value = float(x.sum())
    if what == VANDAL:
        x[:] = 77.0
    return value, [x[1]], []


def rows_of_wild(x):
    values = [wild(row) for row in x]
    return np.array([f for f, _, _ in values]), np.array([g for _, g, _ in values]), None


STATUSES = ["ok", "raised", "invalid", "raised", "malformed", "ok", "ok", "ok"]


def points(*first: float) -> np.ndarray:
    """Points with these first coordinates and 0.25 beside."""
    return np.array([[value, 0.25] for value in first])


WILD = points(0, RAISES, NAN, EXITS, COMPLEX, VANDAL, 0.5, 0.75)


@pytest.fixture(scope="module")
def threads() -> Iterator[Executor]:
    with ThreadPoolExecutor(3) as executor:
        yield executor


@pytest.fixture(scope="module")
def processes() -> Iterator[Executor]:
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("forkserver")) as executor:
        yield executor


@pytest.fixture(params=["serial", "pool", "threads", "processes", "map"])
def workers(request: pytest.FixtureRequest) -> object:
    """Each kind of thing that `workers` may be."""
    named: dict[str, Callable[[], object]] = {
        "serial": lambda: 1,
        "pool": lambda: 2,
        "threads": lambda: request.getfixturevalue("threads"),
        "processes": lambda: request.getfixturevalue("processes"),
        "map": lambda: map,
    }
    return named[request.param]()


@pytest.mark.parametrize("vectorized", [False, True])
def test_rows_are_in_their_order_and_each_finishes_once(workers: object, vectorized: bool) -> None:
    problem = ppsde.Problem(rows_of_wild if vectorized else wild, BOX, vectorized=vectorized)
    heard: dict[int, Noted] = {}

    def finished(row: int, answer: Noted) -> None:
        assert row not in heard
        heard[row] = answer

    with evaluator_for(problem, workers) as evaluator:
        outcomes = answers(evaluator, WILD, finished)
    assert [outcome.status for outcome in outcomes] == STATUSES
    assert [heard[row].status for row in range(len(WILD))] == STATUSES
    assert [outcomes[k].f for k in (0, 5, 6)] == [0.25, 5.25, 0.75]
    assert np.array_equal(outcomes[0].g, [0.25]) and outcomes[0].h.shape == (0,)
    assert outcomes[1].reason == "RuntimeError: the mesh collapsed" and np.isnan(outcomes[1].f)
    assert outcomes[2].reason == "NotFinite: f is nan" and outcomes[3].reason == "SystemExit: 3"
    assert "real numbers; got complex" in outcomes[4].reason
    assert all(outcome.seconds >= 0 for outcome in outcomes)
    assert WILD[5, 0] == VANDAL  # the function had a copy


def test_rows_from_a_journal_are_neither_evaluated_nor_noted_again(workers: object) -> None:
    none = np.empty(0)
    known = {0: Noted(7.0, np.zeros(1), none, 0.5), 3: Noted(np.nan, none, none, 0.5, "crashed", "Crashed: long ago")}
    noted: dict[int, Noted] = {}
    with evaluator_for(ppsde.Problem(wild, BOX), workers) as evaluator:
        evaluate = Evaluate(evaluator)
        values = evaluate(WILD, note=noted.__setitem__, known=known)
        assert evaluator.calls == 6
        again = evaluate(WILD, note=noted.__setitem__, known=known | noted)
        assert evaluator.calls == 6
    assert values.f[0] == 7.0 and str(values.failures[3]) == "Crashed: long ago"
    assert sorted(noted) == [1, 2, 4, 5, 6, 7]
    assert bits(again.f) == bits(values.f) and bits(again.g) == bits(values.g)
    assert {row: failure.reason for row, failure in again.failures.items()} == {
        row: failure.reason for row, failure in values.failures.items()
    }


def test_what_the_check_raises_passes_through_and_the_evaluator_can_go_on(workers: object) -> None:
    class Enough(Exception):
        pass

    def check() -> None:
        raise Enough

    with evaluator_for(ppsde.Problem(wild, BOX), workers) as evaluator:
        with pytest.raises(Enough):
            answers(evaluator, WILD, check=check)
        assert [outcome.status for outcome in answers(evaluator, WILD)] == STATUSES


def test_lambdas_and_closures_are_sent(workers: object) -> None:
    factor = 3.0
    with evaluator_for(ppsde.Problem(lambda x: factor * x[0], BOX), workers) as evaluator:
        assert [outcome.f for outcome in answers(evaluator, points(1, 2))] == [3.0, 6.0]


def smooth(x):
    return x[0] + x[1], [x[0] ** 2 + x[1] ** 2 - 1.0], [x[0] - x[1]]


def smooth_rows(x):
    return x[:, 0] + x[:, 1], (x[:, 0] ** 2 + x[:, 1] ** 2 - 1.0)[:, None], (x[:, 0] - x[:, 1])[:, None]


@pytest.mark.parametrize("vectorized", [False, True])
def test_the_same_seed_gives_the_same_bits_whatever_evaluates(workers: object, vectorized: bool) -> None:
    alone = ppsde.minimize(smooth, BOX, method="pps-de", max_evaluations=1000, rng=5)
    fun = smooth_rows if vectorized else smooth
    result = ppsde.minimize(
        fun, BOX, method="pps-de", max_evaluations=1000, rng=5, vectorized=vectorized, workers=workers
    )
    assert bits(result.x) == bits(alone.x) and bits(result.population.x) == bits(alone.population.x)
    assert result.nfev == result.n_calls == 1000


def test_names_of_constraints_come_back_from_wherever_they_are_found(workers: object) -> None:
    constraints = [
        NonlinearConstraint(lambda x: [x[0], x[1]], -1.0, 4.0),
        NonlinearConstraint(lambda x: x[0], 0.5, 0.5),
    ]
    result = ppsde.minimize(
        lambda x: x[1], BOX, method="pps-de", constraints=constraints, max_evaluations=60, rng=1, workers=workers
    )
    assert list(result.constr_violation) == ["c0[0] <= 4", "c0[1] <= 4", "c0[0] >= -1", "c0[1] >= -1", "c1 == 0.5"]


def test_something_malformed_at_the_first_evaluation_is_an_error_everywhere(workers: object) -> None:
    with pytest.raises(ValueError, match="the objective must be real numbers; got complex numbers"):
        ppsde.minimize(lambda x: 1j, BOX, method="pps-de", max_evaluations=100, rng=1, workers=workers)
    with pytest.raises(ValueError, match="must return 2 inequalities and 0 equalities; got 1 and 0"):
        ppsde.minimize(
            ppsde.Problem(wild, BOX, n_ineq=2, n_eq=0), method="pps-de", max_evaluations=100, rng=1, workers=workers
        )


# --- which evaluator is taken -------------------------------------------------------------------------------


def test_limits_need_a_process_that_can_be_killed() -> None:
    one, rows = ppsde.Problem(wild, BOX), ppsde.Problem(rows_of_wild, BOX, vectorized=True)
    assert isinstance(evaluator_for(one), Serial) and isinstance(evaluator_for(rows), Vectorised)
    assert isinstance(evaluator_for(one, timeout=1.0), Pool) and isinstance(evaluator_for(rows, -1, timeout=1.0), Pool)


@pytest.mark.parametrize("workers", [0, -2, 1.5, "four", None, True])
def test_other_workers_are_refused(workers: object) -> None:
    with pytest.raises(ValueError, match="workers must be"):
        ppsde.minimize(wild, BOX, method="pps-de", workers=workers)


def test_what_cannot_be_sent_is_refused_with_a_reason() -> None:
    lock = threading.Lock()
    with pytest.raises(ValueError, match=r"cannot be sent to another process: .*lock"):
        ppsde.minimize(lambda x: lock.locked() + x[0], BOX, method="pps-de", workers=2)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"eval_timeout": 0}, "eval_timeout must be a number of seconds > 0; got 0"),
        ({"eval_timeout": "1"}, "eval_timeout"),
        ({"max_time": -1.0}, "max_time must be a number of seconds > 0; got -1.0"),
        ({"max_time": np.nan}, "max_time"),
        ({"eval_memory": 1.5}, "eval_memory must be a number of bytes"),
        ({"on_failure": "ignore"}, "on_failure must be 'penalise', 'raise' or 'retry:n' with n >= 1; got 'ignore'"),
        ({"on_failure": "retry:0"}, "got 'retry:0'"),
        ({"on_failure": "retry:-1"}, "got 'retry:-1'"),
        ({"on_failure": 2}, "got 2"),
    ],
)
def test_bad_limits_and_policies_are_named(arguments: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError) as caught:
        ppsde.minimize(lambda x: 1 / 0, BOX, **arguments)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("n", "size", "expected"), [(5, 2, [2, 2, 1]), (4, 4, [4]), (3, 1, [1, 1, 1]), (9, 4, [3, 3, 3]), (0, 4, [])]
)
def test_chunks_are_even_and_miss_nothing(n: int, size: int, expected: list[int]) -> None:
    pieces = chunks(range(n), size)
    assert sorted(map(len, pieces), reverse=True) == expected
    assert [row for piece in pieces for row in piece] == list(range(n))


# --- what belongs to the user stays the user's --------------------------------------------------------------


def test_an_executor_that_is_shut_down_is_an_error_with_the_result_so_far() -> None:
    executor = ThreadPoolExecutor(2)

    def callback(intermediate_result: object) -> None:
        executor.shutdown()

    with pytest.raises(EvaluationError, match="takes no more work") as caught:
        ppsde.minimize(smooth, BOX, method="pps-de", rng=1, workers=executor, callback=callback)
    assert caught.value.x is None and caught.value.result.nfev == 40 and np.isfinite(caught.value.result.fun)


def test_an_executor_whose_worker_dies_is_an_error_with_the_result_so_far() -> None:
    def deadly(x):
        if x[0] > 4.9:
            os._exit(1)
        return smooth(x)

    context = multiprocessing.get_context("forkserver")
    with (
        ProcessPoolExecutor(2, mp_context=context) as executor,
        pytest.raises(EvaluationError, match="BrokenProcessPool") as caught,
    ):
        ppsde.minimize(deadly, BOX, method="pps-de", rng=1, workers=executor, max_evaluations=20_000)
    assert np.isfinite(caught.value.result.fun)


def test_limits_hold_inside_the_workers_of_an_executor(threads: Executor, processes: Executor) -> None:
    def now_and_then_deadly(x):
        if x[0] > 4.5:
            os._exit(1)
        if x[0] < -4.5:
            time.sleep(100)
        return smooth(x)

    x = points(0, 4.6, 1, -4.6, 2)
    for executor in (threads, processes):
        with evaluator_for(ppsde.Problem(now_and_then_deadly, BOX), executor, timeout=1.0) as evaluator:
            statuses = [outcome.status for outcome in answers(evaluator, x)]
        assert statuses == ["ok", "crashed", "ok", "timeout", "ok"]


def test_a_map_that_gives_something_else_is_an_error() -> None:
    with pytest.raises(EvaluationError, match="one result per item"):
        ppsde.minimize(smooth, BOX, method="pps-de", rng=1, workers=lambda function, items: [])
    with pytest.raises(EvaluationError, match="the map failed with ZeroDivisionError"):
        ppsde.minimize(smooth, BOX, method="pps-de", rng=1, workers=lambda function, items: 1 / 0)


# --- policies -----------------------------------------------------------------------------------------------


def test_policies_by_name() -> None:
    assert Limits("penalise").retries == Limits("raise").retries == 0
    assert Limits("retry:12").retries == 12


def test_retries_are_made_until_one_succeeds_and_are_counted_as_calls_not_as_evaluations() -> None:
    attempts: dict[bytes, int] = {}

    def flaky(x):
        attempts[x.tobytes()] = attempts.get(x.tobytes(), 0) + 1
        if attempts[x.tobytes()] < 3:
            raise OSError("licence server")
        return float(x.sum())

    result = ppsde.minimize(flaky, BOX, method="pps-de", max_evaluations=200, rng=1, on_failure="retry:2")
    assert result.nfev == 200 and result.n_failed == 0 and result.failures == []
    assert set(attempts.values()) == {3} and result.n_calls == sum(attempts.values()) == 600
    alone = ppsde.minimize(lambda x: float(x.sum()), BOX, method="pps-de", max_evaluations=200, rng=1)
    assert bits(result.population.x) == bits(alone.population.x)


def test_what_fails_every_time_fails_after_so_many_retries() -> None:
    result = ppsde.minimize(
        lambda x: 1 / 0 if x[0] > 0 else x[1], BOX, method="pps-de", max_evaluations=80, rng=1, on_failure="retry:3"
    )
    assert result.n_failed == len(result.failures) > 0
    assert result.n_calls == result.nfev + 3 * result.n_failed


def test_raise_stops_at_the_first_failure_and_keeps_what_was_found(workers: object) -> None:
    def fails_far_out(x):
        if x[0] > 4.0:
            raise RuntimeError("the mesh collapsed")
        return float((x**2).sum())

    with pytest.raises(EvaluationError, match="RuntimeError: the mesh collapsed") as caught:
        ppsde.minimize(fails_far_out, BOX, method="pps-de", rng=1, workers=workers, on_failure="raise")
    error = caught.value
    assert error.x[0] > 4.0 and error.failure.status == "raised"
    assert "the mesh collapsed" in str(error.__cause__) and "fails_far_out" in _where(error.__cause__)
    assert error.result.status == 7 and error.result.limited_by == "error"
    assert np.array_equal(error.result.failures[0].x, error.x)
    assert error.result.n_calls >= 1


def _where(cause: BaseException) -> str:
    """The traceback: of the exception itself, or of one elsewhere, which is its text."""
    names = []
    trace = cause.__traceback__
    while trace is not None:
        names.append(trace.tb_frame.f_code.co_name)
        trace = trace.tb_next
    return " ".join(names) + str(cause)


def test_raise_keeps_also_what_came_with_the_failure() -> None:
    best = np.array([[0.5, 0.5]])

    def rows(x):
        return np.where(x[:, 0] > 0.9, np.nan, (x**2).sum(axis=1))

    with pytest.raises(EvaluationError, match="f is nan") as caught:
        ppsde.minimize(rows, [(0.25, 1.0)] * 2, method="pps-de", x0=best, rng=1, vectorized=True, on_failure="raise")
    assert 0 < caught.value.result.fun <= 0.5


@pytest.mark.parametrize("vectorized", [False, True])
@pytest.mark.parametrize("value", ["raise", "nan"])
@pytest.mark.parametrize("dimension", [1, 2, 10, 60])
def test_a_run_in_which_all_fails_ends_within_a_hundred_evaluations(
    dimension: int, value: str, vectorized: bool
) -> None:
    def fun(x):
        if value == "raise":
            raise RuntimeError("no licence")
        return x[..., 0] * np.nan

    result = ppsde.minimize(fun, [(-1.0, 1.0)] * dimension, method="pps-de", rng=1, vectorized=vectorized)
    assert result.status == 4 and result.nfev == result.n_failed == 100 and not result.success
    reason = "RuntimeError: no licence" if value == "raise" else "NotFinite: f is nan"
    assert result.message == f"every evaluation failed (100 of 100); the first with {reason}"


def test_what_is_malformed_is_judged_by_the_order_of_the_rows() -> None:
    """Whichever worker is the fastest, the first row decides."""

    def slow_at_first(x):
        time.sleep(0.3 if x[0] == 1.0 else 0.0)
        return x[0] if x[0] == 1.0 else 1j

    x = points(1, 2, 3)
    with evaluator_for(ppsde.Problem(slow_at_first, BOX), 2) as evaluator:
        f = Evaluate(evaluator)(x).f
    assert f[0] == 1.0 and np.isnan(f[1:]).all()


def test_a_row_is_noted_once_and_only_when_it_will_not_be_tried_again() -> None:
    attempts: dict[float, int] = {}

    def flaky(x):
        attempts[x[0]] = attempts.get(x[0], 0) + 1
        if x[0] == 2.0 or (x[0] == 1.0 and attempts[x[0]] < 2):
            raise OSError("busy")
        return x[0]

    noted: list[tuple[int, str]] = []
    none = np.empty(0)
    known = {0: Noted(9.0, none, none, 0.0), 2: Noted(np.nan, none, none, 0.0, "raised", "OSError: busy")}
    with evaluator_for(ppsde.Problem(flaky, BOX)) as evaluator:
        evaluate = Evaluate(evaluator, Limits("retry:2"))
        f = evaluate(points(0, 1, 2), note=lambda row, one: noted.append((row, one.status))).f
        assert f[:2].tolist() == [0.0, 1.0] and np.isnan(f[2])
        assert noted == [(0, "ok"), (1, "ok"), (2, "raised")] and attempts == {0.0: 1, 1.0: 2, 2.0: 3}
        again = evaluate(points(0, 1, 2), known=known).f
    assert again[:2].tolist() == [9.0, 1.0] and np.isnan(again[2])
    assert attempts[2.0] == 3  # a row that failed before the run was resumed is not tried again


def test_giving_up_counts_points_over_several_requests() -> None:
    with evaluator_for(ppsde.Problem(lambda x: 1 / 0, BOX)) as evaluator:
        evaluate = Evaluate(evaluator)
        evaluate(np.zeros((60, 2)))
        with pytest.raises(Hopeless):
            evaluate(np.zeros((60, 2)))
        assert evaluate.points == evaluator.calls == 100 and sum(evaluate.unfinished.done) == 40


# --- on the command line ------------------------------------------------------------------------------------

PROBLEM = """
import os, time, ppsde
def fun(x):
    if x[0] > 1.9:
        os._exit(3)
    if x[0] < -1.9:
        raise RuntimeError("the mesh collapsed")
    return x[0] + x[1], [x[0] ** 2 + x[1] ** 2 - 1], []
problem = ppsde.Problem(fun, [(-2, 2)] * 2, constraint_names=["inside the disc"])
"""


def test_a_problem_in_a_file_is_solved_by_several_processes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, out, picture = tmp_path / "string.py", tmp_path / "out.json", tmp_path / "run.svg"
    file.write_text(PROBLEM)  # a name that a module of the standard library has
    command = ["solve", f"{file}:problem", "--method", "pps-de", "--seed", "1", "--max-evaluations", "600"]
    command += ["--quiet", "--workers", "2"]
    assert main([*command, "--on-failure", "retry:1", "--json", str(out), "--plot", str(picture)]) == 0
    data, text = json.loads(out.read_text()), capsys.readouterr().out
    assert data["nfev"] == 600 and data["n_calls"] == 600 + data["n_failed"] > 600
    assert {failure["status"] for failure in data["failures"]} == {"raised", "crashed"}
    assert "x Crashed: the process ended with exit status 3" in text and "holds   inside the disc" in text
    assert "per evaluation" in text and picture.read_text().startswith("<?xml")


def test_on_the_command_line_the_first_failure_may_be_the_end(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, out = tmp_path / "fragile.py", tmp_path / "out.json"
    file.write_text(PROBLEM)
    command = ["solve", f"{file}:problem", "--quiet", "--seed", "1", "--workers", "2", "--on-failure", "raise"]
    assert main([*command, "--json", str(out)]) == exit_status.WRONG
    captured = capsys.readouterr()
    assert (
        captured.err.startswith("ppsde: error: EvaluationError: the evaluation at [") and captured.err.count("\n") == 1
    )
    assert "stopped by an error" in captured.out and json.loads(out.read_text())["limited_by"] == "error"


def test_on_the_command_line_time_may_be_limited(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "endless.py"
    file.write_text("import time, ppsde\nproblem = ppsde.Problem(lambda x: time.sleep(1000), [(0, 1)])\n")
    found = main(["solve", f"{file}:problem", "--quiet", "--max-time", "2", "--eval-timeout", "500"])
    assert found == exit_status.NOTHING_FEASIBLE, "no evaluation has failed: none has ended"
    assert "the time is up" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["--workers", "0"], "workers must be an int >= 1, or -1 for all cores; got 0"),
        (["--eval-timeout", "-1"], "eval_timeout must be a number of seconds > 0; got -1.0"),
        (["--max-time", "soon"], "soon"),
        (["--on-failure", "pray"], "got 'pray'"),
        (["--plot", "run.txt"], ".png, .svg or .pdf; got 'run.txt'"),
        (["--plot", "no/such/folder/run.png"], "no/such/folder"),
    ],
)
def test_bad_options_are_refused_in_one_line(argv: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", "engineering:welded-beam", "--quiet", *argv]) == exit_status.WRONG
    captured = capsys.readouterr()
    assert captured.out == "" and captured.err.count("\n") == 1 and words in captured.err
