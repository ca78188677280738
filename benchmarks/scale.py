"""Studies of many jobs: seconds per job, memory, and the time of a status, a report and a resume.

    python -m benchmarks.scale              # 1,000 and 10,000 jobs
    python -m benchmarks.scale 100000       # about ten minutes
    python -m benchmarks.scale 10000 --dask local

Runs are as short as can be, so the figures are the cost of the study itself. CPU seconds are those of the command and
of all its workers; the memory is that of its largest process. They are stored in the record `scale`, or `scale-dask`;
rows of other sizes stay.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

METHODS = ("jde", "shade")
PROBLEMS = tuple(f"g{number:02d}" for number in (4, 6, 8, 9, 24))
BUDGET = 10
WORKERS = 2


def measured(*words: object) -> tuple[float, float, float]:
    """Return seconds, CPU seconds and the memory (MB) of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-m", "ppsde", *map(str, words)], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(map(str, words))} ended with {process.returncode}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, cpu, usage.ru_maxrss / 1024


def main(sizes: list[int], dask: str | None) -> None:
    rows: dict[str, Any] = {}
    print("    jobs  step        seconds      CPU s   ms/job  memory MB")
    for jobs in sizes:
        with tempfile.TemporaryDirectory() as folder:
            store = Path(folder) / "study.db"
            plan = ["bench", "run", "--suite", "cec2006", "--engine", "host", "--budget", BUDGET, "--record", 3]
            plan += [word for method in METHODS for word in ("--method", method)]
            plan += [word for problem in PROBLEMS for word in ("--problem", problem)]
            plan += ["--runs", -(-jobs // (len(METHODS) * len(PROBLEMS))), "--store", store, "--quiet"]
            run = [*plan, "--workers", WORKERS] if dask in (None, "local") else plan
            steps = {
                "run": run if dask is None else [*run, "--dask", dask],
                "resume": run,
                "status": ["bench", "status", store],
                "report": ["bench", "report", store, "-o", Path(folder) / "report.html"],
            }
            found: dict[str, Any] = {"date": datetime.now(UTC).date().isoformat()}
            rows[str(jobs)] = found
            for step, words in steps.items():
                seconds, cpu, memory = measured(*words)
                line = f"{jobs:8,}  {step:8}  {seconds:9.1f}  {cpu:9.1f}  {1e3 * cpu / jobs:7.3f}  {memory:9.0f}"
                print(line, flush=True)
                found[step] = {"cpu": round(cpu, 1), "megabytes": round(memory)}
            print(f"{jobs:8,}  store     {store.stat().st_size / 2**20:9.1f} MB", flush=True)
    from .records import save, values_of  # not before: a new process counts the memory of the one that starts it

    name = "scale" if dask is None else "scale-dask"
    rows = dict(sorted({**(values_of(name) or {}), **rows}.items(), key=lambda row: int(row[0])))
    command = " ".join(["python -m benchmarks.scale", *rows, *([] if dask is None else ["--dask", dask])])
    save(name, rows, command=command, methods=METHODS)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("jobs", nargs="*", type=int, default=[1_000, 10_000])
    parser.add_argument("--dask", help="the cluster that does the jobs, as in `ppsde bench run`")
    given = parser.parse_args()
    main(given.jobs, given.dask)
