"""One run on the compiled engine, for `minimize`: the whole search as one program, its end as a result."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from time import monotonic
from typing import Any, cast

import numpy as np

from .algorithm import Task
from .engines.run import Run
from .population import Population
from .problem import Problem
from .status import SPENT

BACKENDS = ("auto", "numpy", "jax")
RECORD = 200  # rows of the history


def wants_compiling(backend: str, fun: Any, hindrances: dict[str, bool]) -> bool:
    """Whether to compile: if told to, or if the function is itself compiled by `jax.jit` and nothing hinders it.

    `hindrances` are arguments by name, true where one was given that only the host engine can honour.
    """
    if backend not in BACKENDS:
        raise ValueError(f"backend must be one of {', '.join(map(repr, BACKENDS))}; got {backend!r}")
    given = [name for name, hinders in hindrances.items() if hinders]
    if backend == "jax" and given:
        raise ValueError(f"backend='jax' runs as one program and cannot honour {', '.join(given)}")
    return backend == "jax" or (backend == "auto" and not given and _is_jitted(fun))


def _is_jitted(fun: Any) -> bool:
    jax = sys.modules.get("jax")  # a function can be JAX's only if JAX is loaded already
    fun = fun.fun if isinstance(fun, Problem) else fun
    return jax is not None and isinstance(fun, jax.stages.Wrapped)


@dataclass(frozen=True)
class _State:
    population: Population


@dataclass(frozen=True)
class CompiledRun:
    """The end of a compiled run, with the names that a result is made from."""

    task: Task
    best: Population | None
    answer: Population | None
    state: _State
    evaluations: int
    failed: int
    completed: int
    history: dict[str, np.ndarray]


def compiled_result(problem: Problem, run: Run, say: bool) -> Any:
    """The result of what `run` would have done, made by one program; `run` itself stays as it is."""
    from .batch import device_of
    from .engines.compiled import float64, one_run
    from .result import Effort, result_of

    reason = getattr(run.algorithm, "host_only", None)
    if reason is not None:
        raise ValueError(f"this method cannot be compiled: {reason}; use backend='numpy'")
    began = monotonic()
    device_of(None)  # JAX is there, or a clear error
    if say:
        print("compiling and running as one program; no live display", file=sys.stderr)
    with float64():
        found = one_run(run.algorithm, problem, run.task, run.seed, RECORD)
    history = {name: column[~np.isnan(found["record"]["evaluations"])] for name, column in found["record"].items()}
    ended = CompiledRun(
        task=run.task,
        best=_row(found, "best"),
        answer=_row(found, "answer"),
        state=_State(found["population"]),
        evaluations=int(found["evaluations"]),
        failed=int(found["failed"]),
        completed=int(found["generation"]),
        history=history,
    )
    seconds = monotonic() - began
    effort = Effort(ended.evaluations, seconds, seconds / ended.evaluations, np.nan)
    names = problem.constraint_names
    return result_of(cast(Run, ended), names, SPENT, problem.tolerance, (), effort)


def _row(found: dict[str, Any], name: str) -> Population | None:
    row: Population = found[name]
    return row if row.valid[0] else None
