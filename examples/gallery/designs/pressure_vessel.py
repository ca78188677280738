"""
The cheapest pressure vessel
============================

A cylinder with two half spheres as heads holds 750 cubic feet. Plates come in multiples of 1/16 inch, so two of the
four variables are discrete. Drawn to scale, with the walls ten times as thick.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Rectangle

import ppsde

problem = ppsde.suites.get("engineering").problem("pressure-vessel")
result = ppsde.minimize(problem, rng=2, max_evaluations=4000)
shell, head, radius, length = (float(v) for v in result.variables.values())
shell, head = (0.0625 * np.round(t / 0.0625) for t in (shell, head))
print(f"cost {result.fun:.4f}, best known {problem.optimum.value:.4f}, {result.nfev} evaluations")

# %%
figure, axes = plt.subplots(figsize=(8.4, 3.8))
turn = np.linspace(np.pi / 2, 3 * np.pi / 2, 100)
for thick, colour in ((10, "#0072B2"), (0, "white")):
    for x, side in ((0, 1), (length, -1)):
        r = radius + thick * head
        axes.fill(x + side * r * np.cos(turn), r * np.sin(turn), color=colour)
    r = radius + thick * shell
    axes.add_patch(Rectangle((0, -r), length, 2 * r, color=colour))
axes.annotate("", (0, 0), (length, 0), arrowprops={"arrowstyle": "<->"})
axes.text(length / 2, 4, f"length {length:.2f} in", ha="center")
axes.annotate("", (0, 0), (0, radius), arrowprops={"arrowstyle": "<->"})
axes.text(3, radius / 2, f"radius {radius:.3f} in")
axes.text(length / 2, radius + 14, f"shell {shell:.4f} in", ha="center")
axes.text(-radius - 8, radius, f"head {head:.4f} in", ha="center")
axes.set_xlim(-radius - 30, length + radius + 15)
axes.set_ylim(-radius - 15, radius + 28)
axes.set_title(f"cost {result.fun:.2f}")
axes.set_aspect("equal")
axes.axis("off")
plt.show()
