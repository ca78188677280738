"""
Four rules, one problem
=======================

A rule says which of two points is better when there are constraints. The same algorithm, SHADE, with four rules:
where its population is after a fifth, and at the end, of the run. The best feasible point lies on the small island on
the right; which island a run ends on is decided early. The star is the result: the best point ever evaluated, also
where the population has left it again.
"""

import matplotlib.pyplot as plt
import numpy as np

import ppsde


def islands(x):
    a, b = x
    f = (a - 3.9) ** 2 + 0.8 * (b - 1.4) ** 2
    large = np.hypot((a + 3.6) / 2.3, b / 2.7) - 1
    small = 3 * (np.hypot(a - 3.7, b + 0.6) - 0.35)
    return f, [np.minimum(large, small)], []


rules = ("feasibility", "epsilon-quantile", "death-penalty", "push-and-pull")
a, b = np.meshgrid(np.linspace(-7, 5.5, 200), np.linspace(-3.5, 3.5, 150))
f, (g,), _ = islands((a, b))

figure, panels = plt.subplots(2, 4, figsize=(10, 3.6), sharex=True, sharey=True)
for column, rule in zip(panels.T, rules, strict=True):
    populations = []
    result = ppsde.minimize(
        islands,
        [(-7, 5.5), (-3.5, 3.5)],
        method="shade",
        options={"rule": rule, "population_size": 40},
        max_evaluations=12_000,
        rng=1,
        callback=lambda now, populations=populations: populations.append(now.population),
    )
    print(f"{rule:17} f {result.fun:.4f}")
    for axes, k in zip(column, (len(populations) // 5, -1), strict=True):
        axes.contourf(a, b, g, levels=[0, np.inf], colors=["#D55E00"], alpha=0.2)
        axes.contour(a, b, f, levels=10, colors="gray", linewidths=0.4)
        axes.scatter(*populations[k].x.T, s=10, c=np.where(populations[k].feasible, "#0072B2", "#D55E00"))
        axes.set_xticks([])
        axes.set_yticks([])
    column[1].plot(*result.x, "*", color="black", fillstyle="none", markersize=13)
    column[0].set_title(f"{rule}\nf = {result.fun:.3f}", fontsize=9)
panels[0, 0].set_ylabel("after a fifth")
panels[1, 0].set_ylabel("at the end")
plt.show()
