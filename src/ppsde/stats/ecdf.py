"""The share of targets that an algorithm reached, as a function of evaluations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .records import Records
from .tables import TableRow


@dataclass(frozen=True)
class Ecdf:
    """The share of (problem, target) pairs that was reached, at some numbers of evaluations."""

    evaluations: np.ndarray  # (steps,), ascending
    share: np.ndarray  # (steps,), from 0 to 1
    pairs: int  # problems times their targets
    runs: int  # of all problems together
    n_never_feasible: int  # runs without any feasible record, failed ones included

    def rows(self) -> list[TableRow]:
        """A row per step."""
        return [{"evaluations": float(e), "share": float(s)} for e, s in zip(self.evaluations, self.share, strict=True)]


def target_ecdf(
    records: Mapping[str, Records],
    targets: Mapping[str, ArrayLike],
    *,
    at: ArrayLike | None = None,
    variables: Mapping[str, int] | None = None,
) -> Ecdf:
    """Return the share of (problem, target) pairs that one algorithm reached, as a function of evaluations.

    A target is reached at the first record whose f is feasible and no larger. Each pair counts by the share of the
    problem's runs that reached it; a run that never did, because it failed, stayed infeasible or ran out of budget,
    never counts. So the curve ends below 1 where something was not solved.

    Parameters
    ----------
    records : mapping of problem to Records
    targets : mapping of problem to array_like
        Objectives, such as the best known value plus 1, 0.1, 0.01, ..; for every problem of the records.
    at : array_like, optional
        Numbers of evaluations. If not given, those at which the curve steps up.
    variables : mapping of problem to int, optional
        Evaluations are divided by these, as is usual where problems differ in dimension.

    Returns
    -------
    Ecdf

    Examples
    --------
    >>> from ppsde.stats import as_text
    >>> records = {"C01": Records([10, 20, 30], [[5.0, 1.0, 0.1], [5.0, 0.0, 0.0]], [[0, 0, 0], [0, 1, 1]])}
    >>> print(as_text(target_ecdf(records, {"C01": [5.0, 1.0]}).rows()))
    evaluations  share
             10    0.5
             20   0.75
    """
    if not records or set(records) != set(targets):
        raise ValueError(f"targets must be given for the problems {sorted(records)}; got {sorted(targets)}")
    times, weights = [], []
    for problem, runs in records.items():
        wanted = np.asarray(targets[problem], dtype=float)
        if wanted.ndim != 1 or not wanted.size or np.isnan(wanted).any():
            raise ValueError(f"targets of {problem} must be one or more numbers; got {targets[problem]!r}")
        hits = runs.first_feasible_below(wanted) / (1 if variables is None else variables[problem])
        times.append(hits.ravel())
        weights.append(np.full(hits.size, 1 / runs.runs))
    time, weight = np.concatenate(times), np.concatenate(weights)
    pairs = sum(np.size(wanted) for wanted in targets.values())
    steps = np.unique(time[time < np.inf]) if at is None else np.sort(np.asarray(at, dtype=float).ravel())
    order = np.argsort(time, kind="stable")
    reached = np.append(0.0, np.cumsum(weight[order]))
    share = reached[np.searchsorted(time[order], steps, side="right")] / pairs
    never = sum(int((runs.least_violation[:, -1] > 0).sum()) for runs in records.values())
    total = sum(runs.runs for runs in records.values())
    return Ecdf(steps, np.minimum(share, 1.0), pairs, total, never)
