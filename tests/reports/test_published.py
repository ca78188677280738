"""Our cells beside the published ones: verdicts by hand, text, CSV, and the section of the report."""

from __future__ import annotations

import csv
import io
import math
from pathlib import Path

import numpy as np
import pytest
from reports.made_up import a_store

from ppsde import published, suites
from ppsde.experiments import Store
from ppsde.reports.page import page
from ppsde.reports.published import COLUMNS, Comparison, Ours, as_csv, comparisons, line, section, total_lines
from ppsde.reports.study import Study, gather


def row(
    mean: float,
    std: float,
    printed: tuple[float, float],
    *,
    feasible: float = 1.0,
    known: float = -100.0,
    problem: str = "C01",
    excuse: str = "",
) -> Comparison:
    ours = Ours(mean, std, mean, mean, mean, feasible, 0.0, 25)
    return Comparison("pps-de", "pps-de", "PPS-DE", 10, problem, ours, published.Cell(*printed), known, excuse)


# The standard error of two stds of 3 and 4 over 25 runs each is sqrt(9 + 16) / 5 = 1; the region is 4. With 44.5
# degrees of freedom the quantiles 0.95 and 0.975 of t are 1.68 and 2.01.
@pytest.mark.parametrize(
    ("mean", "verdict"),
    [(12.3, "equal"), (12.4, "worse"), (7.7, "equal"), (7.6, "better"), (10.0, "equal"), (math.inf, "unclear")],
)
def test_equal_is_equivalent_within_a_printed_deviation(mean: float, verdict: str) -> None:
    assert row(mean, 3.0, (10.0, 4.0)).verdict == verdict


@pytest.mark.parametrize(
    ("mean", "verdict"), [(1010.0, "equal"), (1010.1, "worse"), (990.0, "equal"), (989.9, "better")]
)
def test_or_within_a_hundredth(mean: float, verdict: str) -> None:
    assert row(mean, 0.0, (1000.0, 0.0)).verdict == verdict


@pytest.mark.parametrize(
    ("mean", "printed", "verdict"), [(1e-8, 0.0, "equal"), (1.1e-8, 0.0, "worse"), (0.0, 3e-27, "equal")]
)
def test_or_both_negligible(mean: float, printed: float, verdict: str) -> None:
    assert row(mean, 0.0, (printed, 0.0)).verdict == verdict


@pytest.mark.parametrize("std", [20.0, 100.0, 1e4])
def test_a_large_spread_of_our_own_does_not_make_means_agree(std: float) -> None:
    cell = row(10.0, std, (10.0, 4.0))
    assert cell.agreement == "undecided" and cell.verdict == "unclear"


def test_an_infeasible_run_does_not_widen_the_region() -> None:
    """IUDE on C11, seed 1: 24 runs near -0.15 and an infeasible one at -746 used to agree with -0.801 +- 1.8e-6."""
    printed = published.meant(10, "C11", "IUDE")
    runs = np.append(np.full(24, -0.15), -746.0)
    cell = row(float(runs.mean()), float(runs.std(ddof=1)), printed, feasible=0.96, problem="C11")
    assert abs(cell.ours.mean - printed.mean) <= 2 * cell.ours.std / 5, "by two standard errors it agreed"
    assert cell.agreement == "undecided"


def test_one_infeasible_run_makes_a_cell_infeasible_however_low_its_mean() -> None:
    cell = row(-50.0, 0.0, (10.0, 1.0), feasible=0.96)
    assert cell.verdict == "infeasible" and not cell.holds


def test_a_problem_without_feasible_points_is_compared_but_not_judged() -> None:
    cell = row(5.0, 0.0, (10.0, 1.0), feasible=0.0, problem="C17", excuse=published.UNJUDGED["C17"])
    assert not cell.judged and cell.verdict == "better"
    assert line(cell)[-3:] == ["(better)", "-", "-"]


@pytest.mark.parametrize(("mean", "holds"), [(11.0, True), (11.01, False), (-100.0 + 1e-8, True)])
def test_a_cell_holds_up_to_the_printed_mean_plus_its_deviation(mean: float, holds: bool) -> None:
    assert row(mean, 0.0, (10.0, 1.0)).holds == holds


def test_a_cell_holds_at_the_best_known_value_whatever_was_printed() -> None:
    assert row(2.0, 0.0, (1.0, 0.0), known=2.0 - 1e-9).holds
    assert not row(2.0, 0.0, (1.0, 0.0), known=2.0 - 1e-7).holds


def test_where_printed_means_are_of_infeasible_points_the_best_known_value_is_the_measure() -> None:
    assert row(-0.168, 0.0, (-46.0, 159.0), known=-0.1688, problem="C11").verdict == "equal"
    assert row(-0.150, 0.0, (-46.0, 159.0), known=-0.1688, problem="C11").verdict == "worse"


def test_what_was_not_printed_is_said_so() -> None:
    cell = row(1.0, 0.0, (math.nan, math.nan))
    assert cell.verdict == cell.agreement == "not printed" and not cell.holds


ROWS = [
    row(12.0, 3.0, (10.0, 4.0)),
    row(7.0, 3.0, (10.0, 4.0), problem="C02"),
    row(1.0, 0.0, (2.0, 0.0), problem="C03", feasible=0.5),
    row(5.0, 0.0, (10.0, 1.0), feasible=0.0, problem="C17", excuse="no feasible point exists"),
]


def test_totals_count_judged_cells_only() -> None:
    assert total_lines(ROWS) == ["pps-de, D = 10: of 3 judged problems 2 hold; 1 better, 1 equal, 1 infeasible"]


def test_where_a_printed_mean_has_lost_its_minus_sign_it_is_put_back_and_said_so() -> None:
    meant = published.meant(10, "C08", "AGA-PPS")
    assert meant.mean == -0.00135 and published.cells()[10, "C08", "AGA-PPS"].mean == 0.00135
    assert published.meant(30, "C08", "AGA-PPS") == published.cells()[30, "C08", "AGA-PPS"]
    cell = Comparison("aga-pps", "aga-pps", "AGA-PPS", 10, "C08", row(-0.00135, 0.0, meant).ours, meant, -0.001348, "")
    assert cell.agreement == "equivalent"
    assert total_lines([cell]) == [
        "aga-pps, D = 10: of 1 judged problems 1 hold; 1 equal (printed without its minus sign, which is put back: C08)"
    ]


def test_the_csv_holds_every_number_in_full() -> None:
    (first, *_) = rows = list(csv.DictReader(io.StringIO(as_csv([row(1 / 3, 0.0, (10.0, 4.0)), *ROWS]))))
    assert len(rows) == 5 and tuple(first) == COLUMNS
    assert float(first["mean"]) == 1 / 3 and first["verdict"] == "better" and first["judged"] == "True"


def test_the_section_escapes_its_texts_and_needs_no_network() -> None:
    text = section([*ROWS, row(1.0, 0.0, (2.0, 0.0), problem="<script>alert(1)</script>")])
    assert "<script" not in text and "&lt;script&gt;" in text
    assert "http:" not in text and "https:" not in text
    assert text.count("<tr") == 6 and "(better)" in text and "C17: no feasible point exists" in text
    assert "the best point ever evaluated" in text and "original program" in section(ROWS, "original")
    assert section([]) == ""


def a_study(path: Path, **changes: object) -> Study:
    """A study of made-up runs, of two versions of PPS-DE."""
    a_store(path, ["first", "second"], ["C01", "C17"], 4, **changes)
    with Store(path) as store:
        return gather(store)


def test_cells_come_from_the_runs_of_a_study(tmp_path: Path) -> None:
    study = a_study(tmp_path / "study.db", infeasible={"second": 1.0})
    found = comparisons(study, any_experiment=True)
    assert [(cell.method, cell.problem) for cell in found] == [
        (label, name) for label in ("first", "second") for name in ("C01", "C17")
    ]
    outcomes = study.outcomes["C01"]["first"]
    ours = found[0].ours
    assert ours.mean == np.mean(outcomes.f) and ours.std == np.std(outcomes.f, ddof=1) and ours.runs == 4
    assert (ours.best, ours.worst, ours.median) == (min(outcomes.f), max(outcomes.f), np.median(outcomes.f))
    assert [cell.ours.feasible_share for cell in found] == [1.0, 1.0, 0.0, 0.0]
    assert found[0].printed == published.cells()[10, "C01", "PPS-DE"] and math.isnan(found[0].best_known)
    assert found[1].excuse == "no feasible point exists"


@pytest.mark.parametrize(
    "changes",
    [
        {},  # instance 1, a tenth of the budget
        {"budget": 200_000},
        {"instance": "official"},
        {"instance": "official", "budget": 400_000, "dimension": 20},
        {"instance": "official", "budget": 200_000, "method": "jde"},
    ],
    ids=str,
)
def test_another_experiment_is_not_compared_with_the_published_one(changes: dict[str, object], tmp_path: Path) -> None:
    study = a_study(tmp_path / "study.db", **changes)
    assert comparisons(study) == []
    assert 'id="published"' not in page(study) and "#published" not in page(study)


def test_the_report_of_the_published_experiment_shows_the_comparison(tmp_path: Path) -> None:
    try:
        suites.get("cec2017").problem("C01", 10, instance="official")
    except ValueError as error:
        pytest.skip(str(error))
    study = a_study(tmp_path / "study.db", instance="official", budget=200_000)
    found = comparisons(study)
    assert len(found) == 4 and found[0].best_known == 0.0
    text = page(study)
    assert 'href="#published"' in text and section(found) in text


def test_the_published_numbers_are_complete() -> None:
    cells = published.cells()
    assert len(cells) == 3 * 28 * 8 and {key[2] for key in cells} == set(published.COLUMNS)
    assert cells[10, "C07", "PPS-DE"] == (-357.0, 145.0)
    assert sum(math.isnan(cell.mean) for cell in cells.values()) == 29
    assert len(published.ranks()) == 24
