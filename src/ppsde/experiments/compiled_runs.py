"""Runs of jobs on the compiled engine.

On a CPU one program serves all problems of a dimension and makes one run per call, so that compiling is done once and
threads may call it together. On a GPU the runs of several jobs go side by side.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..batch import BatchResult, compile_batch, solve_batch
from ..engines.compiled import ending_of, float64, in_a_loop, one_of, values_of
from ..engines.program_cache import remembered
from ..engines.tracing import run_of
from ..problem import Problem
from ..streams import root_key
from .job import Job
from .outcomes import constraints_at, row_of
from .rows import Row


class OneAtATime:
    """An algorithm with a budget on several problems of one dimension, compiled for the CPU; a call makes one run."""

    def __init__(self, job: Job, problems: Sequence[Problem]) -> None:
        import jax

        self._problems, self._jax = problems, jax
        self._device = jax.devices("cpu")[0]
        algorithm = job.algorithm()

        @in_a_loop
        def one(key: Any, run: Any, number: Any, lower: Any, upper: Any) -> Any:
            evaluate = one_of(values_of(problems, algorithm), number)
            return run_of(algorithm, evaluate, job.budget, job.record)(lower, upper, jax.random.fold_in(key, run))

        began = time.perf_counter()
        with float64(), jax.default_device(self._device), remembered():
            self._call = jax.jit(one).lower(*self._arguments(0, 0, 0)).compile()
        self.compile_seconds = time.perf_counter() - began

    def __call__(self, problem: Problem, run: int, seed: int) -> dict[str, Any]:
        """What that run on one of the problems gives."""
        number = next(k for k, other in enumerate(self._problems) if other is problem)
        with float64(), self._jax.default_device(self._device):
            found = self._call(*self._arguments(number, run, seed))
            result: dict[str, Any] = self._jax.tree_util.tree_map(np.asarray, found)
        return result

    def _arguments(self, number: int, run: int, seed: int) -> tuple[Any, ...]:
        problem = self._problems[number]
        return 1, root_key(seed), np.uint32(run), np.int64(number), problem.lower, problem.upper


def rows_one_at_a_time(
    job: Job, problem: Problem, program: OneAtATime, progress: Callable[[int], None]
) -> Iterator[Row]:
    """The row of each run of a job."""
    for k, run in enumerate(job.runs):
        yield _row(job, run, problem, program(problem, run, job.seed))
        progress((k + 1) * job.budget)


def compile_side_by_side(jobs: Sequence[Job], beside: Sequence[Problem]) -> None:
    """Make the program of `rows_side_by_side` ready; several may be made at a time."""
    compile_batch(list(beside), **_batch(jobs[0]))


def rows_side_by_side(jobs: Sequence[Job], problems: Sequence[Problem], beside: Sequence[Problem]) -> list[list[Row]]:
    """The rows of several jobs that differ in their problems only, all runs at once.

    The program is that of all problems in `beside`, whether they are wanted now or not: which way a device adds up
    depends on what is there.
    """
    batches = solve_batch(list(beside), **_batch(jobs[0]), runs=list(jobs[0].runs), seed=jobs[0].seed)
    of = {id(problem): batch for problem, batch in zip(beside, batches, strict=True)}
    return [_rows(job, problem, of[id(problem)]) for job, problem in zip(jobs, problems, strict=True)]


def _batch(job: Job) -> dict[str, Any]:
    """A job as arguments of a batch, but for its problem, runs and seed."""
    algorithm = job.algorithm()
    return {
        "method": job.method,
        "max_evaluations": job.budget,
        "record": job.record,
        "device": job.device,
        "options": {name: getattr(algorithm, name) for name in job.settings},
    }


def _rows(job: Job, problem: Problem, batch: BatchResult) -> list[Row]:
    names = ("x", "f", "violation", "answer_x", "answer_f", "answer_violation", "evaluations")
    rows = []
    for k, run in enumerate(job.runs):
        found: dict[str, Any] = {name: getattr(batch, name)[k] for name in names}
        found["record"] = {name: column[k] for name, column in batch.record.items()}
        rows.append(_row(job, run, problem, found))
    return rows


def _row(job: Job, run: int, problem: Problem, found: dict[str, Any]) -> Row:
    with float64():  # a user's function may be of JAX's own, and must not fall back to 32 bits
        ending = ending_of(found, partial(constraints_at, problem))
    return row_of(job, run, ending, problem.tolerance, found["record"])
