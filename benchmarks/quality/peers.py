"""Solvers of other libraries, each called as an experienced user of it would, until the budget is spent.

All search the unit box. A solver that ends early starts again elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

import numpy as np

from .problems import BudgetSpent, Counter

MARGIN = 1e-9  # inequalities are aimed at g <= -MARGIN, because solvers end a few units of rounding beside their aim
AIM = 0.999  # equalities are aimed at |h| <= AIM * tolerance, for the same reason


class UnitBox:
    """A counted problem on the unit box, one point at a time, with differences for solvers that need gradients."""

    def __init__(self, counter: Counter) -> None:
        problem = counter.problem
        self.counter = counter
        self.low, self.width = problem.lower, problem.upper - problem.lower
        self.d = problem.dimension
        self.p, self.q = problem.counts or (0, 0)
        self.tolerance = AIM * problem.tolerance
        self.step = np.sqrt(max(np.finfo(float).eps, counter.variant.noise))
        self._slopes: tuple[bytes, np.ndarray] = (b"", np.empty(0))

    def x(self, u: np.ndarray) -> np.ndarray:
        return self.low + self.width * np.clip(u, 0.0, 1.0)

    def f(self, u: np.ndarray) -> float:
        return self.counter.at(self.x(u))[0]

    def g(self, u: np.ndarray) -> np.ndarray:
        """Return the inequalities (p,), <= 0, with the margin."""
        return self.counter.at(self.x(u))[1] + MARGIN

    def h(self, u: np.ndarray) -> np.ndarray:
        """Return the equalities (q,)."""
        return self.counter.at(self.x(u))[2]

    def inequalities(self, u: np.ndarray) -> np.ndarray:
        """Return all constraints as inequalities (p + 2 q,), <= 0: g, then h and -h with the tolerance."""
        h = self.h(u)
        return np.concatenate([self.g(u), h - self.tolerance, -h - self.tolerance])

    def slopes(self, u: np.ndarray) -> np.ndarray:
        """Return the derivatives of f, g and h, (1 + p + q, d), by d evaluations; the last are stored."""
        u = np.clip(u, 0.0, 1.0)
        if self._slopes[0] != u.tobytes():
            steps = np.where(u + self.step <= 1.0, self.step, -self.step)
            f, g, h = self.counter.at(self.x(u))
            moved = self.counter.rows(self.x(u + np.diag(steps)))
            changes = np.column_stack(moved) - np.concatenate([[f], g, h])
            self._slopes = u.tobytes(), (changes / steps[:, None]).T
        return self._slopes[1]


Attempt = Callable[[UnitBox, np.random.Generator, int], None]  # the last argument counts the attempts from 0


def slsqp(box: UnitBox, rng: np.random.Generator, attempt: int) -> None:
    """Run SciPy's SLSQP from a random point; then again from its end with equalities as far off as they may be."""
    from scipy.optimize import minimize

    p, q = box.p, box.q
    start = rng.random(box.d)
    unit = max(1.0, abs(box.f(start)))
    below = {"type": "ineq", "fun": lambda u: -box.g(u), "jac": lambda u: -box.slopes(u)[1 : 1 + p]}
    equal = {"type": "eq", "fun": box.h, "jac": lambda u: box.slopes(u)[1 + p :]}
    loose = {
        "type": "ineq",
        "fun": lambda u: -box.inequalities(u),
        "jac": lambda u: -np.concatenate([box.slopes(u)[1:], -box.slopes(u)[1 + p :]]),
    }
    stages = [[below] * (p > 0) + [equal], [loose]] if q else [[below] * (p > 0)]
    for constraints in stages:
        start = minimize(
            lambda u: box.f(u) / unit,
            start,
            jac=lambda u: box.slopes(u)[0] / unit,
            method="SLSQP",
            bounds=[(0.0, 1.0)] * box.d,
            constraints=constraints,
            options={"maxiter": 200, "ftol": 1e-10},
        ).x


@dataclass(frozen=True)
class Peer:
    """A solver of another library: the package it needs, and one attempt with it."""

    package: str
    attempt: Attempt
    meaning: str

    def installed(self) -> bool:
        try:
            version(self.package)
        except PackageNotFoundError:
            return False
        return True


PEERS = {
    "slsqp": Peer("scipy", slsqp, "SciPy's SLSQP from random points"),
}


def solve(name: str, counter: Counter, seed: int) -> list[str]:
    """Spend the budget on attempts of a peer; return the errors that ended some of them, in words."""
    rng = np.random.default_rng(seed)
    box = UnitBox(counter)
    errors: list[str] = []
    attempt = 0
    while counter.left:
        before = counter.evaluations
        try:
            PEERS[name].attempt(box, rng, attempt)
        except BudgetSpent:
            break
        except Exception as error:
            if counter.left:  # otherwise it is the budget's end, in the library's own words
                errors.append(f"{type(error).__name__}: {error}")
        if counter.evaluations == before:
            errors.append("an attempt made no evaluation; given up")
            break
        attempt += 1
    return errors
