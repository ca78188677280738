"""The jobs of the gauntlet: tasks for a library, and the rules by which its answers are judged."""

from __future__ import annotations

import mmap
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
    solved: Callable[[np.ndarray], bool] | None = None  # whether a point is as good as the rule asks
    forks: bool = False


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
class Meter:
    """Counts evaluations. A point whose objective and constraints are asked for by two calls is one evaluation."""

    solved: Callable[[np.ndarray], bool] | None = None
    calls: dict[str, int] = field(default_factory=dict)  # of f, g and h
    solved_after: int | None = None  # evaluations

    @property
    def evaluations(self) -> int:
        return max(self.calls.values(), default=0)

    def count(self, what: str, x: np.ndarray, points: int) -> None:
        self.calls[what] = self.calls.get(what, 0) + points
        if self.solved is not None and self.solved_after is None and self.solved(x):
            self.solved_after = self.evaluations


@dataclass
class Counted:
    """A function whose points are counted."""

    function: Callable[[np.ndarray], Any]
    what: str  # f, g or h
    rows: bool
    meter: Meter

    def __deepcopy__(self, memory: dict[int, Any]) -> Counted:
        return self  # pygmo copies its arguments, and the count would be lost

    def __call__(self, x: np.ndarray) -> Any:
        self.meter.count(self.what, x, len(x) if self.rows else 1)
        return self.function(x)


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
    solved_after: int | None = None  # evaluations until a point was evaluated that is as good as the rule asks
    leaked: bool = False  # whether a process that the function forked went on with the search


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
    like: str | None = None  # judges the runs of another job
    seconds: float = 60.0  # for one run; several times the need of the slowest library


def sphere(x: np.ndarray) -> float:
    return float((np.asarray(x) ** 2).sum())


def ring_sums(x: np.ndarray) -> list[float]:
    return [float(x[0] + x[1] - 1), float(x[0] * x[2] - 0.5)]


def toy_e_solved(x: np.ndarray) -> bool:
    return bool(np.abs(ring_sums(x)).max() <= TOLERANCE and sphere(x) <= 1.068)


def lampinen_1(x: np.ndarray) -> float:
    """Problem L1 of SciPy's tests, g01 of CEC2006: -15 at (1, 1, 1, 1, 1, 1, 1, 1, 1, 3, 3, 3, 1)."""
    return float(5 * np.sum(x[:4]) - 5 * np.sum(np.square(x[:4])) - np.sum(x[4:]))


def lampinen_1_limits(x: np.ndarray) -> list[float]:
    sums = [(0, 1, 9, 10), (0, 2, 9, 11), (1, 2, 10, 11)]
    limits = [2 * x[i] + 2 * x[j] + x[k] + x[l] - 10 for i, j, k, l in sums]
    limits += [x[9 + i] - 8 * x[i] for i in range(3)]
    limits += [x[9 + i] - 2 * x[3 + 2 * i] - x[4 + 2 * i] for i in range(3)]
    return [float(limit) for limit in limits]


def lampinen_1_solved(x: np.ndarray) -> bool:
    return max(lampinen_1_limits(x)) <= TOLERANCE and lampinen_1(x) <= -14.995


def lampinen_4(x: np.ndarray) -> float:
    """Problem L4 of SciPy's tests, g10 of CEC2006: 7049.248."""
    return float(x[0] + x[1] + x[2])


def lampinen_4_limits(x: np.ndarray) -> list[float]:
    x1, x2, x3, x4, x5, x6, x7, x8 = x
    limits = [
        0.0025 * (x4 + x6) - 1,
        0.0025 * (x5 + x7 - x4) - 1,
        0.01 * (x8 - x5) - 1,
        100 * x1 + 833.33252 * x4 - x1 * x6 - 83333.333,
        1250 * x5 + x2 * x4 - x2 * x7 - 1250 * x4,
        1250000 + x3 * x5 - x3 * x8 - 2500 * x5,
    ]
    return [float(limit) for limit in limits]


def lampinen_4_solved(x: np.ndarray) -> bool:
    return max(lampinen_4_limits(x)) <= TOLERANCE and lampinen_4(x) <= 7049.26


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


LEAKED = mmap.mmap(-1, 1)  # shared with processes that are forked
PROCESSES: list[int] = []  # the first that called `forking`, and one that it forked


def forking(x: np.ndarray) -> float:
    """A simulator that forks once, at the first point with x0 < 0, and whose child comes back with a value too."""
    here = os.getpid()
    if here in PROCESSES[1:]:
        LEAKED[0] = 1  # the child is asked for another point
    if not PROCESSES:
        PROCESSES.append(here)
    if x[0] < 0 and len(PROCESSES) == 1:
        PROCESSES.append(0)
        if os.fork() == 0:
            PROCESSES[1] = os.getpid()
            return 0.0
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
    verdict = _together([_toy_e(attempt) for attempt in attempts])
    return Verdict(verdict.passed, f"{verdict.words}{spent(attempts)}")


def _together(verdicts: Sequence[Verdict]) -> Verdict:
    """Return one verdict for several seeds: passed if all are; the words of those that decide, each once."""
    passed = all(verdict.passed for verdict in verdicts)
    alike = [verdict.words for verdict in verdicts if verdict.passed == passed]
    return Verdict(passed, f"{'; '.join(dict.fromkeys(alike))} ({len(alike)} of {len(verdicts)} seeds)")


def judge_evaluations(attempts: Sequence[Attempt]) -> Verdict:
    """Judge by the evaluations until the job was solved, whatever was returned in the end."""
    counts = [attempt.solved_after for attempt in attempts]
    found = sorted(count for count in counts if count is not None)
    spent = f"{max((attempt.points for attempt in attempts), default=0):,}"
    if not found:
        return lost(attempts[0]) or Verdict(False, f"never, in {spent}")
    shown = ", ".join(f"{count:,}" for count in found)
    return Verdict(
        len(found) == len(counts), shown + ("" if len(found) == len(counts) else f"; else never, in {spent}")
    )


def judge_best(
    f: Callable[[np.ndarray], float], limits: Callable[[np.ndarray], list[float]], goal: float
) -> Callable[[Sequence[Attempt]], Verdict]:
    """Return a judge that asks for constraints that hold, to the tolerance, and for an objective."""

    def judge_one(attempt: Attempt) -> Verdict:
        verdict = lost(attempt)
        if verdict is not None:
            return verdict
        x = np.array(attempt.x)
        worst = max(limits(x))
        if not worst <= TOLERANCE:
            return Verdict(False, f"infeasible point, g = {worst:.2g}{claim(attempt)}")
        return Verdict(f(x) <= goal, f"f = {f(x):.7g}{'' if f(x) <= goal else claim(attempt)}")

    def judge(attempts: Sequence[Attempt]) -> Verdict:
        verdict = _together([judge_one(attempt) for attempt in attempts])
        return Verdict(verdict.passed, f"{verdict.words}{spent(attempts)}")

    return judge


def spent(attempts: Sequence[Attempt]) -> str:
    """Return the evaluations of runs in words."""
    counts = sorted(attempt.points for attempt in attempts if attempt.points)
    shown = " to ".join(dict.fromkeys(f"{count:,}" for count in counts[:: max(1, len(counts) - 1)]))
    return f", {shown} evaluations" if counts else ""


def judge_study(attempts: Sequence[Attempt]) -> Verdict:
    attempt = attempts[0]
    if attempt.ended != "answered":
        return lost(attempt) or Verdict(False, attempt.ended)
    if not attempt.success:
        return Verdict(False, "other results than those of the undisturbed study")
    return Verdict(
        attempt.nfev is not None and attempt.nfev <= STUDY_BUDGET,
        f"the same results, {attempt.nfev} evaluations of {STUDY_RUNS * STUDY_BUDGET:,} made twice",
    )


def judge_fork(attempts: Sequence[Attempt]) -> Verdict:
    if attempts[0].leaked:
        return Verdict(False, "a second process goes on with the search")
    return judge_survival(attempts)


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


STUDY_RUNS, STUDY_BUDGET = 12, 300


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

TOY_E = Task(sphere, (-5.0,) * 3, (5.0,) * 3, 60_000, h=ring_sums, counts=(0, 2), solved=toy_e_solved)

JOBS = {
    "toy-e": Job(
        "Toy E: two equalities",
        "returns a point with |h| <= 1e-4 and f <= 1.068 (the optimum is 1.0672), with each of three seeds",
        TOY_E,
        judge_toy_e,
        seeds=(1, 2, 3),
        seconds=300.0,
    ),
    "toy-e-evaluations": Job(
        "the same: evaluations until such a point",
        "evaluates such a point with each of the three seeds, whatever it returns in the end; the numbers are sorted",
        TOY_E,
        judge_evaluations,
        seeds=(1, 2, 3),
        seconds=300.0,
        like="toy-e",
    ),
    "L1": Job(
        "L1 of SciPy's tests: 13 variables, 9 inequalities",
        "returns a point with g <= 1e-4 and f <= -14.995 (the optimum is -15), with each of three seeds",
        Task(
            lampinen_1,
            (0.0,) * 13,
            (1.0,) * 9 + (100.0,) * 3 + (1.0,),
            60_000,
            g=lampinen_1_limits,
            counts=(9, 0),
            solved=lampinen_1_solved,
        ),
        judge_best(lampinen_1, lampinen_1_limits, -14.995),
        seeds=(1, 2, 3),
        seconds=300.0,
    ),
    "L4": Job(
        "L4 of SciPy's tests: 8 variables, 6 inequalities",
        "returns a point with g <= 1e-4 and f <= 7049.26 (the optimum is 7049.248), with each of three seeds",
        Task(
            lampinen_4,
            (100.0, 1000.0, 1000.0) + (10.0,) * 5,
            (10000.0,) * 3 + (1000.0,) * 5,
            60_000,
            g=lampinen_4_limits,
            counts=(6, 0),
            solved=lampinen_4_solved,
        ),
        judge_best(lampinen_4, lampinen_4_limits, 7049.26),
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
    "fork": Job(
        "simulator forks, and its child comes back",
        "returns a point with f <= 0.01, and no process but the first goes on with the search",
        replace(SQUARE, f=forking, forks=True),
        judge_fork,
    ),
    "study": Job(
        "study of 12 runs killed in the middle, started again",
        f"ends with the results of the undisturbed study, and makes at most {STUDY_BUDGET} evaluations, those of one "
        "run, again",
        SQUARE,
        judge_study,
        seconds=300.0,
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
