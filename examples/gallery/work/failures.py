"""
A simulator with failures
=========================

Nothing comes back from a third of the box: the simulator raises there, or returns NaN. Such points are never
feasible, never the best, and nothing is learned from them; the search goes on beside them. ``result.failures`` says
where and why.
"""

import matplotlib.pyplot as plt
import numpy as np

import ppsde

seen = []


def simulator(x):
    a, b = x
    seen.append((a, b))
    if a < -0.3 and b > 0:
        raise RuntimeError("the mesh collapsed")
    f = (a + 0.6) ** 2 + (b - 0.5) ** 2
    return f if a + b < 1.2 else np.nan, [0.2 - a - b], []


result = ppsde.minimize(simulator, [(-2, 2)] * 2, method="pps-de", max_evaluations=2000, rng=1)
print(result)

# %%
x, failed = np.array(seen), np.array([failure.x for failure in result.failures])
figure, axes = plt.subplots(figsize=(5.6, 5))
axes.plot(*x.T, ".", color="#0072B2", markersize=3, label="evaluated")
for status, colour in (("raised", "#D55E00"), ("nan", "#CC79A7")):
    some = [failure.x for failure in result.failures if (failure.status == "raised") == (status == "raised")]
    axes.plot(*np.array(some).T, "x", color=colour, markersize=4, label=f"{status}: {len(some)}")
axes.axline((0.2, 0), slope=-1, color="gray", linewidth=1)
axes.plot(*result.x, "*", color="black", markersize=13)
axes.set_xlim(-2, 2)
axes.set_ylim(-2, 2)
axes.legend(loc="lower left", framealpha=0.9, frameon=True)
axes.set_title("feasible: above the line")
axes.set_xlabel("$x_1$")
axes.set_ylabel("$x_2$")
plt.show()
