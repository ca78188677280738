"""Processes of our own: whatever an evaluation does to its process, it fails alone, and nothing is left behind."""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from evaluating import answers
from processes import alive, all_gone, all_there, children, marked, parent

import ppsde
from ppsde.arrays import bits
from ppsde.evaluation import EvaluationError, evaluator_for
from ppsde.evaluation.channel import Channel, Stray, WorkerEnd
from ppsde.evaluation.pool import Pool
from ppsde.evaluation.supervisor import Supervisor

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are looked for in /proc")

BOX = [(0.0, 100.0)] * 2
SEGFAULT, EXIT, KILLED, HANG, HANG_IN_C, MEMORY, ABORT = 1, 2, 3, 4, 5, 6, 7
MEGABYTE = 2**20


def deadly(x):
    """Well behaved except where x[0] is one of the numbers above."""
    what = int(x[0])
    if what == SEGFAULT:
        ctypes.string_at(0)
    elif what == EXIT:
        os._exit(7)
    elif what == KILLED:
        os.kill(os.getpid(), signal.SIGKILL)
    elif what == HANG:
        time.sleep(1000)
    elif what == HANG_IN_C:
        ctypes.PyDLL(None).sleep(1000)  # holding the interpreter's lock
    elif what == MEMORY:
        np.ones(2000 * MEGABYTE)
    elif what == ABORT:
        os.abort()
    return float(os.getpid()), [float(x[1])], []


def points(*first: float) -> np.ndarray:
    return np.array([[value, k] for k, value in enumerate(first)], float)


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    with marked() as mark:
        with evaluator_for(ppsde.Problem(deadly, BOX), 2, timeout=1.0, memory=500 * MEGABYTE) as evaluator:
            assert isinstance(evaluator, Pool)
            yield evaluator
        assert all_gone(mark)


@pytest.mark.parametrize(
    ("what", "status", "words"),
    [
        (SEGFAULT, "crashed", "killed by SIGSEGV"),
        (EXIT, "crashed", "exit status 7"),
        (KILLED, "crashed", "killed by SIGKILL"),
        (ABORT, "crashed", "killed by SIGABRT"),
        (HANG, "timeout", "killed after 1 s"),
        (HANG_IN_C, "timeout", "killed after 1 s"),
        (MEMORY, "memory", "Unable to allocate"),
    ],
)
def test_an_evaluation_that_harms_its_process_fails_alone(pool: Pool, what: int, status: str, words: str) -> None:
    outcomes = answers(pool, points(*[10] * 8, what, *[10] * 8))
    assert [outcome.status for outcome in outcomes] == ["ok"] * 8 + [status] + ["ok"] * 8
    assert words in outcomes[8].reason
    assert [outcome.g[0] for outcome in outcomes if outcome.status == "ok"] == [k for k in range(17) if k != 8]


def test_all_at_once_harm_only_themselves(pool: Pool) -> None:
    x = points(10, SEGFAULT, EXIT, 10, HANG, KILLED, ABORT, 10, MEMORY, 10)
    statuses = [outcome.status for outcome in answers(pool, x)]
    assert statuses == ["ok", *["crashed"] * 2, "ok", "timeout", *["crashed"] * 2, "ok", "memory", "ok"]


def test_a_worker_that_died_in_time_is_no_timeout_however_late_it_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    hear, limit = Supervisor.news, 1.0
    began = time.monotonic()

    def hear_late(supervisor: Supervisor) -> list[tuple[int, int]]:
        if time.monotonic() < began + 2 * limit:
            time.sleep(0.02)
            return []
        return hear(supervisor)

    with evaluator_for(ppsde.Problem(deadly, BOX), 1, timeout=limit) as evaluator:
        answers(evaluator, points(10))  # so that starting takes none of the time
        began = time.monotonic()
        monkeypatch.setattr(Supervisor, "news", hear_late)
        (outcome,) = answers(evaluator, points(EXIT))
    assert time.monotonic() >= began + 2 * limit
    assert outcome.status == "crashed" and "exit status 7" in outcome.reason


def test_what_hangs_is_killed_when_its_time_is_over_and_not_much_later(pool: Pool) -> None:
    began = time.monotonic()
    outcome = answers(pool, points(HANG))[0]
    assert 1.0 <= outcome.seconds < 30 and time.monotonic() - began < 30  # of the 1000 it wanted


def test_a_worker_killed_while_it_has_nothing_to_do_costs_nothing(pool: Pool) -> None:
    workers = {int(outcome.f) for outcome in answers(pool, points(*[10] * 6))}
    for process in workers:
        os.kill(process, signal.SIGKILL)
    outcomes = answers(pool, points(*[10] * 6))
    assert [outcome.status for outcome in outcomes] == ["ok"] * 6
    assert not workers & {int(outcome.f) for outcome in outcomes}


def test_a_worker_killed_from_outside_loses_one_evaluation() -> None:
    def slow(x):
        time.sleep(0.05)
        return float(os.getpid())

    killed = []

    def kill_one(row, outcome):
        if not killed:  # the worker that gave the first value is now at its second point, or about to be
            time.sleep(0.02)
            killed.append(int(outcome.f))
            os.kill(killed[0], signal.SIGKILL)

    with evaluator_for(ppsde.Problem(slow, BOX), 2) as evaluator:
        statuses = [outcome.status for outcome in answers(evaluator, points(*[10] * 12), kill_one)]
    assert statuses.count("ok") >= 11 and set(statuses) <= {"ok", "crashed"}


def test_the_supervisor_of_the_workers_may_be_killed_too() -> None:
    with marked(), evaluator_for(ppsde.Problem(deadly, BOX), 2) as evaluator:
        worker = int(answers(evaluator, points(10))[0].f)
        supervisor = parent(parent(worker))
        assert supervisor in children(os.getpid())
        killed = []

        def kill_once(row, outcome):
            if not killed:
                killed.append(supervisor)
                os.kill(supervisor, signal.SIGKILL)

        outcomes = answers(evaluator, points(*[10] * 20), kill_once)
        assert killed and [outcome.status for outcome in outcomes] == ["ok"] * 20


def test_memory_that_earlier_evaluations_have_taken_is_not_held_against_a_later_one() -> None:
    leaked = []

    def leaks(x):
        leaked.append(np.ones(10 * MEGABYTE))  # 80 MB each
        return float(x[0])

    with evaluator_for(ppsde.Problem(leaks, BOX), 1, memory=300 * MEGABYTE) as evaluator:
        outcomes = answers(evaluator, points(*range(10)))
        assert [outcome.f for outcome in outcomes] == list(range(10))
        assert evaluator.calls > 10


def test_a_chunk_of_rows_that_crashes_is_taken_apart_to_find_the_row() -> None:
    def rows(x):
        if (x[:, 0] == 13).any():
            os._exit(1)
        return x[:, 0]

    with evaluator_for(ppsde.Problem(rows, BOX, vectorized=True), 2) as evaluator:
        outcomes = answers(evaluator, points(*range(20)))
    assert [outcome.status for outcome in outcomes] == ["ok"] * 13 + ["crashed"] + ["ok"] * 6
    assert [outcome.f for outcome in outcomes if outcome.status == "ok"] == [k for k in range(20) if k != 13]


@pytest.mark.parametrize("rate", [0.01, 0.3, 0.9])
def test_runs_survive_any_rate_of_failures_and_are_the_same_with_any_number_of_workers(rate: float) -> None:
    def unreliable(x):
        if np.random.default_rng(np.frombuffer(x.tobytes(), np.uint64)).random() < rate:  # by the point alone
            raise OSError("licence server")
        return float(((x - 30.0) ** 2).sum()), [x[0] - 25.0], []

    results = [
        ppsde.minimize(unreliable, BOX, method="pps-de", max_evaluations=1500, rng=2, workers=workers)
        for workers in (1, 2, 4)
    ]
    assert all(result.nfev == 1500 and result.feasible for result in results)
    assert abs(results[0].n_failed / 1500 - rate) < 0.05
    assert len({bits(result.population.x) for result in results}) == 1
    assert len({result.n_failed for result in results}) == 1


def test_a_whole_run_goes_on_through_crashes_and_hangs() -> None:
    def treacherous(x):
        if x[0] > 99.0:
            ctypes.string_at(0)
        if x[0] < 1.0:
            time.sleep(1000)
        return float(((x - 30.0) ** 2).sum())

    with marked() as mark:
        result = ppsde.minimize(
            treacherous,
            BOX,
            method="pps-de",
            max_evaluations=400,
            rng=1,
            workers=2,
            eval_timeout=0.5,
            x0=[[99.5, 50.0], [0.5, 50.0]],
        )
        assert all_gone(mark)
    assert result.nfev == 400 and result.success and result.fun < 100
    assert {failure.status for failure in result.failures} == {"crashed", "timeout"}
    assert all(failure.x[0] > 99 for failure in result.failures if failure.status == "crashed")
    assert all(
        failure.x[0] < 1 and failure.seconds >= 0.5 for failure in result.failures if failure.status == "timeout"
    )
    assert result.n_failed == len(result.failures)


def test_what_an_evaluation_starts_is_ended_with_it() -> None:
    def starts_a_solver(x):
        subprocess.Popen(["sleep", "1000"], start_new_session=bool(x[1] == 1))  # the second one leaves the family
        time.sleep(1000)

    with marked() as mark, evaluator_for(ppsde.Problem(starts_a_solver, BOX), 2, timeout=0.5) as evaluator:
        outcomes = answers(evaluator, points(10, 10))
        assert [outcome.status for outcome in outcomes] == ["timeout", "timeout"]
        assert all_gone(mark, "sleep")  # while the evaluator is still open
        evaluator.close()
        assert all_gone(mark)


def test_what_another_evaluation_has_started_lives_on_as_long_as_its_worker() -> None:
    started = []

    def with_a_daemon(x):
        if x[0] == KILLED:
            os.kill(os.getpid(), signal.SIGKILL)
        if not started:  # it leaves the family, and its parent ends
            command = ["sh", "-c", "setsid sleep 1000 >&- 2>&- & echo $!"]
            started.append(int(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout))
        time.sleep(0.05)  # so that both workers have one
        return float(started[0]), [float(parent(started[0]) == os.getppid())], []

    with marked() as mark, evaluator_for(ppsde.Problem(with_a_daemon, BOX), 2) as evaluator:
        before = {int(outcome.f) for outcome in answers(evaluator, points(*[10] * 8))}
        outcomes = answers(evaluator, points(KILLED))
        assert len(before) == 2 and outcomes[0].status == "crashed"
        deadline = time.monotonic() + 20
        while len(alive(mark, "sleep")) > 1 and time.monotonic() < deadline:
            time.sleep(0.02)
        assert len(left := alive(mark, "sleep")) == 1 and set(left) < before
        assert all(outcome.g[0] == 1.0 for outcome in answers(evaluator, points(*[10] * 4)))


# --- a channel that only the worker can answer on ---------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning")  # JAX warns if it was loaded by another test
@pytest.mark.filterwarnings("ignore:Exception ignored in. .function _at_fork:pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("then", ["exec", "return", "raise"])
@pytest.mark.parametrize("workers", [1, 2])
def test_a_process_that_the_function_forks_cannot_answer_for_it(then: str, workers: int) -> None:
    made: list[int] = []  # process ids, where the function runs in this process

    def forks(x):
        if x[0] < 60:
            made.append(os.fork())
        if x[0] < 60 and made[-1] == 0:
            if then == "exec":
                os.execvp("no-such-solver", ["no-such-solver"])
            if then == "raise":
                raise RuntimeError("in the child")
            return -1.0
        return float(x.sum())

    x = np.random.default_rng(3).uniform(0, 100, (40, 2))
    with marked() as mark, evaluator_for(ppsde.Problem(forks, BOX), workers) as evaluator:
        outcomes = answers(evaluator, x)
        assert [outcome.f for outcome in outcomes] == x.sum(axis=1).tolist()
        for process in made:
            assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 1
        assert bool(made) == (workers == 1)
        evaluator.close()
        assert all_gone(mark)


@pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning")  # JAX warns if it was loaded by another test
@pytest.mark.filterwarnings("ignore:Exception ignored in. .function _at_fork:pytest.PytestUnraisableExceptionWarning")
def test_a_vectorised_function_that_forks_does_not_go_on_twice() -> None:
    made: list[int] = []

    def forks(x):
        made.append(os.fork())
        return x.sum(axis=1) if made[-1] else -x.sum(axis=1)

    with evaluator_for(ppsde.Problem(forks, BOX, vectorized=True)) as evaluator:
        assert [outcome.f for outcome in answers(evaluator, points(10, 20))] == [10.0, 21.0]
    assert os.waitstatus_to_exitcode(os.waitpid(*made, 0)[1]) == 1


@pytest.mark.parametrize("size", [1, 33, 300_000])
def test_bytes_that_the_function_writes_to_any_descriptor_cost_its_own_point_alone(size: int) -> None:
    def writes(x):
        if x[0] == 1:
            for descriptor in range(3, 30):
                with suppress(OSError):
                    os.set_blocking(descriptor, True)
                    os.write(descriptor, b"k" * size)
        return float(x[1])

    with evaluator_for(ppsde.Problem(writes, BOX), 2, timeout=20) as evaluator:
        outcomes = answers(evaluator, points(*[10] * 5, 1, *[10] * 5))
    assert [outcome.status for outcome in outcomes] == ["ok"] * 5 + ["crashed"] + ["ok"] * 5
    assert "file descriptor that is not its own" in outcomes[5].reason


def test_a_worker_that_does_not_read_stops_nobody() -> None:
    def stops_itself(x):  # while it still has to read the next rows
        pid = os.getpid()
        os.kill(pid, signal.SIGSTOP)
        return x[:, 0]

    big = ppsde.Problem(stops_itself, [(0, 1)] * 2000, vectorized=True)
    began = time.monotonic()
    result = ppsde.minimize(big, method="pps-de", rng=1, workers=2, max_time=1.0, max_evaluations=2000)
    assert result.limited_by == "max_time" and time.monotonic() - began < 10


def test_an_evaluation_that_kills_its_keeper_fails_alone() -> None:
    def kills(x):
        if x[0] == KILLED:
            os.kill(os.getppid(), signal.SIGKILL)
            time.sleep(1000)
        return float(x[1])

    with marked() as mark, evaluator_for(ppsde.Problem(kills, BOX), 2) as evaluator:
        outcomes = answers(evaluator, points(*[10] * 4, KILLED, *[10] * 4))
        assert [outcome.status for outcome in outcomes] == ["ok"] * 4 + ["crashed"] + ["ok"] * 4
        evaluator.close()
        assert all_gone(mark)


MANY_FILES = """
import resource, ppsde
resource.setrlimit(resource.RLIMIT_NOFILE, (4096, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
keep = [open("/dev/null") for _ in range(1100)]
result = ppsde.minimize(lambda x: x[0] ** 2, [(-1, 1)], method="pps-de", max_evaluations=40, rng=1, workers=2)
print(result.nfev, result.n_failed)
"""


def test_more_open_files_than_select_can_wait_for_are_no_matter() -> None:
    done = subprocess.run([sys.executable, "-c", MANY_FILES], capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.stderr) == ("40 0\n", "")


def ends() -> tuple[Channel, WorkerEnd, socket.socket]:
    mine, theirs = socket.socketpair()
    return Channel(mine), WorkerEnd(os.dup(theirs.fileno())), theirs


def test_messages_of_any_length_come_whole_and_numbered_and_nobody_waits() -> None:
    channel, worker, raw = ends()
    content = bytes(range(256)) * 40_000  # more than a socket holds
    reader = threading.Thread(target=lambda: worker.send(*worker.receive()))
    channel.send(7, content)
    assert channel.sending and channel.receive() == []
    reader.start()
    received = []
    while not received:
        channel.flush()
        received = channel.receive()
    reader.join()
    assert received == [(7, content)] and not channel.sending
    raw.close()
    channel.close()


@pytest.mark.parametrize("what", ["other key", "altered", "after a message", "one byte"])
def test_no_byte_of_a_stranger_is_taken_for_an_answer(what: str) -> None:
    channel, worker, raw = ends()
    channel.send(1, b"")
    worker.receive()
    worker.send(1, b"an answer")
    frame = bytearray(channel._line.recv(1000))
    if what == "other key":
        frame[0] ^= 1
    elif what == "altered":
        frame[-1] ^= 1
    elif what == "one byte":
        frame = bytearray([frame[0] ^ 1])
    else:
        frame += b"stray"
    raw.sendall(frame)
    with pytest.raises(Stray):
        channel.receive()
    channel.close()
    raw.close()


def test_a_worker_is_limited_to_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.delenv(name)  # the tests' own, of conftest.py

    def threads(x):
        from threadpoolctl import threadpool_info

        return float(max(pool["num_threads"] for pool in threadpool_info())), [float(os.environ["OMP_NUM_THREADS"])], []

    with evaluator_for(ppsde.Problem(threads, BOX), 2) as evaluator:
        outcome = answers(evaluator, points(10))[0]
    assert outcome.f == 1.0 and outcome.g.tolist() == [1.0]


def test_workers_draw_different_random_numbers() -> None:
    def noise(x):
        return np.random.random()  # noqa: NPY002  # as many a user's function does

    with evaluator_for(ppsde.Problem(noise, BOX), 2) as evaluator:
        drawn = [outcome.f for outcome in answers(evaluator, points(*[10] * 20))]
    assert len(set(drawn)) == 20


def test_what_the_function_prints_is_seen(capfd: pytest.CaptureFixture[str]) -> None:
    def talks(x):
        sys.stdout.write(f"at {x[1]:g}\n")
        return x[0]

    with evaluator_for(ppsde.Problem(talks, BOX), 2) as evaluator:
        answers(evaluator, points(10, 10, 10))
    assert sorted(capfd.readouterr().out.split("\n")) == ["", "at 0", "at 1", "at 2"]


def test_a_run_in_a_thread_works_as_well() -> None:
    found = []
    thread = threading.Thread(
        target=lambda: found.append(
            ppsde.minimize(deadly, [(10.0, 100.0)] * 2, method="pps-de", max_evaluations=100, rng=1, workers=2)
        )
    )
    thread.start()
    thread.join()
    assert found[0].nfev == 100 and found[0].n_failed == 0


def test_a_function_that_cannot_be_loaded_over_there_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "only_here.py").write_text("import os\nHERE = os.environ['ONLY_HERE']\ndef fun(x): return x[0]\n")
    monkeypatch.syspath_prepend(tmp_path)
    with monkeypatch.context() as patch:
        patch.setenv("ONLY_HERE", "yes")
        from only_here import fun
    with pytest.raises(EvaluationError, match="cannot be loaded in another process: KeyError: 'ONLY_HERE'") as caught:
        ppsde.minimize(fun, BOX, method="pps-de", workers=2)
    assert caught.value.result.nfev == 0


def test_a_function_of_a_module_that_nobody_else_could_import_is_sent_whole(tmp_path: Path) -> None:
    import importlib.util

    file = tmp_path / "nowhere_on_the_path.py"
    file.write_text("factor = 3.0\ndef helper(x):\n    return factor * x\ndef fun(x):\n    return helper(x[0])\n")
    spec = importlib.util.spec_from_file_location("nowhere_on_the_path", file)
    module = importlib.util.module_from_spec(spec)
    sys.modules["nowhere_on_the_path"] = module
    try:
        spec.loader.exec_module(module)
        with evaluator_for(ppsde.Problem(module.fun, BOX), 2) as evaluator:
            assert answers(evaluator, points(4))[0].f == 12.0
    finally:
        del sys.modules["nowhere_on_the_path"]


SCRIPT_WITHOUT_A_GUARD = """
import ppsde
offset = 3.0
def fun(x):
    return (x[0] - offset) ** 2
result = ppsde.minimize(fun, [(0, 10)], method="pps-de", max_evaluations=400, rng=1, workers=2)
print(result.nfev, round(result.fun, 3))
"""


def test_a_script_needs_no_guard(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT_WITHOUT_A_GUARD)
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.stderr) == ("400 0.0\n", "")


KILLED_FROM_OUTSIDE = """
import os, subprocess, time, ppsde
def fun(x):
    subprocess.Popen(["sleep", "1000"])
    os.write(1, b"evaluating\\n")
    time.sleep(1000)
ppsde.minimize(fun, [(0, 10)], method="pps-de", workers=2)
"""


def test_nothing_is_left_when_the_owner_is_killed(tmp_path: Path) -> None:
    with marked() as mark:
        owner = subprocess.Popen([sys.executable, "-c", KILLED_FROM_OUTSIDE], stdout=subprocess.PIPE, text=True)
        assert owner.stdout is not None
        for _ in range(2):
            assert owner.stdout.readline() == "evaluating\n"
        assert all_there(mark, 8)  # the owner, the supervisor, two workers, their keepers and what each has started
        owner.kill()
        owner.wait()
        owner.stdout.close()
        assert all_gone(mark)


# --- many times over ----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_two_hundred_harmful_evaluations_of_four_hundred_lose_no_other() -> None:
    chance = np.random.default_rng(1)
    first = np.where(chance.random(400) < 0.5, chance.choice([SEGFAULT, EXIT, KILLED, ABORT, MEMORY], 400), 10)
    with marked() as mark:
        with evaluator_for(ppsde.Problem(deadly, BOX), 2, memory=500 * MEGABYTE) as evaluator:
            outcomes = answers(evaluator, points(*first))
        assert all_gone(mark)
    expected = ["ok" if what == 10 else "memory" if what == MEMORY else "crashed" for what in first]
    assert [outcome.status for outcome in outcomes] == expected and expected.count("ok") < 250


@pytest.mark.slow
def test_nothing_is_left_whenever_the_owner_is_killed() -> None:
    chance = np.random.default_rng(2)
    for _ in range(30):
        with marked() as mark:
            command = [sys.executable, "-c", KILLED_FROM_OUTSIDE.replace("time.sleep(1000)", "time.sleep(0.01)")]
            owner = subprocess.Popen(command, stdout=subprocess.DEVNULL)
            time.sleep(chance.uniform(0.0, 3.0))  # before, while and after its workers are started
            owner.kill()
            owner.wait()
            assert all_gone(mark)
