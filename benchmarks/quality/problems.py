"""Problems of the quality benchmark, and the counter through which every solver evaluates them."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, replace
from time import process_time

import numpy as np

import ppsde
from ppsde.population import search_violation

from .generated import SUITE as GENERATED

BESIDE = {
    "cec2006": ("g20", "g22")
}  # run, yet reported apart: g20 has no feasible point, and hardly any solver does g22
STEP = 1e-3  # height of a stair, relative to max(1, |best known|)
REMEMBERED = 1000  # points whose values can be asked for again without another evaluation

Values = tuple[np.ndarray, np.ndarray, np.ndarray]  # f (n,), g (n, p), h (n, q)


@dataclass(frozen=True)
class Variant:
    """Changes of an objective: noise relative to f, fixed by the point, and rounding down to stairs."""

    noise: float = 0.0
    staircase: bool = False

    def shown(self, x: np.ndarray, f: np.ndarray, scale: float) -> np.ndarray:
        """Return the objective that solvers get for the rows x with the values f."""
        if self.staircase:
            f = stairs(f, scale)
        return f * (1.0 + self.noise * noise_of(x)) if self.noise else f

    def judged(self, f: np.ndarray, scale: float) -> np.ndarray:
        """Return the objective by which an answer is judged: without noise, but with stairs."""
        return stairs(f, scale) if self.staircase else f


def stairs(f: np.ndarray, scale: float) -> np.ndarray:
    """Round down to multiples of STEP * scale; the minimum of the result is the rounded minimum."""
    return np.floor(f / (STEP * scale)) * (STEP * scale)


def noise_of(x: np.ndarray) -> np.ndarray:
    """Return numbers in [-1, 1), one for each row, that depend on the bits of the row and on nothing else."""
    mixed = np.full(len(x), 0x9E3779B97F4A7C15, np.uint64)
    for column in np.ascontiguousarray(x.T + 0.0).view(np.uint64):  # + 0.0: -0 and 0 are the same point
        mixed = (mixed ^ column) * np.uint64(0xBF58476D1CE4E5B9)
        mixed ^= mixed >> np.uint64(29)
        mixed *= np.uint64(0x94D049BB133111EB)
        mixed ^= mixed >> np.uint64(32)
    return (mixed >> np.uint64(11)) * 2.0**-52 - 1.0


def scale_of(best: float | None) -> float:
    """Return max(1, |best known|), to which errors and stairs are relative."""
    return 1.0 if best is None else max(1.0, abs(best))


def problem_of(suite: str, name: str, dimension: int | None = None, instance: int | None = None) -> ppsde.Problem:
    """Return a problem by name; the instance is for suites that have numbered ones."""
    more = {} if instance is None else {"instance": instance}
    return suite_of(suite).problem(name, dimension, **more)


def suite_of(name: str) -> ppsde.suites.Suite:
    """Return a suite of the package, or that of generated problems."""
    return GENERATED if name == "generated" else ppsde.suites.get(name)


def best_known(problem: ppsde.Problem) -> float | None:
    """Return the best value known; None if there is none, or no feasible point."""
    optimum = problem.optimum
    return None if optimum is None or optimum.status == "infeasible problem" else optimum.value


class BudgetSpent(Exception):
    """Raised by the counter when an evaluation beyond the budget is asked for."""


class Counter:
    """A problem that counts its evaluations, ends them at the budget and remembers the best point seen.

    An evaluation gives f, g and h together. The best point is feasible if any was, in the strict sense (g <= 0 and
    |h| <= tolerance), and has the least f that was shown to the solver; otherwise it has the least violation.
    """

    def __init__(self, problem: ppsde.Problem, budget: int, variant: Variant) -> None:
        self.original, self.variant = problem, variant
        self.problem = replace(problem, fun=self.rows, vectorized=True)
        self.scale = scale_of(best_known(problem))
        self.budget, self.evaluations, self.seconds = budget, 0, 0.0
        self.x: np.ndarray | None = None  # the best point
        self.f = self.judged = self.violation = np.inf  # of the best point, as shown and as judged
        self._memo: OrderedDict[bytes, tuple[float, np.ndarray, np.ndarray]] = OrderedDict()

    @property
    def left(self) -> int:
        return self.budget - self.evaluations

    def rows(self, x: np.ndarray) -> Values:
        """Evaluate rows (n, d); those within the budget count even if it ends before the last."""
        begun = process_time()
        try:
            asked = len(x)
            x = np.array(x[: self.left], float)
            if len(x):
                values = self._evaluated(x)
            if len(x) < asked:
                raise BudgetSpent(f"the budget of {self.budget} evaluations is spent")
            return values
        finally:
            self.seconds += process_time() - begun

    def at(self, x: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """Evaluate one point (d,); one of the last points asked for is not evaluated again."""
        key = x.tobytes()
        if key not in self._memo:
            f, g, h = self.rows(x[None])
            self._memo[key] = float(f[0]), g[0], h[0]
            if len(self._memo) > REMEMBERED:
                self._memo.popitem(last=False)
        return self._memo[key]

    def _evaluated(self, x: np.ndarray) -> Values:
        true_f, g, h = self.original.evaluate(x)
        self.evaluations += len(x)
        f = self.variant.shown(x, true_f, self.scale)
        violation = search_violation(g, h, self.original.tolerance)
        violation = np.where(np.isnan(f) | np.isnan(violation), np.inf, violation)
        row = np.lexsort((f, violation))[0]
        if (violation[row], f[row]) < (self.violation, self.f):
            self.x, self.f, self.violation = x[row], float(f[row]), float(violation[row])
            self.judged = float(self.variant.judged(true_f[row], self.scale))
        return f, g, h
