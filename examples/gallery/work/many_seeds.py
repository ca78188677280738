"""
One run is a sample: many seeds
===============================

Where the feasible set has several branches, runs may end on different ones, the more so on small budgets. How the
results of 12 seeds are spread over three budgets, on a problem with two equalities. Run several seeds and keep the
best.
"""

import matplotlib.pyplot as plt
import numpy as np

import ppsde


def two_equalities(x):
    return (x**2).sum(), [], [x[0] + x[1] - 1, x[0] * x[2] - 0.5]


budgets = (50, 100, 200)
ends = [
    [ppsde.minimize(two_equalities, [(-5, 5)] * 3, max_evaluations=budget, rng=seed) for seed in range(12)]
    for budget in budgets
]
figure, axes = plt.subplots()
spread = np.random.default_rng(0)
for k, runs in enumerate(ends):
    feasible = [run.fun for run in runs if run.feasible]
    axes.plot(k + spread.uniform(-0.18, 0.18, len(feasible)), feasible, "o", alpha=0.6)
    axes.text(k, 0.45, f"{sum(f < 1.0673 for f in feasible)} of 12\nat the best", ha="center", fontsize=8)
axes.set_ylim(0.2, 5)
axes.set_xticks(range(3), [f"{budget} evaluations" for budget in budgets])
axes.set_ylabel("objective of the result")
plt.show()
