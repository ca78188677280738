"""The random driver: a problem, a method and options drawn from a number, solved, and everything about it checked.

python -m adversary.driver 0 1000      # in tests/: the cases 0 to 999, and what was found
"""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

import ppsde

METHODS = tuple(ppsde.ALGORITHMS)
BOXES = ("unit", "shifted", "far", "tiny", "wide", "widest", "point", "mixed")
OBJECTIVES = (
    *("sphere", "flat", "steps", "huge", "minus", "plus infinity", "nan", "minus infinity", "raises", "exits"),
    *("int", "float32", "array", "noise"),
)
CONSTRAINTS = (
    *("none", "easy", "half", "thin", "equality", "impossible", "huge", "overflow", "nan", "infinite", "many", "both"),
    "sometimes too few",
)


class Trouble(Exception):
    """Raised by objectives that raise."""


@dataclass
class Case:
    """A random problem; `calls` has every point that was asked for, with its values, None if it has none."""

    number: int

    def __post_init__(self) -> None:
        rng = np.random.default_rng([2026, self.number])
        self.method = str(rng.choice(METHODS))
        self.d = int(rng.integers(1, 6))
        self.budget = int(rng.choice([1, 2, 7, int(rng.integers(1, 400))]))
        self.lower, self.upper = self._box(str(rng.choice(BOXES)), rng)
        self.objective, self.constraint = str(rng.choice(OBJECTIVES)), str(rng.choice(CONSTRAINTS))
        self.centre = self.lower + rng.random(self.d) * (self.upper - self.lower)
        self.salt = int(rng.integers(2**31))
        self.vectorized = bool(rng.random() < 0.3)
        self.calls: list[tuple[np.ndarray, tuple[Any, Any, Any] | None]] = []
        self.asked: dict[str, Any] = {"max_evaluations": self.budget, "rng": int(rng.integers(2**31))}
        if rng.random() < 0.3:
            count = int(rng.integers(1, 4))
            self.asked["x0"] = self.lower + rng.random((count, self.d)) * (self.upper - self.lower)
        if rng.random() < 0.2:
            self.asked["tolerance"] = float(rng.choice([0.0, 1e-12, 1e-4, 1.0, 1e300]))
        if rng.random() < 0.2:
            self.asked["target"] = float(rng.choice([-1e300, 0.0, 0.5, 1e300]))
        if rng.random() < 0.15 and not (np.abs([self.lower, self.upper]) > 1e15).any():
            self.asked["integrality"] = rng.random(self.d) < 0.5
        if rng.random() < 0.1:
            self.asked["callback"] = self._stop_at(int(rng.integers(1, 200)))
        self.tolerance = self.asked.get("tolerance", 1e-4)

    def _box(self, kind: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        edges = {
            "unit": (0.0, 1.0),
            "shifted": (-3.7, 12.1),
            "far": (1e15, 1e15 + 100),
            "tiny": (-1e-300, 2e-300),
            "wide": (-1e300, 1e300),
            "widest": (-8e307, 8e307),
            "point": (0.3, 0.3),
        }
        names = [str(rng.choice(list(edges))) if kind == "mixed" else kind for _ in range(self.d)]
        lower, upper = zip(*(edges[name] for name in names), strict=True)
        return np.array(lower), np.array(upper)

    def _stop_at(self, evaluations: int) -> Any:
        def callback(intermediate: Any) -> bool:
            intermediate.population.x[:] = np.nan  # it is a copy
            return bool(intermediate.nfev >= evaluations)

        return callback

    def fun(self, x: np.ndarray) -> Any:
        """The function as the method calls it, of a point or of rows."""
        if not self.vectorized:
            return self._noted(x)
        rows = [self._noted(row) for row in x]
        parts = [row if isinstance(row, tuple) else (row, (), ()) for row in rows]
        f, g, h = zip(*parts, strict=True)
        return np.array([np.asarray(value, float).reshape(()) for value in f]), np.array(g, float), np.array(h, float)

    def _noted(self, x: np.ndarray) -> Any:
        self.calls.append((x.copy(), None))
        value = self._value(x)
        f, g, h = value if isinstance(value, tuple) else (value, (), ())
        self.calls[-1] = x.copy(), (float(np.asarray(f, float).reshape(())), np.asarray(g, float), np.asarray(h, float))
        return value

    def _value(self, x: np.ndarray) -> Any:
        width = np.where(self.upper > self.lower, self.upper - self.lower, 1.0)
        u = x / width - self.centre / width  # x - centre may overflow
        chance = np.random.default_rng([self.salt, *np.frombuffer(x.tobytes(), np.uint32).tolist()]).random()
        f: Any = float(u @ u)
        odd = chance < 0.3
        if self.objective == "flat":
            f = 1.0
        elif self.objective == "steps":
            f = float(np.floor(10 * u).sum())
        elif self.objective == "huge":
            f = 1e308 * (1 if u[0] > 0 else -1)
        elif self.objective == "minus":
            f = -f
        elif self.objective == "noise":
            f = chance
        elif self.objective == "int":
            f = int(1000 * f)
        elif self.objective == "float32":
            f = np.float32(f)
        elif self.objective == "array":
            f = np.array([f])
        elif odd and self.objective == "raises":
            raise Trouble("as agreed")
        elif odd and self.objective == "exits":
            raise SystemExit(3)
        elif odd and self.objective in ("nan", "plus infinity", "minus infinity"):
            f = {"nan": np.nan, "plus infinity": np.inf, "minus infinity": -np.inf}[self.objective]
        return f if self.constraint == "none" else (f, *self._constraints(u, chance))

    @property
    def first(self) -> bool:
        """Whether the latest point is the first one."""
        return np.array_equal(self.calls[-1][0], self.calls[0][0])

    def _constraints(self, u: np.ndarray, chance: float) -> tuple[Any, Any]:
        odd = chance > 0.7
        kinds: dict[str, tuple[Any, Any]] = {
            "easy": ([-1.0], []),
            "half": ([float(u[0])], []),
            "thin": ([float(abs(u[0]) - 1e-3)], []),
            "equality": ([], [float(u[0])]),
            "impossible": ([1.0 + float(u @ u)], []),
            "huge": ([1e308 * float(u[0])], []),
            "overflow": ([1e308, 1e308] if odd else [-1.0, -1.0], []),
            "nan": ([np.nan if odd else float(u[0])], []),
            "infinite": ([np.inf if odd else -1.0], [-np.inf if chance < 0.1 else 0.0]),
            "many": (np.full(300, float(u[0])), np.zeros(2)),
            "both": ([float(u.sum())], np.array([float(u[-1]) ** 2])),
            "sometimes too few": ([-1.0, -1.0] if not odd or self.first else [-1.0], []),
        }
        return kinds[self.constraint]


def sound(values: tuple[Any, Any, Any] | None, counts: tuple[int, int]) -> bool:
    """Whether a search can use these values."""
    if values is None or (len(values[1]), len(values[2])) != counts:
        return False
    f, g, h = values
    with np.errstate(over="ignore"):
        total = np.maximum(g, 0).sum() + np.abs(h).sum()
    return bool(f > -np.inf and np.isfinite(g).all() and np.isfinite(h).all() and np.isfinite(total))


def findings(case: Case) -> list[str]:
    """Solve the case and return all that is wrong, in words."""
    bounds = list(zip(case.lower, case.upper, strict=True))
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("error")
            warnings.filterwarnings("ignore", "max_evaluations=.* is too few", UserWarning)
            result = ppsde.minimize(case.fun, bounds, method=case.method, vectorized=case.vectorized, **case.asked)
    except ValueError as error:
        expected = ("x0 has", "x0 must", "there is no integer within the bounds")
        return [] if any(words in str(error) for words in expected) else [f"ValueError: {error}"]
    except BaseException as error:
        return [f"{type(error).__name__}: {error}"]
    found = []

    def check(holds: Any, words: str) -> None:
        if not holds:
            found.append(words)

    points = np.array([x for x, _ in case.calls]).reshape(-1, case.d)
    inside = (points >= case.lower) & (points <= case.upper)
    check(inside.all(), f"{int((~inside.all(axis=1)).sum())} points are outside the box")
    whole = case.asked.get("integrality", np.zeros(case.d, bool))
    check((points[:, whole] == np.round(points[:, whole])).all(), "an integer is not whole")
    check(result.nfev <= case.budget, f"{result.nfev} evaluations of {case.budget}")
    failed_at_once = case.vectorized and any(values is None for _, values in case.calls)
    check(failed_at_once or result.n_calls == len(case.calls), f"{result.n_calls} calls; made were {len(case.calls)}")
    check(result.success == result.feasible == (result.violation == 0), "success, feasible and violation differ")

    seen = [values for _, values in case.calls if values is not None]
    counts = (len(seen[0][1]), len(seen[0][2])) if seen else (0, 0)
    good = [(x, values) for x, values in case.calls if sound(values, counts)]
    if not np.isfinite(result.violation):
        check(not good, "no best point, though some had values")
        return found
    check(((result.x >= case.lower) & (result.x <= case.upper)).all(), f"x is outside the box: {result.x}")
    mine = [values for x, values in good if np.array_equal(x, result.x)]
    check(any(f == result.fun for f, _, _ in mine), f"fun {result.fun} is not the value at x")
    keys = []
    for _, (f, g, h) in good:
        keys.append((float(np.maximum(g, 0).sum() + np.maximum(np.abs(h) - case.tolerance, 0).sum()), f))
    if keys:
        least = min(keys)
        close = result.violation <= least[0] * (1 + 1e-12)
        check(close, f"violation {result.violation}, though {least[0]} was seen")
        best = min((f for violation, f in keys if violation <= result.violation), default=np.inf)
        check(result.fun <= best, f"fun {result.fun}, though {best} was seen")
    return found


def main(first: int, last: int) -> int:
    """Solve the cases, print what is found, and return how many cases had something wrong."""
    wrong = 0
    for number in range(first, last):
        case = Case(number)
        found = findings(case)
        wrong += bool(found)
        for words in found:
            print(number, case.method, case.objective, case.constraint, words, sep=", ")
    print(f"{last - first:,} cases, {wrong:,} with findings")
    return wrong


if __name__ == "__main__":
    sys.exit(bool(main(*map(int, sys.argv[1:3]))))
