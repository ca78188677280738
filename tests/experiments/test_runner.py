"""The runner: what it stores, what it does about runs that fail and workers that die, and how it resumes."""

from __future__ import annotations

import os
import signal
import sqlite3
import time
from contextlib import closing
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from experiments.clusters import rows_in
from experiments.studies import LINUX, TELLING, children_of, command, contents, is_there

import ppsde
from ppsde.engines.drive import Interrupts
from ppsde.experiments import Plan, Store, run
from ppsde.experiments.database import drop
from ppsde.experiments.leases import Claim, Leases
from ppsde.experiments.plan import expanded
from ppsde.experiments.repair import damages
from ppsde.experiments.rows import ROW
from ppsde.experiments.runner import _Session
from ppsde.experiments.worker import host_rows
from ppsde.experiments.workers import Processes

SMALL = {"problems": ["engineering:welded-beam", "cec2006:g06"], "runs": 2, "budget": 900, "record": 9}

ODD = """
import os
import sys
import time
import ppsde

def raises(x):
    raise OverflowError(f"too much of {object()}")

def malformed(x):
    return 1j

def dies(x):
    os._exit(7)

def strays(x):
    for descriptor in range(3, 30):
        try:
            os.write(descriptor, b"not for you\\n")
        except OSError:
            pass
    return x[0]

def asks(x):
    return float(sys.stdin.read() == "")

def forks(x):
    return -1.0 if os.fork() == 0 else float(x @ x)

def hangs(x):
    while x[0] < -1.5:
        time.sleep(1)
    return x[0] ** 2, [0.5 - x[0]], []

def now_and_then(x):
    if x[0] < 0:
        raise ValueError("negative")
    print("to be seen by no one")
    return x[0] ** 2, [0.5 - x[0]], []

BOX = [(-2, 2)] * 2
failing = ppsde.Problem(raises, BOX)
malformed = ppsde.Problem(malformed, BOX)
dying = ppsde.Problem(dies, BOX)
hanging = ppsde.Problem(hangs, BOX)
straying = ppsde.Problem(strays, BOX)
asking = ppsde.Problem(asks, BOX)
forking = ppsde.Problem(forks, BOX)
sometimes = ppsde.Problem(now_and_then, BOX)
"""


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("study") / "study.db"
    summary = run(Plan(["pps-de", "pps-de-published"], **SMALL, engine="host"), path, workers=2)
    assert (summary.runs, summary.done, summary.failed, summary.interrupted) == (8, 8, 0, False)
    return path


def test_a_row_holds_what_the_run_gave(study: Path) -> None:
    with Store(study) as store:
        results = {result.key: result for result in store.results()}
    assert len(results) == 8
    for (_, name, dimension, _), result in results.items():
        suite = "engineering" if name == "welded-beam" else "cec2006"
        problem = ppsde.suites.get(suite).problem(name)
        f, g, h = problem.evaluate(result.x[None])
        assert result.f == f[0] and (result.arrays["g"] == g[0]).all() and (result.arrays["h"] == h[0]).all()
        assert result.violation == np.maximum(g[0], 0).sum() and dimension == problem.dimension
        assert result.competition_violation == pytest.approx(np.maximum(g[0], 0).sum() / g.shape[1])
        assert (result.by_constraint == np.maximum(g[0], 0)).all() and result.feasible == (result.violation == 0)
        assert result.evaluations == 900 and result.arrays["failed_evaluations"] == 0
        f, _, _ = problem.evaluate(result.answer["x"][None])
        assert result.answer["f"] == f[0] and (result.violation, result.f) <= (result.answer["violation"], f[0])
        record = result.record
        assert {"evaluations", "f", "violation", "feasible_share", "stage", "epsilon"} <= set(record)
        assert record["f"].shape == (9,) and record["evaluations"][-1] == 900 and record["f"][-1] == result.f
        made = record["evaluations"]
        assert (made > 100 * np.arange(9))[~np.isnan(made)].all() and (made <= 100 * np.arange(1, 10))[
            ~np.isnan(made)
        ].all()
    assert len({result.x.tobytes() for result in results.values()}) == 8


def test_where_rows_come_from_is_kept_beside_them(study: Path) -> None:
    with Store(study) as store:
        account = store.account(next(store.results()).job.id)
    assert account is not None
    assert account["versions"]["ppsde"] == ppsde.__version__ and account["versions"]["numpy"] == np.__version__
    assert account["pid"] == os.getpid() and account["seconds"] > 0 and account["device"] == "cpu"
    assert abs(account["finished"] - time.time()) < 3600 and account["host"] and account["command"]


def test_rows_are_the_same_whoever_makes_them(study: Path, tmp_path: Path) -> None:
    plan = Plan(["pps-de", "pps-de-published"], **SMALL, engine="host")
    run(plan, tmp_path / "again.db", workers=1)
    assert contents(tmp_path / "again.db") == contents(study)
    one = expanded(plan)[0]
    problem = ppsde.suites.get("cec2006").problem("g06")
    assert one.job.problem_name == "g06"
    (row,) = host_rows(one.job, problem, lambda made: None)
    assert contents(study)[one.job.id, 0] == row.content()


def test_what_is_there_is_not_done_again_and_what_is_new_is(study: Path, tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    path.write_bytes(study.read_bytes())
    before = contents(path)
    with Store(path) as store:
        accounts = store.database.rows("SELECT * FROM accounts ORDER BY number")
    more = Plan(["pps-de", "pps-de-published"], **{**SMALL, "runs": 3}, engine="host")
    assert run(more, path).done == 12
    after = contents(path)
    assert len(after) == 12 and before.items() <= after.items()
    with Store(path) as store:
        assert store.database.rows("SELECT * FROM accounts ORDER BY number")[:8] == accounts
        assert len(list(store.results())) == 12


def test_shards_do_each_job_once_between_them(study: Path, tmp_path: Path) -> None:
    from ppsde.experiments.repair import merge

    plan = Plan(["pps-de", "pps-de-published"], **SMALL, engine="host")
    paths = [tmp_path / f"{part}.db" for part in (1, 2, 3)]
    assert [run(plan, path, shard=(k + 1, 3)).done for k, path in enumerate(paths)] == [3, 3, 2]
    assert merge(tmp_path / "all.db", paths) == [3, 3, 2]
    assert contents(tmp_path / "all.db") == contents(study)


def test_runs_that_fail_are_kept_with_the_reason_and_harm_no_other(tmp_path: Path) -> None:
    (tmp_path / "odd.py").write_text(ODD)
    names = [f"odd.py:{name}" for name in ("failing", "malformed", "dying", "sometimes")]
    plan = Plan(["pps-de"], problems=names, runs=2, budget=200, record=5, folder=tmp_path)
    path = tmp_path / "study.db"
    summary = run(plan, path, workers=2)
    assert (summary.done, summary.failed) == (8, 6)
    with Store(path) as store:
        results = {(result.problem, result.run): result for result in store.results()}
    for k in (0, 1):
        failing, malformed, dying, sometimes = (results[name, k] for name in names)
        assert "every evaluation failed (100); the first with OverflowError: too much of" in failing.message
        assert "object at 0x..>" in failing.message, "an address in memory is no part of a result"
        assert failing.evaluations == 100 and "complex" in malformed.message
        assert dying.message == "the process ended with exit status 7"
        for failed in (failing, malformed, dying):
            assert not failed.ok and not failed.feasible and np.isnan(failed.f) and failed.violation == np.inf
        assert sometimes.ok and sometimes.feasible and 0 < sometimes.arrays["failed_evaluations"] < 200
    assert run(plan, path).failed == 6, "what failed is done"
    (tmp_path / "again.db").write_bytes(path.read_bytes())
    before = contents(path)
    assert run(plan, tmp_path / "again.db", retry_failed=True).failed == 6
    assert contents(tmp_path / "again.db") == before and damages(tmp_path / "again.db") == []


def test_a_job_that_a_repair_has_left_half_is_made_whole(tmp_path: Path) -> None:
    from ppsde.experiments.database import drop

    path = tmp_path / "study.db"
    plan = Plan(["pps-de"], **SMALL, engine="host")
    run(plan, path)
    whole = contents(path)
    with Store(path, writable=True) as store, store.database.writing() as execute:
        drop(execute, b"R", execute("SELECT max(number) FROM results").fetchone()[0])
    assert len(contents(path)) == 3
    assert run(plan, path).done == 4
    assert contents(path) == whole and damages(path) == []


def test_a_damaged_store_is_not_written_to(study: Path, tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    file = study.read_bytes()
    where = file.index(b"\x89ppsde\r\n") + 70
    path.write_bytes(file[:where] + bytes([file[where] ^ 4]) + file[where + 1 :])
    damaged = path.read_bytes()
    with pytest.raises(ValueError, match="bench repair"):
        run(Plan(["pps-de"], **SMALL, engine="host"), path)
    assert path.read_bytes() == damaged


def test_no_store_that_is_another_thing_is_called_damaged(study: Path, tmp_path: Path) -> None:
    newer = tmp_path / "newer.db"
    newer.write_bytes(study.read_bytes())
    with closing(sqlite3.connect(newer)) as connection:
        connection.execute("PRAGMA user_version = 99")
    for path, words in ((newer, "is a store of version 99; this program reads version 3"), (tmp_path, "is no file")):
        with pytest.raises(ValueError, match=words) as caught:
            run(Plan(["pps-de"], **SMALL, engine="host"), path)
        assert "damaged" not in str(caught.value) and "repair" not in str(caught.value)


@pytest.mark.skipif(not LINUX, reason="files that can be removed while they are open")
def test_a_study_whose_store_is_removed_ends_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "go").touch()
    runner = command(*telling(tmp_path, runs=5000, budget=50))
    store, removed = tmp_path / "study.db", tmp_path / "removed.db"
    while not rows_in(store):
        assert runner.poll() is None, runner.communicate()
    store.rename(removed)
    out, err = runner.communicate(timeout=120)
    assert (runner.returncode, out) == (2, "") and err.count("\n") == 1
    assert "study.db was removed, renamed or replaced while it was in use" in err and damages(removed) == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"workers": 0}, "workers must be an int >= 1; got 0"),
        ({"workers": 2.5}, "workers must be"),
        ({"shard": (3, 2)}, "shard must be two ints"),
        ({"shard": (0, 2)}, "shard must be"),
        ({"shard": 1}, "shard must be"),
    ],
)
def test_a_bad_argument_is_named_before_anything_is_made(arguments: dict, words: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=words):
        run(Plan(["pps-de"], **SMALL), tmp_path / "study.db", **arguments)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_changes_under_a_running_study_ends_it(tmp_path: Path) -> None:
    text = "import ppsde, pathlib\nproblem = ppsde.Problem(lambda x: x[0], [(0, 1)])\n"
    # Loaded by the runner first; the worker then finds another file.
    change = "p = pathlib.Path(__file__)\np.write_text(p.read_text() + '#')\n"
    (tmp_path / "mine.py").write_text(text + change)
    plan = Plan(["pps-de"], problems=["mine.py:problem"], runs=1, budget=100, folder=tmp_path)
    with pytest.raises(ValueError, match="has changed since the study was started"):
        run(plan, tmp_path / "study.db")
    with Store(tmp_path / "study.db") as store:
        assert store.database.rows("SELECT * FROM leases") == []


# --- compiled -----------------------------------------------------------------------------------------------


COMPILED = {"suite": "cec2017", "problems": ["C05", "C14"], "dimensions": [3], "instance": 1, "runs": 3, "budget": 600}


def compiled_problems() -> list[ppsde.Problem]:
    return [ppsde.suites.get("cec2017").problem(name, 3, instance=1) for name in ("C05", "C14")]


def test_what_jax_can_compile_is_compiled(tmp_path: Path) -> None:
    pytest.importorskip("jax")
    plan = Plan(["jde"], **COMPILED)  # the method that compiles in least time
    assert [(one.job.engine, one.job.runs) for one in expanded(plan)] == [("compiled", (0, 1, 2))] * 2
    assert run(plan, tmp_path / "study.db", workers=1).failed == 0
    problems = dict(zip(("C05", "C14"), compiled_problems(), strict=True))
    with Store(tmp_path / "study.db") as store:
        results = list(store.results())
        assert sorted(result.key for result in results) == [("jde", n, 3, k) for n in problems for k in range(3)]
        assert sum(store.account(one.job.id)["compile_seconds"] > 0.1 for one in expanded(plan)) == 1, (
            "one program for all"
        )
    for result in results:
        f, g, h = problems[result.problem].evaluate(result.x[None])
        assert result.f == pytest.approx(f[0], rel=1e-11) and result.evaluations == 600
        assert (result.competition_violation == 0) == (result.violation == 0) == result.feasible
        measured = ppsde.population.competition_violation(g, h)[0]
        assert result.competition_violation == pytest.approx(measured, rel=1e-9, abs=1e-15)
        assert result.record["evaluations"][-1] == 600 and result.record["f"][-1] == result.f


@pytest.mark.slow
def test_a_compiled_row_does_not_depend_on_what_is_compiled_beside_it(tmp_path: Path) -> None:
    pytest.importorskip("jax")
    whole = {"suite": "cec2017", "problems": ["C05", "C14"], "dimensions": [10], "instance": 1, "budget": 20_000}
    alone = {**whole, "problems": ["C05"], "runs": 3}  # runs as long as these would show a single bit
    run(Plan(["pps-de"], **whole, runs=3), tmp_path / "whole.db")
    run(Plan(["pps-de"], **alone), tmp_path / "alone.db")
    rows = contents(tmp_path / "alone.db")
    assert len(rows) == 3 and rows.items() <= contents(tmp_path / "whole.db").items()


@pytest.mark.slow
def test_a_resumed_study_equals_the_unbroken_one_where_a_method_reads_constraints(tmp_path: Path) -> None:
    """The problems have 1 and 1 constraints, and 3 and 0: together, each gets columns of the other."""
    pytest.importorskip("jax")
    few = {"method": "sass", "options": {"population_size": 12, "repair_probability": 1.0}}
    plan = Plan([few], suite="cec2020rw", problems=["RC09", "RC10"], runs=1, budget=6000)
    run(plan, tmp_path / "study.db")
    rows = contents(tmp_path / "study.db")
    with Store(tmp_path / "study.db", writable=True) as store, store.database.writing() as execute:
        (job,) = (one.job.id for one in expanded(plan) if one.source.name == "RC09")
        ((number,),) = execute("SELECT number FROM results WHERE job = ?", job).fetchall()
        drop(execute, ROW, number)
    assert len(contents(tmp_path / "study.db")) == 1
    run(plan, tmp_path / "study.db")
    assert contents(tmp_path / "study.db") == rows


@pytest.mark.slow
def test_compiled_rows_are_those_of_a_batch_to_the_last_bit(tmp_path: Path) -> None:
    pytest.importorskip("jax")
    from ppsde.experiments.worker import compiled_program, compiled_rows

    plan = Plan(["pps-de"], **COMPILED)
    run(plan, tmp_path / "study.db", workers=2)
    jobs, problems = [one.job for one in expanded(plan)], compiled_problems()
    program = compiled_program(jobs[0], problems[::-1])
    together = compiled_rows(program, jobs, problems, problems[::-1])
    rows = {(row.job, row.run): row.content() for rows in together for row in rows}
    assert contents(tmp_path / "study.db") == rows


@pytest.mark.slow
def test_the_way_of_a_gpu_compiles_ahead_and_gives_the_same_rows(tmp_path: Path) -> None:
    """By threads of a worker, as on a GPU; only the device is the CPU."""
    pytest.importorskip("jax")
    from concurrent.futures import ThreadPoolExecutor
    from dataclasses import asdict

    from ppsde.experiments.rows import unpacked
    from ppsde.experiments.worker import Bench

    plan = Plan(["pps-de", "jde"], **COMPILED)
    run(plan, tmp_path / "study.db", workers=2)
    said: list[tuple[dict[str, object], list[bytes]]] = []
    bench = Bench(lambda message, blobs=(): said.append((message, list(blobs))))

    def side_by_side(method: str) -> None:
        planned = [one for one in expanded(plan) if one.job.method == method]
        described = [{"content": one.job.content, "source": asdict(one.source)} for one in planned]
        bench._side_by_side([one.job for one in planned], bench._problems_of(described), described)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(side_by_side, ["pps-de", "jde"]))
    done = [(message, blobs) for message, blobs in said if message["kind"] == "done"]
    assert len(done) == 4 and all(not any(message["failed"]) and message["seconds"] > 0 for message, _ in done)
    rows = [unpacked(blob) for _, blobs in done for blob in blobs]
    assert {(row.job, row.run): row.content() for row in rows} == contents(tmp_path / "study.db")


@pytest.mark.slow
def test_programs_are_compiled_while_jobs_of_others_run(tmp_path: Path) -> None:
    pytest.importorskip("jax")
    from dataclasses import asdict

    from ppsde.experiments.worker import Bench

    one, two = (
        [{"content": each.job.content, "source": asdict(each.source)} for each in expanded(Plan([method], **COMPILED))]
        for method in ("pps-de", "jde")
    )
    said: list[dict[str, Any]] = []
    bench = Bench(lambda message, blobs=(): said.append(message))
    bench.do({"jobs": one[:1], "beside": one, "ahead": [two]})
    bench._ahead.shutdown(wait=True)
    assert max(message.get("programs", 0) for message in said) == 2, "both were being compiled at one time"
    bench.do({"jobs": two[:1], "beside": two, "ahead": []})
    done = [message for message in said if message["kind"] == "done"]
    assert [any(message["failed"]) for message in done] == [False, False]
    assert sum(message["kind"] == "compiling" for message in said) == 4 and done[1]["compile_seconds"] < 0.1


def test_a_function_of_ones_own_is_compiled_if_jax_can_trace_it(tmp_path: Path) -> None:
    pytest.importorskip("jax")
    (tmp_path / "mine.py").write_text(
        "import numpy as np\nimport ppsde\n"
        "BOX = [(-1, 1)] * 2\n"
        "def fun(x):\n    return (x**2).sum(axis=1), 0.5 - x[:, :1], x[:, :0]\n"
        "def branching(x):\n    return fun(x) if x[0, 0] > 0 else fun(x)\n"
        "array = ppsde.Problem(fun, BOX, vectorized=True)\n"
        "branching = ppsde.Problem(branching, BOX, vectorized=True)\n"
        "rows = ppsde.Problem(lambda x: fun(x[None]), BOX)\n"
    )
    names = ["mine.py:array", "mine.py:branching", "mine.py:rows"]
    planned = expanded(Plan(["pps-de"], problems=names, runs=1, folder=tmp_path))
    assert [one.job.engine for one in planned] == ["compiled", "host", "host"]
    with pytest.raises(ValueError, match=r"cannot run pps-de on mine\.py:branching: JAX cannot trace its function"):
        expanded(Plan(["pps-de"], problems=names[1:], runs=1, engine="compiled", folder=tmp_path))


@pytest.mark.skipif(not LINUX, reason="forks")
def test_a_function_can_neither_write_nor_read_nor_answer_in_place_of_its_worker(tmp_path: Path) -> None:
    (tmp_path / "odd.py").write_text(ODD)
    names = ["odd.py:straying", "odd.py:asking", "odd.py:forking"]
    plan = Plan(["pps-de"], problems=names, runs=1, budget=60, engine="host", folder=tmp_path)
    run(plan, tmp_path / "study.db", workers=1)
    with Store(tmp_path / "study.db") as store:
        straying, asking, forking = store.results()
    assert not straying.ok and "SIGKILL" in straying.message
    assert asking.ok and asking.f == 1.0
    assert forking.ok and forking.f == forking.x @ forking.x


@pytest.mark.skipif(not LINUX, reason="evaluations are ended by signals")
def test_an_evaluation_that_hangs_or_dies_costs_itself_alone_where_a_timeout_is_given(tmp_path: Path) -> None:
    (tmp_path / "odd.py").write_text(ODD)
    # What dies gets as long as it needs: a busy machine may take longer than 0.2 s to tell how it ended.
    for name, seconds in (("odd.py:hanging", 0.2), ("odd.py:dying", 600.0)):
        plan = Plan(["pps-de"], problems=[name], runs=1, budget=120, eval_timeout=seconds, folder=tmp_path)
        assert [one.job.engine for one in expanded(plan)] == ["host"]
        run(plan, tmp_path / "study.db", workers=1)
    with Store(tmp_path / "study.db") as store:
        hanging, dying = store.results()
    assert hanging.ok and hanging.evaluations == 120 and 1 <= hanging.arrays["failed_evaluations"] < 60
    assert not dying.ok and "every evaluation failed" in dying.message and "status 7" in dying.message


def test_a_device_that_is_not_there_ends_the_study_and_fails_no_run(tmp_path: Path) -> None:
    jax = pytest.importorskip("jax")
    if jax.default_backend() == "gpu":
        pytest.skip("it is there")
    with pytest.raises(ValueError, match="there is no device 'gpu' here"):
        run(Plan(["pps-de"], **COMPILED, device="gpu"), tmp_path / "study.db")
    assert contents(tmp_path / "study.db") == {}


# --- several runners, signals, kills ------------------------------------------------------------------------


def told(folder: Path) -> int:
    return len((folder / "told").read_bytes()) if (folder / "told").exists() else 0


def telling(folder: Path, runs: int, budget: int) -> list[object]:
    (folder / "telling.py").write_text(TELLING)
    return [
        *("bench", "run", "--store", folder / "study.db", "--problem", folder / "telling.py:problem"),
        *("--method", "pps-de", "--runs", runs, "--budget", budget, "--quiet", "--workers", 1),
    ]


def until_leased(path: Path, count: int) -> None:
    """Wait until so many jobs are being done."""
    while True:
        if path.exists():
            with Store(path) as store:
                if store.database.rows("SELECT count(*) FROM leases")[0][0] >= count:
                    return
        time.sleep(0.02)


def test_two_runners_and_a_late_third_do_every_job_exactly_once(tmp_path: Path) -> None:
    argv = telling(tmp_path, runs=24, budget=50)
    runners = [command(*argv), command(*argv)]
    until_leased(tmp_path / "study.db", 2)
    runners.append(command(*argv))
    until_leased(tmp_path / "study.db", 3)
    (tmp_path / "go").touch()
    for runner in runners:
        out, err = runner.communicate(timeout=120)
        assert (runner.returncode, err) == (0, "") and "24 of 24 runs done" in out
    assert told(tmp_path) == 24 * 50, "no evaluation was made twice"
    with Store(tmp_path / "study.db") as store:
        results = list(store.results())
        accounts = [store.account(result.job.id) for result in results]
    assert [result.run for result in results] == list(range(24))
    assert {account["pid"] for account in accounts if account} == {runner.pid for runner in runners}


@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_ends_cleanly_with_everything_finished_kept(number: signal.Signals, tmp_path: Path) -> None:
    argv = telling(tmp_path, runs=500, budget=50)
    (tmp_path / "go").touch()
    runner = command(*argv)
    while told(tmp_path) < 250:
        time.sleep(0.01)
    children = children_of(runner.pid) if LINUX else []
    runner.send_signal(number)
    out, err = runner.communicate(timeout=30)
    assert (runner.returncode, err) == (130, "") and "interrupted; to resume: ppsde bench run" in out
    assert not any(map(is_there, children))
    rows = contents(tmp_path / "study.db")
    assert 0 < len(rows) < 500 and f"{len(rows)} of 500 runs done" in out
    with Store(tmp_path / "study.db") as store:
        assert store.database.rows("SELECT * FROM leases") == store.database.rows("SELECT * FROM runners") == []
    assert damages(tmp_path / "study.db") == []


@pytest.mark.skipif(not LINUX, reason="processes as Linux shows them")
def test_when_the_runner_is_killed_its_workers_end_and_its_job_is_taken_over(tmp_path: Path) -> None:
    argv = telling(tmp_path, runs=3, budget=50)
    first = command(*argv)
    until_leased(tmp_path / "study.db", 1)
    children = children_of(first.pid)
    assert len(children) == 1
    first.kill()
    first.communicate()
    end = time.monotonic() + 20
    while any(map(is_there, children)) and time.monotonic() < end:
        time.sleep(0.02)
    assert not any(map(is_there, children))
    (tmp_path / "go").touch()
    second = command(*argv)
    out, _ = second.communicate(timeout=120)
    assert second.returncode == 0 and "3 of 3 runs done" in out
    assert told(tmp_path) == 3 * 50


@pytest.mark.skipif(not LINUX, reason="processes as Linux shows them")
def test_a_job_whose_worker_is_killed_once_is_done_all_the_same(tmp_path: Path) -> None:
    runner = command(*telling(tmp_path, runs=4, budget=50))
    until_leased(tmp_path / "study.db", 1)
    (worker,) = children_of(runner.pid)
    os.kill(worker, signal.SIGKILL)
    (tmp_path / "go").touch()
    out, err = runner.communicate(timeout=120)
    assert (runner.returncode, err) == (0, "") and "4 of 4 runs done, " in out and "failed" not in out
    assert told(tmp_path) == 4 * 50


@pytest.mark.skipif(not LINUX, reason="limits as Linux has them")
def test_a_full_disk_is_told_in_one_line_and_what_was_finished_is_kept(tmp_path: Path) -> None:
    argv = telling(tmp_path, runs=500, budget=50)
    (tmp_path / "go").touch()
    runner = command(*argv, first="import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (1_500_000, 1_500_000))")
    out, err = runner.communicate(timeout=120)
    assert (runner.returncode, out) == (2, "") and err.count("\n") == 1
    assert "study.db cannot be written" in err and "what was finished before is kept" in err
    before = contents(tmp_path / "study.db")
    assert 0 < len(before) < 500 and damages(tmp_path / "study.db") == []
    runner = command(*argv, "--runs", len(before) + 2)
    assert "runs done" in runner.communicate(timeout=120)[0] and runner.returncode == 0
    after = contents(tmp_path / "study.db")
    assert len(after) == len(before) + 2 and before.items() <= after.items()


class NoStore:
    """As much of a store as a session without workers needs."""

    class database:
        rows = staticmethod(lambda *sql: [])


def seconds_per_job(monkeypatch: pytest.MonkeyPatch, jobs: int) -> float:
    """The time that a runner itself needs to hand out a job and to show how far it is, in a plan of so many jobs."""

    def claim(leases: Any, candidates: Any, most: int) -> Claim:
        return Claim([id for id, _ in islice(candidates, most)], [], [])

    monkeypatch.setattr(Leases, "claim", claim)
    kinds = {"kind": "host", "runs": (0,), "budget": 10}
    mine = [SimpleNamespace(job=SimpleNamespace(id=str(k), **kinds)) for k in range(jobs)]
    session = _Session(NoStore, mine, Interrupts())
    worker = SimpleNamespace(kind="host", requests=[], ready=True)
    session._crew = Processes(1)
    session._crew.workers = [worker]
    began = time.perf_counter()
    for _ in range(50):
        session._crew.start(session._left)
        assert len(session._next_for(worker)) == 1
        session._status()
    return time.perf_counter() - began


def test_the_cost_of_a_job_does_not_depend_on_the_size_of_the_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds_per_job(monkeypatch, 100)
    small, large = (min(seconds_per_job(monkeypatch, jobs) for _ in range(5)) for jobs in (100, 20_000))
    assert large < 20 * small  # 200 times as many jobs


def test_a_runner_alone_does_not_say_that_it_waits_for_another(monkeypatch: pytest.MonkeyPatch) -> None:
    others: set[str] = set()

    def claim(leases: Any, candidates: Any, most: int) -> Claim:
        return Claim([id for id, _ in candidates if id not in others][:most], [], [])

    monkeypatch.setattr(Leases, "claim", claim)
    mine = [SimpleNamespace(job=SimpleNamespace(id=id, kind="host", runs=(0,), budget=10)) for id in "abc"]
    session = _Session(NoStore, mine, Interrupts())
    worker = SimpleNamespace(kind="host", requests=[], ready=True)
    session._crew = Processes(1)
    assert session._next_for(worker) == mine[:1]
    session._held.clear()  # it is done, and the next one not yet handed out
    assert ("waiting", "for another runner") not in session._status().facts
    others |= {"b", "c"}
    assert session._next_for(worker) == []
    assert ("waiting", "for another runner") in session._status().facts
