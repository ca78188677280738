"""A study read from its store, in the form that tables and figures need: outcomes and records by problem."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import numpy as np

from ..experiments import Store, StoredRun
from ..experiments.database import StoreError
from ..experiments.job import Job
from ..experiments.store import StudyStatus, status_of
from ..stats import Outcomes, Records


@dataclass(frozen=True)
class StudyProblem:
    """A problem in one dimension, which has a row in every table."""

    label: str  # its name in tables: with the dimension where the study has several
    name: str
    dimension: int
    budget: int
    instance: int | str | None


@dataclass(frozen=True)
class CellPoints:
    """The points that the runs of one algorithm on one problem found, as columns with a row per run."""

    job: Job  # of the first runs
    problem: str
    best: dict[str, np.ndarray]  # x (n, d), f (n,) and violation (n,)
    answer: dict[str, np.ndarray]  # the same of the points that the method's original program reports


@dataclass(frozen=True)
class Study:
    """A study in its report. Cells without any finished run are not in the mappings."""

    name: str  # of the store
    algorithms: tuple[str, ...]  # by label, in the order of the plan
    problems: tuple[StudyProblem, ...]
    outcomes: dict[str, dict[str, Outcomes]]  # by problem, then by algorithm
    records: dict[str, dict[str, Records]]
    standing: StudyStatus
    origin: dict[str, list[str]]  # where the results come from, by kind of fact
    points: dict[str, dict[str, CellPoints]] = field(default_factory=dict)

    @property
    def runs(self) -> int:
        return sum(cell.done for cell in self.standing.cells)

    @property
    def wanted(self) -> int:
        return sum(cell.wanted for cell in self.standing.cells)

    @property
    def failed(self) -> int:
        return sum(cell.failed for cell in self.standing.cells)

    def problem(self, label: str) -> StudyProblem:
        return next(problem for problem in self.problems if problem.label == label)

    @property
    def ranked(self) -> tuple[str, ...]:
        """The algorithms that can be compared: those with a finished run."""
        return tuple(a for a in self.algorithms if any(a in row for row in self.outcomes.values()))

    @property
    def complete(self) -> tuple[str, ...]:
        """The problems, by label, on which every ranked algorithm has a finished run: those of ranks and tests."""
        return tuple(p.label for p in self.problems if self.ranked and set(self.outcomes[p.label]) == set(self.ranked))


def gather(store: Store, plan: int | None = None) -> Study:
    """Read the study of one plan of a store (the first is number 1), or of all plans.

    Where no plan is given and two plans use one label for different experiments, the last plan is read.
    """
    plan = chosen_plan(store, plan)
    jobs = store.jobs(plan)
    several = len({job.dimension for _, job in jobs}) > 1
    problems: dict[tuple[str, int], StudyProblem] = {}
    for _, job in jobs:
        label = f"{job.problem_name} D={job.dimension}" if several else job.problem_name
        found = StudyProblem(label, job.problem_name, job.dimension, job.budget, job.instance)
        problems.setdefault((job.problem_name, job.dimension), found)
    outcomes: dict[str, dict[str, Outcomes]] = {problem.label: {} for problem in problems.values()}
    records: dict[str, dict[str, Records]] = {label: {} for label in outcomes}
    points: dict[str, dict[str, CellPoints]] = {label: {} for label in outcomes}
    for (algorithm, name, dimension), results in groupby(store.results(plan), key=lambda result: result.key[:3]):
        label, cell = problems[name, dimension].label, list(results)  # the runs of one cell are in memory at a time
        outcomes[label][algorithm] = _outcomes(cell)
        records[label][algorithm] = _records(cell)
        points[label][algorithm] = _points(cell)
    return Study(
        name=store.path.name,
        algorithms=tuple(dict.fromkeys(label for label, _ in jobs)),
        problems=tuple(problems.values()),
        outcomes=outcomes,
        records=records,
        standing=status_of(store, plan),
        origin=_origin(store, plan),
        points=points,
    )


def chosen_plan(store: Store, plan: int | None) -> int | None:
    """Return the plan given; if none is given and the plans cannot be read together, the last one."""
    try:
        store.listed(plan)
    except StoreError:
        count = len(store.plans())
        if plan is not None or count < 2:
            raise
        return count
    return plan


def _outcomes(cell: list[StoredRun]) -> Outcomes:
    amounts = [result.by_constraint if result.ok else None for result in cell]
    width = max((len(a) for a in amounts if a is not None), default=0)
    return Outcomes(
        [result.f for result in cell],
        [result.competition_violation for result in cell],
        [np.full(width, np.nan) if a is None else a for a in amounts] if width else None,
    )


def _points(cell: list[StoredRun]) -> CellPoints:
    names = ("x", "f", "violation")
    best = {name: np.array([result.arrays[name] for result in cell]) for name in names}
    answer = {name: np.array([result.answer[name] for result in cell]) for name in names}
    return CellPoints(cell[0].job, cell[0].problem, best, answer)


def _records(cell: list[StoredRun]) -> Records:
    """Return the records along the runs, and at their end."""
    points = 1 + max(cell[0].job.record, *(len(result.record.get("f", ())) for result in cell))
    columns = {name: np.full((len(cell), points), np.nan) for name in ("evaluations", "f", "violation")}
    for k, result in enumerate(cell):
        if not result.ok:
            continue
        for name, column in columns.items():
            along = result.record.get(name, np.empty(0))
            column[k, : len(along)] = along
            column[k, -1] = float(getattr(result, name))
    return Records(columns["evaluations"], columns["f"], columns["violation"])


def _origin(store: Store, plan: int | None) -> dict[str, list[str]]:
    """Return versions, machines, seeds and commands, each different one once."""
    facts: dict[str, dict[str, int]] = {}

    def say(kind: str, text: str) -> None:
        facts.setdefault(kind, {}).setdefault(text, 0)
        facts[kind][text] += 1

    for label, job in store.jobs(plan):
        settings = ", ".join(f"{name}={value}" for name, value in job.settings.items())
        say("algorithms", f"{label}: {job.method} ({settings})")
        where = f"suite {job.suite}" if job.suite else f"file {job.problem.get('file')}"
        say("problems", f"{where}, D={job.dimension}, instance {job.instance}, {job.budget:,} evaluations")
        say("seeds", str(job.seed))
        say("engines", f"{job.engine} on {job.device}")
        account: dict[str, Any] = store.account(job) or {}
        if "versions" in account:
            say("versions", ", ".join(f"{name} {number}" for name, number in account["versions"].items()))
        for kind, name in (("hardware", "machine"), ("hosts", "host"), ("devices", "device")):
            if account.get(name):
                say(kind, str(account[name]))
        if account.get("command"):
            say("commands", " ".join(map(str, account["command"])))
    return {kind: [f"{text} ({n:,} jobs)" for text, n in found.items()] for kind, found in facts.items()}
