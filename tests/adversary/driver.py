"""The random driver: a problem, a method and options drawn from a number, solved, and everything about it checked.

A case is solved in this process. A part of them is solved once more, in threads, by a map, in processes, on a Dask
cluster, or killed in the middle of a call and resumed, and must end in the same bits; and some are compiled programs,
with a problem of their own. What a machine lacks the packages for is counted as not tried. `campaign.py` runs many.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import ppsde
from ppsde.arrays import namespace

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
# The share of each way in which cases are solved beside.
WAYS = {"compiled": 0.001, "dask": 0.002, "processes": 0.002, "threads": 0.06, "map": 0.06, "resumed": 0.06}
NEEDED = {"compiled": "jax", "dask": "distributed", "processes": "cloudpickle"}


class Trouble(Exception):
    """Raised by objectives that raise."""


class Killed(BaseException):
    """Ends a search as a kill does."""


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
        self.origin: np.ndarray | None = None  # the first point
        self.killed_at: int | None = None  # the call that is not finished
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
        if self.origin is None:
            self.origin = x.copy()
        place = len(self.calls)
        self.calls.append((x.copy(), None))
        if place == self.killed_at:
            raise Killed
        value = self._value(x)
        f, g, h = value if isinstance(value, tuple) else (value, (), ())
        self.calls[place] = (
            x.copy(),
            (float(np.asarray(f, float).reshape(())), np.asarray(g, float), np.asarray(h, float)),
        )
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
        first = np.array_equal(x, self.origin)  # too few numbers there would be an error
        return f if self.constraint == "none" else (f, *self._constraints(u, chance, first))

    def _constraints(self, u: np.ndarray, chance: float, first: bool) -> tuple[Any, Any]:
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
            "sometimes too few": ([-1.0, -1.0] if not odd or first else [-1.0], []),
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


def solved(case: Case, **more: Any) -> Any:
    """Return the result of a case, a text if it is refused as it must be; everything else is raised."""
    bounds = list(zip(case.lower, case.upper, strict=True))
    try:
        asked = {"method": case.method, "vectorized": case.vectorized, **case.asked, **more}
        return quiet(lambda: ppsde.minimize(case.fun, bounds, **asked))
    except ValueError as error:
        expected = ("x0 has", "x0 must", "there is no integer within the bounds")
        if any(words in str(error) for words in expected):
            return str(error)
        raise


def quiet(search: Callable[[], Any]) -> Any:
    """Return what a search returns; warnings are errors, but for the one of a budget that is too small."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "max_evaluations=.* is too few", UserWarning)
        return search()


def findings(case: Case) -> list[str]:
    """Solve the case and return all that is wrong, in words."""
    try:
        result = solved(case)
    except BaseException as error:
        return [f"{type(error).__name__}: {error}"]
    if isinstance(result, str):
        return []
    return wrong_with(case, result)


def wrong_with(case: Case, result: Any) -> list[str]:
    """Return all that is wrong with the result of a case."""
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


# --- other ways to evaluate ---------------------------------------------------------------------------------------


def way_of(number: int) -> str | None:
    """Return how a case is solved beside in this process; None for most."""
    chance = np.random.default_rng([2027, number]).random()
    for way, share in WAYS.items():
        if chance < share:
            return way
        chance -= share
    return None


def can(way: str) -> bool:
    """Return whether this machine has the package that a way needs."""
    return way not in NEEDED or find_spec(NEEDED[way]) is not None


@contextmanager
def workers(way: str) -> Iterator[Any]:
    """Give something to pass as `workers`."""
    if way == "dask":
        yield dask_client()
    elif way == "map":
        with ThreadPoolExecutor(3) as pool:
            yield pool.map
    else:
        spawn = get_context("spawn")  # a fork would copy the threads of JAX
        with ProcessPoolExecutor(2, spawn) if way == "processes" else ThreadPoolExecutor(3) as pool:
            yield pool


@cache
def dask_client() -> Any:
    import distributed

    cluster = distributed.LocalCluster(
        n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0", protocol="inproc://"
    )
    return distributed.Client(cluster)


def found_otherwise(number: int, way: str) -> list[str]:
    """Solve a case in this process and in another way; return the differences. A vectorised function is given rows."""
    here, there = Case(number), Case(number)
    here.vectorized = there.vectorized = False
    there.origin = np.full(here.d, np.nan)
    try:
        one = solved(here)
        there.origin = here.origin
        with workers(way) as pool:
            two = solved(there, workers=pool)
    except BaseException as error:
        return [f"{way}: {type(error).__name__}: {error}"]
    if isinstance(one, str) or isinstance(two, str):
        return [] if one == two else [f"{way}: {two}; in this process: {one}"]
    found = [] if way in ("dask", "processes") else wrong_with(there, two)  # these leave no calls here
    return [f"{way}: {words}" for words in found + differences(one, two)]


def differences(one: Any, two: Any) -> list[str]:
    """Return in what the second result differs from the first."""
    names = ("x", "fun", "violation", "nfev", "n_failed", "status")
    apart = [name for name in names if np.asarray(one[name]).tobytes() != np.asarray(two[name]).tobytes()]
    return [f"{name} is {two[name]}, and {one[name]} in one process without a break" for name in apart]


def found_resumed(number: int) -> list[str]:
    """End a case in the middle of a call, resume it, and return the differences to the undisturbed one."""
    chance = np.random.default_rng([2029, number])
    whole, first, second = Case(number), Case(number), Case(number)
    for case in (whole, first, second):
        case.asked.pop("callback", None)
    try:
        one = solved(whole)
        if isinstance(one, str) or len(whole.calls) < 2:
            return []
        first.killed_at = int(chance.integers(1, len(whole.calls)))
        with TemporaryDirectory() as folder:
            path = Path(folder) / "run.ppsde"
            with suppress(Killed):
                solved(first, checkpoint=path, checkpoint_every=float(chance.choice([0.0, 1e-3, 1e6])))
            if not path.exists():  # before its first call has ended, a vectorised function has given no value
                return [] if first.vectorized else ["resumed: there is no checkpoint"]
            second.origin = first.origin
            two = quiet(lambda: ppsde.resume(path, second.fun))
    except BaseException as error:
        return [f"resumed: {type(error).__name__}: {error}"]
    found = differences(one, two)
    if not first.vectorized and len(second.calls) > len(whole.calls) - first.killed_at:
        found.append(f"{first.killed_at} of {len(whole.calls)} calls were made, and {len(second.calls)} afterwards")
    return [f"resumed: {words}" for words in found]


def found_compiled(number: int) -> list[str]:
    """Solve a problem of its own by a compiled program and return all that is wrong."""
    rng = np.random.default_rng([2028, number])
    method, d, budget = str(rng.choice(METHODS)), int(rng.integers(1, 5)), int(rng.integers(1, 400))
    objective = str(rng.choice(["sphere", "flat", "steps", "nan", "infinite", "minus"]))
    constraint = str(rng.choice(["none", "half", "thin", "equality", "impossible", "both", "nan"]))
    lower, upper = ((0.0, 1.0), (-3.7, 12.1), (-1e-300, 2e-300), (-1e100, 1e100))[int(rng.integers(4))]
    centre, tolerance = lower + rng.random(d) * (upper - lower), 1e-4

    def fun(x: Any) -> Any:
        xp = namespace(x)  # NumPy's for the check, which is in double precision
        u = x / (upper - lower) - centre / (upper - lower)
        f = {"flat": 1.0 + 0.0 * u[0], "steps": xp.floor(10 * u).sum(), "minus": -(u @ u)}.get(objective, u @ u)
        if objective in ("nan", "infinite"):
            f = xp.where(u[0] > 0.2, xp.nan if objective == "nan" else xp.inf, f)
        g = {"half": [u[0]], "thin": [xp.abs(u[0]) - 1e-3], "impossible": [1.0 + u @ u], "both": [u.sum()]}
        g["nan"] = [xp.where(u[0] < -0.2, xp.nan, u[0])]
        h = {"equality": [u[0]], "both": [u[-1] ** 2]}
        return f if constraint == "none" else (f, g.get(constraint, []), h.get(constraint, []))

    kind = f"compiled, {method}, {objective}, {constraint}"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.filterwarnings("ignore", "max_evaluations=.* is too few", UserWarning)
            asked = {"method": method, "max_evaluations": budget, "rng": int(rng.integers(2**31)), "backend": "jax"}
            result = ppsde.minimize(fun, [(lower, upper)] * d, tolerance=tolerance, **asked)
    except BaseException as error:
        return [f"{kind}: {type(error).__name__}: {error}"]
    found = []
    if result.nfev > budget:
        found.append(f"{result.nfev} evaluations of {budget}")
    if not result.success == result.feasible == (result.violation == 0):
        found.append("success, feasible and violation differ")
    if np.isfinite(result.violation):
        if not ((result.x >= lower) & (result.x <= upper)).all():
            found.append(f"x is outside the box: {result.x}")
        values = fun(result.x)
        f, g, h = values if isinstance(values, tuple) else (values, [], [])
        if not np.isclose(float(f), result.fun, rtol=1e-9, atol=1e-12):
            found.append(f"fun {result.fun}, though it is {float(f)} at x")
        total = sum(max(float(c), 0.0) for c in g) + sum(max(abs(float(c)) - tolerance, 0.0) for c in h)
        if not np.isclose(total, result.violation, rtol=1e-9, atol=1e-12):
            found.append(f"violation {result.violation}, though it is {total} at x")
    return [f"{kind}: {words}" for words in found]


def all_findings(number: int) -> tuple[list[str], str]:
    """Solve a case in all ways that are its own; return what is wrong, and how it was solved beside in this process."""
    way = way_of(number)
    if way is not None and not can(way):
        return described_findings(number), f"{way}: not tried"
    if way == "compiled":
        return found_compiled(number), way
    if way is None:
        return described_findings(number), "here only"
    beside = found_resumed(number) if way == "resumed" else found_otherwise(number, way)
    return described_findings(number) + beside, way


def described_findings(number: int) -> list[str]:
    case = Case(number)
    return [f"{case.method}, {case.objective}, {case.constraint}: {words}" for words in findings(case)]
