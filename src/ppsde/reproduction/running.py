"""The runs of the published experiment: every problem, some dimensions, one or more methods."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from .. import published, suites
from ..batch import BatchResult, compile_batch, solve_batch
from ..population import competition_violation
from ..problem import Problem
from .cells import Ours, Row

COLUMN_OF = {  # our methods and the columns they stand beside
    "pps-de": "PPS-DE",
    "pps-de-published": "PPS-DE",
    "aga-pps": "AGA-PPS",
    "lshade44-ide": "LSHADE44+IDE",
    "lshade44": "LSHADE44",
    "ude": "UDE",
    "iude": "IUDE",
    "emag-es": "eMAg-ES",
    "c2ode": "C2oDE",
}
RECORD = 1  # rows along the runs; the table needs only their end


@dataclass(frozen=True)
class Experiment:
    """What to run; the published one unless something else is asked for."""

    methods: Sequence[str] = ("pps-de",)
    dimensions: Sequence[int] = published.DIMENSIONS
    problems: Sequence[str] = field(default_factory=lambda: suites.get("cec2017").names)
    runs: int = published.RUNS
    evaluations_per_variable: int = published.EVALUATIONS_PER_VARIABLE
    seed: int = 0
    instance: int | str = "official"
    report: Literal["best", "original"] = "best"  # the best point ever evaluated, or what the original reports
    device: Any = None

    def __post_init__(self) -> None:
        for method in self.methods:
            if method not in COLUMN_OF:
                raise ValueError(f"method {method!r} has no published column; expected one of {', '.join(COLUMN_OF)}")
        for dimension in self.dimensions:
            if dimension not in published.DIMENSIONS:
                raise ValueError(f"dimensions must be among {published.DIMENSIONS}; got {dimension}")
        for name in self.problems:
            if name not in suites.get("cec2017").names:
                raise ValueError(f"unknown problem {name!r}; expected C01 to C28")
        for name in ("runs", "evaluations_per_variable"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be an int >= 1; got {getattr(self, name)}")


@dataclass
class Outcome:
    """The rows so far, and how long things took."""

    experiment: Experiment
    rows: list[Row] = field(default_factory=list)  # in the order of methods and dimensions
    latest: list[Row] = field(default_factory=list)  # those of the method and dimension that ended last
    compile_seconds: float = 0.0  # waiting for programs
    run_seconds: float = 0.0
    evaluations: int = 0


def run(experiment: Experiment, say: Callable[[str], None] = lambda line: None) -> Iterator[Outcome]:
    """The experiment, an outcome after each method and dimension; `say` is told what is going on."""
    suite = suites.get("cec2017")
    outcome = Outcome(experiment)
    blocks = [(method, dimension) for method in experiment.methods for dimension in experiment.dimensions]
    problems = {
        dimension: [suite.problem(name, dimension, instance=experiment.instance) for name in experiment.problems]
        for dimension in experiment.dimensions
    }
    arguments = {
        (method, dimension): {
            "method": method,
            "max_evaluations": experiment.evaluations_per_variable * dimension,
            "record": RECORD,
            "device": experiment.device,
        }
        for method, dimension in blocks
    }
    say(f"compiling {len(blocks)} program{'s' * (len(blocks) > 1)} ...")
    began = time.perf_counter()
    rows: dict[tuple[str, int], list[Row]] = {}
    with ThreadPoolExecutor() as pool:
        waiting = {pool.submit(compile_batch, problems[block[1]], **arguments[block]): block for block in blocks}
        try:
            for future in as_completed(waiting):  # what is ready runs while the rest is compiled
                future.result()
                method, dimension = block = waiting[future]
                outcome.compile_seconds = time.perf_counter() - began - outcome.run_seconds
                say(f"running {method} at D = {dimension} ...")
                found = solve_batch(problems[dimension], runs=experiment.runs, seed=experiment.seed, **arguments[block])
                outcome.run_seconds += found[0].run_seconds
                outcome.evaluations += int(sum(result.evaluations.sum() for result in found))
                rows[block] = [
                    _row(method, name, result, experiment)
                    for name, result in zip(experiment.problems, found, strict=True)
                ]
                outcome.latest = rows[block]
                outcome.rows = [row for one in blocks for row in rows.get(one, [])]
                yield outcome
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _row(method: str, name: str, result: BatchResult, experiment: Experiment) -> Row:
    problem, dimension = result.problem, result.problem.dimension
    original = experiment.report == "original"
    x, f = (result.answer_x, result.answer_f) if original else (result.x, result.f)
    violation = result.answer_violation if original else result.violation
    column = COLUMN_OF[method]
    printed = published.meant(dimension, name, column)
    ours = Ours(
        mean=float(f.mean()),
        std=float(f.std(ddof=1)) if len(f) > 1 else 0.0,
        best=float(f[np.lexsort((f, violation))[0]]),
        median=float(np.median(f)),
        worst=float(f[np.lexsort((f, violation))[-1]]),
        feasible_share=float((violation == 0).mean()),
        violation=_mean_violation(problem, x),
        runs=len(f),
    )
    known = problem.optimum.value if problem.optimum is not None else np.nan
    return Row(method, column, dimension, name, ours, printed, known, published.UNJUDGED.get(name, ""))


def _mean_violation(problem: Problem, x: np.ndarray) -> float:
    """Of the competition's measure."""
    known = ~np.isnan(x).any(axis=1)
    if not known.all():
        return np.inf
    _, g, h = problem.evaluate(x)
    return float(competition_violation(g, h, problem.tolerance).mean())
