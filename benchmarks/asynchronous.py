"""Workers that wait, and workers that do not: `minimize` with and without `asynchronous=True`, for the documents.

`busy` runs a simulator that sleeps, whose times differ by a factor of ten, in eight worker processes, and prints the
share of their time in which they evaluate. `quality` counts evaluations and time until the known optimum of open
problems is reached, with eight workers and the same times, on a simulated clock, so that the machine does not matter.
Run: python -m benchmarks.asynchronous busy, or quality; each stores its record, which docs/asynchronous.md shows.
"""

from __future__ import annotations

import argparse
import hashlib
import heapq
import time
from statistics import median
from typing import Any

import numpy as np

import ppsde
from ppsde import suites
from ppsde.engines.run import Run
from ppsde.engines.searches import Searches
from ppsde.request import Request

from .records import save

WORKERS = 8
SHORTEST, LONGEST = 1.0, 10.0  # of an evaluation, evenly distributed; in units, which `busy` makes seconds
NEAR = 1e-4  # of the optimum, relative: reached
PROBLEMS = (
    *("engineering:welded-beam", "engineering:pressure-vessel", "engineering:tension-spring"),
    *("engineering:speed-reducer", "engineering:heat-exchanger", "engineering:himmelblau"),
    *("engineering:three-bar-truss", "engineering:hydrostatic-thrust-bearing"),
    *("cec2006:g01", "cec2006:g04", "cec2006:g05", "cec2006:g07", "cec2006:g08", "cec2006:g10", "cec2006:g13"),
    *("cec2006:g17", "cec2006:g18", "cec2006:g19", "cec2006:g24"),
)


def duration(x: np.ndarray) -> float:
    """Units that the evaluation of a point (d,) takes; the same for the same point."""
    digest = hashlib.blake2b(x.tobytes(), digest_size=8).digest()
    return SHORTEST + (LONGEST - SHORTEST) * int.from_bytes(digest, "little") / 2**64


def beam(x: np.ndarray, unit: float) -> Any:
    """The welded beam, as slowly as a simulator."""
    time.sleep(unit * duration(x))
    f, g, _ = suites.get("engineering").problem("welded-beam").fun(x[None])
    return f[0], g[0], []


def busy(evaluations: int, unit: float) -> None:
    """Measure the share of time in which the workers evaluate."""
    rows: dict[str, Any] = {}
    problem = suites.get("engineering").problem("welded-beam")
    for method in ("pps-sqp", "pps-de"):
        rows[method] = {}
        for asynchronous in (False, True):
            result = ppsde.minimize(
                beam,
                list(zip(problem.lower, problem.upper, strict=True)),
                args=(unit,),
                method=method,
                max_evaluations=evaluations,
                tol=0 if method == "pps-sqp" else None,
                rng=1,
                workers=WORKERS,
                asynchronous=asynchronous,
            )
            share = result.nfev * result.eval_seconds_mean / (WORKERS * result.seconds)
            kind = "asynchronous" if asynchronous else "synchronous"
            rows[method][kind] = {"busy": round(share, 3), "seconds": round(result.seconds, 1)}
            print(method, kind, rows[method][kind], flush=True)
    save("busy", rows, command="python -m benchmarks.asynchronous busy", methods=rows)


class Reached:
    """Evaluates points of a problem until one is as good as its optimum."""

    def __init__(self, problem: Any) -> None:
        self.fun = problem.searched.fun
        self.vectorized = problem.searched.vectorized
        value = problem.optimum.value
        self.goal = value + NEAR * max(1.0, abs(value))
        self.tolerance = problem.searched.tolerance
        self.is_reached = False

    def __call__(self, x: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        returned = self.fun(x[None] if self.vectorized else x)
        f, g, h = returned if isinstance(returned, tuple) else (returned, (), ())
        g, h = (np.asarray(() if part is None else part, float).reshape(-1) for part in (g, h))
        objective = float(np.asarray(f).reshape(()) if np.size(f) == 1 else np.nan)
        feasible = np.all(g <= 0) and np.all(np.abs(h) <= self.tolerance)
        self.is_reached = self.is_reached or bool(feasible and objective <= self.goal)
        return objective, g, h


def synchronous(run: Run, evaluate: Reached) -> tuple[int, float]:
    """Return the evaluations and the time until the optimum is reached, or the end."""
    made, now = 0, 0.0
    while run.wanted is not None:
        free = [now] * WORKERS
        rows, ends = [], []
        for x in run.wanted:
            end = heapq.heappop(free) + duration(x)
            heapq.heappush(free, end)
            ends.append(end)
            rows.append(evaluate(x))
            made += 1
            if evaluate.is_reached:
                return made, end
        now = max(ends)
        run.supply(*(np.array([row[k] for row in rows]) for k in range(3)))
    return made, np.inf


def asynchronous(run: Run, evaluate: Reached) -> tuple[int, float]:
    """The same for an asynchronous run."""
    searches, now, made = Searches(run), 0.0, 0
    out: list[tuple[float, int, np.ndarray]] = []
    while not searches.done:
        for number, x in searches.take(WORKERS - len(out)):
            heapq.heappush(out, (now + duration(x), number, x))
        now, number, x = heapq.heappop(out)
        searches.answer(number, *evaluate(x))
        made += 1
        if evaluate.is_reached:
            return made, now
    return made, np.inf


def quality(method: str, seeds: int, budget: int) -> None:
    """Measure evaluations and time until the optimum is reached."""
    rows: dict[str, Any] = {}
    for name in PROBLEMS:
        suite, _, word = name.partition(":")
        problem = suites.get(suite).problem(word)
        rows[word] = {}
        for loop in (synchronous, asynchronous):
            found = []
            for seed in range(1, seeds + 1):
                run = Request(problem, method, max_evaluations=budget, seed=seed, tol=None).run()
                found.append(loop(run, Reached(problem)))
            good = [pair for pair in found if pair[1] < np.inf]
            rows[word][loop.__name__] = {
                "reached": len(good),
                "evaluations": median(made for made, _ in good) if good else None,
                "time": round(median(end for _, end in good), 1) if good else None,
                "median": round(end, 1) if (end := median(end for _, end in found)) < np.inf else None,
            }
        print(word, rows[word], flush=True)
    values = {"method": method, "seeds": seeds, "budget": budget, "rows": rows}
    command = f"python -m benchmarks.asynchronous quality --budget {budget}"
    save("asynchronous", values, command=command, methods=[method])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("busy", "quality"))
    parser.add_argument("--evaluations", type=int, default=240, help="of each run of `busy`")
    parser.add_argument("--unit", type=float, default=0.3, help="seconds of the shortest evaluation of `busy`")
    parser.add_argument("--method", default="pps-sqp", help="of `quality`")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--budget", type=int, default=3_000, help="evaluations of each run of `quality`")
    arguments = parser.parse_args()
    if arguments.what == "busy":
        busy(arguments.evaluations, arguments.unit)
    else:
        quality(arguments.method, arguments.seeds, arguments.budget)


if __name__ == "__main__":
    main()
