"""How fast the CEC2017 problems are on one core: microseconds per evaluation, beside a loop over rows in plain NumPy.

Run `python benchmarks/suite.py`; it ends with status 1 if a problem at D = 30 takes more than the limit.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from time import perf_counter

import numpy as np

from ppsde.problem import Problem
from ppsde.suites import get

ONE_CORE = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
ROWS = 250
DIMENSIONS = (10, 30, 50)
LIMIT = 4.0  # microseconds per evaluation at D = 30


BATCHES = 8  # different points in turn: on the same ones again and again the processor learns every branch by heart


def shortest(call: Callable[[np.ndarray], object], batches: np.ndarray, seconds: float) -> float:
    """Seconds of one call, the shortest round of those that fit into the time: the least disturbed by other work."""
    best, end = np.inf, perf_counter() + seconds
    while perf_counter() < end:
        start = perf_counter()
        for x in batches:
            call(x)
        best = min(best, (perf_counter() - start) / len(batches))
    return best


def row_by_row(problem: Problem, rows: np.ndarray) -> None:
    """Evaluate one point per call, as a user's loop would."""
    for row in rows:
        problem.fun(row[None, :])


def microseconds(problem: Problem, rng: np.random.Generator) -> tuple[float, float]:
    """Per evaluation: the batch through the public `evaluate`, and the loop."""
    batches = rng.uniform(problem.lower, problem.upper, (BATCHES, ROWS, problem.dimension))
    batch = shortest(problem.evaluate, batches, 0.08) / ROWS
    loop = shortest(lambda x: row_by_row(problem, x), batches[:, :20], 0.04) / 20
    return 1e6 * batch, 1e6 * loop


def main() -> int:
    if any(os.environ.get(variable) != value for variable, value in ONE_CORE.items()):
        # NumPy reads these when it is loaded, so they must be set before this process begins.
        return subprocess.call([sys.executable, *sys.argv], env=os.environ | ONE_CORE)
    suite, rng = get("cec2017"), np.random.default_rng(1)
    print(f"microseconds per evaluation, {ROWS} rows on one core; in brackets a loop over rows, and the gain")
    print("      " + "".join(f"{f'D={d}':>24}" for d in DIMENSIONS))
    at_limit = {}
    for name in suite.names:
        line = f"{name}  "
        for d in DIMENSIONS:
            batch, loop = microseconds(suite.problem(name, d, instance=1), rng)
            line += f"{batch:8.2f} ({loop:6.1f}, {loop / batch:4.0f}x)"
            if d == 30:
                at_limit[name] = batch
        print(line, flush=True)
    slowest = max(at_limit, key=lambda name: at_limit[name])
    good = at_limit[slowest] <= LIMIT
    verdict = "within" if good else "ABOVE"
    print(
        f"slowest at D=30: {slowest}, {at_limit[slowest]:.2f} us, {1e6 / at_limit[slowest]:.0f} evaluations per second"
    )
    print(f"{verdict} the limit of {LIMIT} us")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
