"""
Ask and tell from a loop of your own
====================================

``ppsde.Optimizer`` returns points to evaluate and takes their values. Your program decides who evaluates them, and
where. Here a made-up laboratory has four machines, each experiment takes its time, and the figure shows who did what
when. A machine that breaks returns nothing: NaN. A method that asks for sixteen points at once leaves no machine idle
for long.
"""

import matplotlib.pyplot as plt
import numpy as np

import ppsde

rng = np.random.default_rng(1)
free, jobs = np.zeros(4), []  # when each machine is free again


def experiment(x):
    machine = int(np.argmin(free))
    hours = rng.uniform(0.5, 1.5)
    broken = rng.random() < 0.05
    jobs.append((machine, free[machine], hours, broken))
    free[machine] += hours
    strength = 3 - (x[0] - 0.7) ** 2 - 2 * (x[1] - 0.3) ** 2
    return (np.nan, np.nan) if broken else (-strength, x[0] + x[1] - 0.9)


optimizer = ppsde.Optimizer(
    [(0, 1)] * 2, n_ineq=1, method="jde", options={"population_size": 16}, max_evaluations=160, rng=1
)
while not optimizer.done:
    points = optimizer.ask()
    values = np.array([experiment(x) for x in points])
    free[:] = free.max()  # the next points depend on all of these
    optimizer.tell(values[:, 0], g=values[:, 1:])
print(optimizer.result)

# %%
figure, axes = plt.subplots(figsize=(8.4, 2.8))
for broken, colour, label in ((False, "#0072B2", "experiment"), (True, "#D55E00", "broken")):
    some = [job for job in jobs if job[3] == broken]
    axes.barh(
        [job[0] for job in some],
        [job[2] for job in some],
        left=[job[1] for job in some],
        color=colour,
        edgecolor="white",
        label=label,
    )
axes.set_yticks(range(4), [f"machine {k + 1}" for k in range(4)])
axes.set_xlabel("hours")
axes.legend(ncols=2, loc="lower right", bbox_to_anchor=(1, 1))
axes.set_title(f"{optimizer.result.nfev} experiments, best strength {-optimizer.result.fun:.4f}", loc="left")
plt.show()
