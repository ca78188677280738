"""The optimiser's own time per evaluation, of PPS-DE beside SciPy's vectorised differential evolution, in one run.

Both minimise the same trivial constrained objective, whose cost is part of both figures. Rounds alternate, and the
best round of each counts, so that a busy machine disturbs both alike. Run: python benchmarks/overhead.py
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from scipy.optimize import NonlinearConstraint, differential_evolution

import ppsde


def ours(d: int, evaluations: int) -> float:
    """Seconds per evaluation of PPS-DE by ppsde.minimize; the default method stops long before."""
    counted = 0

    def fun(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, None]:
        nonlocal counted
        counted += len(x)
        return (x * x).sum(axis=1), 1.0 - x.sum(axis=1, keepdims=True), None

    began = time.perf_counter()
    ppsde.minimize(fun, [(-10.0, 10.0)] * d, method="pps-de", vectorized=True, max_evaluations=evaluations, rng=1)
    return (time.perf_counter() - began) / counted


def scipys(d: int, evaluations: int, popsize: int = 15) -> float:
    """Seconds per evaluation of scipy's, with a population of popsize times d; 15 is its default."""
    counted = 0

    def fun(x: np.ndarray) -> np.ndarray:
        nonlocal counted
        counted += x.shape[1] if x.ndim == 2 else 1
        return (x * x).sum(axis=0)

    constraint = NonlinearConstraint(lambda x: x.sum(axis=0, keepdims=x.ndim == 2), 1.0, np.inf)
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        differential_evolution(
            fun, [(-10.0, 10.0)] * d, constraints=constraint, vectorized=True, updating="deferred",
            maxiter=evaluations // (popsize * d) - 1, popsize=popsize, tol=0, atol=0, polish=False, rng=1,
        )  # fmt: skip
    return (time.perf_counter() - began) / counted


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--evaluations", type=int, default=60_000)
    parser.add_argument("--popsize", type=int, default=15, help="scipy's population per variable; ours is 5")
    arguments = parser.parse_args()
    print(f"{'D':>4} {'ppsde us':>10} {'scipy us':>10} {'ratio':>7} {'wanted':>7}")
    for d, wanted in ((10, 2.0), (30, 4.0)):
        n = arguments.evaluations
        rounds = [(ours(d, n), scipys(d, n, arguments.popsize)) for _ in range(arguments.rounds)]
        mine, theirs = (min(column) * 1e6 for column in zip(*rounds, strict=True))
        verdict = "met" if theirs / mine >= wanted else "MISSED"
        print(f"{d:>4} {mine:>10.2f} {theirs:>10.2f} {theirs / mine:>7.2f} {wanted:>7.1f} {verdict}")


if __name__ == "__main__":
    main()
