"""What a finished run gave, put into the arrays of a row, in the same words whichever engine ran it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from ..engines.ending import Ending
from ..population import Population, competition_violation
from ..problem import Problem
from .job import Job
from .rows import FAILED, OK, Row
from .store import ANSWER, RECORD

_ADDRESS = re.compile(r"0x[0-9a-fA-F]+")


def row_of(
    job: Job, run: int, ending: Ending, tolerance: float, record: Mapping[str, np.ndarray], **more: np.ndarray
) -> Row:
    """The row of a run that has ended; `record` are columns along it."""
    best, answer = ending.best, ending.answer or ending.best
    if best is None or answer is None:
        first = f"; the first with {ending.failures[0]}" if ending.failures else ""
        message = f"every evaluation failed ({ending.evaluations}){first}"
        return failed_row(job.id, run, job.dimension, message, ending.evaluations)
    points = _point(best, tolerance), _point(answer, tolerance)
    return _row(job.id, run, ending.evaluations, *points, record, more)


def _row(
    job: str,
    run: int,
    evaluations: int,
    best: Mapping[str, np.ndarray],
    answer: Mapping[str, np.ndarray],
    record: Mapping[str, np.ndarray],
    more: Mapping[str, np.ndarray] = MappingProxyType({}),
) -> Row:
    arrays: dict[str, np.ndarray] = {"evaluations": np.array(evaluations, np.int64), **more, **best}
    arrays |= {ANSWER + name: value for name, value in answer.items()}
    arrays |= {RECORD + name: np.asarray(column, float) for name, column in record.items()}
    return Row(job, run, OK, "", arrays)


def failed_row(job: str, run: int, dimension: int, message: str, evaluations: int = 0) -> Row:
    """The row of a run that gave nothing. Addresses in memory, which no two runs share, are left out of the message."""
    nothing = point(np.full(dimension, np.nan), np.nan, np.inf, np.empty(0), np.empty(0), 0.0)
    row = _row(job, run, evaluations, nothing, nothing, {})
    return Row(job, run, FAILED, _ADDRESS.sub("0x..", " ".join(message.split())), row.arrays)


def _point(points: Population, tolerance: float) -> dict[str, np.ndarray]:
    x, f, violation, g, h = (column[0] for column in (points.x, points.f, points.violation, points.g, points.h))
    return point(x, float(f), float(violation), g, h, tolerance)


def point(
    x: np.ndarray, f: float, violation: float, g: np.ndarray, h: np.ndarray, tolerance: float
) -> dict[str, np.ndarray]:
    """A point (d,) and what is known of it: g (p,), h (q,), and both measures of its violation.

    Both measures are 0 exactly where the point is feasible, which is for the search to say: g and h may have been
    computed again, by other instructions, and be off in the last bit.
    """
    amounts = np.concatenate([np.maximum(g, 0.0), np.where(np.abs(h) > tolerance, np.abs(h), 0.0)])
    competition = float(competition_violation(g[None], h[None], tolerance)[0])
    if violation == 0.0:
        amounts, competition = np.zeros_like(amounts), 0.0
    elif not np.isfinite(violation):
        competition = np.inf
    elif not competition > 0.0:
        competition = violation / max(1, len(amounts))
    return {
        "x": np.array(x, float),
        "f": np.array(f, float),
        "violation": np.array(violation, float),
        "competition_violation": np.array(competition, float),
        "feasible": np.array(violation == 0.0),
        "g": np.array(g, float),
        "h": np.array(h, float),
        "by_constraint": amounts,
    }


def constraints_at(problem: Problem, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """g (p,) and h (q,) at a point (d,); NaN where it has none."""
    if np.isnan(x).any():
        return np.full(problem.n_ineq or 0, np.nan), np.full(problem.n_eq or 0, np.nan)
    with np.errstate(all="ignore"):
        _, g, h = problem.evaluate(x[None])
    return np.asarray(g, float)[0], np.asarray(h, float)[0]
