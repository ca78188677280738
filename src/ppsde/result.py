"""Results: the ending of a run as a SciPy `OptimizeResult`, with a report on each constraint."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from scipy.optimize import OptimizeResult

from .display.notebook import by_name, result_html
from .display.progress import times
from .engines.ending import LIMIT, RUNNING, STATUS, Ending
from .engines.run import Run
from .engines.searches import Searches
from .evaluation.values import Failure
from .population import Population
from .problem import Problem, Units

CONSTRAINTS_SHOWN = 8  # when a result is printed
REASONS_SHOWN = 3
KEPT = "what the search had found until then is in `result`, an attribute of this exception"


class Result(OptimizeResult):
    """A `scipy.optimize.OptimizeResult` that prints as a short report."""

    # The fields, for type checkers and editors; docs/results.md explains them.
    x: np.ndarray
    variables: dict[str, Any] | None
    fun: float
    success: bool
    status: int
    message: str
    limited_by: str | None
    nfev: int
    nit: int
    feasible: bool
    violation: float
    maxcv: float
    constr_violation: dict[str, float]
    constraints: list[ConstraintReport]
    x_feasible: np.ndarray | None
    x_least_violation: np.ndarray | None
    n_failed: int
    failures: list[Failure]
    n_calls: int
    seconds: float | None
    eval_seconds_mean: float | None
    eval_seconds_max: float | None
    original: OptimizeResult | None
    history: dict[str, np.ndarray]
    population: Population | None
    latest: dict[str, Any]  # in callbacks only

    def __repr__(self) -> str:
        with np.printoptions(precision=8, threshold=12, linewidth=100):
            x = str(self.x).replace("\n", "\n               ")
        lines = [
            f"{'feasible' if self.feasible else 'NOT FEASIBLE'}: {self.message}",
            f"  f            {self.fun:.10g}",
            f"  violation    {self.violation:.4g}",
            *_about_constraints(self.get("constraints", [])),
            f"  x            {x}",
            *([f"  variables    {named}"] if (named := by_name(self.get("variables"))) else []),
            f"  evaluations  {self.nfev:,} in {self.nit:,} generation{'s' * (self.nit != 1)}"
            + f", {self.n_failed:,} failed" * (self.n_failed > 0),
            *_about_failures(self.get("failures", [])),
        ]
        if self.get("n_calls", self.nfev) != self.nfev:
            lines.append(f"  calls        {self.n_calls:,} of the function")
        seconds = self.get("seconds")
        if seconds is not None:
            took = times(seconds, self.get("eval_seconds_mean"), self.get("eval_seconds_max"))
            lines.append(f"  time         {took}")
        return "\n".join(lines)

    __str__ = __repr__

    def _repr_html_(self) -> str:
        """Return the result as HTML, for notebooks."""
        return result_html(self)

    def plot(self) -> Any:
        """Return a matplotlib Figure of the history: objective, violation, feasible share, epsilon and stage.

        A notebook shows it.
        """
        from .display.figure import run_figure

        return run_figure(self.history)

    @classmethod
    def of(cls, ending: Ending, units: Units, problem: Problem | None = None) -> Result:
        """Return the result of an ending, in the user's units; `problem` names the variables."""
        best, answer = units.points(ending.best), units.points(ending.answer)
        feasible = best is not None and bool(best.feasible[0])
        x, f, violation = _point(best, ending.dimension)
        constraints = (
            []
            if ending.best is None
            else constraint_reports(ending.best.g[0], ending.best.h[0], units, ending.constraint_names)
        )
        original = None
        if answer is not None:
            original = OptimizeResult(
                x=answer.x[0].copy(),
                fun=float(answer.f[0]),
                violation=float(answer.violation[0]),
                feasible=bool(answer.feasible[0]),
            )
        known = ~np.isnan(ending.history["evaluations"]) if ending.history else slice(None)
        return cls(
            x=x,
            variables=None if problem is None else problem.named(x),
            fun=f,
            success=feasible,
            status=ending.status,
            message=ending.message,
            limited_by=LIMIT[ending.status],
            nfev=ending.evaluations,
            nit=ending.generations,
            feasible=feasible,
            violation=violation,
            maxcv=max((c.violation for c in constraints), default=0.0) if best is not None else np.inf,
            constr_violation={c.name: c.violation for c in constraints},
            constraints=constraints,
            x_feasible=x.copy() if feasible else None,
            x_least_violation=x.copy() if best is not None else None,
            n_failed=ending.failed,
            failures=[replace(failure, x=units.x(failure.x)) for failure in ending.failures],
            n_calls=ending.evaluations if ending.calls is None else ending.calls,
            seconds=ending.seconds,
            eval_seconds_mean=ending.eval_seconds_mean,
            eval_seconds_max=ending.eval_seconds_max,
            original=original,
            history=units.history({name: column[known] for name, column in ending.history.items()}),
            population=units.points(ending.population),
        )

    @classmethod
    def so_far(cls, run: Run | Searches, units: Units) -> Result:
        """Return the result so far, for a callback; only the last row of the history is in it, as `latest`."""
        best = units.points(run.best)
        x, f, violation = _point(best, run.task.dimension)
        return cls(
            x=x,
            fun=f,
            feasible=best is not None and bool(best.feasible[0]),
            violation=violation,
            constr_violation={},
            message=STATUS[RUNNING],
            nfev=run.evaluations,
            nit=run.completed,
            n_failed=run.failed,
            latest=units.history(run.latest),
            population=_copied(units.points(run.state.population)) if run.state is not None else None,
        )


def _point(best: Population | None, dimension: int) -> tuple[np.ndarray, float, float]:
    """Return x (d,), objective and violation of the best point; NaN, NaN and infinity if there is none."""
    if best is None:
        return np.full(dimension, np.nan), np.nan, np.inf
    return best.x[0].copy(), float(best.f[0]), float(best.violation[0])


def _copied(points: Population | None) -> Population | None:
    """Return a copy: a callback may write into what it is given, and the search goes on with the original."""
    if points is None:
        return None
    return Population(*(np.array(getattr(points, field.name)) for field in fields(Population)))


@dataclass(frozen=True)
class ConstraintReport:
    """A constraint at a point; `slack` is the distance to being violated, negative if it is violated."""

    name: str
    kind: str  # 'inequality': value <= 0, or 'equality': abs(value) <= tolerance
    value: float
    slack: float
    violation: float
    active: bool  # an equality, or an inequality that is violated or within the tolerance of being so


def constraint_reports(
    g: np.ndarray, h: np.ndarray, units: Units, names: Sequence[str] | None
) -> list[ConstraintReport]:
    """Return a report on each constraint of a point, in the user's units, inequalities first.

    g (p,) and h (q,) are the values in the search.

    Examples
    --------
    >>> units = Units(tolerance=0.1)
    >>> reports = constraint_reports(np.array([-2.0, 0.5]), np.array([-0.3]), units, ["mass", "stress", "balance"])
    >>> for report in reports:
    ...     print(report.name, round(report.slack, 3), round(report.violation, 3), report.active)
    mass 2.0 0.0 False
    stress -0.5 0.5 True
    balance -0.2 0.2 True
    """
    if names is None or len(names) != len(g) + len(h):
        names = [f"g[{j}]" for j in range(len(g))] + [f"h[{j}]" for j in range(len(h))]
    scale = np.ones(len(g) + len(h)) if units.scale is None else units.scale
    allowed = np.zeros(len(g)) if units.slack is None else units.slack
    slack = (scale * np.concatenate([-g, units.tolerance - np.abs(h)])).tolist()
    values = (scale * np.concatenate([g, h]) + np.concatenate([allowed, np.zeros(len(h))])).tolist()
    near = (scale * np.max(units.tolerance)).tolist()
    return [
        ConstraintReport(
            name=name,
            kind="inequality" if k < len(g) else "equality",
            value=value,
            slack=slack[k] + 0.0,  # never a negative zero
            violation=max(0.0, -slack[k]),
            active=k >= len(g) or slack[k] <= near[k],
        )
        for k, (name, value) in enumerate(zip(_distinct(names), values, strict=True))
    ]


def _distinct(names: Sequence[str]) -> list[str]:
    """Return the names, with their place added to those that occur more than once."""
    count = Counter(names)
    return [name if count[name] == 1 else f"{name} ({k})" for k, name in enumerate(names)]


def _about_constraints(constraints: Sequence[ConstraintReport]) -> list[str]:
    """Return lines on the constraints: how many hold, then those violated, then those active."""
    if not constraints:
        return []
    violated = [c for c in constraints if c.violation > 0]
    active = [c for c in constraints if c.active and not c.violation > 0]
    lines = [
        f"  constraints  {len(constraints) - len(violated)} of {len(constraints)} hold, {len(active)} of them active"
    ]
    shown = [(f"    violated   {c.name} by {c.violation:.4g}") for c in sorted(violated, key=lambda c: -c.violation)]
    shown += [(f"    active     {c.name}, slack {c.slack:.4g}") for c in active]
    more = [f"    ...        and {len(shown) - CONSTRAINTS_SHOWN} more"] if len(shown) > CONSTRAINTS_SHOWN else []
    return lines + shown[:CONSTRAINTS_SHOWN] + more


def _about_failures(failures: Sequence[Failure]) -> list[str]:
    """Return lines on the most frequent reasons of failures, and how often each occurred."""
    reasons = Counter(" ".join(failure.reason.split()) for failure in failures)
    lines = [f"    failed     {count:,} x {reason[:80]}" for reason, count in reasons.most_common(REASONS_SHOWN)]
    more = [f"    ...        and {len(reasons) - REASONS_SHOWN} other reasons"] if len(reasons) > REASONS_SHOWN else []
    return lines + more


def keep_with(error: BaseException, result: OptimizeResult) -> None:
    """Let an exception that passes out of a search have the result so far as its `result`, with a note that says so.

    An attribute of that name which is the exception's own stays. After a run inside another one it is the outer's.
    """
    again = KEPT in getattr(error, "__notes__", ())
    if np.isnan(result.x).any() or (getattr(error, "result", None) is not None and not again):
        return
    with suppress(Exception):  # an exception may forbid it
        error.result = result  # type: ignore[attr-defined]
        if not again:
            error.add_note(KEPT)
