"""The result of a run as those who read a store see it.

The store: a study's plans, jobs and results in one file, which several programs may use at once.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from .database import TABLES, DamagedStore, Database, StoreError, create, damaged, place, put
from .job import Job
from .rows import OK, PLAN, ROW, Damaged, Row, StoredPlan, job_entry, plan_entry, read

ANSWER = "answer_"  # before the names of what the original program reports
RECORD = "record."  # before the names of the columns along a run


@dataclass(frozen=True, eq=False)
class Result:
    """What one run of a study gave.

    `x`, `f`, `violation` and what follows are of the best point ever evaluated; `answer` has the same of the point that
    the method's original program reports. A run that failed has `status` 'failed', NaN for values, an infinite
    violation and no record.
    """

    algorithm: str  # the label that the plan gives it
    problem: str
    dimension: int
    run: int
    status: str  # 'ok' or 'failed'
    message: str  # why it failed
    job: Job  # everything else that was asked for
    arrays: Mapping[str, np.ndarray]

    @property
    def key(self) -> tuple[str, str, int, int]:
        return self.algorithm, self.problem, self.dimension, self.run

    @property
    def ok(self) -> bool:
        return self.status == OK

    @property
    def x(self) -> np.ndarray:
        """The best point (d,)."""
        return self.arrays["x"]

    @property
    def f(self) -> float:
        return float(self.arrays["f"])

    @property
    def violation(self) -> float:
        """The search's measure."""
        return float(self.arrays["violation"])

    @property
    def competition_violation(self) -> float:
        """The measure of the CEC tables: a mean over the constraints."""
        return float(self.arrays["competition_violation"])

    @property
    def by_constraint(self) -> np.ndarray:
        """How far each constraint is violated (m,), inequalities first: g, or |h| above its tolerance; else 0."""
        return self.arrays["by_constraint"]

    @property
    def feasible(self) -> bool:
        return bool(self.arrays["feasible"])

    @property
    def evaluations(self) -> int:
        return int(self.arrays["evaluations"])

    @property
    def answer(self) -> dict[str, np.ndarray]:
        """The point that the method's original program reports: x, f, violation, feasible and so on."""
        return {name.removeprefix(ANSWER): a for name, a in self.arrays.items() if name.startswith(ANSWER)}

    @property
    def record(self) -> dict[str, np.ndarray]:
        """Columns along the run, each (record,): evaluations, f, violation, feasible_share and the method's own.

        The k-th numbers are of the last generation that ended within the k-th part of the budget, NaN where none did.
        """
        return {name.removeprefix(RECORD): a for name, a in self.arrays.items() if name.startswith(RECORD)}


def result_of(label: str, job: Job, row: Row) -> Result:
    """A row with what it means."""
    return Result(
        algorithm=label,
        problem=job.problem_name,
        dimension=job.dimension,
        run=row.run,
        status=row.status,
        message=row.message,
        job=job,
        arrays=row.arrays,
    )


class Store:
    """A study on disk.

    Parameters
    ----------
    path : path
    writable : bool
        Whether it is to be written.
    make : bool
        Whether to make it if there is none.

    Examples
    --------
    >>> import tempfile
    >>> from ppsde.experiments import Plan, run
    >>> plan = Plan(["pps-de"], problems=["engineering:welded-beam"], runs=2, budget=2000, engine="host")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     summary = run(plan, folder + "/study.db")
    ...     with Store(folder + "/study.db") as store:
    ...         for result in store.results():
    ...             print(result.key, result.feasible, result.evaluations)
    ('pps-de', 'welded-beam', 4, 0) True 2000
    ('pps-de', 'welded-beam', 4, 1) True 2000
    """

    def __init__(self, path: str | os.PathLike[str], *, writable: bool = False, make: bool = False) -> None:
        self.path = Path(path)
        if make and not self.path.exists():
            if not self.path.parent.is_dir():
                raise StoreError(f"there is no folder {str(self.path.parent)!r} for the store {self.path.name}")
            with suppress(FileExistsError):  # another runner was faster: its store is as good
                create(self.path)
        self.database = Database(self.path, writable=writable)
        self._jobs: dict[str, Job] = {}

    def close(self) -> None:
        self.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self.close()

    # --- reading ------------------------------------------------------------------------------------------------

    def plans(self) -> list[StoredPlan]:
        """The plans that were run into the store, the first one first."""
        return [self.read(number) for (number,) in self.database.rows("SELECT number FROM plans ORDER BY number")]

    def jobs(self, plan: int | None = None) -> list[tuple[str, Job]]:
        """Label and job, of one plan (the first is number 1) or of all.

        One label on one problem and dimension stands for one experiment; where two plans mean different ones by it,
        one of the plans must be chosen.
        """
        chosen = self._chosen(plan)
        known = dict(self.database.rows("SELECT job, number FROM jobs"))
        found: dict[tuple[str, str], Job] = {}
        meant: dict[tuple[str, str, int], Job] = {}
        for one in chosen:
            for label, id in one.jobs:
                if id not in self._jobs:
                    if id not in known:
                        continue  # lost by damage; running the plan again brings it back
                    self._jobs[id] = self.read(known[id])
                job = self._jobs[id]
                before = meant.setdefault((label, job.problem_name, job.dimension), job)
                if before.cell != job.cell:
                    raise StoreError(
                        f"{label!r} on {job.problem_name}, D={job.dimension}, stands for different experiments in the "
                        f"plans of {self.path}: they differ in {_difference(before, job)}. Choose one of its "
                        f"{len(chosen)} plans by number"
                    )
                found[label, id] = job
        return [(label, job) for (label, _), job in found.items()]

    def results(self, plan: int | None = None) -> Iterator[Result]:
        """What every finished run gave, failed ones included, in the order of the plan; each row is checked.

        Parameters
        ----------
        plan : int, optional
            Only the results of that plan, the first being number 1.
        """
        jobs = self.jobs(plan)
        self.check_count()
        numbers: dict[str, list[tuple[int, int]]] = {}
        for job, run, number in self.database.rows("SELECT job, run, number FROM results ORDER BY job, run"):
            numbers.setdefault(job, []).append((run, number))
        seen = set()
        for label, job in jobs:
            for run, number in numbers.get(job.id, []):
                if (label, job.cell, run) in seen:  # blocks of two plans may overlap; their rows are the same
                    continue
                seen.add((label, job.cell, run))
                row = self.read(number)
                if not isinstance(row, Row) or (row.job, row.run) != (job.id, run):
                    raise DamagedStore(damaged(self.path, "a row stands in the place of another"))
                yield result_of(label, job, row)

    def account(self, job: Job) -> dict[str, Any] | None:
        """How a job came about: versions, host, device, command, seconds; None if it is not finished."""
        rows = self.database.rows("SELECT number FROM accounts WHERE job = ?", job.id)
        return self.read(rows[0][0]) if rows else None

    def check_count(self) -> None:
        """Notice, at little cost, that entries are missing."""
        counts = self.database.rows("SELECT count, (SELECT count(*) FROM entries) FROM ledger")
        if len(counts) != 1 or counts[0][0] != counts[0][1]:
            raise DamagedStore(damaged(self.path, "entries are missing"))

    def keys(self) -> dict[tuple[Any, ...], int]:
        """The key of every entry, with its number."""
        found: dict[tuple[Any, ...], int] = {}
        for kind, table in TABLES.items():
            columns = "job, run" if kind == ROW else "plan" if kind == PLAN else "job"
            for *key, number in self.database.rows(f"SELECT {columns}, number FROM {table}"):
                found[kind, *key] = number
        return found

    def _chosen(self, plan: int | None) -> list[StoredPlan]:
        plans = self.plans()
        if plan is None:
            return plans
        if isinstance(plan, bool) or not isinstance(plan, int) or not 1 <= plan <= len(plans):
            raise StoreError(f"plan must be a number from 1 to {len(plans)}; got {plan!r}")
        return [plans[plan - 1]]

    def read(self, number: int) -> Any:
        """The content of the entry with that number, checked."""
        rows = self.database.rows("SELECT entry FROM entries WHERE number = ?", number)
        try:
            if not rows:
                raise Damaged("an entry is missing")
            return read(rows[0][0])[1]
        except Damaged as error:
            raise DamagedStore(damaged(self.path, str(error))) from None

    # --- writing ------------------------------------------------------------------------------------------------

    def add_plan(self, data: dict[str, Any], jobs: Sequence[tuple[str, Job]]) -> None:
        """Make a plan and its jobs known; those that are known already stay as they are."""
        plan, entry = plan_entry(data, [(label, job.id) for label, job in jobs])
        with self.database.writing() as execute:
            known = {id for (id,) in execute("SELECT job FROM jobs").fetchall()}
            for _, job in jobs:
                if job.id not in known:
                    put(execute, job_entry(job))
            if not execute("SELECT 1 FROM plans WHERE plan = ?", plan).fetchone():
                put(execute, entry)

    def add_entries(self, entries: Iterable[bytes]) -> None:
        """Add entries as they are, all of them or none."""
        with self.database.writing() as execute:
            for entry in entries:
                put(execute, entry)


@contextmanager
def new_store(path: Path) -> Iterator[Store]:
    """A store to be filled, which gets its name at the end: it is there whole or not at all."""
    if path.exists():
        raise StoreError(f"{path} exists; a new store is to be written")
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(4)}.unfinished")
    try:
        with Store(unfinished, writable=True, make=True) as store:
            yield store
        try:
            place(unfinished, path)
        except FileExistsError:
            raise StoreError(f"{path} exists; a new store is to be written") from None
    finally:
        for suffix in ("", "-wal", "-shm"):
            unfinished.with_name(unfinished.name + suffix).unlink(missing_ok=True)


def _difference(first: Job, second: Job) -> str:
    """The names of what two jobs do not share, run numbers aside."""
    parts = []
    for name in ("method", "problem", "instance", "seed", "budget", "record", "engine", "device"):
        if getattr(first, name) != getattr(second, name):
            parts.append(f"{name} ({getattr(first, name)} and {getattr(second, name)})")
    names = sorted(set(first.settings) | set(second.settings))
    parts += [f"the setting {n}" for n in names if first.settings.get(n) != second.settings.get(n)]
    return ", ".join(parts)
