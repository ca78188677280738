"""Dask clusters for the tests: a scheduler and worker processes in a process of their own, which can be killed."""

from __future__ import annotations

import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from experiments.studies import command, contents

from ppsde.experiments import Store
from ppsde.experiments.repair import damages

HOST = """
import logging
import sys

from distributed import LocalCluster

if __name__ == "__main__":
    port, workers, gpus = map(int, sys.argv[1:])
    with LocalCluster(n_workers=workers, threads_per_worker=1, processes=True, scheduler_port=port,
                      dashboard_address=":0", resources={"GPU": gpus} if gpus else None, silence_logs=50):
        print("there", flush=True)
        sys.stdin.read()
"""

# It sleeps, so that many workers are busy on few cores.
SLEEPY = """
import time

import ppsde


def fun(x):
    time.sleep(0.0025)
    return (x[0] - 0.3) ** 2 + x[1] ** 2, [0.5 - x[0] - x[1]], []


problem = ppsde.Problem(fun, [(-2, 2)] * 2, name="sleepy")
"""
PLAN = """
algorithms = ["pps-de", "jde"]
problems = ["sleepy.py:problem"]
budget = 40
record = 5
engine = "host"
"""


class Host:
    """A Dask cluster at an address of its own, which stays the same when it is started again."""

    def __init__(self, folder: Path, workers: int, gpus: int = 0, **environment: str) -> None:
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            self._port = found.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{self._port}"
        self._file, self.workers, self._gpus = folder / "host_of_cluster.py", workers, gpus
        self._file.write_text(HOST)
        # Workers are forked from one process that has imported Dask: a new one is there at once.
        forked = {"DASK_DISTRIBUTED__WORKER__MULTIPROCESSING_METHOD": "forkserver"}
        self._environment = {**os.environ, **forked, **environment}
        self.start()

    def start(self) -> None:
        words = [sys.executable, self._file, self._port, self.workers, self._gpus]
        self._process = subprocess.Popen(
            [str(word) for word in words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=self._environment
        )
        assert self._process.stdout is not None and self._process.stdout.readline() == b"there\n"

    def kill(self) -> None:
        """Kill the scheduler; its workers end with it."""
        self._process.kill()
        self.close()

    def close(self) -> None:
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            with suppress(OSError):
                stream.close()
        self._process.wait()

    def pids(self) -> list[int]:
        """The processes of the workers that would be started again: Dask gives up one that dies while it is started."""
        from distributed import Client

        def state(dask_worker: Any) -> tuple[str, int]:
            return dask_worker.status.name, dask_worker.pid

        with suppress(OSError, TimeoutError), Client(self.address, set_as_default=False, timeout=5) as client:
            return sorted(pid for status, pid in client.run(state, nanny=True).values() if status == "running")
        return []


@contextmanager
def a_cluster(folder: Path, workers: int = 2, gpus: int = 0, **environment: str) -> Iterator[Host]:
    host = Host(folder, workers, gpus, **environment)
    try:
        yield host
    finally:
        host.close()


def rows_in(path: Path) -> int:
    if not path.exists():
        return 0
    with Store(path) as store:
        return store.database.rows("SELECT count(*) FROM results")[0][0]


def disturbed(folder: Path, host: Host, runs: int, kills: dict[str, int], seed: int) -> dict[str, Any]:
    """Run a study on a cluster, with so many kills of 'worker', 'client' and 'scheduler' at random moments.

    A 'stopped worker' is not killed: it says nothing any more.

    Returns what was seen, after comparing the store with that of an undisturbed study without Dask.
    """
    (folder / "sleepy.py").write_text(SLEEPY)
    (folder / "plan.toml").write_text(PLAN)
    quiet = ("bench", "run", folder / "plan.toml", "--runs", runs, "--quiet")
    alone = command(*quiet, "--store", folder / "alone.db", "--workers", host.workers)
    assert alone.communicate(timeout=1800)[1] == "" and alone.returncode == 0
    chance, store = random.Random(seed), folder / "study.db"
    deeds = [what for what, often in kills.items() for _ in range(often)]
    chance.shuffle(deeds)
    moments = sorted(chance.uniform(0.03, 0.85) * 2 * runs for _ in deeds)
    seen: dict[str, Any] = {"rows at each kill": [], "clients": 1, "workers killed": 0}
    dead: list[int] = []  # workers that were killed or stopped; Dask may not have noticed it yet
    began = time.monotonic()
    argv = (*quiet, "--store", store, "--dask", host.address)
    client = command(*argv)

    def kill_a_worker(number: int = signal.SIGKILL) -> None:
        while not (pids := [pid for pid in host.pids() if pid not in dead]):
            assert client.poll() is None, client.communicate()
        dead.append(chance.choice(pids))
        os.kill(dead[-1], number)
        seen["workers killed"] += 1

    def kill_the_client() -> None:
        nonlocal client
        client.kill()
        client.communicate()
        assert damages(store) == []
        client = command(*argv)
        seen["clients"] += 1

    def kill_the_scheduler() -> None:
        host.kill()
        host.start()

    does: dict[str, Callable[[], None]] = {
        "worker": kill_a_worker,
        "stopped worker": partial(kill_a_worker, signal.SIGSTOP),
        "client": kill_the_client,
        "scheduler": kill_the_scheduler,
    }
    for what, moment in zip(deeds, moments, strict=True):
        while rows_in(store) < moment:
            assert client.poll() is None, client.communicate()
            time.sleep(0.05)
        seen["rows at each kill"].append((what, rows_in(store)))
        does[what]()
    out, err = client.communicate(timeout=1800)
    seen["seconds"] = time.monotonic() - began
    assert (client.returncode, err) == (0, ""), (out, err)
    assert f"{2 * runs:,} of {2 * runs:,} runs done, " in out
    assert contents(store) == contents(folder / "alone.db") and damages(store) == []
    assert all(rows < 2 * runs for _, rows in seen["rows at each kill"])
    return seen
