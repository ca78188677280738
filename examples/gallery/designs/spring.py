"""
The lightest coil spring
========================

Wire diameter, coil diameter and number of active coils, such that the spring deflects enough, is not overstressed,
does not resonate and fits. Drawn to scale with the dimensions found, in inches.
"""

import matplotlib.pyplot as plt
import numpy as np

import ppsde


def spring(x):
    d, D, N = x
    weight = (N + 2) * D * d**2
    deflection = 1 - D**3 * N / (71785 * d**4)
    stress = (4 * D**2 - d * D) / (12566 * (D * d**3 - d**4)) + 1 / (5108 * d**2) - 1
    frequency = 1 - 140.45 * d / (D**2 * N)
    return weight, [deflection, stress, frequency, (d + D) / 1.5 - 1], []


problem = ppsde.Problem(
    spring,
    [(0.05, 2), (0.25, 1.3), (2, 15)],
    name="spring",
    variable_names=["wire", "coil", "turns"],
    constraint_names=["deflection", "stress", "frequency", "size"],
)
result = ppsde.minimize(problem, rng=2)
result

# %%
wire, coil, turns = result.x
angle = np.linspace(0, 2 * np.pi * turns, 2000)
pitch = 1.9 * wire
along, across = angle / (2 * np.pi) * pitch, coil / 2 * np.cos(angle)
front = np.sin(angle) < 0

figure, axes = plt.subplots(figsize=(8, 4))
points_per_inch = 72 * 7.4 / (along[-1] + 0.5)
for part, colour in ((~front, "#7a8894"), (front, "#0072B2")):
    axes.plot(
        np.where(part, along, np.nan),
        np.where(part, across, np.nan),
        color=colour,
        linewidth=wire * points_per_inch,
        solid_capstyle="round",
    )
axes.annotate("", (-0.12, -coil / 2), (-0.12, coil / 2), arrowprops={"arrowstyle": "<->"})
axes.text(-0.15, 0, f"D = {coil:.4f}", ha="right", va="center", rotation=90)
axes.text(along[-1] / 2, -coil / 2 - 0.13, f"{turns:.2f} active coils of wire d = {wire:.4f}", ha="center")
active = [c.name for c in result.constraints if c.active]
axes.set_title(f"weight {result.fun:.6f}; active constraints: {', '.join(active)}")
axes.set_xlim(-0.35, along[-1] + 0.15)
axes.set_ylim(-coil / 2 - 0.2, coil / 2 + 0.1)
axes.set_aspect("equal")
axes.axis("off")
plt.show()
