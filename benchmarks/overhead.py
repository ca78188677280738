"""The optimiser's own time per evaluation, of PPS-DE and the default beside SciPy's vectorised differential evolution.

    python -m benchmarks.overhead --write       # two minutes; the record `overhead`, which docs/performance.md shows

All minimise the same trivial constrained objective, whose cost is part of the figures. They are microseconds of
processor time in one process; rounds alternate, and the best round of each counts, so that a busy machine disturbs all
alike. Their ratio is the result. Then the default alone, over whole runs with ten constraints: its local searches have
a smaller share of a longer run.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from scipy.optimize import NonlinearConstraint, differential_evolution

import ppsde

from .records import save

METHODS = {"pps-de": 1, "pps-sqp": 30}  # and by how much fewer evaluations are enough
WHOLE = {"D": 30, "constraints": 10, "budgets": (2_000, 20_000)}  # of whole runs of the default; evaluations by D


def ours(method: str, d: int, evaluations: int) -> float:
    """Return the seconds per evaluation of a method, which must not end before its budget."""
    counted = 0

    def fun(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, None]:
        nonlocal counted
        counted += len(x)
        return (x * x).sum(axis=1), 1.0 - x.sum(axis=1, keepdims=True), None

    began = time.process_time()
    ppsde.minimize(fun, [(-10.0, 10.0)] * d, method=method, vectorized=True, max_evaluations=evaluations, rng=1, tol=0)
    return (time.process_time() - began) / counted


def valley(x: np.ndarray) -> np.ndarray:
    return (100.0 * (x[:, 1:] - x[:, :-1] ** 2) ** 2 + (1.0 - x[:, :-1]) ** 2).sum(axis=1)


def rugged(x: np.ndarray) -> np.ndarray:
    return (x * x - 10.0 * np.cos(2.0 * np.pi * x) + 10.0).sum(axis=1)


OBJECTIVES = {"a plane": lambda x: x.sum(axis=1), "a curved valley": valley, "many local optima": rugged}


def whole(objective: str, budget: int) -> float:
    """Return the microseconds per evaluation of the default in a whole run, with random linear constraints."""
    d, m = WHOLE["D"], WHOLE["constraints"]
    A = np.random.default_rng(1).normal(size=(m, d))

    def fun(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, None]:
        return OBJECTIVES[objective](x), x @ A.T - 1.0, None

    began = time.process_time()
    found = ppsde.minimize(fun, [(-5.0, 5.0)] * d, vectorized=True, max_evaluations=budget, rng=1, tol=0)
    return 1e6 * (time.process_time() - began) / found.nfev


def scipys(d: int, evaluations: int, popsize: int = 15) -> float:
    """Return the seconds per evaluation of SciPy's, with a population of popsize times d; 15 is its default."""
    counted = 0

    def fun(x: np.ndarray) -> np.ndarray:
        nonlocal counted
        counted += x.shape[1] if x.ndim == 2 else 1
        return (x * x).sum(axis=0)

    constraint = NonlinearConstraint(lambda x: x.sum(axis=0, keepdims=x.ndim == 2), 1.0, np.inf)
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        differential_evolution(
            fun, [(-10.0, 10.0)] * d, constraints=constraint, vectorized=True, updating="deferred",
            maxiter=evaluations // (popsize * d) - 1, popsize=popsize, tol=0, atol=0, polish=False, rng=1,
        )  # fmt: skip
    return (time.process_time() - began) / counted


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--evaluations", type=int, default=60_000)
    parser.add_argument("--popsize", type=int, default=15, help="scipy's population per variable; that of PPS-DE is 5")
    parser.add_argument("--write", action="store_true", help="the record of the documents")
    asked = parser.parse_args()
    rows = []
    for d in (10, 30):
        best = dict.fromkeys((*METHODS, "scipy"), np.inf)
        for _ in range(asked.rounds):
            found = {name: ours(name, d, asked.evaluations // fewer) for name, fewer in METHODS.items()}
            found["scipy"] = scipys(d, asked.evaluations, asked.popsize)
            best = {name: min(best[name], 1e6 * seconds) for name, seconds in found.items()}
        rows.append({"D": d, **{name: round(figure, 2) for name, figure in best.items()}})
        print(", ".join(f"{name} {figure:g}" for name, figure in rows[-1].items()), flush=True)
    default = [
        {"objective": name, **{f"{per} D": round(whole(name, per * WHOLE["D"]), 1) for per in WHOLE["budgets"]}}
        for name in OBJECTIVES
    ]
    for row in default:
        print(", ".join(f"{name} {figure}" for name, figure in row.items()), flush=True)
    if asked.write:
        command = f"python -m benchmarks.overhead --rounds {asked.rounds} --popsize {asked.popsize} --write"
        save("overhead", {"beside SciPy": rows, "whole runs": default}, command=command, methods=METHODS)


if __name__ == "__main__":
    main()
