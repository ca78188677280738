"""
Methods on small budgets
========================

With a hundred evaluations per variable or fewer, methods differ more than with a million. Shares of runs that come
within 1 % of the best known value, on four engineering problems with three seeds each. A larger comparison, with
other libraries, stands in *Choosing a method*.
"""

import matplotlib.pyplot as plt
import numpy as np

import ppsde

suite = ppsde.suites.get("engineering")
names = ("welded-beam", "tension-spring", "three-bar-truss", "cantilever-beam")
methods = ("pps-sqp", "pps-de", "lshade44", "jde")
budgets = (25, 50, 100)  # per variable


def share(method, budget):
    """Return the share of runs that are feasible and within 1 %."""
    good = []
    for name in names:
        problem = suite.problem(name)
        for seed in range(3):
            run = ppsde.minimize(problem, method=method, max_evaluations=budget * problem.dimension, rng=seed)
            good.append(run.feasible and run.fun <= problem.optimum.value + 0.01 * abs(problem.optimum.value))
    return np.mean(good)


figure, axes = plt.subplots()
for method in methods:
    shares = [100 * share(method, budget) for budget in budgets]
    print(f"{method:9}", *(f"{value:5.0f} %" for value in shares))
    axes.plot(budgets, shares, marker="o", label=method)
axes.set_xscale("log", base=2)
axes.set_xticks(budgets, budgets)
axes.set_xlabel("evaluations per variable")
axes.set_ylabel("runs within 1 %, per cent")
axes.legend()
axes.grid(alpha=0.3)
plt.show()
