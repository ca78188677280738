"""The jobs of the gauntlet: tasks for a library, and the rules by which its answers are judged."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

TOLERANCE = 1e-4  # how far an equality may be missed


@dataclass(frozen=True)
class Task:
    """Minimise `f` inside a box; constraints are functions of their own, as most libraries want them."""

    f: Callable[[np.ndarray], Any]  # of one point, or of rows if `rows`
    low: tuple[float, ...]
    high: tuple[float, ...]
    evaluations: int
    g: Callable[[np.ndarray], list[float]] | None = None  # <= 0
    h: Callable[[np.ndarray], list[float]] | None = None  # = 0
    counts: tuple[int, int] = (0, 0)  # of g and h
    rows: bool = False
    workers: int = 1


@dataclass(frozen=True)
class Answer:
    """The result of a library; None for a figure that it does not report."""

    x: np.ndarray | None
    fun: float | None = None
    success: bool | None = None
    nfev: int | None = None


class NotOffered(Exception):
    """The library has no such feature."""


@dataclass
class Counted:
    """A function that counts the points it evaluates."""

    f: Callable[[np.ndarray], Any]
    rows: bool
    points: int = field(default=0)

    def __deepcopy__(self, memory: dict[int, Any]) -> Counted:
        return self  # pygmo copies its arguments, and the count would be lost

    def __call__(self, x: np.ndarray) -> Any:
        self.points += len(x) if self.rows else 1
        return self.f(x)


@dataclass(frozen=True)
class Attempt:
    """One run of a job by a library, as seen from outside its process."""

    ended: str  # 'answered', 'raised', 'hung', 'died' or 'not offered'
    words: str = ""  # the error, or the signal that killed the process
    x: tuple[float, ...] | None = None
    fun: float | None = None
    success: bool | None = None
    nfev: int | None = None
    points: int = 0  # evaluated in the library's main process


@dataclass(frozen=True)
class Verdict:
    passed: bool
    words: str


@dataclass(frozen=True)
class Job:
    title: str
    rule: str  # when the job is passed, in words
    task: Task
    judge: Callable[[Sequence[Attempt]], Verdict]
    seeds: tuple[int, ...] = (1,)
    seconds: float = 60.0  # for one run; several times the need of the slowest library


def sphere(x: np.ndarray) -> float:
    return float((np.asarray(x) ** 2).sum())


def ring_sums(x: np.ndarray) -> list[float]:
    return [float(x[0] + x[1] - 1), float(x[0] * x[2] - 0.5)]


def beside_the_gap(x: np.ndarray) -> float:
    """Smallest at (-2, 0), where the constraint is NaN; 5 at the best feasible point (0, 1)."""
    return float((x[0] + 2) ** 2 + x[1] ** 2)


def known_on_the_right(x: np.ndarray) -> list[float]:
    return [float(1 - x[0] - x[1]) if x[0] >= 0 else float("nan")]


def shifted(x: np.ndarray) -> float:
    """Smallest, 0, at (1, 0)."""
    return float((x[0] - 1) ** 2 + x[1] ** 2)


def half_blind(x: np.ndarray) -> float:
    return shifted(x) if x[0] >= 0 else float("nan")


def raising(x: np.ndarray) -> float:
    if x[0] < 0:
        raise RuntimeError("the simulator did not converge")
    return shifted(x)


def complex_sphere(x: np.ndarray) -> np.complex128:
    """A complex number as NumPy's functions give it."""
    return np.complex128(complex(sphere(x), float(x[0])))


def deadly(x: np.ndarray) -> float:
    """Takes its process with it at some points."""
    if x[0] < -1:
        os.kill(os.getpid(), signal.SIGSEGV)
    return shifted(x)


def sphere_of_rows(x: np.ndarray) -> Any:
    return (x**2).sum(axis=1)


def lost(attempt: Attempt) -> Verdict | None:
    """Return the verdict on a run without an answer, None if there is an answer."""
    if attempt.ended == "not offered":
        return Verdict(False, "not offered")
    if attempt.ended == "hung":
        return Verdict(False, "hangs")
    if attempt.ended == "died":
        return Verdict(False, f"run lost: {attempt.words}")
    if attempt.ended == "raised":
        return Verdict(False, f"run lost: {attempt.words or 'an error without a word'}")
    if attempt.x is None:
        return Verdict(False, "no point returned")
    return None


def claim(attempt: Attempt) -> str:
    return "" if attempt.success is None else f", `success={attempt.success}`"


def judge_toy_e(attempts: Sequence[Attempt]) -> Verdict:
    verdicts = [_toy_e(attempt) for attempt in attempts]
    passed = all(verdict.passed for verdict in verdicts)
    alike = [verdict.words for verdict in verdicts if verdict.passed == passed]
    words = "; ".join(dict.fromkeys(alike))  # each of them once
    return Verdict(passed, f"{words} ({len(alike)} of {len(verdicts)} seeds)")


def _toy_e(attempt: Attempt) -> Verdict:
    verdict = lost(attempt)
    if verdict is not None:
        return verdict
    x = np.array(attempt.x)
    missed = float(np.abs(ring_sums(x)).max())
    if not missed <= TOLERANCE:
        return Verdict(False, f"infeasible point, |h| = {missed:.7g}{claim(attempt)}")
    if not sphere(x) <= 1.068:
        return Verdict(False, f"f = {sphere(x):.4f}{claim(attempt)}")
    return Verdict(True, f"f = {sphere(x):.4f}")


def judge_nan_constraint(attempts: Sequence[Attempt]) -> Verdict:
    attempt = attempts[0]
    verdict = lost(attempt)
    if verdict is not None:
        return verdict
    x = np.array(attempt.x)
    g = known_on_the_right(x)[0]
    if not g <= TOLERANCE:  # NaN too
        kind = "the NaN point is returned" if np.isnan(g) else f"infeasible point, g = {g:.2g}"
        return Verdict(False, f"{kind}{claim(attempt)}")
    return _within(beside_the_gap(x), 5.01, attempt)


def judge_nan_objective(attempts: Sequence[Attempt]) -> Verdict:
    attempt = attempts[0]
    verdict = lost(attempt)
    if verdict is not None:
        return verdict
    value = half_blind(np.array(attempt.x))
    if np.isnan(value):
        return Verdict(False, f"`fun=nan`{claim(attempt)}")
    return _within(value, 0.01, attempt)


def judge_survival(attempts: Sequence[Attempt]) -> Verdict:
    attempt = attempts[0]
    return lost(attempt) or _within(shifted(np.array(attempt.x)), 0.01, attempt)


def _within(value: float, limit: float, attempt: Attempt) -> Verdict:
    if value <= limit:
        return Verdict(True, "ok")
    return Verdict(False, f"stuck at {value:.3g}{claim(attempt)}")


def judge_complex(attempts: Sequence[Attempt]) -> Verdict:
    attempt = attempts[0]
    if attempt.ended == "answered":
        return Verdict(False, "imaginary part dropped")
    if attempt.ended == "raised" and "complex" in attempt.words:
        return Verdict(True, "refused")
    if attempt.ended == "raised":
        return Verdict(False, f"an error that does not say complex: {attempt.words}")
    return lost(attempt) or Verdict(False, attempt.ended)


def judge_count(attempts: Sequence[Attempt]) -> Verdict:
    attempt = attempts[0]
    verdict = lost(attempt)
    if verdict is not None:
        return verdict
    if attempt.nfev != attempt.points:
        return Verdict(False, f"{attempt.nfev:,} for {attempt.points:,}")
    return Verdict(True, f"{attempt.nfev:,} for {attempt.points:,}")


def judge_refusal(attempts: Sequence[Attempt]) -> Verdict:
    attempt = attempts[0]
    if attempt.ended == "answered":
        return Verdict(False, "silently accepted")
    if attempt.ended != "raised":
        return lost(attempt) or Verdict(False, attempt.ended)
    kind, _, message = attempt.words.partition(": ")
    if not message.strip():
        return Verdict(False, f"empty {kind}")
    return Verdict(
        attempt.points == 0, "refused" if attempt.points == 0 else f"refused after {attempt.points} evaluations"
    )


SQUARE = Task(sphere, (-5.0, -5.0), (5.0, 5.0), 4_000)

JOBS = {
    "toy-e": Job(
        "Toy E: two equalities",
        "returns a point with |h| <= 1e-4 and f <= 1.068 (the optimum is 1.0672), with each of three seeds",
        Task(sphere, (-5.0,) * 3, (5.0,) * 3, 60_000, h=ring_sums, counts=(0, 2)),
        judge_toy_e,
        seeds=(1, 2, 3),
        seconds=300.0,
    ),
    "nan-constraint": Job(
        "constraint NaN where x0 < 0",
        "returns a point where the constraint is a number and holds (to 1e-4), with f <= 5.01",
        replace(SQUARE, f=beside_the_gap, evaluations=10_000, g=known_on_the_right, counts=(1, 0)),
        judge_nan_constraint,
    ),
    "nan-objective": Job(
        "objective NaN on half the box",
        "returns a point with f <= 0.01",
        replace(SQUARE, f=half_blind),
        judge_nan_objective,
    ),
    "raises": Job(
        "objective raises at some points",
        "returns a point with f <= 0.01",
        replace(SQUARE, f=raising),
        judge_survival,
    ),
    "complex": Job(
        "objective returns complex",
        "raises an error that says complex",
        replace(SQUARE, f=complex_sphere),
        judge_complex,
    ),
    "workers": Job(
        "2 workers, nothing wrong",
        "returns a point with f <= 0.01; the control of the next row",
        replace(SQUARE, f=shifted, evaluations=2_000, workers=2),
        judge_survival,
    ),
    "segfault": Job(
        "worker segfaults, 2 workers",
        "returns a point with f <= 0.01 within the time limit",
        replace(SQUARE, f=deadly, evaluations=2_000, workers=2),
        judge_survival,
    ),
    "count": Job(
        "`nfev` with vectorised objective",
        "reports as many evaluations as points were evaluated",
        replace(SQUARE, f=sphere_of_rows, rows=True),
        judge_count,
    ),
    "bounds": Job(
        "lower > upper",
        "raises an error that says something, before any evaluation",
        replace(SQUARE, low=(5.0, -5.0), high=(-5.0, 5.0)),
        judge_refusal,
    ),
}
