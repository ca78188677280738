"""The critical-difference diagram: average ranks on a line, bars over those that the test does not tell apart."""

from __future__ import annotations

import numpy as np

from ..stats import Nemenyi
from .axes import Scale
from .drawing import Drawing

WIDTH, LEFT, RIGHT = 1000.0, 250.0, 750.0
AXIS, STEP = 96.0, 34.0


def cliques(test: Nemenyi) -> list[tuple[int, int]]:
    """The longest stretches of algorithms, in the order of their ranks, that lie within the critical difference."""
    ranks = np.sort(test.average_ranks)
    found: list[tuple[int, int]] = []
    for first in range(len(ranks)):
        last = int(np.flatnonzero(ranks - ranks[first] <= test.critical_difference)[-1])
        if last > first and (not found or last > found[-1][1]):
            found.append((first, last))
    return found


def critical_difference(test: Nemenyi, series: dict[str, int]) -> Drawing:
    """The diagram; names of the better half to the left, of the others to the right."""
    order = np.argsort(test.average_ranks, kind="stable")
    k = len(order)
    bars = cliques(test)
    below = AXIS + 26 + 18 * len(bars)
    height = below + STEP * (-(-k // 2)) + 16
    drawing = Drawing(WIDTH, height, "average ranks with the critical difference of Nemenyi's test")
    x = Scale(1.0, float(k), LEFT, RIGHT)
    drawing.line([(LEFT, AXIS), (RIGHT, AXIS)], "axis")
    for rank in range(1, k + 1):
        drawing.line([(x(rank), AXIS - 8), (x(rank), AXIS)], "axis")
        drawing.text(x(rank), AXIS - 14, str(rank), "middle", small=True)
    span = (RIGHT - LEFT) * test.critical_difference / (k - 1)
    drawing.line([(LEFT, 34), (LEFT + span, 34)], "axis")
    for end in (LEFT, LEFT + span):
        drawing.line([(end, 27), (end, 41)], "axis")
    drawing.text(LEFT, 20, f"critical difference {test.critical_difference:.2f}, level {test.alpha:g}", small=True)
    for place, column in enumerate(order):
        name, average = test.algorithms[column], float(test.average_ranks[column])
        to_the_left = place < -(-k // 2)
        y = below + STEP * (place if to_the_left else k - 1 - place) + 12
        end = LEFT - 20 if to_the_left else RIGHT + 20
        number = series[name]
        drawing.line([(x(average), AXIS), (x(average), y), (end, y)], "axis", number)
        drawing.marker(x(average), AXIS, number)
        text = f"{_cut(name)} {average:.2f}" if to_the_left else f"{average:.2f} {_cut(name)}"
        drawing.text(end + (-8 if to_the_left else 8), y + 7, text, "end" if to_the_left else "start", series=number)
    for row, (first, last) in enumerate(bars):
        y = AXIS + 20 + 18 * row
        ends = [float(test.average_ranks[order[place]]) for place in (first, last)]
        drawing.line([(x(ends[0]) - 6, y), (x(ends[1]) + 6, y)], "bar")
    return drawing


def _cut(name: str) -> str:
    return name if len(name) <= 18 else name[:17] + "…"
