"""Three constrained problems from start to end: a welded beam, two equalities, and a benchmark problem.

Each is the command that is printed above it.
"""

import sys
from pathlib import Path

import numpy as np
from two_equalities import problem as two_equalities

import ppsde
from ppsde.cli import main

HERE = Path(__file__).resolve().parent
SEEDS = range(1, 6)


def command(*words: str) -> None:
    shown = [word.replace(str(HERE), "examples") for word in words]
    print(f"\n$ ppsde {' '.join(shown)}\n", flush=True)
    status = main(words)
    if status not in (0, 1):  # found, or nothing feasible: both are outcomes to show
        sys.exit(status)


def other_seeds() -> None:
    """How often the best of several feasible branches is found: one run is a sample, not a proof."""
    found = [ppsde.minimize(two_equalities, rng=seed) for seed in SEEDS]
    values = [result.fun if result.feasible else np.nan for result in found]
    best = two_equalities.optimum.value
    reached = sum(abs(value - best) < 1e-6 for value in values)
    print(f"\n  seeds {SEEDS[0]} to {SEEDS[-1]}: " + ", ".join(f"{value:.6g}" for value in values))
    print(f"  {reached} of {len(SEEDS)} reached the optimum; run several seeds and keep the best")


if __name__ == "__main__":
    command("solve", "engineering:welded-beam", "--seed", "1")
    command("solve", f"{HERE / 'two_equalities.py'}:problem", "--seed", "1")
    other_seeds()
    command("solve", "cec2017:C14", "--seed", "1")
