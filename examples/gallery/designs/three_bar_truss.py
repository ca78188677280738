"""
A truss of three bars, and its landscape
========================================

Two cross-sections decide the weight of a truss under one load. With two variables the whole problem can be drawn: on
the left the truss, bars as thick as found, on the right the constraints and the lines of equal weight.
"""

import matplotlib.pyplot as plt
import numpy as np

import ppsde

problem = ppsde.suites.get("engineering").problem("three-bar-truss")
result = ppsde.minimize(problem, rng=1)
outer, middle = result.x
print(f"weight {result.fun:.6f}, best known {problem.optimum.value:.6f}, after {result.nfev} evaluations")

figure, (truss, plane) = plt.subplots(1, 2, figsize=(9, 4))
for x, area in ((-1, outer), (0, middle), (1, outer)):
    truss.plot([x, 0], [1, 0], color="#0072B2", linewidth=14 * area, solid_capstyle="round", zorder=1)
    truss.plot(x, 1, "v", color="#7a8894", markersize=16)
    truss.text(x * 0.6 + 0.18, 0.56, f"{area:.4f}", fontsize=9)
truss.annotate("", (0.4, -0.4), (0, 0), arrowprops={"arrowstyle": "-|>", "lw": 2}, zorder=2)
truss.text(0.44, -0.4, "load")
truss.set_xlim(-1.3, 1.3)
truss.set_ylim(-0.5, 1.2)
truss.axis("off")
truss.set_title("cross-sections")

a, b = np.meshgrid(np.linspace(0.5, 1, 150), np.linspace(0.02, 1, 150))
f, g, _ = problem.evaluate(np.stack([a.ravel(), b.ravel()], axis=1))
plane.contour(a, b, f.reshape(a.shape), levels=15, colors="gray", linewidths=0.5)
for k, colour in enumerate(("#D55E00", "#CC79A7", "#E69F00")):
    plane.contourf(a, b, g[:, k].reshape(a.shape), levels=[0, np.inf], colors=[colour], alpha=0.4)
plane.plot(*result.x, "*", color="black", markersize=13)
plane.set_xlabel("outer bars")
plane.set_ylabel("middle bar")
plane.set_title("coloured: a stress is too large")
plt.show()
