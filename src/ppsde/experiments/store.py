"""The store: plans, jobs and results of a study in one file, which several programs may use at once; and its status."""

from __future__ import annotations

import os
import secrets
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

import numpy as np

from .database import (
    TABLES,
    DamagedStore,
    Database,
    StoreError,
    columns_of,
    create,
    damaged,
    place,
    put,
    refuse_neighbours,
)
from .job import Job, digest
from .leases import is_alive, this_place
from .rows import ANSWER, JOB, OK, PLAN, RECORD, ROW, Damaged, Row, StoredPlan, job_entry, plan_entry, read

WITH_ENTRIES = "LEFT JOIN entries USING (number)"
WINDOW = 300.0  # seconds over which the rate of a study is averaged


@dataclass(frozen=True, eq=False)
class StoredRun:
    """The result of one run of a study.

    `x`, `f`, `violation` and the following describe the best point ever evaluated; `answer` has the same for the point
    that the method's original program reports. A run that failed has `status` 'failed', NaN for values, an infinite
    violation and no record.
    """

    algorithm: str  # its label in the plan
    problem: str
    dimension: int
    run: int
    status: str  # 'ok' or 'failed'
    message: str  # why it failed
    job: Job  # method, settings, budget, seed and so on
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
        """The violation by the search's measure."""
        return float(self.arrays["violation"])

    @property
    def competition_violation(self) -> float:
        """The violation by the measure of the CEC tables: a mean over the constraints."""
        return float(self.arrays["competition_violation"])

    @property
    def by_constraint(self) -> np.ndarray:
        """How far each constraint is violated (m,), inequalities first: g, or `|h|` above its tolerance; else 0."""
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

        Entry k is of the last generation that ended within part k of the budget, NaN if none did.
        """
        return {name.removeprefix(RECORD): a for name, a in self.arrays.items() if name.startswith(RECORD)}


def _result(label: str, job: Job, row: Row) -> StoredRun:
    return StoredRun(
        algorithm=label,
        problem=job.problem_name,
        dimension=job.dimension,
        run=row.run,
        status=row.status,
        message=row.message,
        job=job,
        arrays=row.arrays,
    )


class Cell(NamedTuple):
    """The jobs of one algorithm on one problem in one dimension, as plans list them, without an object for each."""

    label: str
    job: Job  # the first; the others have the same content but for the runs
    runs: dict[str, tuple[int, ...]]  # of each job, by its id

    @property
    def key(self) -> tuple[str, str, int]:
        return self.label, self.job.problem_name, self.job.dimension

    @property
    def wanted(self) -> int:
        """The number of runs."""
        return sum(map(len, self.runs.values()))


class Store:
    """A study on disk.

    Parameters
    ----------
    path : path
    writable : bool
        Open it for writing.
    make : bool
        Make it if there is none.

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
            refuse_neighbours(self.path)
            with suppress(FileExistsError):  # another runner has just made it
                create(self.path)
        self.database = Database(self.path, writable=writable)
        self._plans: dict[int, StoredPlan] = {}  # those read so far; they never change
        self._cells: tuple[Any, list[Cell]] = (None, [])  # the last list, and what it was made from

    def close(self) -> None:
        self.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self.close()

    # --- reading ------------------------------------------------------------------------------------------------

    def plans(self) -> list[StoredPlan]:
        """Return the plans that were run into the store, the first one first."""
        numbers = [number for (number,) in self.database.rows("SELECT number FROM plans ORDER BY number")]
        self._plans |= {number: self.read(number) for number in numbers if number not in self._plans}
        return [self._plans[number] for number in numbers]

    def jobs(self, plan: int | None = None) -> list[tuple[str, Job]]:
        """Return label and job, of one plan (the first is number 1) or of all; jobs of one cell follow one another.

        A label on one problem and dimension stands for one experiment. If two plans use it for different ones, one of
        the plans must be chosen.
        """
        return [(cell.label, cell.job.with_runs(runs)) for cell in self.cells(plan) for runs in cell.runs.values()]

    def cells(self, plan: int | None = None) -> list[Cell]:
        """Return the same as `jobs`, a cell each: there may be many jobs.

        An entry is read only for the first job of a cell. The others differ from it in their runs, which follow those
        of the job before; their id proves it.
        """
        chosen = self._chosen(plan)
        made_from = ([one.id for one in chosen], self.database.rows("SELECT count(*) FROM jobs"))
        if made_from == self._cells[0]:
            return self._cells[1]
        known = dict(self.database.rows("SELECT job, number FROM jobs"))
        found: dict[tuple[str, str, int], Cell] = {}
        job: Job | None = None
        runs: tuple[int, ...] = (0,)
        named = ""
        for one in chosen:
            for label, id in one.jobs:
                if id not in known:
                    continue  # lost by damage; running the plan again brings it back
                runs = tuple(range(runs[-1] + 1, runs[-1] + 1 + len(runs)))
                if job is None or label != named or digest(job.content_of(runs)) != id:
                    job = self.read(known[id])
                    runs, named = job.runs, label
                    cell = found.setdefault((label, job.problem_name, job.dimension), Cell(label, job, {}))
                    if cell.job.cell != job.cell:
                        raise StoreError(
                            f"{label!r} on {job.problem_name}, D={job.dimension}, stands for different experiments "
                            f"in the plans of {self.path}: they differ in {_difference(cell.job, job)}. Choose one of "
                            f"its {len(chosen)} plans by number"
                        )
                cell.runs[id] = runs
        self._cells = made_from, list(found.values())
        return self._cells[1]

    def results(self, plan: int | None = None) -> Iterator[StoredRun]:
        """Yield the result of every finished run, failed ones included, in the order of the plan.

        The checksum of each row is verified.

        Parameters
        ----------
        plan : int, optional
            Only the results of that plan, the first being number 1.
        """
        cells = self.cells(plan)
        self.check_count()
        for cell in cells:
            seen = set()
            for id, runs in cell.runs.items():
                job = cell.job.with_runs(runs)
                sql = f"SELECT run, entry FROM results {WITH_ENTRIES} WHERE job = ? ORDER BY run"
                for run, entry in self.database.rows(sql, id):
                    if run in seen:  # blocks of two plans may overlap, with equal rows
                        continue
                    seen.add(run)
                    row = self._content(entry)
                    if not isinstance(row, Row) or (row.job, row.run) != (id, run):
                        raise DamagedStore(damaged(self.path, "a row is in the place of another"))
                    yield _result(cell.label, job, row)

    def account(self, job: str) -> dict[str, Any] | None:
        """Return who ran the job with that id and how: versions, host, device, command, seconds; None if nobody did."""
        rows = self.database.rows(f"SELECT entry FROM accounts {WITH_ENTRIES} WHERE job = ?", job)
        return self._content(rows[0][0]) if rows else None

    def check_count(self) -> None:
        """Raise `DamagedStore` if entries are missing; reads no entry."""
        listed = " + ".join(f"(SELECT count(*) FROM {table})" for table in TABLES.values())
        if self.database.rows(f"SELECT (SELECT count(*) FROM entries) - ({listed})") != [(0,)]:
            raise DamagedStore(damaged(self.path, "entries are missing"))

    def state(self) -> tuple[Any, ...]:
        """Return numbers that change whenever plans, jobs or results do."""
        sql = "SELECT count(*), max(number), (SELECT max(finished) FROM accounts) FROM entries"
        return self.database.rows(sql)[0]

    def keys(self) -> dict[tuple[Any, ...], int]:
        """Return the key of every entry, with its number."""
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
        """Return the content of the entry with that number; `DamagedStore` if its checksum does not fit."""
        rows = self.database.rows("SELECT entry FROM entries WHERE number = ?", number)
        return self._content(rows[0][0] if rows else None)

    def _content(self, entry: bytes | None) -> Any:
        try:
            if entry is None:
                raise Damaged("an entry is missing")
            return read(entry)[1]
        except Damaged as error:
            raise DamagedStore(damaged(self.path, str(error))) from None

    # --- writing ------------------------------------------------------------------------------------------------

    def add_plan(self, data: dict[str, Any], jobs: Sequence[tuple[str, Job]]) -> int:
        """Add a plan and its jobs; those that are there already stay as they are. Return the number of the plan."""
        id, entry = plan_entry(data, [(label, job.id) for label, job in jobs])
        with self.database.writing() as execute:
            there = {job for (job,) in execute("SELECT job FROM jobs").fetchall()}
            for _, job in jobs:
                if job.id not in there:
                    put(execute, JOB, (job.id,), job_entry(job))
            if not execute("SELECT 1 FROM plans WHERE plan = ?", id).fetchone():
                put(execute, PLAN, (id,), entry)
            plans = [plan for (plan,) in execute("SELECT plan FROM plans ORDER BY number").fetchall()]
        return 1 + plans.index(id)

    def add_entries(self, entries: Iterable[bytes]) -> None:
        """Add entries as they are, all of them or none."""
        with self.database.writing() as execute:
            for entry in entries:
                kind, content = read(entry)
                put(execute, kind, columns_of(kind, content), entry)


@contextmanager
def new_store(path: Path) -> Iterator[Store]:
    """Give an empty store to fill. It gets its name at the end, so that a kill leaves a whole store or none."""
    if path.exists():
        raise StoreError(f"{path} exists; a new store is to be written")
    refuse_neighbours(path)
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(4)}.unfinished")
    try:
        with Store(unfinished, writable=True, make=True) as store:
            yield store
            store.database.empty_journal()
        try:
            place(unfinished, path)
        except FileExistsError:
            raise StoreError(f"{path} exists; a new store is to be written") from None
    finally:
        for suffix in ("", "-wal", "-shm"):
            unfinished.with_name(unfinished.name + suffix).unlink(missing_ok=True)


def _difference(first: Job, second: Job) -> str:
    """Return the names and values in which two jobs differ, run numbers aside."""
    parts = []
    for name in ("method", "problem", "instance", "seed", "budget", "record", "engine", "device", "code"):
        if getattr(first, name) != getattr(second, name):
            parts.append(f"{name} ({getattr(first, name)} and {getattr(second, name)})")
    names = sorted(set(first.settings) | set(second.settings))
    parts += [f"the setting {n}" for n in names if first.settings.get(n) != second.settings.get(n)]
    return ", ".join(parts)


# --- status -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CellStatus:
    """One algorithm on one problem in one dimension."""

    algorithm: str
    problem: str
    dimension: int
    wanted: int  # runs
    done: int
    failed: int  # of those done
    running: int  # jobs


@dataclass(frozen=True)
class FailedRun:
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
class StudyStatus:
    """How much of a study is done, who is working on it, and how fast."""

    cells: list[CellStatus]
    failures: list[FailedRun]  # in the order of the plan, not in that of time
    runners: int  # programs that are working on it
    evaluations: int  # made
    budget: int  # evaluations of the whole study
    rate: float | None  # evaluations per second in the last minutes; None while nobody works on it

    @property
    def seconds_left(self) -> float | None:
        return (self.budget - self.evaluations) / self.rate if self.rate else None


def chosen_plan(store: Store, plan: int | None) -> int | None:
    """Return the plan given; if none is given and the plans cannot be read together, the last one."""
    try:
        store.cells(plan)
    except StoreError:
        count = len(store.plans())
        if plan is not None or count < 2:
            raise
        return count
    return plan


def status_of(store: Store, plan: int | None = None, clock: Callable[[], float] = time.time) -> StudyStatus:
    """Return the status of a study: of one plan (the first is number 1), or of all."""
    cells = store.cells(plan)
    now = clock()
    with store.database.reading():
        done = dict(store.database.rows("SELECT job, count(*) FROM results GROUP BY job"))
        failed = store.database.rows("SELECT job, run, number FROM results WHERE failed ORDER BY run")
        runners = store.database.rows("SELECT runner, place, pid, born, expires FROM runners")
        leases = store.database.rows("SELECT job, runner FROM leases")
        sql = "SELECT job, finished FROM accounts WHERE finished BETWEEN ? AND ?"
        finished = dict(store.database.rows(sql, now - WINDOW, now))
    here = this_place()
    alive = {
        runner
        for runner, place, pid, born, expires in runners
        if expires >= now and (place != here or is_alive(pid, born))
    }
    running = {job for job, runner in leases if runner in alive}
    failures = _failures(store, cells, failed)
    failed_of = Counter((one.algorithm, one.problem, one.dimension) for one in failures)
    found = [
        CellStatus(
            *cell.key,
            wanted=cell.wanted,
            done=sum(done.get(id, 0) for id in cell.runs),
            failed=failed_of[cell.key],
            running=sum(id in running for id in cell.runs) if running else 0,
        )
        for cell in cells
    ]
    return StudyStatus(
        cells=found,
        failures=failures,
        runners=len(alive),
        evaluations=sum(one.done * cell.job.budget for one, cell in zip(found, cells, strict=True)),
        budget=sum(one.wanted * cell.job.budget for one, cell in zip(found, cells, strict=True)),
        rate=_rate(cells, finished, now) if alive else None,
    )


def _failures(store: Store, cells: list[Cell], failed: list[tuple[str, int, int]]) -> list[FailedRun]:
    runs_of: dict[str, list[tuple[int, int]]] = {}
    for id, run, number in failed:
        runs_of.setdefault(id, []).append((run, number))
    return [
        FailedRun(*cell.key, run, store.read(number).message, number)
        for cell in cells
        for id in cell.runs
        for run, number in runs_of.get(id, [])
    ]


def _rate(cells: list[Cell], finished: dict[str, float], now: float) -> float | None:
    """Return the evaluations per second of the jobs that were finished at these moments."""
    recent = [
        (finished[id], cell.job.budget * len(runs))
        for cell in cells
        for id, runs in cell.runs.items()
        if id in finished
    ]
    if len(recent) < 2:
        return None
    first = min(moment for moment, _ in recent)
    made = sum(evaluations for moment, evaluations in recent if moment > first)
    return made / (now - first) if now > first and made else None
