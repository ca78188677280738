"""The tiers of the U-score: of all runs of an algorithm, how many reached the target, stayed feasible, or did not."""

from __future__ import annotations

from ..stats import Scores
from .drawing import Drawing

WIDTH, LEFT, RIGHT, ROW = 1000.0, 250.0, 880.0, 36.0
STRENGTHS = {"reached": 0.95, "feasible": 0.5, "infeasible": 0.2, "failed": 0.05}
WORDS = {
    "reached": "reached the target",
    "feasible": "feasible above it",
    "infeasible": "infeasible",
    "failed": "failed",
}


def score_tiers(scores: Scores, series: dict[str, int]) -> Drawing:
    """A bar per algorithm, the best score first, in the four tiers from strong to faint."""
    height = 46 + ROW * len(scores.algorithms) + 10
    drawing = Drawing(WIDTH, height, "runs of each algorithm by tier of the U-score")
    drawing.text(10, 22, "from strong to faint: " + ", ".join(WORDS.values()) + "; beside it the U-score", small=True)
    total = scores.total
    for row, k in enumerate(sorted(range(len(total)), key=lambda k: -total[k])):
        name, y, x = scores.algorithms[k], 46 + row * ROW, LEFT
        shown = name if len(name) <= 20 else name[:19] + "…"
        drawing.text(LEFT - 10, y + 22, shown, "end", series=series[name])
        counts = {tier: float(part[:, k].sum()) for tier, part in scores.parts.items()}
        runs = sum(counts.values())
        for tier, count in counts.items():
            width = (RIGHT - LEFT) * count / runs
            tip = f"{name}: {count:g} of {runs:g} runs {WORDS[tier]}"
            if width:
                drawing.box(x, y, width, ROW - 8, STRENGTHS[tier], series=series[name], tip=tip)
            x += width
        drawing.text(RIGHT + 10, y + 22, f"{total[k]:g}", series=series[name])
    return drawing
