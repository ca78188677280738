"""The runner: leases jobs of a plan, has workers do them, here or on a Dask cluster, and stores their rows."""

from __future__ import annotations

import os
import time
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from queue import Empty
from typing import Any

from ..display.progress import Show, Status, live
from ..engines.drive import Interrupts, noticed
from ..parts.handling import reads_constraints
from .cluster import Cluster, DaskWorker
from .database import drop
from .job import Job, canonical, provenance
from .leases import SIGN_OF_LIFE, Leases
from .plan import Plan, Planned, expanded
from .repair import refuse_damage
from .rows import ROW, failed_row, packed, sealed
from .store import Store
from .workers import Processes, Worker

KINDS = ("host", "cpu", "gpu")  # of jobs
POLL = 1.0  # seconds until asking again for jobs that other runners had leased
PULSE = 0.2  # seconds of waiting for messages
ABOUT = ("seconds", "compile_seconds", "device", "host", "machine")  # of a job, as its worker says
ATTEMPTS = 2  # at a job whose worker dies
PROGRAMS_AHEAD = 2  # programs for the CPU that are compiled while jobs of another run
MOST_SIDE_BY_SIDE = 64  # jobs in one request to a GPU: more than any suite has problems


@dataclass(frozen=True)
class RunSummary:
    """How much of a plan is done when a runner ends."""

    plan: int  # its number in the store, the first being 1
    runs: int  # in the plan, or in this shard of it
    done: int
    failed: int  # of those done
    interrupted: bool
    seconds: float


def run(
    plan: Plan | str | os.PathLike[str],
    store: str | os.PathLike[str],
    *,
    workers: int | None = None,
    dask: Any = None,
    shard: tuple[int, int] = (1, 1),
    retry_failed: bool = False,
    progress: bool = False,
) -> RunSummary:
    """Run a plan into a store: all runs that are not there yet.

    Jobs that other runners are doing on the same store are left to them, and done here if those die. After the first
    Ctrl-C or SIGTERM the runner ends; every finished job is stored.

    Parameters
    ----------
    plan : Plan, or path of a TOML file
    store : path
        Made if there is none.
    workers : int, optional
        Jobs at a time on the CPU, by default one per core: each in a process, or, if compiled, in a thread of one
        process. Jobs on a GPU have a process of their own.
    dask : str or Client, optional
        The cluster that does the jobs: the address of a Dask scheduler, such as 'tcp://node1:8786', a Dask client, or
        'local' for one on this machine, of `workers` processes. This program alone writes to the store.
    shard : (int, int)
        (2, 4) is the second of four parts of the jobs, for machines that share no disk; `merge` joins their stores.
    retry_failed : bool
        Repeat failed runs.
    progress : bool
        Show a live display on standard error.
    """
    plan = plan if isinstance(plan, Plan) else Plan.read(plan)
    cores = _checked_workers(workers)
    if dask is not None and dask != "local" and workers is not None:
        raise ValueError("workers must not be given with a Dask cluster that is there already: it has its own")
    part, parts = _checked_shard(shard)
    planned = expanded(plan)
    path = Path(store)
    if path.exists():
        refuse_damage(path)
    with Store(path, writable=True, make=True) as opened:
        number = opened.add_plan(plan.as_data(), [(one.label, one.job) for one in planned])
        mine = planned[part - 1 :: parts]
        if retry_failed:
            _drop_failures(opened, mine)
        began = time.monotonic()
        with noticed() as interrupts:
            session = _Session(opened, mine, interrupts)
            crew = Processes(cores) if dask is None else Cluster(dask, cores, gpu=session.left("gpu") > 0)
            with live(progress) as show:
                session.work(crew, show)
        return _summary(opened, number, mine, interrupts.asked, time.monotonic() - began)


class _Session:
    """The work of one runner on a store."""

    _crew: Processes | Cluster

    def __init__(self, store: Store, mine: Sequence[Planned], interrupts: Interrupts) -> None:
        self._leases = Leases(store.database)
        self._interrupts = interrupts
        self._provenance = provenance()
        self._total = sum(_evaluations(one.job) for one in mine)
        done = dict(store.database.rows("SELECT job, count(*) FROM results GROUP BY job"))
        todo = {one.job.id: one for one in mine if done.get(one.job.id, 0) < len(one.job.runs)}
        # Not leased here, by kind and id. The first is found at once, also after many were removed before it.
        self._todo: dict[str, OrderedDict[str, Planned]] = {kind: OrderedDict() for kind in KINDS}
        for id, one in todo.items():
            self._todo[one.job.kind][id] = one
        self._left = Counter({kind: len(jobs) for kind, jobs in self._todo.items()})  # jobs that are not done yet
        self._evaluations_left = sum(_evaluations(one.job) for one in todo.values())
        self._held: dict[str, Planned] = {}  # leased, and being done by a worker
        self._again: list[Planned] = []  # leased, to be done again because their worker died
        self._died: Counter[str] = Counter()  # workers, by job
        self._beside = _problems_by_program(mine, todo)
        self._jobs = len(mine)
        self._at_start = self._total - self._evaluations_left
        self._made: dict[str, int] = {}  # evaluations so far, by job that is being done
        self._failed = 0
        self._compiling: Counter[Worker | DaskWorker] = Counter()  # programs, by worker
        self._began = time.monotonic()
        self._waiting = False  # whether all jobs that are left are leased by other runners
        self._next_claim: defaultdict[str, float] = defaultdict(float)  # when to ask again, by kind of job

    def left(self, kind: str) -> int:
        """Return how many jobs of a kind are not done yet."""
        return self._left[kind]

    def work(self, crew: Processes | Cluster, show: Show) -> None:
        """Let the crew do all jobs that are not done yet, or until a signal arrives; close it."""
        self._crew = crew
        next_sign = time.monotonic() + SIGN_OF_LIFE
        try:
            while self._left.total() and not self._interrupts.asked:
                self._crew.start(self._left)
                self._send_requests()
                self._receive(PULSE)
                if time.monotonic() >= next_sign:
                    self._leases.sign_of_life()
                    next_sign = time.monotonic() + SIGN_OF_LIFE
                show(self._status)
            self._receive(0.0)  # messages that arrived meanwhile
        finally:
            crew.close()
            with suppress(ValueError):  # the store cannot be written; the leases end by time
                self._leases.leave()

    # --- workers ------------------------------------------------------------------------------------------------

    def _send_requests(self) -> None:
        for worker in self._crew.workers:
            while worker.ready and len(worker.requests) < worker.slots:
                jobs = self._next_for(worker)
                if not jobs:
                    break
                worker.requests.append(jobs)
                worker.send(self._request(jobs))

    def _next_for(self, worker: Worker | DaskWorker) -> list[Planned]:
        """Return the jobs of the next request. A job whose worker died is done alone: it may kill its worker again."""
        again = [one for one in self._again if one.job.kind == worker.kind]
        if again or any(self._died[one.job.id] for jobs in worker.requests for one in jobs):
            if worker.requests:
                return []
            self._again.remove(again[0])
            self._held[again[0].job.id] = again[0]
            return again[:1]
        if time.monotonic() < self._next_claim[worker.kind]:
            return []
        todo = self._todo[worker.kind]
        for group in self._groups(worker.kind):
            candidates = ((one.job.id, len(one.job.runs)) for one in group)  # few are looked at
            claim = self._leases.claim(candidates, MOST_SIDE_BY_SIDE if worker.kind == "gpu" else 1)
            for id in claim.finished:
                self._count_done(todo.pop(id))
            taken = [todo.pop(id) for id in claim.taken]
            for id in claim.busy:
                todo.move_to_end(id)  # looked at again when the others are done
            self._held |= {one.job.id: one for one in taken}
            if taken:
                self._waiting = False
                return taken
        self._waiting = bool(todo)
        self._next_claim[worker.kind] = time.monotonic() + POLL
        return []

    def _groups(self, kind: str) -> Iterator[Iterable[Planned]]:
        """Yield the jobs that may be in one request: on a GPU those that run side by side."""
        there = self._todo[kind]
        if not there:
            return
        if kind != "gpu":
            yield there.values()
            return
        by_key: dict[Any, list[Planned]] = {}
        for one in there.values():
            by_key.setdefault((one.job.program, one.job.seed, one.job.runs), []).append(one)
        yield from by_key.values()

    def _request(self, jobs: Sequence[Planned]) -> dict[str, Any]:
        described = [_described(one) for one in jobs]
        if jobs[0].job.kind == "host":
            return {"jobs": described, "beside": [], "ahead": []}
        program = jobs[0].job.program
        programs = list(self._beside) if jobs[0].job.kind == "cpu" else [program]
        following = programs[programs.index(program) + 1 :][:PROGRAMS_AHEAD]
        return {
            "jobs": described,
            "beside": self._beside[program],
            "ahead": [self._beside[key] for key in following],
        }

    # --- messages -----------------------------------------------------------------------------------------------

    def _receive(self, seconds: float) -> None:
        """Wait for the first message, and handle all that have arrived."""
        try:
            message = self._crew.messages.get(timeout=seconds) if seconds else self._crew.messages.get_nowait()
            while True:
                self._handle(*message)
                message = self._crew.messages.get_nowait()
        except Empty:
            return

    def _handle(self, worker: Worker | DaskWorker, message: dict[str, Any] | None, blobs: list[bytes]) -> None:
        if message is None:
            self._replace(worker)
        elif message["kind"] == "ready":
            worker.ready = True
        elif message["kind"] == "fatal":
            raise ValueError(message["message"])
        elif message["kind"] == "compiling":
            self._compiling[worker] = message["programs"]
        elif message["kind"] == "progress":
            if message["job"] in self._held:  # on a cluster it may arrive after the rows
                self._made[message["job"]] = message["evaluations"]
        else:
            one = self._held[message["job"]]
            entries = [sealed(ROW, blob) for blob in blobs]
            rows = list(zip(message["runs"], message["failed"], entries, strict=True))
            self._store(one, rows, {name: message[name] for name in ABOUT if name in message})
            left = [[other for other in jobs if other is not one] for jobs in worker.requests]
            worker.requests = [jobs for jobs in left if jobs]

    def _store(self, one: Planned, rows: Sequence[tuple[int, bool, bytes]], about: dict[str, Any]) -> None:
        account = {**self._provenance, **about, "finished": time.time()}
        stored = self._leases.finish(one.job.id, rows, account)
        del self._held[one.job.id]
        self._made.pop(one.job.id, None)
        self._next_claim.clear()
        if stored:
            self._count_done(one)
            self._failed += sum(failed for _, failed, _ in rows)
        else:  # the lease ended, and another runner has the job
            self._todo[one.job.kind][one.job.id] = one

    def _count_done(self, one: Planned) -> None:
        self._left[one.job.kind] -= 1
        self._evaluations_left -= _evaluations(one.job)

    def _replace(self, worker: Worker | DaskWorker) -> None:
        """After the death of a worker, let its jobs be done once more; after the second, store their runs as failed."""
        how = worker.how_it_ended()
        self._crew.dismiss(worker)
        del self._compiling[worker]
        if not worker.ready:
            raise ValueError(f"a worker cannot be started: {how}")
        for one in (one for jobs in worker.requests for one in jobs):
            self._died[one.job.id] += 1
            if self._died[one.job.id] < ATTEMPTS:
                del self._held[one.job.id]
                self._again.append(one)
                continue
            rows = [failed_row(one.job.id, run, one.job.dimension, how) for run in one.job.runs]
            about = {"seconds": 0.0, "compile_seconds": 0.0, "device": one.job.device}
            self._store(one, [(row.run, True, sealed(ROW, packed(row))) for row in rows], about)

    # --- display ------------------------------------------------------------------------------------------------

    def _status(self) -> Status:
        made = self._total - self._evaluations_left + sum(self._made.values())
        seconds = time.monotonic() - self._began
        facts = [("workers", f"{self._crew.size:,}"), ("jobs", f"{self._jobs - self._left.total():,}/{self._jobs:,}")]
        if self._failed:
            facts.append(("failed", f"{self._failed:,}"))
        if compiling := self._compiling.total():
            facts.append(("compiling", str(compiling)))
        elif self._crew.lacks is not None:
            facts.append(("waiting", f"for {self._crew.lacks}"))
        elif self._waiting and not self._held:
            facts.append(("waiting", "for another runner"))
        return Status(
            title="study",
            evaluations=made,
            budget=self._total,
            rate=(made - self._at_start) / seconds if seconds > 0 else 0.0,
            facts=tuple(facts),
        )


def _problems_by_program(mine: Sequence[Planned], todo: Mapping[str, Planned]) -> dict[str, list[dict[str, Any]]]:
    """Return, for each program, the problems it is compiled for.

    On a CPU those that jobs are left for. On a GPU all of them, so that resuming a study changes no rounding; and on a
    CPU too if the method reads constraints, of which a program has as many for all problems as one of them needs.
    """
    found: dict[str, dict[str, dict[str, Any]]] = {}
    needed = {one.job.program for one in todo.values() if one.job.kind != "host"}
    all_of: dict[str, bool] = {}
    for one in mine:
        program = one.job.program if one.job.kind != "host" else None
        if program is None or program not in needed:
            continue
        if program not in all_of:
            all_of[program] = one.job.kind == "gpu" or reads_constraints(one.job.algorithm())
        if all_of[program] or one.job.id in todo:
            found.setdefault(program, {}).setdefault(canonical(one.job.problem), _described(one))
    return {key: list(problems.values()) for key, problems in found.items()}


def _described(one: Planned) -> dict[str, Any]:
    return {"content": one.job.content, "source": asdict(one.source), "places": dict(one.job.places)}


def _evaluations(job: Job) -> int:
    return job.budget * len(job.runs)


def _drop_failures(store: Store, mine: Sequence[Planned]) -> None:
    with store.database.writing() as execute:
        for one in mine:
            sql = "SELECT number FROM results WHERE job = ? AND failed"
            for (number,) in execute(sql, one.job.id).fetchall():
                drop(execute, ROW, number)


def _summary(store: Store, plan: int, mine: Sequence[Planned], interrupted: bool, seconds: float) -> RunSummary:
    sql = "SELECT job, count(*), sum(failed) FROM results GROUP BY job"
    there = {job: (count, failed) for job, count, failed in store.database.rows(sql)}
    counts = [there.get(one.job.id, (0, 0)) for one in mine]
    return RunSummary(
        plan=plan,
        runs=sum(len(one.job.runs) for one in mine),
        done=sum(count for count, _ in counts),
        failed=sum(failed for _, failed in counts),
        interrupted=interrupted,
        seconds=seconds,
    )


def _checked_workers(workers: int | None) -> int:
    if workers is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if isinstance(workers, bool) or not isinstance(workers, int) or workers < 1:
        raise ValueError(f"workers must be an int >= 1; got {workers!r}")
    return workers


def _checked_shard(shard: tuple[int, int]) -> tuple[int, int]:
    try:
        part, parts = shard
    except (TypeError, ValueError):
        part, parts = 0, 0
    if not all(isinstance(n, int) and not isinstance(n, bool) for n in (part, parts)) or not 1 <= part <= parts:
        raise ValueError(f"shard must be two ints (I, N) with 1 <= I <= N; got {shard!r}")
    return part, parts
