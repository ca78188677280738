"""Runs of the quality benchmark: one by one or in processes, each a line of a file from which a killed run goes on."""

from __future__ import annotations

import json
import os
import signal
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, fields, replace
from importlib import import_module
from multiprocessing import get_context, parent_process
from pathlib import Path
from threading import Thread
from time import monotonic, process_time
from typing import Any

import ppsde
from ppsde.algorithms import make
from ppsde.commands.parsing import settings_of

from .peers import PEERS, solve
from .problems import Counter, Variant, problem_of

EVERY = 5.0  # seconds between two lines of progress


@dataclass(frozen=True)
class Job:
    """One run; these fields identify it."""

    suite: str
    problem: str
    dimension: int | None  # where the suite leaves a choice
    instance: int | None
    noise: float
    staircase: bool
    multiple: int  # evaluations per variable
    solver: str
    stopping: bool  # whether a method may end before its budget
    seed: int
    compiled: bool = False  # whether a compiled program makes the run

    @property
    def label(self) -> str:
        """The solver's name in tables."""
        return f"{self.solver}, stopping" if self.stopping else self.solver


Row = dict[str, Any]  # the fields of a job, and what `run` adds


def method_of(text: str) -> tuple[str, dict[str, Any]]:
    """Return the name and the options of a method written as NAME or NAME:key=value:key=value; ValueError if wrong."""
    name, *pairs = text.split(":")
    options = settings_of(pairs)
    make(name, options)
    return name, options


def run(job: Job) -> Row:
    """Make one run, call by call, and return its row."""
    problem = problem_of(job.suite, job.problem, job.dimension, job.instance)
    counter = Counter(problem, job.multiple * problem.dimension, Variant(job.noise, job.staircase))
    errors: list[str] = []
    for module in ("scipy.optimize", PEERS[job.solver].package if job.solver in PEERS else "ppsde"):
        import_module(module)  # now, and not in the solver's time
    begun = process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if job.solver in PEERS:
            errors = solve(job.solver, counter, job.seed)
        else:
            ppsde.minimize(counter.problem, max_evaluations=counter.budget, rng=job.seed, **arguments_of(job))
    seconds = process_time() - begun
    return {
        **asdict(job),
        "budget": counter.budget,
        "evaluations": counter.evaluations,
        "f": counter.judged,
        "violation": counter.violation,
        "seconds": seconds - counter.seconds,  # of the solver itself, processor time
        "evaluating": counter.seconds,
        "errors": len(errors),
        "error": errors[0] if errors else "",
    }


def run_compiled(jobs: Sequence[Job]) -> list[Row]:
    """Make runs that differ by problem and seed, the problems of one dimension, as one program; return their rows."""
    begun = process_time()
    names = list(dict.fromkeys(replace(job, seed=0) for job in jobs))
    problems = [problem_of(name.suite, name.problem, name.dimension, name.instance) for name in names]
    budget = jobs[0].multiple * problems[0].dimension
    seeds = sorted({job.seed for job in jobs})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        batches = ppsde.solve_batch(
            problems, runs=seeds, max_evaluations=budget, record=1, device="cpu", **arguments_of(jobs[0])
        )
    found = dict(zip(names, batches, strict=True))
    seconds = (process_time() - begun) / len(jobs)
    rows = []
    for job in jobs:
        batch, k = found[replace(job, seed=0)], seeds.index(job.seed)
        values = {name: float(getattr(batch, name)[k]) for name in ("f", "violation")}
        more = {"seconds": seconds, "evaluating": 0.0, "errors": 0, "error": ""}  # its share of all, compiling included
        rows.append({**asdict(job), "budget": budget, "evaluations": int(batch.evaluations[k]), **values, **more})
    return rows


def arguments_of(job: Job) -> dict[str, Any]:
    """Return how a method of this library is called for a job."""
    name, options = method_of(job.solver)
    return {"method": name, "options": options, **({} if job.stopping else {"tol": 0})}


def run_all(jobs: Sequence[Job]) -> list[Row]:
    """Make the runs of one of the groups of `grouped`."""
    return run_compiled(jobs) if jobs[0].compiled else [run(job) for job in jobs]


def grouped(jobs: Iterable[Job]) -> list[list[Job]]:
    """Return jobs in groups: compiled ones that one program can make are together, others alone."""
    groups: dict[Any, list[Job]] = {}
    for job in jobs:
        key: Any = job
        if job.compiled:
            dimension = problem_of(job.suite, job.problem, job.dimension, job.instance).dimension
            key = dimension, job.multiple, job.solver, job.stopping
        groups.setdefault(key, []).append(job)
    return list(groups.values())


# --- the file of results --------------------------------------------------------------------------------------------


def stored(path: Path) -> dict[Job, Row]:
    """Return the rows of a file by job; a damaged last line, left by a killed run, is removed from the file."""
    found: dict[Job, Row] = {}
    sound = 0  # bytes
    lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
    for number, line in enumerate(lines, 1):
        try:
            row = json.loads(line)
            job = job_of(row)
        except (ValueError, KeyError, TypeError):
            row = None
        if row is None or not line.endswith(b"\n"):
            if number < len(lines):
                raise ValueError(f"{path}: line {number} is not a result of this benchmark")
            with path.open("r+b") as file:
                file.truncate(sound)
            break
        found[job] = row
        sound += len(line)
    return found


def job_of(row: Row) -> Job:
    """Return the job of which this is the row."""
    return Job(**{field.name: row[field.name] for field in fields(Job)})


def complete(path: Path, jobs: Sequence[Job], workers: int) -> dict[Job, Row]:
    """Make the runs that the file does not have, append each as soon as it is done, and return the rows of all jobs."""
    rows = stored(path)
    missing = [job for job in jobs if job not in rows]
    print(f"{len(jobs)} runs, {len(jobs) - len(missing)} of them in {path} already", file=sys.stderr, flush=True)
    with path.open("a") as file:
        for row in _told(results(missing, workers), len(missing)):
            file.write(json.dumps(row) + "\n")
            file.flush()
            rows[job_of(row)] = row
    return {job: rows[job] for job in jobs}


def results(jobs: Sequence[Job], workers: int) -> Iterator[Row]:
    """Give the rows of the jobs as they are done."""
    groups = grouped(jobs)
    if workers == 1 or len(groups) < 2:
        for group in groups:
            yield from run_all(group)
        return
    with ProcessPoolExecutor(min(workers, len(groups)), get_context("spawn"), _begin_worker) as pool:
        try:
            for future in as_completed([pool.submit(run_all, group) for group in groups]):
                yield from future.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _begin_worker() -> None:
    """Let this process end with its parent, however that ends, and at Ctrl-C without a word."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
    os._exit(1)


def _told(rows: Iterable[Row], total: int) -> Iterator[Row]:
    """Pass rows on and print progress on the standard error."""
    begun = last = monotonic()
    for done, row in enumerate(rows, 1):
        yield row
        now = monotonic()
        if now - last > EVERY or done == total:
            last = now
            at = f"{row['multiple']} D, {row['problem']} by {row['solver']}"
            print(f"{done} of {total} runs in {now - begun:.0f} s; last: {at}", file=sys.stderr, flush=True)
