"""Ranks as a heat map: problems down, algorithms across, the best the strongest."""

from __future__ import annotations

from ..stats import CompetitionRanks
from .drawing import Drawing

ROW, COLUMN, LEFT = 30.0, 92.0, 190.0
STRONGEST = 0.6


def rank_heat_map(ranks: CompetitionRanks, series: dict[str, int]) -> Drawing:
    """Ranks by the median run of each algorithm on each problem."""
    names, k = ranks.algorithms, len(ranks.algorithms)
    longest = max(len(name) for name in names)
    head = 20 + min(longest, 24) * 10.5
    width, height = max(LEFT + k * COLUMN + 10, 420), head + len(ranks.problems) * ROW + 10
    drawing = Drawing(width, height, "rank of each algorithm on each problem, 1 is best")
    for column, name in enumerate(names):
        x = LEFT + (column + 0.5) * COLUMN
        drawing.text(x + 6, head - 10, _cut(name, 24), small=True, turned=True, series=series[name])
    for i, problem in enumerate(ranks.problems):
        y = head + i * ROW
        drawing.text(LEFT - 10, y + 21, _cut(problem, 18), "end", small=True)
        for column, name in enumerate(names):
            rank = float(ranks.by_median[i, column])
            strength = STRONGEST * (k - rank) / (k - 1)
            tip = f"{problem}, {name}: rank {rank:g}"
            x = LEFT + column * COLUMN
            drawing.box(x + 1, y + 1, COLUMN - 2, ROW - 2, strength, tip=tip, of=series[name])
            drawing.text(x + COLUMN / 2, y + 21, f"{rank:g}", "middle", small=True, series=series[name])
    return drawing


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
