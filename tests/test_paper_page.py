"""The page that judges the publication by its own test: it is current, and its numbers are those found by hand."""

from __future__ import annotations

import csv
import runpy
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import ttest_ind_from_stats

from ppsde.stats import friedman_aligned

DOCS = Path(__file__).parent.parent / "docs"
PAPER = runpy.run_path(str(DOCS / "paper.py"))


def test_the_page_is_what_its_program_writes() -> None:
    """`python docs/paper.py` writes it."""
    assert (DOCS / "paper.md").read_text(encoding="utf-8") == PAPER["page"]()


@pytest.mark.parametrize(
    ("dimension", "first", "ranks", "p"),
    [
        (10, ["PPS-DE", "IUDE"], [77.0, 87.1], 9.05e-7),
        (30, ["IUDE", "AGA-PPS", "PPS-DE"], [82.2, 83.4, 84.2], 3.35e-8),
        (50, ["IUDE", "PPS-DE"], [80.4, 84.6], 5.147e-8),  # with ties missed by rounding p was 5.417e-8
    ],
)
def test_the_named_test_puts_pps_de_first_at_ten_variables_only(
    dimension: int, first: list[str], ranks: list[float], p: float
) -> None:
    values = PAPER["as_1000"](PAPER["printed"](dimension)[0])
    test = friedman_aligned(values, PAPER["NAMES"])
    rows = test.rows()[: len(first)]
    assert [row["algorithm"] for row in rows] == first
    assert [row["average rank"] for row in rows] == pytest.approx(ranks, abs=0.06)
    assert test.p == pytest.approx(p, rel=2e-3)
    assert PAPER["order"](PAPER["worst"](PAPER["printed"](dimension)[0]))[: len(first)] == first


def test_significant_wins_from_the_printed_table() -> None:
    wins = {rival: [PAPER["significant"](d, rival)[0] for d in (10, 30, 50)] for rival in PAPER["RIVALS"]}
    assert wins == {
        "AGA-PPS": [9, 10, 13],
        "LSHADE44+IDE": [18, 19, 21],
        "LSHADE44": [17, 19, 20],
        "UDE": [19, 18, 21],
        "IUDE": [5, 10, 11],
        "eMAg-ES": [11, 12, 13],
        "C2oDE": [1, 10, 14],
    }


def test_how_often_pps_de_is_best_from_the_printed_table() -> None:
    """The sentence says 16, 10 and 10."""
    with (DOCS.parent / "src" / "ppsde" / "published" / "tables.csv").open(encoding="utf-8") as file:
        means: dict[tuple[str, str], dict[str, float]] = {}
        for row in csv.DictReader(file):
            if row["mean"] != "NaN":
                means.setdefault((row["dim"], row["problem"]), {})[row["algorithm"]] = float(row["mean"])
    best = {key: [name for name in row if row[name] == min(row.values())] for key, row in means.items()}
    shared = [sum("PPS-DE" in best[key] for key in best if key[0] == d) for d in ("10", "30", "50")]
    alone = [sum(best[key] == ["PPS-DE"] for key in best if key[0] == d) for d in ("10", "30", "50")]
    assert (shared, alone) == ([19, 10, 10], [4, 6, 5])
    counts = ", ".join(f"{both} ({one} alone)" for both, one in zip(shared, alone, strict=True))
    assert f"level or alone: {counts}" in PAPER["sentences"]()


def test_the_place_of_the_published_preset_in_our_rerun_is_stated() -> None:
    """Among our runs of its rivals, by the rules and by aligned ranks, at every dimension."""
    rows = [line.strip("| ").split(" | ") for line in PAPER["rerun"]().splitlines() if line.startswith("| ")][2:]
    assert [row[:2] for row in rows] == [[kind, d] for kind in ("all 28", "22 judged") for d in ("10", "30", "50")]
    for _, _, by_rules, place, aligned, aligned_place, _ in rows:
        for first, stated in ((by_rules, int(place)), (aligned, int(aligned_place))):
            names = [entry.split()[0] for entry in first.split(", ")]
            assert stated == names.index("pps-de-published") + 1 if "pps-de-published" in names else stated > len(names)


def test_welch_is_that_of_scipy_and_bears_no_spread() -> None:
    expected = ttest_ind_from_stats(1.0, 0.5, 25, 1.4, 0.9, 25, equal_var=False).pvalue
    assert PAPER["welch"](1.0, 1.4, 0.5, 0.9) == pytest.approx(expected)
    assert PAPER["welch"](1e200, 1.4e200, 0.5e200, 0.9e200) == pytest.approx(expected)
    assert [PAPER["welch"](1.0, 1.0, 0.0, 0.0), PAPER["welch"](1.0, 2.0, 0.0, 0.0)] == [1.0, 0.0]


def test_a_best_mean_is_counted_alone_or_level() -> None:
    means = np.full((3, 8), 5.0)
    means[0, 0], means[1, :2], means[2, 3] = 1.0, 2.0, 0.0
    means[0, 7] = np.nan
    assert PAPER["times_best"](means, alone=False) == 2
    assert PAPER["times_best"](means, alone=True) == 1
