"""
Convergence of objective and violation
======================================

``result.history`` has columns along the run. Where the optimum is known, the distance to it on a logarithmic scale
shows more than the objective. ``result.plot()`` draws the whole history in one line.
"""

import matplotlib.pyplot as plt
import numpy as np

import ppsde

problem = ppsde.suites.get("engineering").problem("speed-reducer")
figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3.6), sharex=True)
for method in ("pps-sqp", "pps-de", "shade"):
    result = ppsde.minimize(problem, method=method, rng=1, max_evaluations=20_000)
    history = result.history
    error = np.where(history["violation"] == 0, history["f"] - problem.optimum.value, np.nan)
    left.loglog(history["evaluations"], np.maximum(error, 1e-10), label=method)
    right.loglog(history["evaluations"], np.where(history["violation"] > 0, history["violation"], np.nan), label=method)
    print(f"{method:8} error {result.fun - problem.optimum.value:8.1e} after {result.nfev} evaluations")
left.set_ylabel("error of the best feasible point")
right.set_ylabel("violation, until feasible")
for axes in (left, right):
    axes.set_xlabel("evaluations")
    axes.grid(alpha=0.3)
left.legend()
plt.show()

# %%
# The figure that the library draws by itself:

result.plot()
