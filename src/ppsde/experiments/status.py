"""How a study stands: what is done of each cell, who is working on it, how fast, how long still."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from .job import Job
from .leases import is_alive, this_place
from .store import Store

WINDOW = 300.0  # seconds that the rate is a mean over


@dataclass(frozen=True)
class Cell:
    """One algorithm on one problem in one dimension."""

    algorithm: str
    problem: str
    dimension: int
    wanted: int  # runs
    done: int
    failed: int  # of those done
    running: int  # jobs


@dataclass(frozen=True)
class Failure:
    """A run that failed."""

    algorithm: str
    problem: str
    dimension: int
    run: int
    message: str
    entry: int  # its number in the store: the larger, the later it was written

    def __str__(self) -> str:
        return f"{self.algorithm}, {self.problem}, D={self.dimension}, run {self.run}: {self.message}"


@dataclass(frozen=True)
class Standing:
    """How a study stands."""

    cells: list[Cell]
    failures: list[Failure]  # in the order of the plan: which worker was done first is chance
    runners: int  # programs that are working on it
    evaluations: int  # made
    budget: int  # evaluations that are wanted in all
    rate: float | None  # evaluations per second of late, None while no one works or nothing is finished yet

    @property
    def seconds_left(self) -> float | None:
        return (self.budget - self.evaluations) / self.rate if self.rate else None


def standing(store: Store, plan: int | None = None, clock: Callable[[], float] = time.time) -> Standing:
    """How the study in a store stands; of one plan (the first is number 1), or of all."""
    jobs = store.jobs(plan)
    with store.database.reading():
        sql = "SELECT job, count(*), sum(failed) FROM results GROUP BY job"
        done = {job: (count, failed) for job, count, failed in store.database.rows(sql)}
        runners = store.database.rows("SELECT runner, place, pid, born, expires FROM runners")
        leases = store.database.rows("SELECT job, runner FROM leases")
        finished = dict(store.database.rows("SELECT job, finished FROM accounts"))
        failed = store.database.rows("SELECT job, run, number FROM results WHERE failed ORDER BY run")
    now, here = clock(), this_place()
    alive = {
        runner
        for runner, place, pid, born, expires in runners
        if expires >= now and (place != here or is_alive(pid, born))
    }
    running = {job for job, runner in leases if runner in alive}
    return Standing(
        cells=_cells(jobs, done, running),
        failures=_failures(store, jobs, failed),
        runners=len(alive),
        evaluations=sum(done.get(job.id, (0, 0))[0] * job.budget for _, job in jobs),
        budget=sum(len(job.runs) * job.budget for _, job in jobs),
        rate=_rate(jobs, finished, now) if alive else None,
    )


def _failures(store: Store, jobs: list[tuple[str, Job]], failed: list[tuple[str, int, int]]) -> list[Failure]:
    runs_of: dict[str, list[tuple[int, int]]] = {}
    for id, run, number in failed:
        runs_of.setdefault(id, []).append((run, number))
    return [
        Failure(label, job.problem_name, job.dimension, run, store.read(number).message, number)
        for label, job in jobs
        for run, number in runs_of.get(job.id, [])
    ]


def _cells(jobs: list[tuple[str, Job]], done: dict[str, tuple[int, int]], running: set[str]) -> list[Cell]:
    sums: dict[tuple[str, str, int], list[int]] = {}
    for label, job in jobs:
        count, failed = done.get(job.id, (0, 0))
        cell = sums.setdefault((label, job.problem_name, job.dimension), [0, 0, 0, 0])
        for k, more in enumerate((len(job.runs), count, failed, int(job.id in running))):
            cell[k] += more
    return [Cell(*key, *numbers) for key, numbers in sums.items()]


def _rate(jobs: list[tuple[str, Job]], finished: dict[str, float], now: float) -> float | None:
    """Evaluations per second of the jobs finished of late."""
    late = [(finished[job.id], job) for _, job in jobs if now - WINDOW <= finished.get(job.id, -1.0) <= now]
    if len(late) < 2:
        return None
    first = min(moment for moment, _ in late)
    made = sum(job.budget * len(job.runs) for moment, job in late if moment > first)
    return made / (now - first) if now > first and made else None
