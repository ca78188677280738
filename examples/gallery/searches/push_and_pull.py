"""
Push and pull, stage by stage
=============================

Six moments of one run of PPS-DE on a ring with a gap: the feasible region is thin and bent, and the smallest
objective lies inside the ring, where nothing is feasible. The push gathers all points there. The pull lets them go
outwards again, as far as epsilon says, until they are on the ring.
"""

import matplotlib.pyplot as plt
import numpy as np

import ppsde


def ring(x):
    a, b = x
    radius = np.hypot(a, b)
    return (a - 0.6) ** 2 + (b + 0.3) ** 2, [abs(radius - 2) - 0.15, 1.2 - a - b], []


populations = []
result = ppsde.minimize(
    ring, [(-3, 3)] * 2, method="pps-de", rng=1, callback=lambda now: populations.append(now.population)
)
stage, epsilon = result.history["stage"], result.history["epsilon"]
switch = int(np.argmax(stage == 1))
closed = switch + int(np.argmax(epsilon[switch:] == 0))
print(f"f {result.fun:.6f} at {result.x.round(4)}; the pull begins in generation {switch}, epsilon is 0 in {closed}")

# %%
# Colours show the violation of the constraints, a blue line the edge of the feasible arc. The dark line encloses the
# points that count as feasible at that moment.

a, b = np.meshgrid(np.linspace(-3, 3, 200), np.linspace(-3, 3, 200))
radius = np.hypot(a, b)
violation = np.maximum(abs(radius - 2) - 0.15, 0) + np.maximum(1.2 - a - b, 0)

moments = [0, 4, switch - 1, *(switch + np.array([0.6, 0.8, 1.0]) * (closed - switch)).astype(int)]
figure, panels = plt.subplots(2, 3, figsize=(8.4, 6), sharex=True, sharey=True)
for axes, k in zip(panels.flat, moments, strict=True):
    axes.contourf(a, b, violation, levels=[1e-9, 0.3, 1, 2, 4, 8], cmap="Oranges", alpha=0.5)
    axes.contour(a, b, violation, levels=[1e-9], colors="#0072B2", linewidths=1)
    axes.contour(a, b, (a - 0.6) ** 2 + (b + 0.3) ** 2, levels=[0.3, 1.2, 3, 6, 10], colors="gray", linewidths=0.5)
    points = populations[k]
    axes.scatter(*points.x.T, s=14, c=np.where(points.feasible, "#0072B2", "#D55E00"), edgecolor="white", linewidth=0.4)
    pulling = stage[k] == 1
    if pulling and epsilon[k] > 0:
        axes.contour(a, b, violation, levels=[epsilon[k]], colors="black", linewidths=1)
    axes.set_title(f"generation {k}: " + (f"pull, epsilon {epsilon[k]:.2g}" if pulling else "push"), fontsize=9)
    axes.set_aspect("equal")
figure.supxlabel("$x_1$")
figure.supylabel("$x_2$")
plt.show()
