"""
A cantilever of five hollow steps
=================================

Five square sections of one length, thickest at the wall. One constraint, the deflection at the end, and five
variables: drawn with the sides found, and the first feasible design of the run in grey behind it.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Rectangle

import ppsde

problem = ppsde.suites.get("engineering").problem("cantilever-beam")
first = []
result = ppsde.minimize(
    problem, rng=1, max_evaluations=2000, callback=lambda now: first.append(now.x.copy()) if now.feasible else None
)
print(f"weight {result.fun:.8f}, proved optimum {problem.optimum.value:.8f}, after {result.nfev} evaluations")

figure, axes = plt.subplots(figsize=(8.4, 3.6))
axes.add_patch(Rectangle((-3, -9), 3, 18, facecolor="#7a8894", hatch="//", edgecolor="white"))
for sides, style in ((first[0], {"color": "#d9dee3"}), (result.x, {"facecolor": "#cfe8f7", "edgecolor": "#0072B2"})):
    for k, side in enumerate(np.minimum(sides, 16)):
        axes.add_patch(Rectangle((20 * k, -side / 2), 20, side, **style))
for k, side in enumerate(result.x):
    axes.text(20 * k + 10, 0, f"{side:.3f}", ha="center", va="center")
axes.annotate("load", (100, 1), (100, 9), ha="center", arrowprops={"arrowstyle": "-|>", "lw": 2})
axes.set_xlim(-5, 108)
axes.set_ylim(-10, 11)
axes.axis("off")
axes.set_title(f"weight {result.fun:.4f}: sides of the five sections; grey: the first feasible design")
plt.show()
