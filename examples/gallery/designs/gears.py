"""
Integers: a gear train
======================

Four wheels with 12 to 60 teeth each are to give a ratio of 1 : 6.931. All variables are integers:
``integrality=True``. There are 5.7 million designs, with many local optima, so that a method which compares values
and computes no differences is right: ``method="pps-de"``, and several seeds.
"""

import matplotlib.pyplot as plt
import numpy as np

import ppsde


def train(teeth):
    a, b, c, d = teeth
    return (1 / 6.931 - a * b / (c * d)) ** 2


runs = [
    ppsde.minimize(train, [(12, 60)] * 4, integrality=True, method="pps-de", max_evaluations=20_000, rng=seed)
    for seed in range(5)
]
for run in runs:
    print(run.x.astype(int), f"{run.fun:.2e}")
best = min(runs, key=lambda run: run.fun)

# %%
a, b, c, d = best.x.astype(int)


def wheel(axes, x, y, teeth, colour):
    turn = np.linspace(0, 2 * np.pi, 16 * teeth)
    radius = teeth / 2 + 0.8 * np.sign(np.sin(teeth * turn))
    axes.fill(x + radius * np.cos(turn), y + radius * np.sin(turn), color=colour, alpha=0.6)
    axes.text(x, y, str(teeth), ha="center", va="center", color="black", fontsize=13, weight="bold")


figure, axes = plt.subplots(figsize=(8, 3.6))
wheel(axes, 0, 0, d, "#0072B2")
wheel(axes, d / 2 + a / 2 + 1.6, 0, a, "#D55E00")
wheel(axes, d / 2 + a + c / 2 + 14, 0, c, "#009E73")
wheel(axes, d / 2 + a + c + b / 2 + 15.6, 0, b, "#CC79A7")
axes.set_title(f"{a} x {b} / ({c} x {d}) = {a * b / (c * d):.7f}, wanted {1 / 6.931:.7f}")
axes.set_aspect("equal")
axes.axis("off")
plt.show()
