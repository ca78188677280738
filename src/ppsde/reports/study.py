"""A study read from its store, in the form that tables and figures need: outcomes and records by problem."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import groupby

import numpy as np

from ..experiments import Store, StoredRun
from ..experiments.job import Job
from ..experiments.rows import ANSWER, RECORD, StoredPlan
from ..experiments.store import Cell, StudyStatus, chosen_plan, status_of
from ..stats import Outcomes, Records
from ..suites import SUITES
from ..suites.named import from_suite


@dataclass(frozen=True)
class StudyProblem:
    """A problem in one dimension, which has a row in every table."""

    label: str  # its name in tables: with the dimension where the study has it in several
    name: str
    dimension: int
    budget: int
    instance: int | str | None
    optimum: float | None = None  # the best objective known of a feasible point, if the suite has it


POINT = ("x", "f", "violation")
ALONG = ("evaluations", "f", "violation")
USED = {  # the arrays of a run that a report uses
    *("x", "f", "violation", "competition_violation", "by_constraint", "evaluations"),
    *(ANSWER + name for name in POINT),
    *(RECORD + name for name in ALONG),
}


@dataclass(frozen=True)
class CellRuns:
    """The runs of one algorithm on one problem, as columns with a row per run."""

    job: Job  # of the first runs; the others differ from it in their numbers
    problem: str
    numbers: np.ndarray  # (n,) of the runs
    ok: np.ndarray  # (n,) whether they did not fail
    evaluations: np.ndarray  # (n,)
    best: dict[str, np.ndarray]  # the best points: x (n, d), f (n,) and violation (n,)
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
    results: dict[str, dict[str, CellRuns]] = field(default_factory=dict)  # as in `outcomes`
    title: str = ""  # what was compared, in one line
    plan: str = ""  # the plan in a sentence
    date: str = ""  # when the last job was finished
    seconds: dict[str, dict[str, float]] = field(default_factory=dict)  # per run, as in `outcomes`

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
        """The algorithms that can be compared: those with a run that did not fail."""
        rows = self.outcomes.values()
        return tuple(a for a in self.algorithms if any(a in row and not row[a].failed.all() for row in rows))

    @property
    def complete(self) -> tuple[str, ...]:
        """The problems, by label, on which every ranked algorithm has a finished run: those of ranks and tests."""
        names = set(self.ranked)
        return tuple(p.label for p in self.problems if names and names <= set(self.outcomes[p.label]))


def gather(store: Store, plan: int | None = None, title: str | None = None) -> Study:
    """Read the study of one plan of a store (the first is number 1), or of all plans.

    Where no plan is given and two plans use one label for different experiments, the last plan is read. Without a
    title, one is made of the algorithms and problems.
    """
    plan = chosen_plan(store, plan)
    cells = store.cells(plan)
    dimensions = Counter(name for name, _ in {cell.key[1:] for cell in cells})
    problems: dict[tuple[str, int], StudyProblem] = {}
    for _, job, _ in cells:
        name, dimension = job.problem_name, job.dimension
        if (name, dimension) not in problems:
            label = f"{name} D={dimension}" if dimensions[name] > 1 else name
            found = StudyProblem(label, name, dimension, job.budget, job.instance, known_optimum(job))
            problems[name, dimension] = found
    problems = _in_order(problems, store.plans() if plan is None else [store.plans()[plan - 1]])
    outcomes: dict[str, dict[str, Outcomes]] = {problem.label: {} for problem in problems.values()}
    records: dict[str, dict[str, Records]] = {label: {} for label in outcomes}
    runs: dict[str, dict[str, CellRuns]] = {label: {} for label in outcomes}
    for (algorithm, name, dimension), results in groupby(store.results(plan), key=lambda result: result.key[:3]):
        label, cell = problems[name, dimension].label, _used(results)  # one cell in memory at a time; columns are small
        outcomes[label][algorithm] = _outcomes(cell)
        records[label][algorithm] = _records(cell)
        runs[label][algorithm] = _columns(cell)
    names = tuple(dict.fromkeys(cell.label for cell in cells))
    accounts = _accounts(store, cells)
    return Study(
        name=store.path.name,
        algorithms=names,
        problems=tuple(problems.values()),
        outcomes=outcomes,
        records=records,
        standing=status_of(store, plan),
        origin=accounts.origin(),
        results=runs,
        title=_title(names, len(problems), cells) if title is None else title,
        plan=_plan(len(names), len(problems), cells),
        date=_date(accounts.finished),
        seconds={
            problem.label: {
                name: spent / count
                for name in names
                for spent, count in [accounts.seconds.get((name, *key), (0.0, 0))]
                if count
            }
            for key, problem in problems.items()
        },
    )


def _in_order(
    found: dict[tuple[str, int], StudyProblem], plans: list[StoredPlan]
) -> dict[tuple[str, int], StudyProblem]:
    """Return the problems as the plans list them, where these name no dimensions; jobs are sorted by dimension."""
    if any(one.data.get("dimensions") is not None for one in plans):
        return found
    listed = [str(text) for one in plans for text in one.data.get("problems", ())]
    names = [name for text in listed for name in (text, text.rpartition(":")[2])]
    place = {name: k for k, name in reversed([*enumerate(names)])}
    return dict(sorted(found.items(), key=lambda item: place.get(item[0][0], len(names))))


def known_optimum(job: Job) -> float | None:
    """Return the best objective known of a feasible point of a job's problem; None if its suite is not known here."""
    if job.suite is None or job.suite not in SUITES:
        return None  # code of the user's is not executed for a report
    try:
        problem = from_suite(job.suite, job.problem["name"], job.dimension, job.instance)
    except ValueError:  # such as data that is not on this machine
        return None
    known = problem.optimum
    same = problem.properties.get("version") == job.problem.get("version")
    if known is None or known.violation > 0 or not same:
        return None
    return -known.value if problem.maximize else known.value


def _title(algorithms: tuple[str, ...], problems: int, cells: list[Cell]) -> str:
    many = f"{len(algorithms)} algorithms" if len(algorithms) != 1 else algorithms[0]
    where = " and ".join(dict.fromkeys(job.suite for _, job, _ in cells if job.suite is not None))
    return f"{many} on {problems} problem{'s' * (problems != 1)}{f' of {where}' if where else ''}"


def _plan(algorithms: int, problems: int, cells: list[Cell]) -> str:
    """Return runs, problems, evaluations, seeds and engines in a sentence."""
    if not cells:
        return "The plan has no jobs."
    jobs = [cell.job for cell in cells]
    seeds = ", ".join(map(str, sorted({job.seed for job in jobs})))
    engines = " and ".join(sorted({f"{job.engine} engine" for job in jobs}))
    dimensions = {job.dimension for job in jobs}
    wanted = _range(cell.wanted for cell in cells)
    return (
        f"{wanted} runs of each of {algorithms} algorithm{'s' * (algorithms != 1)} on each of "
        f"{problems} problem{'s' * (problems != 1)} of {_range(dimensions)} variables, "
        f"{_range(job.budget for job in jobs)} evaluations per run, seed {seeds}, {engines}."
    )


def _range(numbers: Iterable[int]) -> str:
    found = sorted(set(numbers))
    return f"{found[0]:,}" if len(found) == 1 else f"{found[0]:,} to {found[-1]:,}"


def _date(finished: float) -> str:
    return datetime.fromtimestamp(finished, UTC).strftime("%Y-%m-%d %H:%M UTC") if finished else ""


def _used(results: Iterable[StoredRun]) -> list[StoredRun]:
    """Return the runs of a cell with the arrays that are used, copied out of their rows, and with one job."""
    cell: list[StoredRun] = []
    for result in results:
        arrays = {name: array.copy() for name, array in result.arrays.items() if name in USED}
        cell.append(replace(result, job=cell[0].job if cell else result.job, arrays=arrays))
    return cell


def _outcomes(cell: list[StoredRun]) -> Outcomes:
    """Return the final values of runs."""
    amounts = [result.by_constraint if result.ok else None for result in cell]
    width = max((len(a) for a in amounts if a is not None), default=0)
    return Outcomes(
        [result.f for result in cell],
        [result.competition_violation for result in cell],
        [np.full(width, np.nan) if a is None else a for a in amounts] if width else None,
    )


def _records(cell: list[StoredRun]) -> Records:
    """Return the records along the runs, and at their end."""
    points = 1 + max(cell[0].job.record, *(len(result.record.get("f", ())) for result in cell))
    columns = {name: np.full((len(cell), points), np.nan) for name in ALONG}
    for k, result in enumerate(cell):
        if not result.ok:
            continue
        record = result.record
        for name, column in columns.items():
            along = record.get(name, np.empty(0))
            column[k, : len(along)] = along
            column[k, -1] = float(getattr(result, name))
    return Records(columns["evaluations"], columns["f"], columns["violation"])


def _columns(cell: list[StoredRun]) -> CellRuns:
    return CellRuns(
        job=cell[0].job,
        problem=cell[0].problem,
        numbers=np.array([result.run for result in cell]),
        ok=np.array([result.ok for result in cell]),
        evaluations=np.array([result.evaluations for result in cell]),
        best={name: np.array([result.arrays[name] for result in cell]) for name in POINT},
        answer={name: np.array([result.arrays[ANSWER + name] for result in cell]) for name in POINT},
    )


@dataclass
class Accounts:
    """Who ran the jobs of a study and how, added up: sums and different facts, no matter how many jobs there are."""

    facts: dict[str, Counter[str]] = field(default_factory=dict)  # versions, machines, seeds and commands
    seconds: dict[tuple[str, str, int], tuple[float, int]] = field(default_factory=dict)  # of a cell, and its runs
    finished: float = 0.0  # when the last job was

    def say(self, kind: str, text: str, jobs: int = 1) -> None:
        self.facts.setdefault(kind, Counter())[text] += jobs

    def origin(self) -> dict[str, list[str]]:
        """Return each different fact once, with the number of jobs."""
        return {kind: [f"{text} ({n:,} jobs)" for text, n in found.items()] for kind, found in self.facts.items()}


def _accounts(store: Store, cells: list[Cell]) -> Accounts:
    found = Accounts()
    for label, job, runs in cells:
        count = len(runs)
        settings = ", ".join(f"{name}={value}" for name, value in job.settings.items())
        found.say("algorithms", f"{label}: {job.method} ({settings})", count)
        where = f"suite {job.suite}" if job.suite else f"file {job.problem.get('file')}"
        instance = "" if job.instance is None else f", instance {job.instance}"
        found.say("problems", f"{where}, D={job.dimension}{instance}, {job.budget:,} evaluations", count)
        found.say("seeds", str(job.seed), count)
        found.say("engines", f"{job.engine} on {job.device}", count)
    for one, id in ((cell, id) for cell in cells for id in cell.runs):
        account = store.account(id)
        if account is None:
            continue
        found.finished = max(found.finished, account["finished"])
        if "seconds" in account:
            spent, made = found.seconds.get(one.key, (0.0, 0))
            found.seconds[one.key] = spent + float(account["seconds"]), made + len(one.runs[id])
        if "versions" in account:
            found.say("versions", ", ".join(f"{name} {number}" for name, number in account["versions"].items()))
        for kind, name in (("hardware", "machine"), ("hosts", "host"), ("devices", "device")):
            if account.get(name):
                found.say(kind, str(account[name]))
        if account.get("command"):
            found.say("commands", " ".join(map(str, account["command"])))
    return found
