"""
The cheapest welded beam
========================

A beam welded to a wall carries a load at its end. Its cost is to be small; stresses, buckling, deflection and the
size of the weld are limited. Drawn with the dimensions found, the length shortened.
"""

import matplotlib.pyplot as plt
from matplotlib.patches import Polygon, Rectangle

import ppsde

problem = ppsde.suites.get("engineering").problem("welded-beam")
result = ppsde.minimize(problem, rng=1)
result

# %%
weld, length, height, width = (float(v) for v in result.variables.values())
figure, (side, end) = plt.subplots(1, 2, figsize=(8.4, 4.2), width_ratios=[3, 1.2])
reach = 16
side.add_patch(Rectangle((-2.5, -3), 2.5, height + 6, facecolor="#7a8894", hatch="//", edgecolor="white"))
side.add_patch(Rectangle((-0.0, 0), reach, height, facecolor="#cfe8f7", edgecolor="#0072B2", linewidth=1.5))
for y, sign in ((0, -1), (height, 1)):
    triangle = [(0, y), (length, y), (length, y + 2.2 * weld * sign), (0, y + 2.2 * weld * sign)]
    side.add_patch(Polygon(triangle, facecolor="#D55E00"))
side.annotate("6000 lb", (reach, height), (reach, height + 5), ha="center", arrowprops={"arrowstyle": "-|>", "lw": 2})
side.annotate("", (reach * 0.7, 0), (reach * 0.7, height), arrowprops={"arrowstyle": "<->"})
side.text(reach * 0.7 - 0.3, height / 2, f"height {height:.3f} in", ha="right")
side.text(length / 2 + 0.4, height + 1.1, f"weld {weld:.4f} in, {length:.3f} long")
side.set_xlim(-3, reach + 2)
side.set_ylim(-4, height + 7)
side.set_title(f"cost {result.fun:.6f}", loc="left")
end.add_patch(Rectangle((-width / 2, 0), width, height, facecolor="#cfe8f7", edgecolor="#0072B2", linewidth=1.5))
end.text(0, -1.4, f"width {width:.4f} in", ha="center")
end.set_xlim(-3, 3)
end.set_ylim(-4, height + 7)
end.set_title("cross-section")
for axes in (side, end):
    axes.set_aspect("equal")
    axes.axis("off")
plt.show()
