"""The time of an evaluation in compiled batches, over dimensions and runs, and the problem's own share of it.

    python -m benchmarks.throughput [--device gpu] [--dimensions 10,30,50] [--runs 1,25,700] [--problem C01] [--write]

On a CPU it is processor time, of all cores together, so that other programs do not matter; on a GPU that of the clock.
The share is the time of as many evaluations of the same shape with no search around them, in the same process. The
second call is timed, which compiles nothing. `--write` makes the record that docs/performance.md shows,
`throughput-cpu` or `throughput-gpu`.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import ppsde
from ppsde.batch import device_of
from ppsde.engines.compiled import float64, goes_aside, values_of, width_of

from .records import save


def clock_of(device: Any) -> Callable[[], float]:
    return time.perf_counter if goes_aside(device) else time.process_time


def evaluations_alone(problem: ppsde.Problem, rows: int, times: int, device: Any) -> float:
    """Return the seconds for `times` evaluations of a batch of rows, each a little different from the last."""
    import jax

    def body(k: Any, x: Any) -> Any:
        f, violation, *_ = values_of([problem], None)[0](x)
        return x + 1e-12 * (f + violation)[:, None]  # so that no evaluation can be left out

    with float64(), jax.default_device(device):
        x = jax.numpy.asarray(np.random.default_rng(1).uniform(problem.lower, problem.upper, (rows, problem.dimension)))
        loop = jax.jit(partial(jax.lax.fori_loop, 0, times, body))
        jax.block_until_ready(loop(x))
        began = clock_of(device)()
        jax.block_until_ready(loop(x))
        return clock_of(device)() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=("cpu", "gpu"))
    parser.add_argument("--dimensions", default="10,30,50")
    parser.add_argument("--runs", default="1,25")
    parser.add_argument("--problem", default="C01")
    parser.add_argument("--evaluations", type=int, default=20_000, help="per run and variable")
    parser.add_argument("--write", action="store_true", help="the record of the documents")
    arguments = parser.parse_args()
    device = device_of(arguments.device)
    print(f"{device.device_kind}: {arguments.problem}, {arguments.evaluations} D evaluations per run")
    print("   D    runs  compile s     run s  us each  problem's share")
    found = []
    for d in map(int, arguments.dimensions.split(",")):
        problem = ppsde.suites.get("cec2017").problem(arguments.problem, d, instance=1)
        budget = arguments.evaluations * d
        for runs in map(int, arguments.runs.split(",")):
            batch = partial(ppsde.solve_batch, problem, runs=runs, max_evaluations=budget, record=1, device=device)
            compile_seconds = batch().compile_seconds
            began = clock_of(device)()
            batch(rng=1)
            seconds = clock_of(device)() - began
            total = runs * budget
            aside = goes_aside(device)
            width = min(runs, width_of([problem], aside)) if aside else 1
            rows = 10 * d * width  # evaluated in a generation
            alone = evaluations_alone(problem, rows, max(1, total // rows), device)
            found.append({"D": d, "runs": runs, "microseconds": seconds / total * 1e6, "share": alone / seconds})
            print(
                f"{d:4d} {runs:7d} {compile_seconds:10.1f} {seconds:9.2f} "
                f"{seconds / total * 1e6:8.4f}  {alone / seconds:14.0%}",
                flush=True,
            )
    if arguments.write:
        kind = "gpu" if goes_aside(device) else "cpu"
        words = f"--device {kind} --dimensions {arguments.dimensions} --runs {arguments.runs} --write"
        command = f"python -m benchmarks.throughput {words}"
        named = device.device_kind if goes_aside(device) else ""
        save(f"throughput-{kind}", found, command=command, methods=["pps-de"], device=named)


if __name__ == "__main__":
    main()
