"""From a plan to its jobs: problems looked up, engines chosen, runs put into blocks."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from ..algorithms import make
from ..problem import Problem
from ..suites import get
from .job import Job
from .plan import Contender, Plan, Source, opened

EVALUATIONS_PER_JOB = 1_000_000  # of compiled jobs on a CPU: a few seconds, which is what a kill may cost
LARGEST_BLOCK = 25


@dataclass(frozen=True)
class Planned:
    """A job of a plan: under which label it is shown, and where its problem is to be found on this machine."""

    label: str
    source: Source
    job: Job


def expanded(plan: Plan) -> list[Planned]:
    """The jobs of the plan, those that share a compiled program one after the other."""
    wanted = plan.engine if plan.eval_timeout is None else "host"
    cells = [
        (source, _looked_up(source, dimension, plan.instance, wanted))
        for source in plan.sources
        for dimension in _dimensions(plan, source)
    ]
    settings = {contender.name: contender.settings() for contender in plan.contenders}
    planned = []
    for each in sorted({found.dimension for _, found in cells}):
        for contender in plan.contenders:
            on_host_only = _host_only(contender)
            for source, found in cells:
                if found.dimension != each:
                    continue
                budget = plan.budget_of(source, found.dimension)
                engine = _engine(wanted, found.host_only or on_host_only, f"{contender.name} on {source.short}")
                device = plan.device if engine == "compiled" else "cpu"
                for runs in blocks(plan.runs, block_size(engine, device, budget)):
                    job = Job(
                        method=contender.method,
                        settings=settings[contender.name],
                        problem=found.identity,
                        dimension=found.dimension,
                        instance=found.instance,
                        seed=plan.seed,
                        runs=runs,
                        budget=budget,
                        record=plan.record,
                        engine=engine,
                        device=device,
                        eval_timeout=None if plan.eval_timeout is None else float(plan.eval_timeout),
                    )
                    planned.append(Planned(contender.name, source, job))
    return planned


def block_size(engine: str, device: str, budget: int) -> int:
    """How many runs make a job: never depending on how many runs there are, so that more can be added later.

    On the host a job is one run: a user's function may take hours. On a GPU runs go side by side.

    Examples
    --------
    >>> block_size("host", "cpu", 1000), block_size("compiled", "cpu", 200_000), block_size("compiled", "gpu", 10**7)
    (1, 5, 25)
    """
    if engine == "host":
        return 1
    if device != "cpu":
        return LARGEST_BLOCK
    return max(1, min(LARGEST_BLOCK, EVALUATIONS_PER_JOB // budget))


def blocks(runs: int, size: int) -> list[tuple[int, ...]]:
    """The run numbers in blocks of that size, the last one perhaps smaller.

    Examples
    --------
    >>> blocks(5, 2)
    [(0, 1), (2, 3), (4,)]
    """
    return [tuple(range(first, min(first + size, runs))) for first in range(0, runs, size)]


def _dimensions(plan: Plan, source: Source) -> list[int | None]:
    if plan.dimensions is None:
        return [None]
    if source.suite is not None and not get(source.suite).dimensions:
        raise ValueError(f"dimensions must not be given for suite {source.suite!r}; each of its problems has its own")
    return list(plan.dimensions)


@dataclass(frozen=True)
class _Found:
    """What a plan needs to know of a problem."""

    identity: dict[str, Any]
    dimension: int
    instance: int | str | None
    host_only: str | None  # why it cannot be compiled


def _looked_up(source: Source, dimension: int | None, instance: int | str | None, wanted: str) -> _Found:
    with opened(source, dimension, instance) as problem:
        return _Found(
            identity=source.identity(problem),
            dimension=problem.dimension,
            instance=problem.properties.get("instance") if source.suite is not None else None,
            host_only=None if wanted == "host" else _cannot_be_compiled(source, problem),
        )


def _engine(wanted: str, host_only: str | None, what: str) -> str:
    """Which engine runs a job: as the plan says, or compiled where that can be."""
    if wanted == "host":
        return "host"
    if host_only is None:
        return "compiled"
    if wanted == "compiled":
        raise ValueError(f"engine 'compiled' cannot run {what}: {host_only}")
    return "host"


def _host_only(contender: Contender) -> str | None:
    reason: str | None = getattr(make(contender.method, dict(contender.options)), "host_only", None)
    return reason


def _cannot_be_compiled(source: Source, problem: Problem) -> str | None:
    if find_spec("jax") is None:
        return "JAX is not installed: pip install 'ppsde[jax]'"
    if not problem.vectorized:
        return "its function takes one point at a time, not rows (vectorized=True)"
    if source.path is None:
        return None  # suites are written in array code
    from .workers import why_not_traceable

    return why_not_traceable(source)
