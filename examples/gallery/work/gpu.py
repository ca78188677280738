"""
Throughput on a GPU
===================

With JAX whole runs become one program. How many million evaluations per second one H200 makes, read from the tables
in ``docs/performance.md``, whose numbers were measured there; the line is two cores of an older machine.
"""

import re
from pathlib import Path

import matplotlib.pyplot as plt

here = Path.cwd()
root = next(folder for folder in (here, *here.parents) if (folder / "docs" / "performance.md").exists())
text = (root / "docs" / "performance.md").read_text(encoding="utf-8")


def numbers(row):
    """Return the numbers of the row of a table that begins with these words."""
    cells = re.search(rf"^\| {re.escape(row)}[^|]*\|(.*)\|$", text, re.M).group(1)
    return [float(word) for word in re.findall(r"\d+(?:\.\d+)?", cells)]


alone = numbers("C01, 700 runs")
together = numbers("22 problems x 900 runs")
microseconds = numbers("D = 10, 25 runs")[0]
print("million evaluations per second, D = 10, 30, 50:", alone, together)
print(f"two cores, 25 runs at D = 10: {1 / microseconds:.1f}")

figure, axes = plt.subplots()
places = range(3)
axes.bar([k - 0.2 for k in places], alone, 0.38, label="C01, 700 runs")
axes.bar([k + 0.2 for k in places], together, 0.38, label="22 problems x 900 runs")
for k, (one, many) in enumerate(zip(alone, together, strict=True)):
    axes.text(k - 0.2, one, f"{one:.0f}", ha="center", va="bottom")
    axes.text(k + 0.2, many, f"{many:.0f}", ha="center", va="bottom")
axes.axhline(1 / microseconds, color="#D55E00", linewidth=1.5, label="two cores, C01, 25 runs, D = 10")
axes.set_yscale("log")
axes.set_ylim(1, 3000)
axes.set_xticks(places, ["D = 10", "D = 30", "D = 50"])
axes.set_ylabel("million evaluations per second")
axes.legend(ncols=3, fontsize=8, loc="lower center", bbox_to_anchor=(0.5, 1))
plt.show()
