"""
A study and its report
======================

A study is many runs of several methods on several problems, in a store that survives kills. Its report is one page
that needs nothing else; it is at the end, in a frame. Results can also be read from the store, for figures of your
own.
"""

import html
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt

from ppsde.experiments import Plan, Store, run
from ppsde.reports import find, gather, page

plan = Plan(
    ["pps-de", "shade", "jde"],
    problems=["engineering:tension-spring", "engineering:welded-beam", "engineering:three-bar-truss"],
    runs=5,
    budget=3000,
    engine="host",
)
folder = Path(tempfile.mkdtemp())
print(run(plan, folder / "study.db").done, "runs")
figure, panels = plt.subplots(1, 3, figsize=(9.6, 3.4))
with Store(folder / "study.db") as store:
    study = gather(store)
    results = list(store.results())
for axes, problem in zip(panels, sorted({result.problem for result in results}), strict=True):
    methods = sorted({result.algorithm for result in results})
    ends = [[r.f for r in results if r.feasible and (r.problem, r.algorithm) == (problem, name)] for name in methods]
    axes.boxplot(ends, tick_labels=methods)
    axes.set_title(problem, fontsize=10)
panels[0].set_ylabel("objective after 3000 evaluations")
plt.show()

# %%
# The findings of the report, and the report itself:

findings = find(study)
print("by average rank:", findings.order)
print(*findings.caveats, sep="\n")


class Page:
    """The report in a frame of its own, as a browser shows it."""

    def _repr_html_(self):
        return (
            f'<iframe title="report of the study" srcdoc="{html.escape(page(study))}" '
            'style="width:100%;height:640px;border:1px solid #8888;border-radius:8px"></iframe>'
        )


Page()
