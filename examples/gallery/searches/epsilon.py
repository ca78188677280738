"""
Epsilon, and the share of feasible points
=========================================

How PPS-DE spends a run on C14 of CEC2017, with ten variables: during the push no point of the population is feasible.
During the pull epsilon shrinks to 0, and the population comes back. When it has stagnated a new cycle begins.
"""

import matplotlib.pyplot as plt
import numpy as np

import ppsde

problem = ppsde.suites.get("cec2017").problem("C14", 10, instance=1)
result = ppsde.minimize(problem, method="pps-de", rng=1, max_evaluations=100_000)
history = result.history
print(f"f {result.fun:.4f}, feasible: {result.feasible}")

figure, (top, middle, bottom) = plt.subplots(3, 1, sharex=True, figsize=(7.2, 5.6))
at = history["evaluations"]
pushing = history["stage"] == 0
for axes in (top, middle, bottom):
    axes.fill_between(at, 0, 1, where=pushing, transform=axes.get_xaxis_transform(), color="#F0E442", alpha=0.35, lw=0)
top.semilogy(at, np.where(history["epsilon"] > 0, history["epsilon"], np.nan), color="#0072B2")
top.set_ylabel("epsilon")
middle.plot(at, history["feasible_share"], color="#009E73")
middle.set_ylabel("feasible share")
bottom.plot(at, np.where(history["violation"] == 0, history["f"], np.nan), color="black")
bottom.set_ylabel("best feasible f")
bottom.set_xlabel("evaluations (yellow: push)")
plt.show()
