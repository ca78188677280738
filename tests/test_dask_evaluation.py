"""Evaluation by a real Dask cluster of processes, some of which are killed."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from evaluating import answers
from experiments.clusters import a_cluster
from processes import MARK, all_gone, marked, parent

import ppsde
from ppsde.arrays import bits
from ppsde.evaluation import EvaluationError, evaluator_for

distributed = pytest.importorskip("distributed")
pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="processes are looked for in /proc"),
    pytest.mark.filterwarnings("default"),  # the cluster's own are not ours to mend
]
BOX = [(-5.0, 5.0)] * 2


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with (
        marked() as mark,
        a_cluster(tmp_path_factory.mktemp("cluster")) as host,
        distributed.Client(host.address) as client,
    ):
        client.wait_for_workers(2, timeout=120)
        yield client
    assert all_gone(mark, "ppsde.evaluation")  # the cluster's own processes are its own affair


def smooth(x):
    return x[0] + x[1], [x[0] ** 2 + x[1] ** 2 - 1.0], []


def smooth_rows(x):
    return x[:, 0] + x[:, 1], (x[:, 0] ** 2 + x[:, 1] ** 2 - 1.0)[:, None], None


@pytest.mark.parametrize("vectorized", [False, True])
def test_the_same_seed_gives_the_same_bits_as_in_this_process(client: Any, vectorized: bool) -> None:
    alone = ppsde.minimize(smooth, BOX, method="pps-de", max_evaluations=120, rng=5)
    fun = smooth_rows if vectorized else smooth
    result = ppsde.minimize(
        fun, BOX, method="pps-de", max_evaluations=120, rng=5, vectorized=vectorized, workers=client
    )
    assert bits(result.x) == bits(alone.x) and bits(result.population.x) == bits(alone.population.x)
    assert result.nfev == result.n_calls == 120


def test_a_poisonous_evaluation_fails_alone_and_leaves_the_workers_alone(client: Any) -> None:
    def poisonous(x):
        if x[0] == 3:
            os._exit(1)
        return x[0]

    before = client.run(os.getpid)
    x = np.stack([np.arange(8.0), np.zeros(8)], axis=1)
    with evaluator_for(ppsde.Problem(poisonous, BOX), client) as evaluator:
        outcomes = answers(evaluator, x)
    assert [outcome.status for outcome in outcomes] == ["ok"] * 3 + ["crashed"] + ["ok"] * 4
    assert client.run(os.getpid) == before


def test_a_worker_killed_in_the_middle_of_a_generation_changes_nothing(client: Any, tmp_path: Path) -> None:
    """At one point of the second generation, when it comes there first, the Dask worker itself is killed."""
    done_already = tmp_path / "killed"

    def with_an_accident(x):
        nonlocal calls
        calls += 1
        if calls == 9:  # of this child of a worker
            try:
                done_already.touch(exist_ok=False)
            except FileExistsError:
                pass
            else:
                os.kill(parent(parent(os.getppid())), signal.SIGKILL)  # beyond its keeper and the supervisor
        return smooth(x)

    calls = 0
    alone = ppsde.minimize(smooth, BOX, method="pps-de", max_evaluations=200, rng=5)
    before = set(client.run(os.getpid).values())
    result = ppsde.minimize(with_an_accident, BOX, method="pps-de", max_evaluations=200, rng=5, workers=client)
    assert done_already.exists()
    client.wait_for_workers(2, timeout=120)
    assert set(client.run(os.getpid).values()) != before
    assert result.n_failed == 0 and bits(result.population.x) == bits(alone.population.x)
    assert bits(result.x) == bits(alone.x)


@pytest.mark.slow
def test_workers_killed_again_and_again_change_nothing(client: Any) -> None:
    def slow(x):
        time.sleep(0.02)
        return smooth(x)

    chance = np.random.default_rng(3)
    over = threading.Event()
    killed = []

    def kill_now_and_then() -> None:
        """Only workers that have begun to work: a nanny whose worker dies at its start does not try again."""
        while len(killed) < 4 and not over.wait(chance.uniform(2.0, 4.0)):
            with suppress(OSError, TimeoutError):  # one of them is just being replaced
                client.wait_for_workers(2, timeout=1)
                victim = int(chance.choice(sorted(client.run(os.getpid).values())))
                os.kill(victim, signal.SIGKILL)
                killed.append(victim)

    alone = ppsde.minimize(smooth, BOX, method="pps-de", max_evaluations=1000, rng=5)
    killer = threading.Thread(target=kill_now_and_then)
    killer.start()
    try:
        result = ppsde.minimize(slow, BOX, method="pps-de", max_evaluations=1000, rng=5, workers=client, max_time=300)
    finally:
        over.set()
        killer.join()
    assert len(killed) >= 2 and result.n_failed == 0
    assert bits(result.population.x) == bits(alone.population.x)


def test_the_time_limit_holds_there_too(client: Any) -> None:
    def hangs(x):
        time.sleep(1000 if x[0] == 1 else 0)
        return x[0]

    with evaluator_for(ppsde.Problem(hangs, BOX), client, timeout=1.0) as evaluator:
        statuses = [outcome.status for outcome in answers(evaluator, np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]]))]
    assert statuses == ["ok", "timeout", "ok"]


def test_evaluations_that_still_run_when_the_time_is_up_are_ended_there(client: Any) -> None:
    result = ppsde.minimize(lambda x: time.sleep(1000), BOX, method="pps-de", rng=1, workers=client, max_time=4.0)
    assert result.status == 6 and result.seconds < 60
    assert all_gone(os.environ[MARK], "ppsde.evaluation")


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_cluster_that_goes_away_is_an_error_with_the_result_so_far(asynchronous: bool) -> None:
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0", silence_logs=50
        ) as cluster,
        distributed.Client(cluster) as client,
    ):

        def callback(intermediate_result: Any) -> None:
            client.close()

        with pytest.raises(EvaluationError, match="takes no more work") as caught:
            ppsde.minimize(
                smooth, BOX, method="pps-de", rng=1, workers=client, callback=callback, asynchronous=asynchronous
            )
    assert caught.value.result.nfev == 40 and np.isfinite(caught.value.result.fun)


def test_an_asynchronous_run_survives_a_killed_worker_too(client: Any, tmp_path: Path) -> None:
    """The last test of this cluster: a nanny whose worker dies at its start may leave it with one worker."""
    done_already = tmp_path / "killed"

    def with_an_accident(x):
        if x[0] > 1.0:
            try:
                done_already.touch(exist_ok=False)
            except FileExistsError:
                pass
            else:
                os.kill(parent(parent(os.getppid())), signal.SIGKILL)
        return smooth(x)

    result = ppsde.minimize(with_an_accident, BOX, max_evaluations=80, rng=5, workers=client, asynchronous=True, tol=0)
    assert done_already.exists() and result.nfev == 80 and not result.failures
    assert result.n_failed <= 1  # if the new worker takes its time, later answers overtake the point of the accident
    assert result.feasible and result.fun < -1.0
