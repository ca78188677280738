"""Ctrl-C, SIGTERM and the end of the time allowed: a result, soon, and nothing left behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from processes import all_gone, marked

import ppsde
from ppsde.engines.drive import noticed

posix = pytest.mark.skipif(sys.platform != "linux", reason="signals as POSIX has them, processes in /proc")

# A test run in the background of a shell ignores SIGINT, and its children would inherit that.
BEGINNING = """
import json, os, signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
import ppsde
WORKERS = json.loads(sys.argv[1])
def tell(**facts):
    facts["restored"] = (signal.getsignal(signal.SIGINT) is signal.default_int_handler
                         and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL)
    print(json.dumps(facts), flush=True)
"""

SHORT_EVALUATIONS = """
def fun(x):
    os.write(1, b"evaluating\\n")
    time.sleep(0.005)
    return x[0] ** 2, [0.5 - x[0]], []
result = ppsde.minimize(fun, [(-2, 2)] * 2, method="pps-de", rng=1, workers=WORKERS)
tell(status=result.status, message=result.message, nfev=result.nfev, calls=result.n_calls, fun=result.fun)
"""

LONG_EVALUATIONS = """
def fun(x):
    if abs(x[0]) == 1.5:
        return 7.0
    os.write(1, b"evaluating\\n")
    end = time.monotonic() + 1000
    while time.monotonic() < end:
        time.sleep(1000)
try:
    result = ppsde.minimize(fun, [(-2, 2)] * 2, method="pps-de", rng=1, workers=WORKERS, x0=[[1.5, 0], [-1.5, 0]])
    tell(status=result.status, nfev=result.nfev, fun=result.fun, x=result.x.tolist())
except KeyboardInterrupt:
    tell(status="KeyboardInterrupt")
"""

NESTED = """
runs = 0
def inner(y):
    global runs
    runs += 1
    os.write(1, b"evaluating\\n")
    time.sleep(0.005)
    return y[0] ** 2
def fun(x):
    found = ppsde.minimize(inner, [(-1, 1)], method="pps-de", max_evaluations=50, rng=1)
    return x[0] ** 2 + (found.fun if found.nfev == 50 else -1.0)
result = ppsde.minimize(fun, [(-2, 2)], method="pps-de", max_evaluations=1000, rng=1, workers=WORKERS)
tell(status=result.status, message=result.message, nfev=result.nfev, runs=runs, fun=result.fun)
"""

WITH_A_SOLVER = '''
import subprocess
solver = """
import signal, time
signal.signal(signal.SIGINT, signal.SIG_DFL)
print("evaluating", flush=True)
time.sleep(1000)
"""
calls = 0
def fun(x):
    global calls
    calls += 1
    if calls == 1:
        os.write(1, b"evaluating\\n")
    else:
        subprocess.run([sys.executable, "-c", solver], check=True)
    return x[0]
result = ppsde.minimize(fun, [(-2, 2)] * 2, method="pps-de", rng=1, workers=WORKERS)
tell(status=result.status, nfev=result.nfev, failures=len(result.failures), calls=result.n_calls)
'''


@contextmanager
def running(code: str, workers: int, evaluations: int) -> Iterator[subprocess.Popen[str]]:
    """The code in a process of its own that has begun so many evaluations; at the end nothing of it is left."""
    with marked() as mark:
        process = subprocess.Popen(
            [sys.executable, "-c", BEGINNING + code, json.dumps(workers)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert process.stdout is not None
        for _ in range(evaluations):
            assert process.stdout.readline() == "evaluating\n"
        try:
            yield process
        finally:
            process.kill()
            process.communicate()
        assert all_gone(mark)


def told(process: subprocess.Popen[str]) -> dict[str, object]:
    """What it tells at its end, which must come by itself."""
    out, err = process.communicate(timeout=60)
    assert err == "" and process.returncode == 0
    facts: dict[str, object] = json.loads(out.splitlines()[-1])
    return facts


@posix
@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_ends_the_run_with_the_best_so_far(number: signal.Signals, workers: int) -> None:
    with running(SHORT_EVALUATIONS, workers, 60) as process:
        process.send_signal(number)
        facts = told(process)
    assert facts["status"] == 3 and facts["message"] == "interrupted" and facts["restored"]
    assert 40 <= facts["nfev"] < 40_000 and facts["calls"] >= 60 and np.isfinite(facts["fun"])


@posix
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_one_signal_ends_a_run_inside_a_run_and_the_outer_one(number: signal.Signals) -> None:
    with running(NESTED, 1, 75) as process:  # in the middle of the second run
        process.send_signal(number)
        facts = told(process)
    assert facts["status"] == 3 and facts["message"] == "interrupted" and facts["restored"]
    assert facts["fun"] >= 0 and facts["runs"] < 150  # nothing was made of a run that did not end


@posix
def test_with_workers_the_running_evaluations_are_not_waited_for_and_finished_ones_count() -> None:
    with running(LONG_EVALUATIONS, 2, 2) as process:
        process.send_signal(signal.SIGINT)
        facts = told(process)
    assert facts == {"status": 3, "nfev": 2, "fun": 7.0, "x": [1.5, 0.0], "restored": True}


@posix
def test_the_second_signal_stops_at_once() -> None:
    with running(LONG_EVALUATIONS, 1, 1) as process:
        process.send_signal(signal.SIGINT)
        with pytest.raises(subprocess.TimeoutExpired):  # the evaluation, which wants 1000 seconds, goes on
            process.wait(1.5)
        process.send_signal(signal.SIGINT)
        assert told(process) == {"status": "KeyboardInterrupt", "restored": True}


@posix
def test_an_evaluation_that_the_interrupt_itself_has_spoilt_is_not_a_failure() -> None:
    """Ctrl-C in a terminal reaches the solver too."""
    with running(WITH_A_SOLVER, 1, 2) as process:
        os.killpg(process.pid, signal.SIGINT)
        facts = told(process)
    assert facts == {"status": 3, "nfev": 1, "failures": 0, "calls": 2, "restored": True}


def test_signals_are_noticed_and_counted_and_their_handlers_given_back() -> None:
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        for number in before:
            signal.signal(number, signal.SIG_DFL)
        with noticed() as interrupts:
            assert not interrupts.asked
            signal.raise_signal(signal.SIGTERM)
            assert interrupts.asked
            with pytest.raises(KeyboardInterrupt):
                signal.raise_signal(signal.SIGINT)
        assert all(signal.getsignal(number) == signal.SIG_DFL for number in before)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        with noticed() as interrupts:
            signal.raise_signal(signal.SIGINT)
            assert not interrupts.asked and signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def test_elsewhere_than_in_the_main_thread_handlers_are_left_alone() -> None:
    before = signal.getsignal(signal.SIGINT)
    seen = []

    def run() -> None:
        with noticed():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert seen == [before]


# --- the time allowed ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("vectorized", [False, True])
def test_a_run_ends_when_its_time_is_up(vectorized: bool) -> None:
    points = 0

    def fun(x):
        nonlocal points
        points += x.size // 2
        if points > 40:  # the first population takes no time, so that there is one even where little can be done in it
            time.sleep(0.002)
        return (x**2).sum(axis=-1)

    result = ppsde.minimize(fun, [(-1, 1)] * 2, method="pps-de", rng=1, vectorized=vectorized, max_time=0.5)
    assert result.status == 6 and result.message == "the time is up" and result.limited_by == "max_time"
    assert result.success and 0 < result.nfev < 40_000 and 0.5 <= result.seconds < 30


def test_what_was_evaluated_when_the_time_was_up_counts() -> None:
    def fun(x):
        time.sleep(0.3)
        return float((x**2).sum())

    result = ppsde.minimize(fun, [(-1, 1)] * 2, method="pps-de", rng=1, max_time=0.5, x0=[0.5, 0.5])
    assert 1 <= result.nfev == result.n_calls < 40 and 0 <= result.fun <= 0.5 and result.success


@pytest.mark.parametrize("last", [31, 131])  # in the first generation of 100 points, and in the second
@pytest.mark.parametrize("how", ["raises", "nan"])
def test_points_and_failures_of_a_generation_that_is_not_complete_count(how: str, last: int) -> None:
    asked: list[np.ndarray] = []

    def fun(x):
        if len(asked) == last:
            raise KeyboardInterrupt
        asked.append(x)
        if x[0] >= 0:
            return float(x @ x)
        if how == "nan":
            return np.nan
        raise RuntimeError("no mesh")

    result = ppsde.minimize(fun, [(-1, 1)] * 2, method="jde", rng=1)
    failed = [x for x in asked if x[0] < 0]
    assert result.status == 3 and result.nfev == last and result.n_failed == len(failed)
    assert np.array_equal([failure.x for failure in result.failures], failed)


def test_the_failure_that_ends_a_run_is_in_its_result_once() -> None:
    with pytest.raises(ppsde.EvaluationError) as raised:
        ppsde.minimize(lambda x: np.nan if x[0] < 0 else 1.0, [(-1, 1)] * 2, method="jde", rng=1, on_failure="raise")
    result = raised.value.result
    assert result.n_failed == len(result.failures) == 1 <= result.nfev


def test_with_workers_nothing_is_waited_for_when_the_time_is_up() -> None:
    with marked() as mark:
        result = ppsde.minimize(
            lambda x: time.sleep(1000), [(-1, 1)] * 2, method="pps-de", rng=1, workers=2, max_time=3.0
        )
        assert result.status == 6 and result.seconds < 60 and not result.success
        if sys.platform == "linux":
            assert all_gone(mark)


def test_time_enough_changes_nothing() -> None:
    runs = [
        ppsde.minimize(lambda x: (x**2).sum(), [(-1, 1)] * 2, method="pps-de", max_evaluations=500, rng=1, max_time=t)
        for t in (None, 1e6)
    ]
    assert runs[0].status == runs[1].status == 0 and np.array_equal(runs[0].population.x, runs[1].population.x)
