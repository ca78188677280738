"""What a run found, as a SciPy result."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import OptimizeResult

from .engines.host import Run
from .evaluation.in_process import Failure

STATUS = {
    0: "the budget is spent and a feasible point was found",
    1: "the budget is spent and no feasible point was found; x is the least violating one",
    2: "stopped by the callback",
    3: "interrupted",
    4: "every evaluation failed",
    5: "the run is not over",
}
SPENT, INFEASIBLE, STOPPED, INTERRUPTED, FAILED, RUNNING = range(6)


class Result(OptimizeResult):
    """A `scipy.optimize.OptimizeResult` that reads well when printed."""

    def __repr__(self) -> str:
        lines = [f"{'feasible' if self.feasible else 'NOT FEASIBLE'}: {self.message}"]
        lines += [f"  f            {self.fun:.10g}"]
        lines += [f"  violation    {self.violation:.4g}"]
        for name, amount in self.constr_violation.items():
            if amount > 0:
                lines.append(f"    violated   {name} by {amount:.4g}")
        with np.printoptions(precision=8, threshold=12, linewidth=100):
            lines += ["  x            " + str(self.x).replace("\n", "\n               ")]
        lines += [
            f"  evaluations  {self.nfev} in {self.nit} generations" + f", {self.n_failed} failed" * (self.n_failed > 0)
        ]
        return "\n".join(lines)

    __str__ = __repr__


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
    run: Run, names: Sequence[str] | None, status: int, tolerance: float, failures: Sequence[Failure] = ()
) -> Result:
    """The result of a run, over or not."""
    best = run.best
    dimension = run.task.dimension
    feasible = best is not None and bool(best.feasible[0])
    if status == SPENT and not feasible:
        status = INFEASIBLE if best is not None else FAILED
    message = STATUS[status]
    if status == FAILED and failures:
        message += f" ({run.failed} of {run.evaluations}); the first with {failures[0]}"
    x = best.x[0].copy() if best is not None else np.full(dimension, np.nan)
    g = best.g[0] if best is not None else np.empty(0)
    h = best.h[0] if best is not None else np.empty(0)
    amounts = np.concatenate([np.maximum(g, 0.0), np.maximum(np.abs(h) - tolerance, 0.0)])
    if names is None or len(names) != len(amounts):
        names = [f"g[{j}]" for j in range(len(g))] + [f"h[{j}]" for j in range(len(h))]
    return Result(
        x=x,
        fun=float(best.f[0]) if best is not None else np.nan,
        success=feasible,
        status=status,
        message=message,
        nfev=run.evaluations,
        nit=run.completed,
        feasible=feasible,
        violation=float(best.violation[0]) if best is not None else np.inf,
        maxcv=float(amounts.max(initial=0.0)) if best is not None else np.inf,
        constr_violation=dict(zip(_distinct(names), amounts.tolist(), strict=True)),
        x_feasible=x.copy() if feasible else None,
        x_least_violation=x.copy() if best is not None else None,
        n_failed=run.failed,
        failures=list(failures),
        original=_original(run),
        history=run.history,
        population=run.state.population if run.state is not None else None,
    )


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


def _distinct(names: Sequence[str]) -> list[str]:
    """The names, those that stand twice told apart by a number."""
    return [name if names.count(name) == 1 else f"{name} ({k})" for k, name in enumerate(names)]
