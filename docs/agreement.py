"""Write the numbers of agreement.md, how far methods agree with their printed columns: `python docs/agreement.py`.

Our means come from measured/field.csv beside this file, the table that `ppsde reproduce --method all --report original`
writes; `python -m benchmarks.experiment` puts it there.
"""

from __future__ import annotations

import csv
import math
from pathlib import Path

from scipy.stats import norm, t

from ppsde import published
from ppsde.reports.agreement import FITTED, JUDGED, REGION, agreement, compared, is_telling, passing
from ppsde.reports.published import COLUMN_OF

HERE = Path(__file__).parent
RESULTS = HERE / "measured" / "field.csv"
BEGIN, END = "<!-- written by docs/agreement.py, from here -->\n", "<!-- to here -->\n"
REGIONS = (0.5, 0.75, 1.0, 1.5, 2.0)
METHODS = tuple(name for name in COLUMN_OF if name != "pps-de")

HEAD = """## How agreement is tested

Two means agree if they are shown to be equivalent: two one-sided Welch tests at the level 0.05
(`ppsde.stats.equivalence`) reject that they differ by a region or more. The region is one printed standard deviation,
and at least 1 % of the printed mean and 1e-8. It comes from print alone: an infeasible run of ours makes our spread
larger, which makes it harder to agree and not easier. Feasibility itself does not count, as it does not in print. 22
problems are judged: C17, C19, C26 and C28 have no feasible point, and the printed C18 and C27 come from defective
code. The minus signs that AGA-PPS's column has lost on C08 to C11 at D = 10 are put back.

Many cells say nothing about an algorithm: on C01 every good one ends at 0. So the printed columns are tested against
each other. A cell is *telling* if at most one of the seven other columns passes the test with it; only telling cells
count. If p is the chance, at 1 in 7 a cell, that a different column passes as many of them as a method does:

| verdict | means |
|---|---|
| shown | equivalent on two thirds of the telling cells, p below 0.05, and more of them than any other printed column |
| plausible | the same on fewer than two thirds |
| a fit | shown or plausible, but settings were chosen by these means, so that it proves nothing |
| not shown, not even a fit | neither |

Settings were chosen by printed means
{fitted}.

The criterion of before, two standard errors or 1 %, had no such baseline: at D = 10 it lets printed PPS-DE agree with
{before}, all different algorithms.
"""


def fitted() -> str:
    """Return the methods whose settings were chosen by printed means, by the dimensions of these."""
    by_dimensions: dict[tuple[int, ...], list[str]] = {}
    for method, dimensions in FITTED.items():
        by_dimensions.setdefault(dimensions, []).append(f"`{method}`")
    return "; ".join(
        f"at D = {', '.join(map(str, dimensions))}: {', '.join(methods)}"
        for dimensions, methods in sorted(by_dimensions.items())
    )


def table(header: list[str], rows: list[list[str]]) -> str:
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [header, ["---"] * len(header), *rows]) + "\n"


def by_two_standard_errors(first: published.Cell, second: published.Cell) -> bool:
    """Return whether two printed cells agree by the criterion of before."""
    apart, error = abs(first.mean - second.mean), math.hypot(first.std, second.std) / math.sqrt(published.RUNS)
    small = max(abs(first.mean), abs(second.mean)) <= 1e-8
    return apart <= 2 * error or apart <= 0.01 * abs(second.mean) or small


def before(dimension: int, column: str) -> dict[str, int]:
    """Return on how many judged problems each other column agrees with a column by the criterion of before."""
    return {
        other: sum(
            by_two_standard_errors(published.meant(dimension, p, other), published.meant(dimension, p, column))
            for p in JUDGED
        )
        for other in published.COLUMNS
        if other != column
    }


def power(deviations: float, runs: int = published.RUNS) -> float:
    """Return about how often equal means of equal spread are found equivalent, with so many runs each."""
    error = math.sqrt(2 / runs)
    return 2 * float(norm.cdf((deviations - float(t.ppf(0.95, 2 * runs - 2)) * error) / error)) - 1


def pass_rate(dimension: int, deviations: float, *, telling: bool) -> float:
    """Return the share of pairs of different columns that pass, over all printed or over the telling cells."""
    cells = [
        (problem, column)
        for problem in JUDGED
        for column in published.COLUMNS
        if not math.isnan(published.meant(dimension, problem, column).mean)
        and (not telling or is_telling(dimension, problem, column, deviations))
    ]
    return sum(len(passing(dimension, *cell, deviations)) for cell in cells) / (7 * len(cells))


def telling_cells(dimension: int, column: str, deviations: float = REGION) -> int:
    return sum(is_telling(dimension, problem, column, deviations) for problem in JUDGED)


def calibration() -> str:
    rows = []
    for deviations in REGIONS:
        counts = [sum(telling_cells(d, c, deviations) for c in published.COLUMNS) / 8 for d in published.DIMENSIONS]
        rates = [
            " / ".join(f"{pass_rate(d, deviations, telling=telling):.0%}" for d in published.DIMENSIONS)
            for telling in (False, True)
        ]
        name = f"**{deviations:g}**" if deviations == REGION else f"{deviations:g}"
        rows.append([name, f"{power(deviations):.0%}", *rates, " / ".join(f"{count:.1f}" for count in counts)])
    head = ["region, in printed deviations", "power with 25 runs each", "different columns that pass, all cells"]
    head += ["telling cells", "telling cells of 22, mean of the columns"]
    text = (
        "## The region, calibrated by columns that are different\n\n"
        "For D = 10 / 30 / 50. A smaller region tells more cells apart, but 25 runs then seldom show that equal means\n"
        "are equal; one deviation is the smallest with a power of 0.9.\n\n"
    )
    return text + table(head, rows)


def telling_table() -> str:
    rows = [[column, *(str(telling_cells(d, column)) for d in published.DIMENSIONS)] for column in published.COLUMNS]
    right, wrong, accepted = 0, 0, 0
    for method in METHODS:
        for dimension in published.DIMENSIONS:
            for shown in published.COLUMNS:
                found = _of_cells(method, dimension, {p: published.meant(dimension, p, shown) for p in JUDGED})
                agrees = found in ("shown", "plausible", "a fit")
                right += agrees and shown == COLUMN_OF[method]
                accepted += agrees and shown != COLUMN_OF[method]
                wrong += shown != COLUMN_OF[method]
    text = (
        f"Put in the place of our runs, a printed column is found to agree with itself in {right} of {wrong // 7}\n"
        f"cases, and a different one in {accepted} of {wrong}. The telling cells of each column, of 22, are few at\n"
        "D = 10: no run there can show much about the good algorithms.\n\n"
    )
    return text + table(["column", *(f"D = {d}" for d in published.DIMENSIONS)], rows)


def _of_cells(method: str, dimension: int, cells: dict[str, published.Cell]) -> str:
    column = COLUMN_OF[method]
    return agreement(method, method, column, dimension, _verdicts(column, dimension, cells, published.RUNS)).verdict


def _verdicts(column: str, dimension: int, cells: dict[str, published.Cell], runs: int) -> dict[str, str]:
    tests = {p: compared(*cells[p], runs, published.meant(dimension, p, column)) for p in JUDGED}
    return {p: "undecided" if test is None else test.verdict for p, test in tests.items()}


def rows_of_ours() -> list[dict[str, str]]:
    with RESULTS.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def results() -> str:
    """Return the table of our methods."""
    by_block: dict[tuple[str, str, int], dict[str, tuple[published.Cell, int]]] = {}
    for row in rows_of_ours():
        block = by_block.setdefault((row["method"], row["published_column"], int(row["dimension"])), {})
        block[row["problem"]] = published.Cell(float(row["mean"]), float(row["std"])), int(row["runs"])
    rows = []
    for (method, column, dimension), block in by_block.items():
        cells, runs = {p: cell for p, (cell, _) in block.items()}, min(n for _, n in block.values())
        found = agreement(method, method, column, dimension, _verdicts(column, dimension, cells, runs))
        nearest = f"{found.nearest}: {found.passed}"
        counts = [str(number) for number in (dimension, found.telling, found.equivalent, found.different)]
        rows.append([method, column, *counts, nearest, f"{found.p:.1g}", found.verdict])
    head = ["method", "column", "D", "telling cells", "equivalent", "different", "nearest other column", "p", "verdict"]
    return "## Our methods beside their columns\n\n" + table(head, rows)


def differences() -> str:
    """Return every judged cell in which our mean and the printed one are shown to differ."""
    rows = []
    for row in rows_of_ours():
        if row["judged"] == "True" and row["agreement"] == "different" and row["method"] in METHODS:
            ours, printed = (
                f"{float(row[mean]):.4g} +- {float(row[std]):.2g}"
                for mean, std in (("mean", "std"), ("printed_mean", "printed_std"))
            )
            share = f"{float(row['feasible_share']):.0%}"
            rows.append([row["method"], row["dimension"], row["problem"], ours, share, printed])
    text = (
        "## Every difference\n\n"
        "Judged cells, telling or not, whose means differ significantly and by more than the region. An undecided\n"
        "cell is not in the list: the runs spread too much to say.\n\n"
    )
    return text + table(["method", "D", "problem", "here", "feasible", "printed"], rows)


def part() -> str:
    """Return the part of the page that this program writes."""
    others = sorted(before(10, "PPS-DE").items(), key=lambda item: -item[1])[:4]
    words = ", ".join(f"{name} on {count}" for name, count in others)
    head = HEAD.format(before=f"{words} of 22 problems", fitted=fitted())
    return "\n".join([head, results(), calibration(), telling_table(), differences()])


if __name__ == "__main__":
    page = HERE / "agreement.md"
    before_it, rest = page.read_text(encoding="utf-8").split(BEGIN)
    page.write_text(before_it + BEGIN + "\n" + part() + "\n" + END + rest.split(END)[1], encoding="utf-8")
