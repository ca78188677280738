"""Made-up studies: stores filled with runs that fall towards an optimum, some infeasible, some failed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ppsde.engines.ending import SPENT, Ending
from ppsde.experiments import Store
from ppsde.experiments.job import Job
from ppsde.experiments.rows import ROW, Row, account_entry, failed_row, job_entry, packed, plan_entry, row_of, sealed
from ppsde.experiments.store import new_store
from ppsde.population import Population
from ppsde.problem import Units
from ppsde.reports.study import Study, gather
from ppsde.suites.named import from_suite

ACCOUNT = {
    "versions": {"ppsde": "0.1.0", "numpy": "2.0.0"},
    "host": "somewhere",
    "machine": "Linux x86_64, 2 cores",
    "command": ["ppsde", "bench", "run", "plan.toml"],
    "device": "cpu",
}


def a_job(label: str, problem: str, runs: int, **changes: Any) -> Job:
    usual: dict[str, Any] = {
        "method": "pps-de",
        "settings": {"made_up_for": label},
        "problem": {"suite": "cec2017", "name": problem},
        "dimension": 10,
        "instance": 1,
        "seed": 3,
        "runs": tuple(range(runs)),
        "budget": 20_000,
        "record": 50,
        "engine": "host",
        "device": "cpu",
    }
    return Job(**{**usual, **changes})


def a_run(job: Job, run: int, rng: np.random.Generator, level: float, infeasible: float = 0.0) -> Row:
    """Falls from about 1000 to its level; violated at first, and for good with that probability."""
    made = np.ceil(np.linspace(job.budget / job.record, job.budget, job.record))
    late = np.linspace(1 / job.record, 1, job.record)
    f = level + 1000 * np.exp(-12 * late) + np.abs(rng.normal()) * level * 0.2 + 1e-9
    never = rng.uniform() < infeasible
    violation = np.where(late > rng.uniform(0.05, 0.4), 0.0, np.exp(-9 * late))
    if never:
        violation = 0.02 + np.exp(-9 * late)
    g = np.array([violation[-1]]) if never else np.array([-1.0])
    record = {"evaluations": made, "f": f, "violation": violation, "feasible_share": np.clip(late, 0, 1)}
    return an_ended_run(job, run, job.budget, rng.uniform(size=job.dimension), f[-1], violation[-1], g, record)


def an_ended_run(
    job: Job, run: int, evaluations: int, x: Any, f: float, violation: float, g: Any, record: dict[str, Any]
) -> Row:
    """The row of a run that ended with one best point, which is its answer too."""
    best = Population(np.array([x]), np.array([f]), np.array([violation]), np.array([g]), np.empty((1, 0)))
    ending = Ending(SPENT, job.dimension, best, best, None, evaluations, failed=0, generations=0, history={})
    return row_of(job, run, ending, Units(1e-4), record)


def entries_of(
    labels: Sequence[str],
    problems: Sequence[str],
    runs: int,
    *,
    seed: int = 1,
    undone: Sequence[tuple[str, str]] = (),
    failing: dict[tuple[str, str], str] | None = None,
    infeasible: dict[str, float] | None = None,
    **changes: Any,
) -> Iterator[bytes]:
    """A plan, its jobs, rows and accounts.

    `undone` are cells without rows, `failing` cells whose runs fail with that message, and `infeasible` the chance by
    algorithm that a run stays infeasible. The k-th algorithm ends at a level of k + 1, so the first is the best.
    """
    rng = np.random.default_rng(seed)
    jobs = [(label, problem, a_job(label, problem, runs, **changes)) for label in labels for problem in problems]
    for _, _, job in jobs:
        yield job_entry(job)
    yield plan_entry({"made": "up"}, [(label, job.id) for label, _, job in jobs])[1]
    for label, problem, job in jobs:
        if (label, problem) in undone:
            continue
        for run in job.runs:
            if failing and (label, problem) in failing:
                row = failed_row(job.id, run, job.dimension, failing[label, problem])
            else:
                row = a_run(job, run, rng, 1.0 + labels.index(label), (infeasible or {}).get(label, 0.0))
            yield sealed(ROW, packed(row))
        yield account_entry({"job": job.id, "finished": 1e9, "seconds": 1.0, **ACCOUNT})


def a_store(path: Path, labels: Sequence[str], problems: Sequence[str], runs: int, **more: Any) -> Path:
    """A store with such a study."""
    with new_store(path) as store:
        store.add_entries(entries_of(labels, problems, runs, **more))
    return path


def a_large_store(path: Path, runs: int = 25) -> Path:
    """A store of 28 problems, 24 of them with a known optimum, and 8 algorithms; some runs infeasible, some failed."""
    labels = ["pps-sqp", "pps-de", "lshade44", "lshade44-ide", "emag-es", "c2ode", "shade", "my-own-variant-of-de"]
    known = [("cec2006", f"g{k:02d}", None) for k in range(1, 25)]
    problems = known + [("cec2017", f"C{k:02d}", 1) for k in range(1, 5)]
    rng = np.random.default_rng(7)
    jobs = []
    for label in labels:
        for suite, name, instance in problems:
            problem = from_suite(suite, name, 10 if instance else None, instance)
            about = {"suite": suite, "name": name}
            if "version" in problem.properties:
                about["version"] = problem.properties["version"]
            size = {"dimension": problem.dimension, "budget": 20_000 * problem.dimension, "record": 100}
            job = replace(a_job(label, name, runs, instance=instance, **size), problem=about)
            jobs.append((label, problem, job))
    with new_store(path) as store:
        store.add_entries(job_entry(job) for _, _, job in jobs)
        store.add_entries([plan_entry({"made": "up"}, [(label, job.id) for label, _, job in jobs])[1]])
        for label, problem, job in jobs:
            optimum = problem.optimum.value if problem.optimum is not None else 10.0
            rows = [_towards(job, run, rng, optimum, 1 + labels.index(label)) for run in job.runs]
            about = {"job": job.id, "finished": 1.79e9 + len(label), "seconds": 20.0 * rng.uniform(1, 3), **ACCOUNT}
            store.add_entries([*(sealed(ROW, packed(row)) for row in rows), account_entry(about)])
    return path


def _towards(job: Job, run: int, rng: np.random.Generator, optimum: float, place: int) -> Row:
    """A run whose error falls by powers of ten, the fewer the later the algorithm stands."""
    if rng.uniform() < 0.002 * place:
        return failed_row(job.id, run, job.dimension, "every evaluation failed (100); the first with exit status 1")
    late = np.linspace(1 / job.record, 1, job.record)
    decades = rng.uniform(2, 26 / place)
    error = (1 + abs(optimum)) * 10.0 ** (1 - (decades + 1) * np.sqrt(late)) + 1e-12
    never = rng.uniform() < 0.03 * place
    violation = np.where(late > rng.uniform(0.02, 0.5), 0.0, 10 ** (1 - 6 * late))
    violation = np.where(never, 1e-3 + 10 ** (1 - 6 * late), violation)
    g = np.array([violation[-1] if never else -1.0])
    made = np.ceil(np.linspace(job.budget / job.record, job.budget, job.record))
    f = optimum + error
    record = {"evaluations": made, "f": f, "violation": violation, "feasible_share": late}
    return an_ended_run(job, run, job.budget, rng.uniform(size=job.dimension), f[-1], violation[-1], g, record)


def a_study(path: Path, suite: str, problems: dict[str, int], levels: dict[str, float]) -> Study:
    """Three runs of each method on each problem, which end near the level of the method."""
    rng = np.random.default_rng(5)
    jobs = [
        (label, replace(a_job(label, name, 3, method=label, dimension=d), problem={"suite": suite, "name": name}))
        for label in levels
        for name, d in problems.items()
    ]
    with new_store(path) as store:
        store.add_entries([*(job_entry(job) for _, job in jobs), plan_entry({}, [(a, j.id) for a, j in jobs])[1]])
        store.add_entries(
            sealed(ROW, packed(a_run(job, run, rng, levels[label]))) for label, job in jobs for run in range(3)
        )
    with Store(path) as store:
        return gather(store)
