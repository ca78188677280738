"""
Local searches of the default method: where they start and where they end
=========================================================================

The default method, PPS-SQP, begins with local searches from points that lie far from each other. Here each of its
evaluations is a small point; a search is a path of large steps among the clouds of probes for derivatives. The
function has nine basins, and a constraint cuts off the two deepest ones.
"""

import matplotlib.pyplot as plt
import numpy as np

import ppsde

seen = []


def basins(x):
    a, b = x
    f = np.sin(3 * a) * np.sin(3 * b) + 0.05 * (a**2 + b**2) + 0.1 * a
    return f, [a - 0.35 - 0.3 * np.sin(2 * b)], []


def watched(x):
    seen.append(x.copy())
    return basins(x)


result = ppsde.minimize(watched, [(-2.4, 2.4)] * 2, rng=3, max_evaluations=1200)
print(result.message)
print(f"f {result.fun:.6f} at {result.x.round(4)} after {result.nfev} evaluations")
print("local searches:", int(result.history["searches"][-1]), " that agree:", int(result.history["agreeing"][-1]))

# %%
# Points that lie a probe's distance apart are one place of a search.

x = np.array(seen)
places = x[np.r_[True, np.abs(np.diff(x, axis=0)).max(axis=1) > 1e-3]]
a, b = np.meshgrid(np.linspace(-2.4, 2.4, 200), np.linspace(-2.4, 2.4, 200))
f, g, _ = basins(np.stack([a, b]))

figure, axes = plt.subplots(figsize=(6.4, 5.6))
filled = axes.contourf(a, b, f, levels=20, cmap="Blues_r", alpha=0.8)
axes.contourf(a, b, g[0], levels=[0, 99], colors=["#D55E00"], alpha=0.3)
axes.plot(*places.T, ".", color="black", markersize=3, label="evaluated")
axes.plot(*result.x, "*", color="#F0E442", markeredgecolor="black", markersize=15, label="result")
axes.set_title("orange: infeasible")
axes.legend(loc="upper right", framealpha=0.9, frameon=True)
figure.colorbar(filled, label="objective")
axes.set_xlabel("$x_1$")
axes.set_ylabel("$x_2$")
plt.show()
