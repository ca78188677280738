"""The figures of a study: curves and boxes by problem, feasibility and targets over time, ranks, tiers, differences."""

from __future__ import annotations

import re
from collections.abc import Container
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ..files import write_own
from ..stats import CompetitionRanks, Ecdf, Nemenyi, Outcomes, ScoreTable
from .axes import Scale, frame, markers_along, objective_scale, pieces, ticks, violation_scale
from .curves import Curves, curves, grid
from .drawing import Drawing, Line, Marker, can_write_pdf, shortened, svg_file, text_width, write_pdf
from .findings import Findings
from .study import Study

WIDTH = 1000.0  # of most figures
LEGEND_ROW, KEY, GAP = 34.0, 64.0, 30.0  # sizes in a legend
OBJECTIVE, VIOLATION = 250.0, 190.0  # heights of the panels of a problem
SHARE_ROW = 13.0  # height of one algorithm in the strip of shares
BOX_ROW = 34.0  # and among boxes
NOTHING = "no algorithm has a feasible median run"
HEIGHT = 430.0  # of the figures over time
LEFT, RIGHT, TOP, BOTTOM = 80.0, 958.0, 40.0, 366.0  # of their panel
STEPS = 120  # points of an ECDF
STRONGEST = 0.6  # of a heat map
STRENGTHS = {"reached": 0.95, "feasible": 0.5, "infeasible": 0.2, "failed": 0.05}
WORDS = {
    "reached": "reached the target",
    "feasible": "feasible above it",
    "infeasible": "infeasible",
    "failed": "failed",
}


@dataclass(frozen=True)
class Figures:
    """The figures of a study and the numbers behind them."""

    curves: dict[str, dict[int, Curves]]  # by problem and number of the algorithm
    problems: dict[str, Drawing]
    boxes: dict[str, Drawing]
    shares: dict[int, np.ndarray]
    feasibility: Drawing | None
    ecdf: Drawing | None
    ranks: Drawing | None
    differences: Drawing | None
    tiers: Drawing | None

    def named(self) -> dict[str, Drawing]:
        """Every figure by the name of its file."""
        whole = {
            "feasibility": self.feasibility,
            "ecdf": self.ecdf,
            "ranks": self.ranks,
            "critical_difference": self.differences,
            "score_tiers": self.tiers,
        }
        found = {name: drawing for name, drawing in whole.items() if drawing is not None}
        for problem, drawing in self.problems.items():
            found[unused(f"problem_{problem}", found)] = drawing
        for problem, drawing in self.boxes.items():
            found[unused(f"boxes_{problem}", found)] = drawing
        return found


def draw(study: Study, findings: Findings) -> Figures:
    """Draw every figure that the study has data for."""
    series = {name: k for k, name in enumerate(study.algorithms)}
    found: dict[str, dict[int, Curves]] = {}
    for problem in study.problems:
        at = grid(problem.budget)
        row = study.records[problem.label]
        found[problem.label] = {series[a]: curves(row[a], at) for a in study.algorithms if a in row}
    shares = mean_shares(
        {series[a]: [found[p][series[a]] for p in study.complete] for a in study.ranked if study.complete}
    )
    return Figures(
        curves=found,
        problems={
            p.label: convergence(p.label, p.budget, found[p.label], p.optimum) for p in study.problems if found[p.label]
        },
        boxes={
            p.label: boxes(
                p.label, study.algorithms, {series[a]: row[a] for a in study.algorithms if a in row}, p.optimum
            )
            for p in study.problems
            for row in [study.outcomes[p.label]]
            if row
        },
        shares=shares,
        feasibility=feasibility(shares) if shares else None,
        ecdf=ecdfs({series[a]: one for a, one in findings.ecdf.items()}) if findings.ecdf else None,
        ranks=None if findings.ranks is None else rank_heat_map(findings.ranks, series),
        differences=None if findings.pairs is None else critical_difference(findings.pairs, series),
        tiers=None if findings.u_score is None else score_tiers(findings.u_score, series),
    )


def write_figures(figures: Figures, folder: Path, algorithms: tuple[str, ...]) -> list[Path]:
    """Write every figure as SVG, and as PDF where matplotlib is installed, with a legend where it needs one."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, plain in figures.named().items():
        drawing = with_legend(plain, algorithms)
        path = folder / f"{name}.svg"
        write_own(path, svg_file(drawing, len(algorithms)), "svg")
        written.append(path)
        if can_write_pdf():
            write_pdf(drawing, folder / f"{name}.pdf")
            written.append(folder / f"{name}.pdf")
    return written


def unused(text: str, taken: Container[str]) -> str:
    """Return a file name made of the text, of plain letters, and not among those taken.

    Examples
    --------
    >>> unused("problem_../C01 D=10", {}), unused("a", {"a": 1, "a_2": 1})
    ('problem_C01_D_10', 'a_3')
    """
    plain = re.sub(r"[^A-Za-z0-9-]+", "_", text).strip("_")[:80] or "unnamed"
    name, k = plain, 2
    while name in taken:
        name, k = f"{plain}_{k}", k + 1
    return name


# --- legends ------------------------------------------------------------------------------------------------------


def with_legend(drawing: Drawing, names: tuple[str, ...]) -> Drawing:
    """Return a drawing with a key for each of its algorithms below it; unchanged if it has no curves."""
    if not any(isinstance(item, Line) and item.kind == "curve" for item in drawing.items):
        return drawing
    drawn = {item.series for item in drawing.items if isinstance(item, Line | Marker)}
    found = replace(drawing, items=list(drawing.items))
    x, y = GAP, drawing.height + LEGEND_ROW / 2
    for series, name in enumerate(names):
        if series not in drawn:
            continue
        text = shortened(name, 400.0)
        width = KEY + 10 + text_width(text)
        if x > GAP and x + width > drawing.width:
            x, y = GAP, y + LEGEND_ROW
        found.line([(x, y), (x + KEY, y)], "curve", series)
        found.marker(x + KEY / 2, y, series)
        found.text(x + KEY + 10, y + 7, text, series=series)
        x += width + GAP
    found.height = y + LEGEND_ROW / 2
    return found


# --- one problem over evaluations: the objective above, the share of feasible runs between, the violation below ------


def convergence(label: str, budget: int, found: dict[int, Curves], optimum: float | None = None) -> Drawing:
    """Draw one problem from the curves of its algorithms, given by number of the algorithm.

    Where the optimum is known, the upper panel shows the error on a logarithmic scale, else the objective.
    """
    upper, lower = {k: curve.f for k, curve in found.items()}, {k: curve.violation for k, curve in found.items()}
    what, make = "objective of the best feasible point", objective_scale
    if optimum is not None:
        upper, make = {k: errors(f, optimum) for k, f in upper.items()}, violation_scale
        what = f"error f - f* of the best feasible point, f* = {optimum:.8g}"
    bottom = TOP + OBJECTIVE
    shown, least = _shown(upper), _shown(lower)
    y = make(shown, bottom, TOP)
    strip = bottom + 52
    low = strip + SHARE_ROW * max(len(found), 1) + 48
    v = violation_scale(least, low + VIOLATION, low)
    widest = max((text_width(text, small=True) for scale in (y, v) if scale for _, text in ticks(scale)), default=0.0)
    left, height = max(80.0, widest + 16), low + VIOLATION + 62
    title = f"{label}: {'objective' if optimum is None else 'error'}, feasible runs and violation against evaluations"
    drawing = Drawing(WIDTH, height, title, plot=(left, RIGHT))
    x = Scale(0.0, float(budget), left, RIGHT)
    solved = optimum is not None and bool((shown <= 0).any())
    _panel(
        drawing,
        x,
        y or Scale(0.0, 1.0, bottom, TOP),
        found,
        upper if y else {},
        f"{what}: median, quartiles",
        empty="the optimum is reached wherever there is a record" if solved else NOTHING,
    )
    drawing.text(left, strip - 12, "share of runs with a feasible point", small=True)
    for row, (series, curve) in enumerate(found.items()):
        _strip(drawing, x, strip + row * SHARE_ROW, series, curve)
    feasible = bool((least == 0).any())
    _panel(
        drawing,
        x,
        v or Scale(0.0, 1.0, low + VIOLATION, low),
        found,
        lower if v else {},
        "least violation: median, quartiles",
        empty="no violation is left wherever there is a record" if feasible else NOTHING,
        numbers_below=True,
    )
    drawing.text((left + RIGHT) / 2, height - 10, "evaluations", "middle", small=True)
    return drawing


def errors(f: np.ndarray, optimum: float) -> np.ndarray:
    """Return objectives as distances from the optimum; 0 where one is better, as tolerances of equalities allow."""
    return np.where(np.isfinite(f), np.maximum(f - optimum, 0.0), np.inf)


def _together(values: dict[int, np.ndarray]) -> np.ndarray:
    return np.concatenate([v.ravel() for v in values.values()]) if values else np.empty(0)


def _shown(values: dict[int, np.ndarray]) -> np.ndarray:
    """Return the values of quartiles that are drawn: medians that are finite, and shades where both ends are."""
    found = [np.empty(0)]
    for low, middle, high in values.values():
        both = np.isfinite(low) & np.isfinite(high)
        found += [middle[np.isfinite(middle)], low[both], high[both]]
    return np.concatenate(found)


def _panel(
    drawing: Drawing,
    x: Scale,
    y: Scale,
    found: dict[int, Curves],
    values: dict[int, np.ndarray],
    label: str,
    *,
    empty: str,
    numbers_below: bool = False,
) -> None:
    """Draw quartiles over evaluations; without values, the text `empty`."""
    frame(drawing, x, y, numbers_below=numbers_below, label=label, most=6 if values else 0)
    if not values:
        drawing.text((x.start + x.end) / 2, (y.start + y.end) / 2, empty, "middle", small=True)
    for series, quartiles in values.items():
        at = found[series].at
        both = np.isfinite(quartiles[0]) & np.isfinite(quartiles[2])
        lower = pieces(x, y, at, np.where(both, quartiles[0], np.inf))
        upper = pieces(x, y, at, np.where(both, quartiles[2], np.inf))
        for under, over in zip(lower, upper, strict=True):
            drawing.area([*under, *reversed(over)], series)
        stretches = pieces(x, y, at, quartiles[1])
        for stretch in stretches:
            drawing.line(stretch, "curve", series)
        markers_along(drawing, stretches, series, len(found))


def _strip(drawing: Drawing, x: Scale, top: float, series: int, curve: Curves) -> None:
    """Draw the share of feasible runs as the strength of a row, a box for each stretch of equal share."""
    edges = np.flatnonzero(np.diff(curve.share, prepend=-1.0))
    for k, begin in enumerate(edges):
        share = float(curve.share[begin])
        last = len(curve.share) if k + 1 == len(edges) else edges[k + 1]
        start = x(float(curve.at[begin - 1])) if begin else x(0.0)
        end = x(float(curve.at[last - 1]))
        tip = f"{share:.0%} of {curve.runs} runs feasible"
        drawing.rectangle(start, top + 1, end - start, SHARE_ROW - 2, share, series=series, tip=tip)
    drawing.line([(x.start, top + SHARE_ROW), (x.end, top + SHARE_ROW)], "grid", series)


def boxes(label: str, names: tuple[str, ...], found: dict[int, Outcomes], optimum: float | None = None) -> Drawing:
    """Draw the final values of the feasible runs: a box from quartile to quartile, the median, and both extremes."""
    value = "objective" if optimum is None else "error f - f*"
    known = "" if optimum is None else f", f* = {optimum:.8g}"
    height = TOP + BOX_ROW * len(found) + 62
    drawing = Drawing(WIDTH, height, f"{label}: final {value} of the feasible runs of each algorithm")
    shown = {k: shortened(names[k], 300.0) for k in found}
    left, right = max(text_width(text) for text in shown.values()) + 20, WIDTH - 116
    finals = {k: runs.f[runs.feasible] for k, runs in found.items()}
    if optimum is not None:
        finals = {k: errors(f, optimum) for k, f in finals.items()}
    make = objective_scale if optimum is None else violation_scale
    x = make(_together(finals), left + 10, right)
    bottom = TOP + BOX_ROW * len(found)
    if x is None:
        reached = any(f.size for f in finals.values())
        said = "every feasible run reached the optimum" if reached else "no run is feasible"
        drawing.text((left + right) / 2, bottom + 30, said, "middle", small=True)
    else:
        _across(drawing, x, bottom)
    drawing.line([(left, TOP), (left, bottom), (right, bottom)], "axis")
    drawing.text(left, TOP - 14, f"final {value}{known}: extremes, quartiles, median", small=True)
    drawing.text(WIDTH - 6, TOP - 14, "feasible", "end", small=True)
    for row, (series, runs) in enumerate(found.items()):
        y = TOP + BOX_ROW * (row + 0.5)
        drawing.text(left - 10, y + 7, shown[series], "end", series=series)
        count = f"{int(runs.feasible.sum())}/{runs.n}"
        drawing.text(WIDTH - 6, y + 7, count, "end", small=True, series=series)
        if x is not None and finals[series].size:
            _box(drawing, [x(float(q)) for q in np.percentile(finals[series], (0, 25, 50, 75, 100))], y, series)
    drawing.text((left + right) / 2, height - 8, value, "middle", small=True)
    return drawing


def _across(drawing: Drawing, x: Scale, bottom: float) -> None:
    """Draw the numbers of a horizontal scale, and a faint line at each; fewer where they would touch."""
    marks = [(x(value), text) for value, text in ticks(x, 6)] + ([(x.start, "0")] if x.kind == "zero" else [])
    end = -np.inf
    for at, text in sorted(marks):
        drawing.line([(at, TOP), (at, bottom)], "grid")
        half = text_width(text, small=True) / 2
        if at - half > end:
            drawing.text(at, bottom + 26, text, "middle", small=True)
            end = at + half + 8


def _box(drawing: Drawing, places: list[float], y: float, series: int) -> None:
    least, lower, median, upper, most = places
    for start, end in ((least, lower), (upper, most)):
        drawing.line([(start, y), (end, y)], "box", series)
    for end in (least, most):
        drawing.line([(end, y - 6), (end, y + 6)], "box", series)
    drawing.rectangle(lower, y - 11, max(upper - lower, 2.0), 22, 0.25, series=series)
    corners = [(lower, y - 11), (upper, y - 11), (upper, y + 11), (lower, y + 11), (lower, y - 11)]
    drawing.line(corners, "box", series)
    drawing.line([(median, y - 11), (median, y + 11)], "axis", series)
    drawing.marker(median, y, series)


# --- the whole study over time ------------------------------------------------------------------------------------


def mean_shares(found: dict[int, list[Curves]]) -> dict[int, np.ndarray]:
    """Return, by algorithm, the share of feasible runs at equal shares of each budget, mean over the problems."""
    at = np.linspace(0.0, 1.0, 61)[1:]
    shares = {}
    for series, shares_of_runs in found.items():
        rows = [
            np.append(0.0, curve.share)[np.floor(at * len(curve.at) + 1e-9).astype(int)] for curve in shares_of_runs
        ]
        shares[series] = np.mean(rows, axis=0)
    return shares


def feasibility(shares: dict[int, np.ndarray]) -> Drawing:
    """Draw the share of feasible runs over the share of the budget."""
    drawing = Drawing(WIDTH, HEIGHT, "mean share of feasible runs against the share of the budget")
    x, y = Scale(0.0, 100.0, LEFT, RIGHT), Scale(0.0, 100.0, BOTTOM, TOP)
    frame(drawing, x, y, numbers_below=True, label="runs with a feasible point, % (mean over the problems)")
    drawing.text((LEFT + RIGHT) / 2, HEIGHT - 8, "budget used, %", "middle", small=True)
    for series, share in shares.items():
        at = np.linspace(0.0, 100.0, len(share) + 1)[1:]
        _curve(drawing, x, y, at, 100 * share, series, len(shares))
    return drawing


def ecdfs(found: dict[int, Ecdf]) -> Drawing:
    """Draw the share of targets reached over evaluations per variable."""
    drawing = Drawing(WIDTH, HEIGHT, "share of pairs of problem and target reached against evaluations per variable")
    steps = np.concatenate([one.evaluations for one in found.values()]) if found else np.empty(0)
    positive = steps[steps > 0]
    if not positive.size:
        drawing.text(WIDTH / 2, HEIGHT / 2, "no target was reached", "middle")
        return drawing
    low, high = float(positive.min()), float(positive.max())
    x = Scale(low, max(high, 2 * low), LEFT, RIGHT, "log")
    y = Scale(0.0, 100.0, BOTTOM, TOP)
    frame(drawing, x, y, numbers_below=True, label="pairs of problem and target reached, %")
    drawing.text((LEFT + RIGHT) / 2, HEIGHT - 8, "evaluations per variable", "middle", small=True)
    at = np.geomspace(x.low, x.high, STEPS)
    for series, one in found.items():
        _curve(drawing, x, y, at, 100 * reached(one, at), series, len(found))
    return drawing


def reached(one: Ecdf, at: np.ndarray) -> np.ndarray:
    """Return the share of targets reached at those numbers of evaluations."""
    return np.append(0.0, one.share)[np.searchsorted(one.evaluations, at * (1 + 1e-12), side="right")]


def _curve(drawing: Drawing, x: Scale, y: Scale, at: np.ndarray, values: np.ndarray, series: int, of: int) -> None:
    stretches = pieces(x, y, at, values)
    for stretch in stretches:
        drawing.line(stretch, "curve", series)
    markers_along(drawing, stretches, series, of)


# --- ranks and scores ---------------------------------------------------------------------------------------------


def rank_heat_map(ranks: CompetitionRanks, series: dict[str, int]) -> Drawing:
    """Draw the rank of each algorithm on each problem, by its median run; the best rank is the strongest."""
    row, column_width = 30.0, 92.0
    names, k = ranks.algorithms, len(ranks.algorithms)
    heads = [shortened(name, 260.0, small=True) for name in names]
    labels = [shortened(problem, 320.0, small=True) for problem in ranks.problems]
    head = 24 + max(text_width(text, small=True) for text in heads)
    left = 20 + max(text_width(text, small=True) for text in labels)
    width, height = max(left + k * column_width + 10, 420), head + len(ranks.problems) * row + 10
    drawing = Drawing(width, height, "rank of each algorithm on each problem, 1 is best")
    for column, name in enumerate(names):
        x = left + (column + 0.5) * column_width
        drawing.text(x + 6, head - 10, heads[column], small=True, turned=True, series=series[name])
    for i, problem in enumerate(ranks.problems):
        y = head + i * row
        drawing.text(left - 10, y + 21, labels[i], "end", small=True)
        for column, name in enumerate(names):
            rank = float(ranks.by_median[i, column])
            strength = STRONGEST * (k - rank) / (k - 1)
            tip = f"{problem}, {name}: rank {rank:g}"
            x = left + column * column_width
            drawing.rectangle(x + 1, y + 1, column_width - 2, row - 2, strength, tip=tip, of=series[name])
            drawing.text(x + column_width / 2, y + 21, f"{rank:g}", "middle", small=True, series=series[name])
    return drawing


def score_tiers(scores: ScoreTable, series: dict[str, int]) -> Drawing:
    """Draw a bar per algorithm, the best U-score first, in the four tiers of its runs from strong to faint."""
    shown = {name: shortened(name, 300.0) for name in scores.algorithms}
    left, right, row_height = max(250.0, max(map(text_width, shown.values())) + 20), 880.0, 36.0
    height = 46 + row_height * len(scores.algorithms) + 10
    drawing = Drawing(WIDTH, height, "runs of each algorithm by tier of the U-score")
    drawing.text(10, 22, "from strong to faint: " + ", ".join(WORDS.values()) + "; beside it the U-score", small=True)
    total = scores.total
    for row, k in enumerate(sorted(range(len(total)), key=lambda k: -total[k])):
        name, y, x = scores.algorithms[k], 46 + row * row_height, left
        drawing.text(left - 10, y + 22, shown[name], "end", series=series[name])
        counts = {tier: float(part[:, k].sum()) for tier, part in scores.parts.items()}
        runs = sum(counts.values())
        for tier, count in counts.items():
            width = (right - left) * count / runs
            tip = f"{name}: {count:g} of {runs:g} runs {WORDS[tier]}"
            if width:
                drawing.rectangle(x, y, width, row_height - 8, STRENGTHS[tier], series=series[name], tip=tip)
            x += width
        drawing.text(right + 10, y + 22, f"{total[k]:.0f}" if total[k] >= 1e4 else f"{total[k]:g}", series=series[name])
    return drawing


def cliques(test: Nemenyi) -> list[tuple[int, int]]:
    """Return the longest stretches of algorithms, in the order of ranks, that lie within the critical difference."""
    ranks = np.sort(test.average_ranks)
    found: list[tuple[int, int]] = []
    for first in range(len(ranks)):
        last = int(np.flatnonzero(ranks - ranks[first] <= test.critical_difference)[-1])
        if last > first and (not found or last > found[-1][1]):
            found.append((first, last))
    return found


def critical_difference(test: Nemenyi, series: dict[str, int]) -> Drawing:
    """Draw average ranks on a line, the better half named on the left, with bars over ranks that do not differ."""
    axis, step = 96.0, 34.0
    order = np.argsort(test.average_ranks, kind="stable")
    k = len(order)
    names = [shortened(test.algorithms[column], 290.0) for column in order]
    half = -(-k // 2)
    number_width = text_width("0.00 ") + 34
    left = number_width + max(text_width(name) for name in names[:half])
    right = WIDTH - number_width - max((text_width(name) for name in names[half:]), default=0.0)
    bars = cliques(test)
    below = axis + 26 + 18 * len(bars)
    height = below + step * half + 16
    drawing = Drawing(WIDTH, height, "average ranks with the critical difference of Nemenyi's test")
    x = Scale(1.0, float(k), left, right)
    drawing.line([(left, axis), (right, axis)], "axis")
    for rank in range(1, k + 1):
        drawing.line([(x(rank), axis - 8), (x(rank), axis)], "axis")
        drawing.text(x(rank), axis - 14, str(rank), "middle", small=True)
    span = (right - left) * test.critical_difference / (k - 1)
    drawing.line([(left, 34), (left + span, 34)], "axis")
    for end in (left, left + span):
        drawing.line([(end, 27), (end, 41)], "axis")
    drawing.text(left, 20, f"critical difference {test.critical_difference:.2f}, level {test.alpha:g}", small=True)
    for place, column in enumerate(order):
        name, average = test.algorithms[column], float(test.average_ranks[column])
        to_the_left = place < half
        y = below + step * (place if to_the_left else k - 1 - place) + 12
        end = left - 20 if to_the_left else right + 20
        number = series[name]
        drawing.line([(x(average), axis), (x(average), y), (end, y)], "axis", number)
        drawing.marker(x(average), axis, number)
        text = f"{names[place]} {average:.2f}" if to_the_left else f"{average:.2f} {names[place]}"
        drawing.text(end + (-8 if to_the_left else 8), y + 7, text, "end" if to_the_left else "start", series=number)
    for row, (first, last) in enumerate(bars):
        y = axis + 20 + 18 * row
        ends = [float(test.average_ranks[order[place]]) for place in (first, last)]
        drawing.line([(x(ends[0]) - 6, y), (x(ends[1]) + 6, y)], "bar")
    return drawing
