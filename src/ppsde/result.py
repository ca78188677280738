"""How one point stands with each constraint.

What a run found, as a SciPy result.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import OptimizeResult

from .durations import times
from .engines.run import Run
from .evaluation.values import Failure
from .population import Population, join
from .status import ERROR, FAILED, INFEASIBLE, INTERRUPTED, LIMIT, RUNNING, SPENT, STATUS, STOPPED, TIME_UP


@dataclass(frozen=True)
class ConstraintReport:
    """A constraint at a point: `slack` is what is left until it is violated, less than 0 where it is."""

    name: str
    kind: str  # 'inequality': value <= 0, or 'equality': abs(value) <= tolerance
    value: float
    slack: float
    violation: float
    active: bool  # an equality, or an inequality that is violated or within the tolerance of being so


def constraint_reports(
    g: np.ndarray, h: np.ndarray, tolerance: float, names: Sequence[str] | None
) -> list[ConstraintReport]:
    """A report on each constraint of a point with values g (p,) and h (q,), inequalities first.

    Examples
    --------
    >>> reports = constraint_reports(np.array([-2.0, 0.5]), np.array([-0.3]), 0.1, ["mass", "stress", "balance"])
    >>> for report in reports:
    ...     print(report.name, round(report.slack, 3), round(report.violation, 3), report.active)
    mass 2.0 0.0 False
    stress -0.5 0.5 True
    balance -0.2 0.2 True
    """
    if names is None or len(names) != len(g) + len(h):
        names = [f"g[{j}]" for j in range(len(g))] + [f"h[{j}]" for j in range(len(h))]
    slack = [*(-g).tolist(), *(tolerance - np.abs(h)).tolist()]
    return [
        ConstraintReport(
            name=name,
            kind="inequality" if k < len(g) else "equality",
            value=value,
            slack=slack[k] + 0.0,  # never a negative zero
            violation=max(0.0, -slack[k]),
            active=k >= len(g) or slack[k] <= tolerance,
        )
        for k, (name, value) in enumerate(zip(_distinct(names), [*g.tolist(), *h.tolist()], strict=True))
    ]


def _distinct(names: Sequence[str]) -> list[str]:
    """The names, those that stand twice told apart by a number."""
    return [name if list(names).count(name) == 1 else f"{name} ({k})" for k, name in enumerate(names)]


__all__ = ["ERROR", "FAILED", "INFEASIBLE", "INTERRUPTED", "RUNNING", "SPENT", "STATUS", "STOPPED", "TIME_UP"]

CONSTRAINTS_TOLD = 8  # when a result is printed
REASONS_TOLD = 3


class Result(OptimizeResult):
    """A `scipy.optimize.OptimizeResult` that reads well when printed."""

    def __repr__(self) -> str:
        with np.printoptions(precision=8, threshold=12, linewidth=100):
            x = str(self.x).replace("\n", "\n               ")
        lines = [
            f"{'feasible' if self.feasible else 'NOT FEASIBLE'}: {self.message}",
            f"  f            {self.fun:.10g}",
            f"  violation    {self.violation:.4g}",
            *_about_constraints(self.get("constraints", [])),
            f"  x            {x}",
            f"  evaluations  {self.nfev:,} in {self.nit:,} generations"
            + f", {self.n_failed:,} failed" * (self.n_failed > 0),
            *_about_failures(self.get("failures", [])),
        ]
        if self.get("n_calls", self.nfev) != self.nfev:
            lines.append(f"  calls        {self.n_calls:,} of the function")
        if self.get("seconds") is not None:
            took = times(self.seconds, self.eval_seconds_mean, self.eval_seconds_max)
            lines.append(f"  time         {took}")
        return "\n".join(lines)

    __str__ = __repr__

    def plot(self) -> Any:
        """A matplotlib Figure of the run: objective, violation, feasible share, epsilon and stage over evaluations."""
        from .figure import run_figure

        return run_figure(self.history)


@dataclass(frozen=True)
class Effort:
    """What a run has cost. Points of a request that was not finished are in `unfinished`, if it had any."""

    calls: int
    seconds: float
    eval_seconds_mean: float
    eval_seconds_max: float
    unfinished: Population | None = None


def intermediate_of(run: Run) -> Result:
    """What a callback gets: where the run stands, without the whole of its history."""
    best = run.best
    return Result(
        x=best.x[0].copy() if best is not None else np.full(run.task.dimension, np.nan),
        fun=float(best.f[0]) if best is not None else np.nan,
        feasible=best is not None and bool(best.feasible[0]),
        violation=float(best.violation[0]) if best is not None else np.inf,
        constr_violation={},
        message=STATUS[RUNNING],
        nfev=run.evaluations,
        nit=run.completed,
        n_failed=run.failed,
        latest=dict(run.latest),
        population=run.state.population if run.state is not None else None,
    )


def result_of(
    run: Run,
    names: Sequence[str] | None,
    status: int,
    tolerance: float,
    failures: Sequence[Failure] = (),
    effort: Effort | None = None,
) -> Result:
    """The result of a run, over or not; `effort` is known where the evaluations were ours to make."""
    unfinished = effort.unfinished if effort is not None else None
    best = _best(run.best, unfinished)
    dimension = run.task.dimension
    feasible = best is not None and bool(best.feasible[0])
    if status == SPENT and not feasible:
        status = INFEASIBLE if best is not None else FAILED
    nfev, n_failed = run.evaluations, run.failed
    if status == FAILED and unfinished is not None:  # the run was given up inside a request: its points were the last
        nfev, n_failed = nfev + unfinished.size, n_failed + unfinished.size
    message = STATUS[status]
    if status == FAILED and failures:
        message += f" ({n_failed} of {nfev}); the first with {failures[0]}"
    x = best.x[0].copy() if best is not None else np.full(dimension, np.nan)
    g = best.g[0] if best is not None else np.empty(0)
    h = best.h[0] if best is not None else np.empty(0)
    constraints = constraint_reports(g, h, tolerance, names)
    return Result(
        x=x,
        fun=float(best.f[0]) if best is not None else np.nan,
        success=feasible,
        status=status,
        message=message,
        limited_by=LIMIT[status],
        nfev=nfev,
        nit=run.completed,
        feasible=feasible,
        violation=float(best.violation[0]) if best is not None else np.inf,
        maxcv=max((c.violation for c in constraints), default=0.0) if best is not None else np.inf,
        constr_violation={c.name: c.violation for c in constraints},
        constraints=constraints,
        x_feasible=x.copy() if feasible else None,
        x_least_violation=x.copy() if best is not None else None,
        n_failed=n_failed,
        failures=list(failures),
        n_calls=effort.calls if effort is not None else nfev,
        seconds=effort.seconds if effort is not None else None,
        eval_seconds_mean=effort.eval_seconds_mean if effort is not None else None,
        eval_seconds_max=effort.eval_seconds_max if effort is not None else None,
        original=_original(run),
        history=run.history,
        population=run.state.population if run.state is not None else None,
    )


def _best(best: Population | None, more: Population | None) -> Population | None:
    """The best single point of both."""
    if more is None or not more.valid.any():
        return best
    points = more if best is None else join(best, more)
    return points.take([int(points.best())])


def _original(run: Run) -> OptimizeResult | None:
    """What the method's original program would report, for comparing with published tables."""
    answer = run.answer
    if answer is None:
        return None
    return OptimizeResult(
        x=answer.x[0].copy(),
        fun=float(answer.f[0]),
        violation=float(answer.violation[0]),
        feasible=bool(answer.feasible[0]),
    )


def _about_constraints(constraints: Sequence[ConstraintReport]) -> list[str]:
    """How many hold; then those that do not, and those that nearly do not."""
    if not constraints:
        return []
    violated = [c for c in constraints if c.violation > 0]
    active = [c for c in constraints if c.active and not c.violation > 0]
    lines = [
        f"  constraints  {len(constraints) - len(violated)} of {len(constraints)} hold, {len(active)} of them active"
    ]
    told = [(f"    violated   {c.name} by {c.violation:.4g}") for c in sorted(violated, key=lambda c: -c.violation)]
    told += [(f"    active     {c.name}, slack {c.slack:.4g}") for c in active]
    more = [f"    ...        and {len(told) - CONSTRAINTS_TOLD} more"] if len(told) > CONSTRAINTS_TOLD else []
    return lines + told[:CONSTRAINTS_TOLD] + more


def _about_failures(failures: Sequence[Failure]) -> list[str]:
    """The most frequent reasons, and how often each was met."""
    reasons = Counter(" ".join(failure.reason.split()) for failure in failures)
    lines = [f"    failed     {count:,} x {reason[:80]}" for reason, count in reasons.most_common(REASONS_TOLD)]
    more = [f"    ...        and {len(reasons) - REASONS_TOLD} other reasons"] if len(reasons) > REASONS_TOLD else []
    return lines + more
