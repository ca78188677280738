"""
A run that ends by itself, and when it should not
=================================================

The default method counts how many of its local searches end at the best point. When thirty have, or twelve times more
than elsewhere, it ends the run. On smooth problems that saves most of the budget. Where the best optimum has a narrow
basin it may end too early: ``tol=0`` makes it go on to the end.
"""

import matplotlib.pyplot as plt
import numpy as np

import ppsde

names = ("welded-beam", "tension-spring", "three-bar-truss", "speed-reducer")
figure, axes = plt.subplots()
for name in names:
    problem = ppsde.suites.get("engineering").problem(name)
    result = ppsde.minimize(problem, rng=1)
    print(f"{name:15} {result.nfev:6} of {20_000 * problem.dimension} evaluations: {result.message}")
    error = np.maximum(result.history["f"] - problem.optimum.value, 1e-12)
    error[result.history["violation"] > 0] = np.nan
    lines = axes.loglog(result.history["evaluations"], error, label=name)
    axes.plot(result.nfev, error[-1], "s", color=lines[0].get_color())
axes.set_xlabel("evaluations (square: the run ends by itself)")
axes.set_ylabel("error of the best feasible point")
axes.legend()
axes.grid(alpha=0.3)
plt.show()

# %%
# A narrow basin: one variable, a wide bowl, and a hole a hundredth as wide.


def hole(x):
    return x[0] ** 2 - 3 * np.exp(-(((x[0] - 1.7) / 0.01) ** 2))


for tol in (None, 0):
    result = ppsde.minimize(hole, [(-3, 3)], rng=1, tol=tol, max_evaluations=4000)
    print(f"tol {tol}: f {result.fun:.4f} after {result.nfev} evaluations")
