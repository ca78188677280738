"""Many runs at once: a batch of one method on one problem, or on several, compiled by JAX."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, overload

import numpy as np

from .algorithms import make
from .checks import check_int
from .engines.compiled import device_of, why_not_traceable
from .engines.drive import drive
from .engines.ending import Ending, thinned
from .population import Population
from .problem import Problem
from .request import Request, budget_of

NONE = np.empty((1, 0))  # constraint values


@dataclass(frozen=True)
class BatchResult:
    """What the runs of a batch found, a row per run.

    `record` has columns (runs, record) along the runs: `evaluations`, `f` and `violation` of the best so far,
    `feasible_share` of the population, and what the method itself watches, such as `stage` and `epsilon`. Its k-th
    entries are of the last generation that ended within the k-th part of the budget, NaN where none did.
    `answer_*` is what the method's original program reports, such as the best of its last population, for comparing
    with published tables; `x`, `f` and `violation` are of the best point ever evaluated.
    """

    problem: Problem
    x: np.ndarray  # (runs, d)
    f: np.ndarray  # (runs,)
    violation: np.ndarray  # (runs,), the search's measure
    answer_x: np.ndarray
    answer_f: np.ndarray
    answer_violation: np.ndarray
    evaluations: np.ndarray  # (runs,)
    record: dict[str, np.ndarray]
    compile_seconds: float  # of the program, which serves every problem of the call
    run_seconds: float  # likewise

    @classmethod
    def of(cls, problem: Problem, endings: Sequence[Ending], budget: int, record: int, seconds: float) -> BatchResult:
        """The batch that the endings of runs on the host make."""
        records = [thinned(ending.history, budget, record) for ending in endings]
        return cls(
            problem,
            *_columns([ending.best for ending in endings], problem.dimension),
            *_columns([ending.answer for ending in endings], problem.dimension),
            evaluations=np.array([ending.evaluations for ending in endings]),
            record={name: np.array([rows[name] for rows in records]) for name in records[0]},
            compile_seconds=0.0,
            run_seconds=seconds,
        )

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


def _columns(points: Sequence[Population | None], dimension: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """x (runs, d), objective and violation (runs,) of one point per run; NaN and infinity where a run has none."""
    nowhere = Population(np.full((1, dimension), np.nan), np.full(1, np.inf), np.full(1, np.inf), NONE, NONE)
    rows = [nowhere if point is None else point for point in points]
    return (
        np.array([row.x[0] for row in rows]),
        np.array([row.f[0] for row in rows]),
        np.array([row.violation[0] for row in rows]),
    )


@overload
def solve_batch(
    problem: Problem,
    *,
    method: str = ...,
    runs: int | Sequence[int] = ...,
    max_evaluations: int | None = ...,
    seed: int = ...,
    record: int = ...,
    device: Any = ...,
    options: dict[str, Any] | None = ...,
) -> BatchResult: ...
@overload
def solve_batch(
    problem: Sequence[Problem],
    *,
    method: str = ...,
    runs: int | Sequence[int] = ...,
    max_evaluations: int | None = ...,
    seed: int = ...,
    record: int = ...,
    device: Any = ...,
    options: dict[str, Any] | None = ...,
) -> list[BatchResult]: ...
def solve_batch(
    problem: Problem | Sequence[Problem],
    *,
    method: str = "pps-de",
    runs: int | Sequence[int] = 25,
    max_evaluations: int | None = None,
    seed: int = 0,
    record: int = 200,
    device: Any = None,
    options: dict[str, Any] | None = None,
) -> BatchResult | list[BatchResult]:
    """Run a method many times at once, as one program of 64-bit floats on the CPU or a GPU.

    Parameters
    ----------
    problem : Problem, or several of one dimension
        Its function is written in array code that JAX can trace: those of the built-in suites, or your own, of one
        point or vectorised. Several share one program. What cannot be traced runs on the host engine, run by run,
        with a warning that says why.
    method : str
        One of `ppsde.ALGORITHMS`.
    runs : int, or a sequence of run numbers
        25 means the runs 0 to 24. A run is the same, bit for bit, whatever runs are beside it; on a CPU also whatever
        problems, on a GPU with the same problems.
    max_evaluations : int, optional
        Per run; 20000 times the number of variables if not given.
    seed : int
        Of the whole batch; each run has its own numbers.
    record : int
        How many rows are kept along each run.
    device : a jax device, or 'cpu' or 'gpu', optional
        The default one if not given.
    options : dict, optional
        Settings of the method, by name.

    Returns
    -------
    BatchResult, or a list of them where several problems were given

    Examples
    --------
    >>> import ppsde
    >>> problem = ppsde.suites.get("cec2017").problem("C01", 10, instance=1)
    >>> batch = ppsde.solve_batch(problem, runs=3, max_evaluations=20_000)
    >>> batch.f.shape, int(batch.feasible.sum())
    ((3,), 3)
    """
    problems = [problem] if isinstance(problem, Problem) else list(problem)
    numbers = _run_numbers(runs)
    budget = _checked(problems, max_evaluations, seed, record)
    algorithm, chosen = make(method, options), device_of(device)
    began = time.perf_counter()
    reason = getattr(algorithm, "host_only", None)
    if reason is None:
        try:
            program = _program(algorithm, tuple(map(_Same, problems)), budget, record, chosen)
        except (Exception, SystemExit):
            reason = next(filter(None, map(why_not_traceable, problems)), None)
            if reason is None:
                raise
    if reason is None:
        ready = time.perf_counter()
        found = program(numbers, int(seed))
        seconds = time.perf_counter() - ready
        results = [
            BatchResult(problem=p, **columns, compile_seconds=ready - began, run_seconds=seconds)
            for p, columns in zip(problems, found, strict=True)
        ]
    else:
        message = f"{method} on {problems[0].name} cannot be compiled, the host engine is used: {reason}"
        warnings.warn(message, RuntimeWarning, stacklevel=2)
        results = [_on_the_host(p, method, options, numbers, budget, int(seed), record) for p in problems]
    return results[0] if isinstance(problem, Problem) else results


def _on_the_host(
    problem: Problem,
    method: str,
    options: dict[str, Any] | None,
    numbers: np.ndarray,
    budget: int,
    seed: int,
    record: int,
) -> BatchResult:
    """The runs of one problem one after another on the host engine."""
    began = time.perf_counter()
    requests = [Request(problem, method, options, budget, seed, number=number) for number in numbers.tolist()]
    endings = [drive(request.run(), problem) for request in requests]
    return BatchResult.of(problem, endings, budget, record, time.perf_counter() - began)


def compile_batch(
    problem: Problem | Sequence[Problem],
    *,
    method: str = "pps-de",
    max_evaluations: int | None = None,
    record: int = 200,
    device: Any = None,
    options: dict[str, Any] | None = None,
) -> None:
    """Compile what `solve_batch` needs, however many runs, so that it starts at once; threads may do so together."""
    problems = [problem] if isinstance(problem, Problem) else list(problem)
    budget = _checked(problems, max_evaluations, 0, record)
    algorithm, chosen = make(method, options), device_of(device)
    if getattr(algorithm, "host_only", None) is None:
        _program(algorithm, tuple(map(_Same, problems)), budget, record, chosen)


class _Same:
    """A problem as a key: the same object is the same key."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.problem is self.problem

    def __hash__(self) -> int:
        return id(self.problem)


@lru_cache(maxsize=16)
def _program(algorithm: Any, same: tuple[_Same, ...], budget: int, record: int, device: Any) -> Any:
    from .engines.compiled import Program

    return Program(algorithm, [key.problem for key in same], budget, record, device)


def _run_numbers(runs: Any) -> np.ndarray:
    numbers = np.arange(runs) if isinstance(runs, int | np.integer) else np.asarray(runs)
    if isinstance(runs, bool) or numbers.ndim != 1 or len(numbers) == 0 or numbers.dtype.kind not in "iu":
        raise ValueError(f"runs must be an int >= 1 or a sequence of run numbers; got {runs!r}")
    if numbers.min() < 0 or numbers.max() >= 2**32:
        raise ValueError(f"run numbers must be from 0 to 2**32 - 1; got {runs!r}")
    return numbers.astype(np.uint32)


def _checked(problems: Sequence[Problem], max_evaluations: Any, seed: Any, record: Any) -> int:
    if not problems:
        raise ValueError("problem must be a Problem or several of them; got none")
    for p in problems:
        if not isinstance(p, Problem):
            raise ValueError(f"a batch takes a Problem or several; got {type(p).__name__}")
        if p.dimension != problems[0].dimension:
            raise ValueError(f"problems of a batch must have one dimension; got {problems[0].dimension}, {p.dimension}")
    budget = budget_of(max_evaluations, problems[0].dimension)
    for name, value, least in (("max_evaluations", budget, 1), ("seed", seed, 0), ("record", record, 1)):
        if check_int(name, value, least) >= 2**63:
            raise ValueError(f"{name} must be an int < 2**63; got {value!r}")
    return budget
