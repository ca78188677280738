"""`solve_batch`: many runs of a method on one or several problems, as one program compiled by JAX."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, overload

import numpy as np

from .algorithms import label_of
from .checks import check_int, takes_seed
from .engines.compiled import device_of, why_not_traceable
from .engines.drive import drive
from .engines.ending import Endings
from .problem import Problem
from .request import Request


@dataclass(frozen=True)
class BatchResult:
    """Results of the runs of a batch, a row per run.

    `x`, `f` and `violation` are those of the best point ever evaluated. `answer_*` are those of the point that the
    method's original program reports, such as the best of its last population, for comparing with published tables.
    All these points are evaluated once more outside the compiled program, by `problem.evaluate`: a point that misses a
    constraint by rounding alone is infeasible, and the record ends with these values.
    `record` has columns (runs, record) along the runs: `evaluations`, `f` and `violation` of the best so far,
    `feasible_share` of the population, and numbers of the method itself, such as `stage` and `epsilon`. Entry k is that
    of the last generation that ended within the k-th part of the budget, NaN if none did.
    """

    problem: Problem
    x: np.ndarray  # (runs, d)
    f: np.ndarray  # (runs,)
    violation: np.ndarray  # (runs,), the search's measure
    answer_x: np.ndarray
    answer_f: np.ndarray
    answer_violation: np.ndarray
    evaluations: np.ndarray  # (runs,)
    status: np.ndarray  # (runs,), why each run ended, as in the results of `minimize`
    record: dict[str, np.ndarray]
    compile_seconds: float  # of the program for all problems of the call
    run_seconds: float  # of all runs of the call

    @classmethod
    def of(cls, problem: Problem, endings: Endings, compile_seconds: float, run_seconds: float) -> BatchResult:
        """Return the result made from the endings of the runs."""
        units = problem.units
        found = dict(vars(endings))
        if not (units.variables is None and units.is_plain):
            found |= {name: units.x(found[name]) for name in ("x", "answer_x")}
            found |= {name: units.sign * found[name] for name in ("f", "answer_f")}
            found["record"] = units.history(found["record"])
        return cls(problem, **found, compile_seconds=compile_seconds, run_seconds=run_seconds)

    @property
    def feasible(self) -> np.ndarray:
        """Whether the best point of each run is feasible (runs,)."""
        feasible: np.ndarray = self.violation == 0.0
        return feasible

    def __repr__(self) -> str:
        best, runs = np.lexsort((self.f, self.violation))[0], len(self.f)
        return (
            f"BatchResult({self.problem.name}: {runs} runs, {int(self.feasible.sum())} feasible, "
            f"f {self.f.mean():.6g} +- {self.f.std():.2g}, best {self.f[best]:.10g})"
        )

    def _repr_html_(self) -> str:
        """Return the runs as HTML, for notebooks."""
        from .display.notebook import batch_html

        return batch_html(self)


@overload
def solve_batch(
    problem: Problem,
    *,
    method: Any = ...,
    runs: int | Sequence[int] = ...,
    max_evaluations: int | None = ...,
    target: float | None = ...,
    tol: float | None = ...,
    rng: int | None = ...,
    record: int = ...,
    device: Any = ...,
    options: dict[str, Any] | None = ...,
) -> BatchResult: ...
@overload
def solve_batch(
    problem: Sequence[Problem],
    *,
    method: Any = ...,
    runs: int | Sequence[int] = ...,
    max_evaluations: int | None = ...,
    target: float | None = ...,
    tol: float | None = ...,
    rng: int | None = ...,
    record: int = ...,
    device: Any = ...,
    options: dict[str, Any] | None = ...,
) -> list[BatchResult]: ...
@takes_seed
def solve_batch(
    problem: Problem | Sequence[Problem],
    *,
    method: Any = "pps-de",
    runs: int | Sequence[int] = 25,
    max_evaluations: int | None = None,
    target: float | None = None,
    tol: float | None = None,
    rng: int | None = None,
    record: int = 200,
    device: Any = None,
    options: dict[str, Any] | None = None,
) -> BatchResult | list[BatchResult]:
    """Run a method many times, as one compiled program of 64-bit floats on the CPU or a GPU.

    Parameters
    ----------
    problem : Problem, or several of one dimension
        JAX must be able to trace the function, of one point or vectorised, as it can for all built-in suites. Several
        problems share one program. If a function cannot be traced, the host engine does the runs one after another,
        with a warning that says why.
    method : str, or an algorithm
        As for `minimize`.
    runs : int, or a sequence of run numbers
        25 means the runs 0 to 24. A run has the same result, bit for bit, whichever other runs are in the batch; on a
        CPU also whichever other problems, on a GPU only with the same problems.
    max_evaluations : int, optional
        The budget of each run; the default is 20000 times the number of variables.
    target : float, optional
        As for `minimize`; the same for all problems.
    tol : float, optional
        As for `minimize`.
    rng : int, optional
        Seed of the batch, 0 by default; seed and run number together determine the random numbers of a run.
    record : int
        Number of rows recorded along each run.
    device : a jax device, or 'cpu' or 'gpu', optional
        JAX's default device if None.
    options : dict, optional
        Settings of the method, by name.

    Returns
    -------
    BatchResult, or a list of them if several problems were passed

    Examples
    --------
    >>> import ppsde
    >>> problem = ppsde.suites.get("cec2017").problem("C05", 10, instance=1)
    >>> batch = ppsde.solve_batch(problem, runs=3, max_evaluations=20_000, record=100)
    >>> batch.f.shape, batch.record["f"].shape, int(batch.feasible.sum())
    ((3,), (3, 100), 3)
    """
    problems = [problem] if isinstance(problem, Problem) else list(problem)
    numbers = _run_numbers(runs)
    seed, record = _checked(problems, 0 if rng is None else rng, record)
    requests = [Request(p, method, options, max_evaluations, seed, target=target, tol=tol) for p in problems]
    algorithm, budget, chosen = requests[0].algorithm(), requests[0].budget, device_of(device)
    searched = [request.searched for request in requests]
    if len({request.target_in_search for request in requests}) > 1:
        raise ValueError("a target must not be given for problems of which some are maximised and some are minimised")
    stopping = (requests[0].tol_for(algorithm), requests[0].target_in_search)
    began = time.perf_counter()
    reason = getattr(algorithm, "host_only", None)
    if reason is None:
        try:
            program = _program(algorithm, tuple(map(_Same, searched)), budget, record, chosen, *stopping)
        except (Exception, SystemExit):
            reason = next(filter(None, map(why_not_traceable, searched)), None)
            if reason is None:
                raise
    ready = time.perf_counter()
    if reason is None:
        endings = program(numbers, seed)
    else:
        message = f"{label_of(method)} on {problems[0].name} cannot be compiled, the host engine is used: {reason}"
        warnings.warn(message, RuntimeWarning, stacklevel=2)
        endings = [_on_the_host(request, numbers, record) for request in requests]
    compile_seconds, run_seconds = ready - began if reason is None else 0.0, time.perf_counter() - ready
    results = [
        BatchResult.of(p, ended, compile_seconds, run_seconds) for p, ended in zip(problems, endings, strict=True)
    ]
    return results[0] if isinstance(problem, Problem) else results


def _on_the_host(request: Request, numbers: np.ndarray, record: int) -> Endings:
    """Return the endings of the runs on one problem, one after another on the host engine."""
    runs = [replace(request, number=number).run() for number in numbers.tolist()]
    return Endings.of([drive(run, request.searched) for run in runs], request.budget, record)


class _Same:
    """A problem as a key of a cache: equal only to itself, by identity."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.problem is self.problem

    def __hash__(self) -> int:
        return id(self.problem)


@lru_cache(maxsize=16)
def _program(
    algorithm: Any,
    same: tuple[_Same, ...],
    budget: int,
    record: int,
    device: Any,
    tol: float,
    target: float | None,
) -> Any:
    from .engines.compiled import Program

    return Program(algorithm, [key.problem for key in same], budget, record, device, tol=tol, target=target)


def _run_numbers(runs: Any) -> np.ndarray:
    if isinstance(runs, float | np.floating) and float(runs).is_integer():
        runs = int(runs)
    numbers = np.arange(runs) if isinstance(runs, int | np.integer) else np.asarray(runs)
    if isinstance(runs, bool) or numbers.ndim != 1 or len(numbers) == 0 or numbers.dtype.kind not in "iu":
        raise ValueError(f"runs must be an int >= 1 or a sequence of run numbers; got {runs!r}")
    if numbers.min() < 0 or numbers.max() >= 2**32:
        raise ValueError(f"run numbers must be from 0 to 2**32 - 1; got {runs!r}")
    return numbers.astype(np.uint32)


def _checked(problems: Sequence[Problem], seed: Any, record: Any) -> tuple[int, int]:
    """Return seed and record as ints; ValueError if they, or the problems, are not possible."""
    if not problems:
        raise ValueError("problem must be a Problem or several of them; got none")
    for p in problems:
        if not isinstance(p, Problem):
            raise ValueError(f"a batch takes a Problem or several; got {type(p).__name__}")
        if p.dimension != problems[0].dimension:
            raise ValueError(f"problems of a batch must have one dimension; got {problems[0].dimension}, {p.dimension}")
    found = check_int("rng", seed, 0), check_int("record", record, 1)
    for name, number in zip(("rng", "record"), found, strict=True):
        if number >= 2**63:
            raise ValueError(f"{name} must be an int < 2**63; got {number!r}")
    return found
