"""How one point stands with each constraint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


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
