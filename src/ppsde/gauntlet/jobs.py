"""The jobs, and the rules by which the answers are judged."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .task import TOLERANCE, Task


@dataclass(frozen=True)
class Told:
    """All that is known of one run in its own process."""

    ended: str  # 'answered', 'raised', 'hung', 'died' or 'not offered'
    words: str = ""  # of the error, or what killed it
    x: tuple[float, ...] | None = None
    fun: float | None = None
    success: bool | None = None
    nfev: int | None = None
    points: int = 0  # that the function was asked for in the library's main process


@dataclass(frozen=True)
class Verdict:
    passed: bool
    words: str


@dataclass(frozen=True)
class Job:
    title: str
    rule: str  # what it takes to pass, in words
    task: Task
    judge: Callable[[Sequence[Told]], Verdict]
    seeds: tuple[int, ...] = (1,)
    seconds: float = 60.0  # for one run; several times what the slowest library needs


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


def lost(told: Told) -> Verdict | None:
    """The verdict on a run that brought no answer."""
    if told.ended == "not offered":
        return Verdict(False, "not offered")
    if told.ended == "hung":
        return Verdict(False, "hangs")
    if told.ended == "died":
        return Verdict(False, f"run lost: {told.words}")
    if told.ended == "raised":
        return Verdict(False, f"run lost: {told.words or 'an error without a word'}")
    if told.x is None:
        return Verdict(False, "no point returned")
    return None


def claim(told: Told) -> str:
    return "" if told.success is None else f", `success={told.success}`"


def judge_toy_e(all_told: Sequence[Told]) -> Verdict:
    verdicts = [_toy_e(told) for told in all_told]
    passed = all(verdict.passed for verdict in verdicts)
    alike = [verdict.words for verdict in verdicts if verdict.passed == passed]
    words = "; ".join(dict.fromkeys(alike))  # each of them once
    return Verdict(passed, f"{words} ({len(alike)} of {len(verdicts)} seeds)")


def _toy_e(told: Told) -> Verdict:
    verdict = lost(told)
    if verdict is not None:
        return verdict
    x = np.array(told.x)
    missed = float(np.abs(ring_sums(x)).max())
    if not missed <= TOLERANCE:
        return Verdict(False, f"infeasible point, |h| = {missed:.7g}{claim(told)}")
    if not sphere(x) <= 1.068:
        return Verdict(False, f"f = {sphere(x):.4f}{claim(told)}")
    return Verdict(True, f"f = {sphere(x):.4f}")


def judge_nan_constraint(all_told: Sequence[Told]) -> Verdict:
    told = all_told[0]
    verdict = lost(told)
    if verdict is not None:
        return verdict
    x = np.array(told.x)
    g = known_on_the_right(x)[0]
    if not g <= TOLERANCE:  # NaN too
        kind = "the NaN point is returned" if np.isnan(g) else f"infeasible point, g = {g:.2g}"
        return Verdict(False, f"{kind}{claim(told)}")
    return _within(beside_the_gap(x), 5.01, told)


def judge_nan_objective(all_told: Sequence[Told]) -> Verdict:
    told = all_told[0]
    verdict = lost(told)
    if verdict is not None:
        return verdict
    value = half_blind(np.array(told.x))
    if np.isnan(value):
        return Verdict(False, f"`fun=nan`{claim(told)}")
    return _within(value, 0.01, told)


def judge_survival(all_told: Sequence[Told]) -> Verdict:
    told = all_told[0]
    return lost(told) or _within(shifted(np.array(told.x)), 0.01, told)


def _within(value: float, limit: float, told: Told) -> Verdict:
    if value <= limit:
        return Verdict(True, "ok")
    return Verdict(False, f"stuck at {value:.3g}{claim(told)}")


def judge_complex(all_told: Sequence[Told]) -> Verdict:
    told = all_told[0]
    if told.ended == "answered":
        return Verdict(False, "imaginary part dropped")
    if told.ended == "raised" and "complex" in told.words:
        return Verdict(True, "refused")
    if told.ended == "raised":
        return Verdict(False, f"an error that does not say complex: {told.words}")
    return lost(told) or Verdict(False, told.ended)


def judge_count(all_told: Sequence[Told]) -> Verdict:
    told = all_told[0]
    verdict = lost(told)
    if verdict is not None:
        return verdict
    if told.nfev != told.points:
        return Verdict(False, f"{told.nfev:,} for {told.points:,}")
    return Verdict(True, f"{told.nfev:,} for {told.points:,}")


def judge_refusal(all_told: Sequence[Told]) -> Verdict:
    told = all_told[0]
    if told.ended == "answered":
        return Verdict(False, "silently accepted")
    if told.ended != "raised":
        return lost(told) or Verdict(False, told.ended)
    kind, _, message = told.words.partition(": ")
    if not message.strip():
        return Verdict(False, f"empty {kind}")
    return Verdict(told.points == 0, "refused" if told.points == 0 else f"refused after {told.points} evaluations")


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
