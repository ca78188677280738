"""The default of PPS-DE beside its published reading, on the CEC2017 problems that have feasible points.

Run: python benchmarks/presets.py --dimension 10 --runs 12 (needs JAX; some minutes on two cores)
"""

from __future__ import annotations

import argparse

import numpy as np

import ppsde

METHODS = ("pps-de", "pps-de-published")


def cell(result: ppsde.BatchResult) -> str:
    return f"{result.f.mean():.4g} +- {result.f.std():.2g}, {np.mean(result.feasible):.0%}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dimension", type=int, default=10)
    parser.add_argument("--runs", type=int, default=12)
    parser.add_argument("--evaluations", type=int, default=None, help="per run; 20000 per variable if not given")
    arguments = parser.parse_args()
    suite = ppsde.suites.get("cec2017")
    problems = [suite.problem(name, arguments.dimension) for name in suite]
    problems = [p for p in problems if p.optimum is None or p.optimum.status != "infeasible problem"]
    print(f"D = {arguments.dimension}, {arguments.runs} runs, instance {problems[0].properties['instance']}:")
    print("mean and standard deviation of the best objective, share of feasible runs\n")
    results = {
        method: ppsde.solve_batch(problems, method=method, runs=arguments.runs, max_evaluations=arguments.evaluations)
        for method in METHODS
    }
    print("| problem | best known | " + " | ".join(METHODS) + " |\n|---|---|---|---|")
    for k, problem in enumerate(problems):
        known = f"{problem.optimum.value:.4g}" if problem.optimum is not None else "-"
        print(f"| {problem.name.split()[0]} | {known} | " + " | ".join(cell(results[m][k]) for m in METHODS) + " |")


if __name__ == "__main__":
    main()
