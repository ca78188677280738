"""How series are told apart: the colours of Okabe and Ito, a dash and a marker each, in light and in dark."""

from __future__ import annotations

# Told apart with every kind of colour vision. Yellow goes last, since it is faint on white, and is darkened there.
LIGHT = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9", "#B8A60B")
DARK = ("#56A8E0", "#F0803C", "#2FC79A", "#E39CC6", "#F2F2F2", "#E69F00", "#9AD4F5", "#F0E442")
DASHES = ((), (14, 6), (4, 5), (16, 5, 4, 5), (22, 7), (9, 4), (2, 4, 8, 4), (18, 4, 2, 4, 2, 4))
HEAT = "#0072B2"

PLUS = (
    *((-1, -0.35), (-0.35, -0.35), (-0.35, -1), (0.35, -1), (0.35, -0.35), (1, -0.35)),
    *((1, 0.35), (0.35, 0.35), (0.35, 1), (-0.35, 1), (-0.35, 0.35), (-1, 0.35)),
)

# Outlines of the markers, one per series, within a box from -1 to 1.
MARKERS = (
    ((-0.8, -0.8), (0.8, -0.8), (0.8, 0.8), (-0.8, 0.8)),  # square
    ((0, -1), (1, 0.8), (-1, 0.8)),  # triangle
    ((0, -1.1), (1.1, 0), (0, 1.1), (-1.1, 0)),  # diamond
    ((0, 1), (1, -0.8), (-1, -0.8)),  # triangle, downwards
    ((-0.4, -1), (0.4, -1), (1, -0.4), (1, 0.4), (0.4, 1), (-0.4, 1), (-1, 0.4), (-1, -0.4)),  # octagon
    PLUS,
    ((-1, -1), (1, 1), (1, -1), (-1, 1)),  # hourglass
    ((-1, 0.9), (0, -1), (1, 0.9), (0, 0.4)),  # arrow head
)

COUNT = len(LIGHT)


def colour(series: int) -> str:
    """The colour of a series on white paper."""
    return LIGHT[series % COUNT]


def dash(series: int) -> tuple[int, ...]:
    """Its dash; from the ninth series on colours come back with the dash of another."""
    return DASHES[(series + series // COUNT * 3) % COUNT]


def marker(series: int) -> tuple[tuple[float, float], ...]:
    """The outline of its marker."""
    return MARKERS[(series + series // COUNT * 5) % COUNT]


def stylesheet(series: int, colours: tuple[str, ...] = LIGHT) -> str:
    """CSS that defines the colours as variables."""
    return " ".join(f"--c{k}: {colours[k % COUNT]};" for k in range(series))


def series_rules(series: int) -> str:
    """CSS rules for so many series: curves by stroke, areas and markers by fill."""
    rules = []
    for k in range(series):
        gaps = ",".join(map(str, dash(k)))
        dashes = f"; stroke-dasharray: {gaps}" if gaps else ""
        rules.append(f".l{k} {{ stroke: var(--c{k}){dashes} }} .m{k}, .b{k} {{ fill: var(--c{k}) }}")
    return "\n".join(rules)
