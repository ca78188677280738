"""
Evaluations in worker processes
===============================

``workers=3`` evaluates in three processes of their own, ``eval_timeout`` kills what hangs, and the result has the
same bits as with one. The figure is a log that the function itself wrote: who evaluated when.
"""

import os
import tempfile
import time
from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.ticker import MaxNLocator

import ppsde

log = Path(tempfile.mkdtemp()) / "log.txt"


def slow(x):
    begun = time.time()
    with log.open("a") as file:
        file.write(f"{os.getpid()} {begun} {x[0]}\n")
    time.sleep(60 if x[0] > 0.97 else 0.02 + 0.04 * abs(x[1]))
    return (x[0] - 0.4) ** 2 + (x[1] - 0.2) ** 2, [0.5 - x[0] - x[1]], []


result = ppsde.minimize(slow, [(0, 1)] * 2, method="pps-de", max_evaluations=120, rng=1, workers=3, eval_timeout=1.0)
print(result)

# %%
lines = [line.split() for line in log.read_text().splitlines()]
start = min(float(line[1]) for line in lines)
places = {process: k for k, process in enumerate(dict.fromkeys(line[0] for line in lines), start=1)}
figure, axes = plt.subplots(figsize=(8.4, 3))
for process, begun, x in lines:
    hung = float(x) > 0.97
    shape = {"marker": "x", "color": "#D55E00"} if hung else {"marker": "|", "color": "#0072B2"}
    axes.plot(float(begun) - start, places[process], markersize=15, markeredgewidth=2.2, **shape)
axes.set_ylabel("process")
axes.yaxis.set_major_locator(MaxNLocator(integer=True))
axes.set_xlabel("seconds (each mark: an evaluation begins; x: it hangs, and its process is killed and replaced)")
plt.show()
