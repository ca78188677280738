"""Agreement with a printed column: what different columns pass, and what is said of a method."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from ppsde import published
from ppsde.reports.agreement import CHANCE, FITTED, JUDGED, Agreement, agreement, compared, is_telling, passing
from ppsde.reports.published import COLUMN_OF, Comparison, Ours, agreements, section, total_lines


def printed_as_ours(method: str, dimension: int, shown: str) -> list[Comparison]:
    """The cells of a method whose runs came out as the printed column `shown`."""
    column = COLUMN_OF[method]
    cells = []
    for problem in JUDGED:
        mean, std = published.meant(dimension, problem, shown)
        ours = Ours(mean, std, mean, mean, mean, 1.0, 0.0, published.RUNS)
        printed = published.meant(dimension, problem, column)
        cells.append(Comparison(method, method, column, dimension, problem, ours, printed, math.nan, ""))
    return cells


def two_standard_errors(ours: published.Cell, printed: published.Cell) -> bool:
    """The criterion of before: within two standard errors, or 1 %, or both negligible."""
    error = math.hypot(ours.std, printed.std) / 5
    apart = abs(ours.mean - printed.mean)
    small = max(abs(ours.mean), abs(printed.mean)) <= 1e-8
    return apart <= 2 * error or apart <= 0.01 * abs(printed.mean) or small


def test_different_columns_pass_often_by_standard_errors_and_seldom_on_telling_cells() -> None:
    """At D = 10 other algorithms agreed with PPS-DE on up to 19 of 22 problems."""
    others = [name for name in published.COLUMNS if name != "PPS-DE"]
    cells = {name: [published.meant(10, problem, name) for problem in JUDGED] for name in published.COLUMNS}
    before = {name: sum(map(two_standard_errors, cells[name], cells["PPS-DE"])) for name in others}
    assert max(before.values()) == 19 and before["C2oDE"] == 19 and before["IUDE"] == 18
    for dimension in published.DIMENSIONS:
        for column in published.COLUMNS:
            telling = [problem for problem in JUDGED if is_telling(dimension, problem, column)]
            rate = sum(len(passing(dimension, problem, column)) for problem in telling) / max(1, 7 * len(telling))
            assert rate <= CHANCE, (dimension, column)


@pytest.mark.parametrize("dimension", published.DIMENSIONS)
@pytest.mark.parametrize("method", [name for name in COLUMN_OF if name != "pps-de"])
def test_a_column_agrees_with_itself_and_no_other_column_does(method: str, dimension: int) -> None:
    for shown in published.COLUMNS:
        (found,) = agreements(printed_as_ours(method, dimension, shown))
        fitted = dimension in FITTED.get(method, ())
        if shown == COLUMN_OF[method]:
            assert found.verdict == ("a fit" if fitted else "shown")
        else:
            assert found.verdict == ("not even a fit" if fitted else "not shown")


def test_the_same_mean_with_25_runs_is_nearly_always_found_equivalent() -> None:
    """The power of the region: the true mean within 0.5 deviations of the estimate is enough."""
    printed = published.Cell(10.0, 1.0)
    assert compared(10.5, 1.0, 25, printed).verdict == "equivalent"  # 93 % of differences of two means are smaller
    assert compared(10.55, 1.0, 25, printed).verdict == "undecided"


A = Agreement("m", "lshade44", "LSHADE44", 30, telling=16, equivalent=12, different=1, nearest="UDE", passed=2)


@pytest.mark.parametrize(
    ("changes", "verdict"),
    [
        ({}, "shown"),
        ({"equivalent": 11}, "shown"),
        ({"equivalent": 10}, "plausible"),
        ({"equivalent": 6}, "plausible"),
        ({"equivalent": 5}, "not shown"),  # the chance of 5 or more is 0.06
        ({"passed": 12}, "not shown"),
        ({"base": "ude"}, "shown"),
        ({"base": "ude", "dimension": 10}, "a fit"),
        ({"base": "ude", "dimension": 10, "equivalent": 3}, "not even a fit"),
        ({"base": "lshade44-ide", "dimension": 50}, "a fit"),  # its settings were chosen at all three
        ({"base": "pps-de"}, "another algorithm"),
        ({"telling": 0, "equivalent": 0, "passed": 0}, "not shown"),
    ],
)
def test_verdicts(changes: dict, verdict: str) -> None:
    assert replace(A, **changes).verdict == verdict


def test_p_is_the_binomial_chance() -> None:
    by_hand = sum(math.comb(16, k) * (1 / 7) ** k * (6 / 7) ** (16 - k) for k in range(12, 17))
    assert A.p == pytest.approx(by_hand)


def test_agreement_counts_telling_cells_only() -> None:
    verdicts = {problem: "equivalent" if is_telling(30, problem, "IUDE") else "different" for problem in JUDGED}
    found = agreement("iude", "iude", "IUDE", 30, verdicts)
    assert found.equivalent == found.telling == sum(is_telling(30, problem, "IUDE") for problem in JUDGED)
    assert found.different == 0 and found.verdict == "shown"


def test_it_is_in_the_lines_and_in_the_section_and_only_for_whole_columns() -> None:
    cells = printed_as_ours("iude", 30, "IUDE")
    assert total_lines(cells)[-1].endswith(": shown") and "telling cells" in total_lines(cells)[-1]
    assert ">Agreement<" in section(cells)
    assert agreements(cells[1:]) == [] and ">Agreement<" not in section(cells[1:])


def test_a_cell_that_is_not_printed_or_not_judged_tells_nothing() -> None:
    assert math.isnan(published.meant(30, "C03", "C2oDE").mean) and not is_telling(30, "C03", "C2oDE")
    assert not is_telling(30, "C17", "PPS-DE")
    assert set(FITTED) <= set(COLUMN_OF)
