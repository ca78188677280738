"""Write paper.md, the PPS-DE publication judged by the test that it names: `python docs/paper.py`."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from ppsde import published
from ppsde.reports.agreement import JUDGED
from ppsde.reports.published import COLUMN_OF
from ppsde.stats import against_control, all_pairs, friedman, friedman_aligned, quade, rank_intervals

OURS = "PPS-DE"
NAMES = published.COLUMNS
RIVALS = tuple(name for name in NAMES if name != OURS)
PROBLEMS = tuple(f"C{k:02d}" for k in range(1, 29))
ZERO = 1e-9  # printed means nearer to 0 than this count as 0
LEVEL = 0.05
PUBLISHED = "pps-de-published"
LEVELLED = 1e-8  # our violations and means nearer to 0 than this count as 0
CLAIMED_BEST = {10: 16, 30: 10, 50: 10}
CORRECTIONS = ("holm", "hochberg", "hommel", "finner")

HEAD = """# The paper, judged by its own test

The PPS-DE publication (arXiv 1812.06381) ranks eight algorithms by a test that it names the Friedman aligned test, at
the level 0.05. Its rank rows are not aligned ranks but plain average ranks
([statistics](statistics.md#the-published-rank-rows)). This page does the named test, exactly, on the printed means,
with the comparisons that belong to it. `python docs/paper.py` writes it from the tables that are part of the package,
and its last section from our own means.

How the printed means are taken: those nearer to 0 than 1e-9 are 0; a mean printed as NaN (C2oDE only) is the worst of
its problem, or 1000, which is what reproduces the printed rank rows. Both are shown where they differ. All 28
problems count, as in print. Two cautions. Aligned ranks of raw means weigh problems by the scale of their objective,
and printed means take no account of feasibility: this is the paper's test on the paper's numbers, not the test that
we would choose.
"""

RERUN = """## Where the published PPS-DE ranks in our rerun

`pps-de-published` and the seven others, run here: 25 runs, seed 0, official instance, what each original program would
report (`docs/measured/field.csv`; [where and when it was made](reproduction.md#pps-de-the-default-preset)). Two
rankings: by the rules of CEC2017 and CEC2018 by mean (the larger share of feasible runs first, then the smaller
violation, then the objective), as a sum of places; and by the test that the paper names, on our means. Both on the 28
problems of the paper and on the 22 that are [judged](reproduction.md). Three of the seven rivals are
[reconstructions](field.md) fitted to printed means, and settings of the preset itself were chosen by the printed means
at D = 10 and 30, so that even this is not the publication's own field.
"""


def printed(dimension: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the printed means and standard deviations (problems, algorithms), values below ZERO as 0."""
    cells = [[published.cells()[dimension, problem, name] for name in NAMES] for problem in PROBLEMS]
    both = np.array(cells, dtype=float)
    both = np.where(np.abs(both) < ZERO, 0.0, both)
    return both[..., 0], both[..., 1]


def worst(means: np.ndarray) -> np.ndarray:
    """Return the means with NaN as the worst of its problem."""
    return np.where(np.isnan(means), np.nanmax(means, axis=1, keepdims=True), means)


def as_1000(means: np.ndarray) -> np.ndarray:
    return np.where(np.isnan(means), 1000.0, means)


MISSING = {"worst of its problem": worst, "1000": as_1000}


def order(values: np.ndarray) -> list[str]:
    """Return the algorithms by their aligned ranks, best first."""
    return [str(row["algorithm"]) for row in friedman_aligned(values, NAMES).rows()]


def times_best(means: np.ndarray, *, alone: bool) -> int:
    """Return on how many problems PPS-DE has the smallest mean, alone or level with others."""
    least = means == np.nanmin(means, axis=1, keepdims=True)
    own = least[:, NAMES.index(OURS)]
    return int((own & (least.sum(axis=1) == 1)).sum() if alone else own.sum())


def significant(dimension: int, rival: str) -> tuple[int, int, int, int]:
    """Return on how many problems PPS-DE is better, level, worse and not comparable by Welch's test of 25 runs each."""
    means, stds = printed(dimension)
    one, two = NAMES.index(OURS), NAMES.index(rival)
    counts = [0, 0, 0, 0]
    for mean, std in zip(means[:, [one, two]], stds[:, [one, two]], strict=True):
        if np.isnan(mean).any():
            counts[3] += 1
        elif welch(*mean, *std) >= LEVEL:
            counts[1] += 1
        else:
            counts[0 if mean[0] < mean[1] else 2] += 1
    return counts[0], counts[1], counts[2], counts[3]


def welch(mean: float, other_mean: float, std: float, other_std: float) -> float:
    """Return p of Welch's test; 1 for equal means, 0 for different means without any spread."""
    from scipy.stats import ttest_ind_from_stats

    if mean == other_mean:
        return 1.0
    if std == other_std == 0.0:
        return 0.0
    n, unit = published.RUNS, max(std, other_std)  # in units of the larger deviation nothing overflows
    scaled = mean / unit, std / unit, n, other_mean / unit, other_std / unit, n
    return float(ttest_ind_from_stats(*scaled, equal_var=False).pvalue)


def table(header: list[str], rows: list[list[str]]) -> str:
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [header, ["---"] * len(header), *rows]) + "\n"


def number(p: float) -> str:
    """Return a p-value with two significant digits; those that round to 1 as 1."""
    return "1" if p > 0.995 else f"{p:.2g}" if p >= 0.001 else f"{p:.0e}"


def marked(p: float) -> str:
    return f"**{number(p)}**" if p < LEVEL else number(p)


# --- the sections ---------------------------------------------------------------------------------------------------


def who_is_first() -> str:
    rows = []
    for words, filled in MISSING.items():
        for dimension in published.DIMENSIONS:
            test = friedman_aligned(filled(printed(dimension)[0]), NAMES)
            ranked = test.rows()
            place = [row["algorithm"] for row in ranked].index(OURS) + 1
            (statistic,) = test.test_rows()
            top = ", ".join(f"{row['algorithm']} {row['average rank']:.1f}" for row in ranked[:4])
            rows.append([words, str(dimension), top, str(place), f"{statistic['statistic']:.1f}", f"{test.p:.0e}"])
    head = ["NaN is", "D", "the first four, with their average aligned ranks (of 224)", "place of PPS-DE", "T", "p"]
    return "## Who is first\n\n" + table(head, rows)


def post_hoc() -> str:
    parts = [
        "## PPS-DE against each of the others\n",
        "Two-sided p of aligned ranks with PPS-DE as the control, corrected in four ways, NaN as the worst of its\n"
        "problem; **bold** below 0.05. (+) marks a rival whose average rank is better than that of PPS-DE.\n",
    ]
    for dimension in published.DIMENSIONS:
        values = worst(printed(dimension)[0])
        tests = {name: against_control(values, OURS, NAMES, ranks="aligned", correction=name) for name in CORRECTIONS}
        rows = []
        for k in np.argsort(tests["holm"].p, kind="stable"):
            rival, z = tests["holm"].second[k], tests["holm"].z[k]
            rows.append(
                [f"{rival}{' (+)' if z > 0 else ''}", f"{z:.2f}", number(tests["holm"].p[k])]
                + [marked(tests[name].adjusted[k]) for name in CORRECTIONS]
            )
        parts.append(table([f"D = {dimension}", "z", "p", *(name.capitalize() for name in CORRECTIONS)], rows))
    return "\n".join(parts)


def other_ranks() -> str:
    parts = [
        "## By other ranks\n",
        "The place of PPS-DE, p of the whole test, and the rivals that it is significantly better than after Holm's\n"
        "correction, by three kinds of ranks. NaN is the worst of its problem; Quade's variance is the exact one.\n",
    ]
    rows = []
    for kind, test in (("friedman", friedman), ("aligned", friedman_aligned), ("quade", quade)):
        for dimension in published.DIMENSIONS:
            values = worst(printed(dimension)[0])
            whole = test(values, NAMES)
            variance = "permutations" if kind == "quade" else "published"
            pairs = against_control(values, OURS, NAMES, ranks=kind, variance=variance)
            won = (pairs.adjusted < LEVEL) & (pairs.z < 0)
            beaten = [pairs.second[k] for k in np.flatnonzero(won)]
            place = [row["algorithm"] for row in whole.rows()].index(OURS) + 1
            rows.append([kind, str(dimension), str(place), number(whole.p), f"{len(beaten)}: {', '.join(beaten)}"])
    return "\n".join([*parts, table(["ranks", "D", "place of PPS-DE", "p", "significantly worse than PPS-DE"], rows)])


def every_pair() -> str:
    parts = [
        "## All pairs, and how sure the ranks are\n",
        "How many of the 28 pairs differ by aligned ranks after the correction of Bergmann and Hommel, the sharpest\n"
        "here; and 95 % bootstrap intervals of the average aligned ranks over the choice of problems.\n",
    ]
    rows = []
    for dimension in published.DIMENSIONS:
        values = worst(printed(dimension)[0])
        pairs = all_pairs(values, NAMES, ranks="aligned", correction="bergmann-hommel")
        found = int((pairs.adjusted < LEVEL).sum())
        intervals = rank_intervals(values, NAMES, ranks="aligned").rows()
        first = ", ".join(f"{row['algorithm']} {row['low']:.0f} to {row['high']:.0f}" for row in intervals[:4])
        rows.append([str(dimension), f"{found} of {len(pairs.p)}", first])
    return "\n".join([*parts, table(["D", "pairs that differ", "intervals of the first four"], rows)])


def sentences() -> str:
    rows = [["best on 16, 10 and 10 problems (D = 10, 30, 50)", *_best_claim()]]
    rows.append(["significantly better than the other seven algorithms on most of the 28 problems", *_most_claim()])
    places = {d: [order(filled(printed(d)[0])).index(OURS) + 1 for filled in MISSING.values()] for d in CLAIMED_BEST}
    firsts = [d for d, both in places.items() if set(both) == {1}]
    words = "; ".join(f"D = {d}: place {' or '.join(map(str, sorted(set(both))))}" for d, both in places.items())
    verdict = "holds" if len(firsts) == 3 else f"holds at D = {', '.join(map(str, firsts))} only" if firsts else "fails"
    rows.append(["first by the Friedman aligned test", verdict, words])
    p = [friedman_aligned(worst(printed(d)[0]), NAMES).p for d in published.DIMENSIONS]
    rows.append(["p = 0: the algorithms differ", "they do; p is not 0", ", ".join(f"{value:.0e}" for value in p)])
    return "## Which of its sentences hold\n\n" + table(["sentence", "verdict", "from the printed tables"], rows)


def _best_claim() -> list[str]:
    shared = {d: times_best(_raw(d), alone=False) for d in CLAIMED_BEST}
    alone = {d: times_best(_raw(d), alone=True) for d in CLAIMED_BEST}
    fits = [d for d, claimed in CLAIMED_BEST.items() if shared[d] == claimed]
    verdict = f"as printed at D = {' and '.join(map(str, fits))}, ties counted" if fits else "no count gives it"
    text = ", ".join(f"{shared[d]} ({alone[d]} alone)" for d in CLAIMED_BEST)
    zeroed = ", ".join(str(times_best(printed(d)[0], alone=False)) for d in CLAIMED_BEST)
    return [verdict, f"smallest mean, level or alone: {text}; with means below 1e-9 as 0: {zeroed}"]


def _raw(dimension: int) -> np.ndarray:
    return np.array([[published.cells()[dimension, problem, name].mean for name in NAMES] for problem in PROBLEMS])


def _most_claim() -> list[str]:
    wins = {rival: [significant(d, rival)[0] for d in published.DIMENSIONS] for rival in RIVALS}
    holding = [rival for rival, counts in wins.items() if min(counts) > len(PROBLEMS) / 2]
    return [f"true for {len(holding)} of seven: {', '.join(holding)}", "the next table"]


def wins() -> str:
    rows = []
    for rival in RIVALS:
        counts = [significant(d, rival) for d in published.DIMENSIONS]
        rows.append(
            [rival, *(f"{w} / {level} / {lost}" + (f" ({n} NaN)" if n else "") for w, level, lost, n in counts)]
        )
    head = ["against", *(f"D = {d}: better / level / worse" for d in published.DIMENSIONS)]
    return (
        "Problems on which PPS-DE's printed mean is significantly better than, level with, or worse than a rival's,\n"
        "by Welch's test from the printed means and deviations, 25 runs each, 0.05, without any correction.\n\n"
        + table(head, rows)
    )


def rerun() -> str:
    """Return the places of the published preset among our runs of its rivals."""
    with (Path(__file__).parent / "measured" / "field.csv").open(encoding="utf-8") as file:
        cells = {(row["method"], int(row["dimension"]), row["problem"]): row for row in csv.DictReader(file)}
    methods = tuple(name for name in COLUMN_OF if name != "pps-de")
    rows = []
    for judged, problems in ((False, PROBLEMS), (True, JUDGED)):
        for dimension in published.DIMENSIONS:
            means = np.array([[float(cells[m, dimension, p]["mean"]) for m in methods] for p in problems])
            means = np.where(np.abs(means) < ZERO, 0.0, means)
            test = friedman_aligned(means, methods)
            aligned = [str(row["algorithm"]) for row in test.rows()]
            totals = dict.fromkeys(methods, 0)
            for problem in problems:
                keys = {m: _by_mean(cells[m, dimension, problem]) for m in methods}
                for method in methods:
                    totals[method] += 1 + sum(keys[other] < keys[method] for other in methods)
            order = sorted(methods, key=lambda method: totals[method])
            rows.append(
                [
                    "22 judged" if judged else "all 28",
                    str(dimension),
                    ", ".join(f"{name} {totals[name]}" for name in order[:3]),
                    str(1 + sum(totals[name] < totals[PUBLISHED] for name in methods)),
                    ", ".join(aligned[:3]),
                    str(1 + aligned.index(PUBLISHED)),
                    number(test.p),
                ]
            )
    head = ["problems", "D", "first three by the rules, with their sums", "place", "first three by aligned ranks"]
    return f"{RERUN}\n{table([*head, 'place', 'p'], rows)}"


def _by_mean(row: dict[str, str]) -> tuple[float, ...]:
    """Return the keys of a cell by the rules of the competition, smaller first."""
    violation, mean = (
        0.0 if abs(float(row[key])) < LEVELLED else float(row[key]) for key in ("mean_violation", "mean")
    )
    return -float(row["feasible_share"]), violation, mean


def page() -> str:
    """Return the page."""
    return "\n".join([HEAD, sentences(), wins(), who_is_first(), post_hoc(), other_ranks(), every_pair(), rerun()])


if __name__ == "__main__":
    Path(__file__).with_name("paper.md").write_text(page(), encoding="utf-8")
