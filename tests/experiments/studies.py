"""Small studies for the tests: plans, stores filled with made-up rows, and the command as a process."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ppsde.experiments.job import Job
from ppsde.experiments.rows import FAILED, OK, ROW, Row, account_entry, job_entry, packed, plan_entry, sealed
from ppsde.experiments.store import Store, new_store

# A test run in the background of a shell ignores SIGINT, and its children would inherit that.
HEEDING_INTERRUPTS = """
import runpy, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
runpy.run_module("ppsde", run_name="__main__", alter_sys=True)
"""

# A function that tells each of its evaluations by a byte in a file, and waits until another file is there.
TELLING = """
import os
import time
from pathlib import Path

import ppsde

HERE = Path(__file__).parent


def fun(x):
    while not (HERE / "go").exists():
        time.sleep(0.01)
    told = os.open(HERE / "told", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(told, b".")
    os.close(told)
    return x[0] ** 2 + x[1], [0.5 - x[0]], []


problem = ppsde.Problem(fun, [(-2, 2)] * 2, name="telling")
"""


def command(*argv: Any, first: str = "") -> subprocess.Popen[str]:
    """`ppsde` with these arguments, as a process; `first` is Python that it executes before."""
    words = [sys.executable, "-c", first + HEEDING_INTERRUPTS, *map(str, argv)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def contents(path: Path) -> dict[tuple[str, int], tuple[str, bytes]]:
    """Every row of a store by job and run, exact to the last bit."""
    with Store(path) as store:
        rows = [store.read(number) for (number,) in store.database.rows("SELECT number FROM results")]
    found = {(row.job, row.run): row.content() for row in rows}
    assert len(found) == len(rows)
    return found


def a_job(**changes: Any) -> Job:
    """A job on paper."""
    usual: dict[str, Any] = {
        "method": "pps-de",
        "settings": {"pbest": 5},
        "problem": {"suite": "cec2017", "name": "C01", "version": "2024"},
        "dimension": 10,
        "instance": 1,
        "seed": 0,
        "runs": (0, 1),
        "budget": 1000,
        "record": 20,
        "engine": "host",
        "device": "cpu",
    }
    return Job(**{**usual, **changes})


def a_row(job: Job, run: int, rng: np.random.Generator, numbers: int = 60, failed: bool = False) -> Row:
    """A row of random numbers, so that no two are alike and nothing compresses."""
    arrays = {
        "x": rng.uniform(size=job.dimension),
        "f": np.array(rng.uniform()),
        "feasible": np.array(True),
        "evaluations": np.array(job.budget),
        "record.f": rng.uniform(size=numbers),
    }
    return Row(job.id, run, FAILED if failed else OK, "no luck" if failed else "", arrays)


def entries_of(jobs: list[Job], rng: np.random.Generator, sizes: tuple[int, ...] = (60,)) -> Iterator[bytes]:
    """Everything that a finished study of these jobs leaves: plan, jobs, rows, accounts."""
    for job in jobs:
        yield job_entry(job)
    yield plan_entry({"runs": 2}, [("mine", job.id) for job in jobs])[1]
    for k, job in enumerate(jobs):
        for run in job.runs:
            yield sealed(ROW, packed(a_row(job, run, rng, sizes[k % len(sizes)])))
        yield account_entry({"job": job.id, "finished": 1e9 + k, "host": "here"})


def a_store(path: Path, jobs: list[Job], seed: int = 1, sizes: tuple[int, ...] = (60,)) -> list[bytes]:
    """A store of made-up rows, and its entries."""
    entries = list(entries_of(jobs, np.random.default_rng(seed), sizes))
    with new_store(path) as store:
        store.add_entries(entries)
    return entries


def children_of(pid: int) -> list[int]:
    """The processes that a process has started, as Linux tells."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid and fields[0] != "Z":
            found.append(int(stat.parent.name))
    return found


def is_there(pid: int) -> bool:
    """Whether a process is there and not only waiting to be buried."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def without(path: Path) -> None:
    """Remove a store and what lies beside it."""
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


LINUX = sys.platform == "linux" and Path("/proc/self").is_dir()
