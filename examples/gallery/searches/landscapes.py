"""
Constraint landscapes with a run drawn over them
================================================

Three problems of two variables, and every point that the default method evaluated, from light to dark. Where the
problem is smooth it makes a few local searches, sees that they agree, and ends.
"""

import matplotlib.pyplot as plt
import numpy as np

import ppsde


def bump(x):
    """The product of two waves, over a hyperbola and under a line."""
    a, b = x
    f = -abs((np.cos(a) ** 4 + np.cos(b) ** 4 - 2 * np.cos(a) ** 2 * np.cos(b) ** 2) / np.sqrt(1e-9 + a**2 + 2 * b**2))
    return f, [0.75 - a * b, a + b - 15], []


def crescent(x):
    """A valley, cut by two circles."""
    a, b = x
    return (1 - a) ** 2 + 4 * (b - a**2) ** 2, [a**2 + b**2 - 2, 0.6 - (a - 0.9) ** 2 - (b - 0.7) ** 2], []


def channel(x):
    """A sum, to be made small in a winding channel."""
    a, b = x
    return a + b, [abs(b - np.sin(2 * a)) - 0.25], []


problems = [(bump, (0, 10), (0, 10)), (crescent, (-1.6, 1.6), (-1, 1.6)), (channel, (-3, 3), (-1.6, 1.6))]

figure, panels = plt.subplots(1, 3, figsize=(10, 3.6))
for axes, (fun, across, up) in zip(panels, problems, strict=True):
    seen = []

    def watched(x, fun=fun, seen=seen):
        seen.append(x)
        return fun(x)

    result = ppsde.minimize(watched, [across, up], rng=1, max_evaluations=1500)
    a, b = np.meshgrid(np.linspace(*across, 110), np.linspace(*up, 110))
    values = [fun(x) for x in zip(a.flat, b.flat, strict=True)]
    f = np.reshape([value[0] for value in values], a.shape)
    worst = np.reshape([max(value[1]) for value in values], a.shape)
    axes.contour(a, b, f, levels=14, colors="gray", linewidths=0.5)
    axes.contourf(a, b, worst, levels=[0, np.inf], colors=["#D55E00"], alpha=0.18)
    x = np.array(seen)
    axes.scatter(*x.T, s=7, c=np.arange(len(x)), cmap="Blues", vmin=-len(x) / 2)
    axes.plot(*result.x, "*", color="black", markersize=11, clip_on=False, zorder=5)
    axes.set_title(f"{fun.__name__}: {result.fun:.4f}\n{result.nfev} evaluations", fontsize=9)
    axes.set_xlim(across)
    axes.set_ylim(up)
    axes.set_xlabel("$x_1$")
panels[0].set_ylabel("$x_2$")
plt.show()
