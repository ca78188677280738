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
series = {"H200, 700 runs at once": gpu, "one core, 25 runs at once": {k: v for k, v in core.items() if k[1] == 25}}
for (name, found), marker in zip(series.items(), "os", strict=True):
    axes.plot([d for d, _ in found], list(found.values()), marker, markersize=9, label=name)
    for (d, _), rate in found.items():
        axes.annotate(f"{rate:.3g}", (d, rate), (0, 9), textcoords="offset points", ha="center")
axes.set_yscale("log")  # points, not bars: a logarithmic axis has no foot to measure from
axes.set_ylim(0.1, 2000)
axes.set_xlim(0, 60)
axes.set_xticks([d for d, _ in gpu])
axes.set_xlabel("variables")
axes.set_ylabel("million evaluations per second")
axes.grid(axis="y", alpha=0.3)
axes.legend(loc="center left")
plt.show()
