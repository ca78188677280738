"""Runs of a job on the host engine, one evaluation after another: in this process, or in one that can be killed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress

import numpy as np

from ..algorithm import Task
from ..engines.host import Run
from ..engines.turns import thinned
from ..evaluation.backends import evaluator_for
from ..evaluation.evaluate import Evaluate, Hopeless
from ..evaluation.policy import Policy
from ..population import Population
from ..problem import Problem
from .jobs import Job
from .outcomes import failed_row, point, row_of
from .rows import Row


def host_rows(job: Job, problem: Problem, progress: Callable[[int], None]) -> Iterator[Row]:
    """The row of each run of the job; `progress` is told how many evaluations the job has made so far."""
    for k, number in enumerate(job.runs):
        yield _row(job, number, problem, progress, k * job.budget)


def _row(job: Job, number: int, problem: Problem, progress: Callable[[int], None], before: int) -> Row:
    task = Task(problem.lower, problem.upper, job.budget)
    run = Run(job.algorithm(), task, seed=job.seed, run=number, tolerance=problem.tolerance)
    with evaluator_for(problem, timeout=job.eval_timeout) as evaluator, suppress(Hopeless):
        evaluate = Evaluate(evaluator, Policy(), problem.counts)
        while run.wanted is not None:
            run.supply(*evaluate(run.wanted))
            progress(before + run.evaluations)
    best, answer = run.best, run.answer
    if best is None:
        first = f"; the first with {evaluate.failures[0]}" if evaluate.failures else ""
        message = f"every evaluation failed ({evaluate.points}){first}"
        return failed_row(job.id, number, job.dimension, message, evaluate.points)
    return row_of(
        job.id,
        number,
        run.evaluations,
        _point(best, problem.tolerance),
        _point(best if answer is None else answer, problem.tolerance),
        thinned(run.history, job.budget, job.record),
        {"failed_evaluations": np.array(run.failed, np.int64)},
    )


def _point(points: Population, tolerance: float) -> dict[str, np.ndarray]:
    row = points.take(slice(0, 1))
    return point(row.x[0], float(row.f[0]), float(row.violation[0]), row.g[0], row.h[0], tolerance)
