"""
Equality constraints
====================

With an equality the feasible points are a curve, which no random point meets. It counts as met within a tolerance,
1e-4 unless given. Here two numbers are asked for on a curve, as near as possible to a goal; the run is drawn over it.
"""

import matplotlib.pyplot as plt
import numpy as np

import ppsde

seen = []


def heart(x):
    a, b = x
    seen.append((a, b))
    return (a - 1.2) ** 2 + (b - 1.4) ** 2, [], [(a**2 + b**2 - 1) ** 3 - a**2 * b**3]


result = ppsde.minimize(heart, [(-1.6, 1.6)] * 2, max_evaluations=300, rng=1)
print(result)

# %%
a, b = np.meshgrid(np.linspace(-1.6, 1.6, 300), np.linspace(-1.6, 1.6, 300))
figure, axes = plt.subplots(figsize=(5.4, 5))
axes.contour(a, b, (a**2 + b**2 - 1) ** 3 - a**2 * b**3, levels=[0], colors=["#0072B2"], linewidths=2)
axes.contour(a, b, (a - 1.2) ** 2 + (b - 1.4) ** 2, levels=12, colors="gray", linewidths=0.4)
axes.plot(*np.array(seen).T, ".", color="#D55E00", markersize=3)
axes.plot(1.2, 1.4, "+", color="black", markersize=10)
axes.plot(*result.x, "*", color="black", markersize=13)
axes.set_title(f"{result.nfev} evaluations, |h| = {result.constraints[0].value:.1e}")
axes.set_aspect("equal")
axes.set_xlabel("$x_1$")
axes.set_ylabel("$x_2$")
plt.show()
