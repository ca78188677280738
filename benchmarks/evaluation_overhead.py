"""The cost of an evaluation beyond the function itself, and the time to replace a lost worker.

Serial and vectorised figures are processor time, the others the clock's; the best of several rounds counts, since a
busy machine only ever adds. Run: python -m benchmarks.evaluation_overhead; it stores the record `evaluation`.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import ppsde
from ppsde.evaluation import evaluator_for
from ppsde.evaluation.evaluate import Evaluate
from ppsde.evaluation.values import Values

from .records import save

D, ROWS = 10, 40
BOX = [(-1.0, 1.0)] * D


def point(x: np.ndarray) -> tuple[float, list[float], list[float]]:
    """As cheap as a function with constraints can be; dies or hangs at chosen points."""
    if x[0] == 2.0:
        os._exit(1)
    if x[0] == 3.0:
        time.sleep(1000)
    return 1.0, [-1.0, -2.0], [0.0]


def rows(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return x[:, 0], x[:, 1:3], x[:, 3:4]


def best(step: Callable[[], Any], clock: Callable[[], float], rounds: int) -> float:
    """The shortest time of a step."""
    took = []
    for _ in range(rounds):
        began = clock()
        step()
        took.append(clock() - began)
    return min(took)


def overhead(problem: ppsde.Problem, bare: Callable[[], Any], workers: int, rounds: int) -> float:
    """Seconds per evaluation beyond the bare calls of the function."""
    x = np.random.default_rng(1).random((ROWS, D))
    clock = time.process_time if workers == 1 else time.perf_counter
    with evaluator_for(problem, workers) as evaluator:
        evaluate = Evaluate(evaluator)
        evaluate(x)  # workers are started, the function is loaded
        return (best(lambda: evaluate(x), clock, rounds) - best(bare, clock, rounds)) / ROWS


def evaluated(evaluator: Any, x: np.ndarray) -> Values:
    """The values of rows, by an evaluator alone."""
    values = Values(x, (2, 1), True)
    evaluator.submit(values, range(len(x)))
    return values


def report(what: str, seconds: float, limit: float) -> float:
    verdict = "met" if seconds < limit else "MISSED"
    print(f"{what:<44} {seconds * 1e6:>12,.1f} us   limit {limit * 1e6:>11,.0f} us   {verdict}")
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=100)
    rounds = parser.parse_args().rounds
    x = np.random.default_rng(1).random((ROWS, D))
    one, many = ppsde.Problem(point, BOX), ppsde.Problem(rows, BOX, vectorized=True)
    found = {}
    found["one after another"] = report(
        "serial, per evaluation", overhead(one, lambda: [point(row) for row in x], 1, rounds), 20e-6
    )
    found["vectorised"] = report("vectorised, per evaluation", overhead(many, lambda: rows(x), 1, rounds), 20e-6)
    for workers in (2, 4):
        found[f"pool of {workers}"] = report(
            f"pool of {workers}, per evaluation", overhead(one, lambda: None, workers, rounds), 2e-3
        )
    microseconds = {how: round(1e6 * seconds, 2) for how, seconds in found.items()}
    save("evaluation", microseconds, command=f"python -m benchmarks.evaluation_overhead --rounds {rounds}", methods=[])
    with evaluator_for(one, 2, timeout=0.5) as evaluator:
        began = time.perf_counter()
        evaluated(evaluator, x)
        report("pool of 2, from nothing to 40 values", time.perf_counter() - began, 5.0)
        deadly, hanging = x[:1].copy(), x[:1].copy()
        deadly[0, 0], hanging[0, 0] = 2.0, 3.0
        few = max(3, rounds // 20)
        report(
            "a crash, until its outcome is known",
            best(lambda: evaluated(evaluator, deadly), time.perf_counter, few),
            1.0,
        )
        again = best(lambda: evaluated(evaluator, np.concatenate([deadly, deadly, x[:1]])), time.perf_counter, few)
        report("two crashes and a value in a new worker", again, 1.0)
        over = max(evaluated(evaluator, hanging).seconds[0] for _ in range(few)) - 0.5
        report("a hang, the worst overrun of its timeout", over, 1.0)


if __name__ == "__main__":
    main()
