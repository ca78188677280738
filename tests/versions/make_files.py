"""Writes the files that later versions must be able to open: checkpoints of each kind and method, and a store.

    python tests/versions/make_files.py tests/versions/0.1

Once a version is released its folder stays as it is.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

import ppsde
from ppsde.experiments import Plan, run

BOX = [(-3.0, 5.0)] * 2
BUDGET, STOP = 160, 100
METHODS = tuple(ppsde.ALGORITHMS)
PLAN = Plan(
    ["jde", "pps-de"], problems=["cec2006:g06", "engineering:welded-beam"], runs=2, budget=60, record=4, engine="host"
)


def fun(x: np.ndarray) -> Any:
    """One inequality, one equality, and failures."""
    if np.sin(37.0 * x.sum()) > 0.97:
        raise RuntimeError(f"no values at {x[0]:.3f}")
    return ((x - 1.0) ** 2).sum(), [1.0 - (x**2).sum()], [x[0] * x[1] - 0.5]


def small(method: str) -> dict[str, Any]:
    """A small population, where the method has one."""
    return {"population_size": 8} if hasattr(ppsde.ALGORITHMS[method], "population_size") else {}


def searched(method: str, fun: Any = fun, **more: Any) -> Any:
    """A run of the method to its end."""
    return ppsde.minimize(fun, BOX, method=method, options=small(method), max_evaluations=BUDGET, rng=5, tol=0, **more)


class Killed(BaseException):
    """Ends a run as a kill does: its journal stays."""


def checkpoint(path: Path, method: str, every: float) -> None:
    calls = 0

    def stopping(x: np.ndarray) -> Any:
        nonlocal calls
        calls += 1
        if calls > STOP:
            raise Killed
        return fun(x)

    try:
        searched(method, stopping, checkpoint=path, checkpoint_every=every)
    except Killed:
        return
    raise SystemExit(f"{method} ended before it was stopped")


def optimizer() -> ppsde.Optimizer:
    return ppsde.Optimizer(BOX, n_ineq=1, method="jde", options=small("jde"), max_evaluations=BUDGET, rng=5)


def told(search: ppsde.Optimizer, generations: int) -> ppsde.Optimizer:
    """The search after so many generations more, or at its end."""
    for _ in range(generations):
        if not search.done:
            x = search.ask()
            search.tell(((x - 1.0) ** 2).sum(axis=1), g=1.0 - x[:, :1])
    return search


def main(folder: Path) -> None:
    folder.mkdir(parents=True)
    for method in METHODS:
        checkpoint(folder / f"{method}.ppsde", method, every=0.0)
    checkpoint(folder / "journal.ppsde", "jde", every=1e6)
    told(optimizer(), 5).save(folder / "optimizer.ppsde")
    run(PLAN, folder / "study.db", workers=1)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
