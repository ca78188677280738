"""
Throughput on a GPU
===================

With JAX whole runs become one program. How many million evaluations per second one H200 makes, and one core of a CPU:
PPS-DE on C01 with its full budget, as stored in ``docs/measured`` by ``benchmarks/throughput.py``.
"""

import json
from pathlib import Path

import matplotlib.pyplot as plt

here = Path.cwd()
records = next(
    folder / "docs" / "measured" for folder in (here, *here.parents) if (folder / "docs" / "measured").is_dir()
)


def rates(device):
    """Return the million evaluations per second for each pair of D and number of runs at once."""
    rows = json.loads((records / f"throughput-{device}.json").read_text(encoding="utf-8"))["values"]
    return {(row["D"], row["runs"]): 1 / row["microseconds"] for row in rows}


gpu, core = rates("gpu"), rates("cpu")
print("GPU, 700 runs:", {f"D = {d}": round(rate) for (d, _), rate in gpu.items()})
print("one core, 25 runs:", {f"D = {d}": round(rate, 1) for (d, runs), rate in core.items() if runs == 25})

figure, axes = plt.subplots()
axes.bar([f"D = {d}" for d, _ in gpu], list(gpu.values()), 0.5, label="H200: C01, 700 runs")
for k, rate in enumerate(gpu.values()):
    axes.text(k, rate, f"{rate:.0f}", ha="center", va="bottom")
axes.axhline(core[10, 25], color="#D55E00", linewidth=1.5, label="one core: C01, 25 runs, D = 10")
axes.set_yscale("log")
axes.set_ylim(0.1, 1000)
axes.set_ylabel("million evaluations per second")
axes.legend(fontsize=8, loc="lower center", bbox_to_anchor=(0.5, 1))
plt.show()
