"""Objective and violation along runs, recorded at some numbers of evaluations, a row per run."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .outcomes import Outcomes

LARGEST = float(np.finfo(float).max)  # so that a missing record does not reach a target of +inf


@dataclass(frozen=True)
class Records:
    """Records of the runs of one algorithm on one problem, in the order in which they were made.

    Parameters
    ----------
    evaluations : array_like, (runs, points) or (points,)
        How many had been made at each point; never falling. NaN where there is no record.
    f, violation : array_like, (runs, points)
        Of the best point so far, or of any points: only the smallest objective of a feasible record so far and the
        least violation so far count. A record with NaN, f = -inf or an infinite violation counts as none.
        Violations are 0 exactly where feasible; all of them if not given.

    Examples
    --------
    >>> records = Records([100, 200, 300, 400], [[0.0, 5.0, 3.0, 4.0]], [[0.7, 0.0, 0.0, 0.0]])
    >>> records.feasible_f.tolist()
    [[inf, 5.0, 3.0, 3.0]]
    >>> records.least_violation.tolist()
    [[0.7, 0.0, 0.0, 0.0]]
    >>> records.outcomes.f.tolist()
    [3.0]
    """

    evaluations: np.ndarray
    f: np.ndarray
    violation: np.ndarray

    def __init__(self, evaluations: ArrayLike, f: ArrayLike, violation: ArrayLike | None = None):
        values = np.array(f, dtype=float)
        if values.ndim != 2 or not values.size:
            raise ValueError(f"f must have shape (runs, points), at least one of each; got {values.shape}")
        missed = np.zeros_like(values) if violation is None else np.array(violation, dtype=float)
        if missed.shape != values.shape:
            raise ValueError(f"violation must have the shape of f, {values.shape}; got {missed.shape}")
        if (missed < 0).any():
            raise ValueError(f"violation must be >= 0; got {missed.min()}")
        made = np.array(evaluations, dtype=float)
        if made.shape not in (values.shape, values.shape[1:]):
            raise ValueError(f"evaluations must have shape {values.shape} or {values.shape[1:]}; got {made.shape}")
        made = np.array(np.broadcast_to(made, values.shape))
        for row in made:
            known = row[~np.isnan(row)]
            if (known < 0).any() or (np.diff(known) < 0).any():
                raise ValueError(f"evaluations must be >= 0 and never fall; got {row.tolist()}")
        there = ~np.isnan(made) & (values > -np.inf) & (missed < np.inf)  # false for NaN
        object.__setattr__(self, "evaluations", made)
        object.__setattr__(self, "f", np.where(there, values, np.nan))
        object.__setattr__(self, "violation", np.where(there, missed, np.nan))

    @property
    def runs(self) -> int:
        return len(self.f)

    @property
    def feasible_f(self) -> np.ndarray:
        """The smallest feasible objective so far (runs, points); +inf before the first."""
        return np.minimum.accumulate(np.where(self.violation == 0, self.f, np.inf), axis=1)

    @property
    def least_violation(self) -> np.ndarray:
        """The least violation so far (runs, points); +inf before the first record."""
        return np.minimum.accumulate(np.where(np.isnan(self.violation), np.inf, self.violation), axis=1)

    @property
    def outcomes(self) -> Outcomes:
        """The final values of the runs: the best feasible record, else the least violating one; NaN without records."""
        least = self.least_violation[:, -1]
        at_least = np.where(self.violation == least[:, None], self.f, np.inf).min(axis=1)
        there = least < np.inf
        return Outcomes(np.where(there, at_least, np.nan), np.where(there, least, np.nan))

    def first_feasible_below(self, targets: ArrayLike) -> np.ndarray:
        """Evaluations at the first record of each run with a feasible f <= each target (runs, targets); else +inf."""
        return self._first(self.feasible_f, np.asarray(targets, dtype=float))

    def first_violation_below(self, targets: ArrayLike) -> np.ndarray:
        """Evaluations at the first record of each run with a violation <= each target (runs, targets); else +inf."""
        return self._first(self.least_violation, np.asarray(targets, dtype=float))

    def _first(self, falling: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """Find targets (targets,), or (runs, targets) where each run has its own."""
        wanted = np.broadcast_to(targets, (self.runs, targets.shape[-1]))
        found = np.empty(wanted.shape)
        for run, row in enumerate(falling):
            at = np.searchsorted(-row, -np.minimum(wanted[run], LARGEST), side="left")
            found[run] = np.append(self.evaluations[run], np.inf)[at]
        return found
