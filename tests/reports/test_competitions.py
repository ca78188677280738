"""Two competitions rerun: the tables of made-up studies, the published results, and the plans of the command."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reports.made_up import ACCOUNT, a_run, a_study

import ppsde
from ppsde.cli import main
from ppsde.commands import reproduce
from ppsde.experiments import Plan
from ppsde.experiments.plan import expanded
from ppsde.experiments.rows import ROW, account_entry, packed, sealed
from ppsde.experiments.store import new_store
from ppsde.files import write_own
from ppsde.published import competitions as printed
from ppsde.reports.competitions import chance, median_verdict, reason, rerun
from ppsde.reports.findings import find
from ppsde.reports.page import page
from ppsde.stats import Outcomes, ThreeRuns, weighted_scores


def test_cec2026_has_the_field_in_order_beside_the_printed_scores_and_the_program_of_rde26(tmp_path: Path) -> None:
    study = a_study(tmp_path / "s.db", "cec2017", {"C04": 30, "C19": 30}, {"jde": 50.0, "rde26": 13.9})
    findings = find(study)
    found = rerun("cec2026", study, findings)
    first, second = found.tables["field"].rows
    assert first[:2] == ["rde26", 1] and first[-2:] == [192_754, 55]
    assert second[:2] == ["jde", 2] and second[-2:] == ["-", "-"]
    beside = {row[0]: row for row in found.tables["rde26"].rows}
    assert beside["C04"][4:6] == [13.9, 1.0] and beside["C19"][-1] == "not judged"
    assert "default" not in found.tables and "ude-iii" not in found.tables
    assert "first by U-score: rde26; by accuracy and speed: rde26" in found.lines
    text = page(study, compared=found.section(), findings=findings)
    assert "The CEC 2026 competition on constrained problems, rerun" in text and "its authors&#x27; program" in text
    assert "\n\nThe field\nmethod,place,U-score" in found.as_csv()
    for _ in range(2):  # the second replaces the first
        write_own(tmp_path / "reproduce.csv", found.as_csv(), "csv")
    problems = {(row[0], row[1]): row for row in found.tables["problems"].rows}
    assert len(problems) == 4 and problems["C04", "rde26"][-4:] == [9.0, 1.0, 12.0, 12.0]


def test_cec2020rw_has_our_methods_among_the_entries_and_medians_beside_theirs(tmp_path: Path) -> None:
    study = a_study(tmp_path / "s.db", "cec2020rw", {"RC08": 2, "RC31": 4}, {"sass": 2.0, "jde": 1000.0})
    found = rerun("cec2020rw", study, find(study))
    names = [row[0] for row in found.tables["field"].rows]
    assert len(names) == 10 and "SASS (published)" in names and names[-1] == "jde"
    medians = {str(row[0])[:4]: row for row in found.tables["sass"].rows}
    assert medians["RC31"][4:7] == [0.0, 0.0, "worse"] and np.isclose(medians["RC31"][7], 5 / 18)
    assert "jde" not in found.tables and "default" not in found.tables
    assert "feasible" in found.tables["field"].columns and found.section().count("<table") == 3
    shares = [row[-1] for row in found.tables["problems"].rows if row[1] == "jde"]
    (total,) = (row[2] for row in found.tables["field"].rows if row[0] == "jde")
    assert len(shares) == 2 and np.isclose(np.sum(shares), total)
    for _ in range(2):  # the second replaces the first
        write_own(tmp_path / "reproduce.csv", found.as_csv(), "csv")


def test_the_losses_of_the_default_are_named_with_what_decides_them(tmp_path: Path) -> None:
    study = a_study(tmp_path / "a.db", "cec2017", {"C04": 30, "C19": 30}, {"pps-sqp": 50.0, "ude-iii": 13.9})
    found = rerun("cec2026", study, find(study))
    losses = {row[0]: row for row in found.tables["default"].rows}
    assert {row[-4] for row in losses.values()} == {"ude-iii"} and losses["C04"][1:4] == [2.0, 9.0, "accuracy"]
    assert "pps-sqp is first on 0 of 2 problems; it loses by accuracy on 2" in found.lines
    assert [row[0] for row in found.tables["ude-iii"].rows] == ["C04"]
    study = a_study(tmp_path / "b.db", "cec2020rw", {"RC08": 2, "RC31": 4}, {"pps-sqp": 2.0})
    found = rerun("cec2020rw", study, find(study))
    costs = [row[1] for row in found.tables["default"].rows]
    (total,) = (row[2] for row in found.tables["field"].rows if row[0] == "pps-sqp")
    assert len(costs) == 2 and costs[0] >= costs[1] and np.isclose(sum(costs), total)
    assert [(row[2], row[-1]) for row in found.tables["default"].rows] == [("accuracy", 1.0)] * 2


def test_the_scores_of_the_entries_are_the_published_ones() -> None:
    entries = printed.cec2020rw()
    problems = sorted({problem for problem, _ in entries})
    cells = {p: {n: ThreeRuns(*entries[p, n][:3]) for n in printed.CEC2020_TOTALS} for p in problems}
    suite = ppsde.suites.get("cec2020rw")
    assert tuple(problems) == suite.names and len(entries) == 57 * 8
    dimensions = {p: DIMENSIONS[k] for k, p in enumerate(problems)}
    scores = weighted_scores(cells, dimensions)
    for k, name in enumerate(scores.algorithms):
        close = 0.0081 if name == "FCHA" else 2e-4
        assert abs(scores.total[k] - printed.CEC2020_TOTALS[name]) <= close, name


DIMENSIONS = (
    9, 11, 7, 6, 9, 38, 48, 2, 3, 3, 7, 7, 5, 10, 7, 14, 3, 4, 4, 2, 5, 9, 5, 7, 4, 22, 10, 10, 4, 3, 4, 5, 30, 118,
    153, 158, 126, 126, 126, 76, 74, 86, 86, 30, 25, 25, 25, 30, 30, 30, 59, 59, 59, 59, 64, 64, 64,
)  # fmt: skip


@pytest.mark.parametrize(
    ("ours", "theirs", "verdict"),
    [
        ((1.009, 0.0), (1.0, 0.0), "equal"),
        ((1.011, 0.0), (1.0, 0.0), "worse"),
        ((0.9, 0.0), (1.0, 0.0), "better"),
        ((9.0, 0.0), (1.0, 0.1), "better"),
        ((0.0, 0.1), (1.0, 0.0), "worse"),
        ((0.0, 0.1), (1.0, 0.2), "equal"),
        ((float("nan"), 0.0), (1.0, 0.0), "failed"),
    ],
)
def test_verdicts_of_medians(ours: tuple[float, float], theirs: tuple[float, float], verdict: str) -> None:
    assert median_verdict(ours, theirs) == verdict


def test_the_chance_of_a_median_is_how_often_one_law_has_it() -> None:
    rng = np.random.default_rng(1)
    often = [
        chance(Outcomes(rng.normal(size=25)), (float(np.median(rng.normal(size=25))), 0.0)) < 0.05 for _ in range(2000)
    ]
    assert 0.02 < np.mean(often) <= 0.055  # it takes few values, so that it is a little below
    mixed = Outcomes([1.0] * 12 + [9.0] * 13, [0.0] * 12 + [0.1] * 13)
    assert chance(mixed, (9.0, 0.1)) == 1.0 and chance(mixed, (0.5, 0.0)) < 1e-4
    assert chance(Outcomes([1.00000004] * 25), (1.0, 0.0)) == 1.0, "the published digits are few"


def test_entries_are_not_compared_with_another_version_of_a_problem_without_saying_so() -> None:
    """A whole population is infeasible in the competition's RC22 as soon as one of its rows has no angle."""
    assert "the whole population" in reason("sass", "RC22", "better", 0.0)
    assert reason("colshade", "RC22", "better", 0.0) == "not known"
    suite = ppsde.suites.get("cec2020rw").problem("RC22")
    rows = np.random.default_rng(0).uniform(suite.lower, suite.upper, (500, suite.dimension))
    assert 0.05 < (suite.evaluate(rows)[1][:, 7] == 1e6).mean() < 0.11, "so that most populations have one"


def plan_of(*words: str) -> Plan:
    parser = argparse.ArgumentParser()
    reproduce.add(parser.add_subparsers())
    return reproduce.competition_plan(parser.parse_args(["reproduce", "--device", "cpu", *words]))


def test_the_plans_are_those_of_the_competitions() -> None:
    plan = plan_of("--competition", "cec2026")
    assert len(plan.contenders) == len(ppsde.ALGORITHMS) and list(plan.dimensions or ()) == [30] and plan.runs == 25
    assert len(plan.sources) == 28 and plan.budget_of(plan.sources[0], 30) == 600_000 and plan.instance == "official"
    plan = plan_of("--competition", "cec2020rw", "--method", "sass,colshade")
    assert [c.name for c in plan.contenders] == ["sass", "colshade"] and len(plan.sources) == 57
    assert [plan.budget_of(plan.sources[0], d) for d in (10, 30, 50, 150, 158)] == [
        10**5,
        2 * 10**5,
        4 * 10**5,
        8 * 10**5,
        10**6,
    ]


@pytest.mark.parametrize("words", [("--dimension", "10"), ("--instance", "1")])
def test_the_real_world_problems_have_their_own_dimension_and_instance(words: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match=f"{words[0][2:]} must not be given"):
        plan_of("--competition", "cec2020rw", *words)


@pytest.mark.slow
def test_the_command_runs_and_resumes_a_competition(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    few: list[Any] = ["--competition", "cec2020rw", "--problem", "RC08", "--method", "sass,jde", "--runs", "2"]
    command = ["reproduce", *few, "--evaluations", "100", "--device", "cpu", "-o", str(tmp_path)]
    for _ in range(2):
        assert main(command) == 0
        out = capsys.readouterr().out
        assert "4 of 4 runs done" in out and "SASS (published)" in out and "first by score" in out
    assert "rerun" in (tmp_path / "reproduce.html").read_text()


def a_part(path: Path, *words: str) -> Path:
    """A store with made-up runs of the plan that the command has."""
    plan, rng = plan_of(*words), np.random.default_rng(2)
    planned = expanded(plan)
    with new_store(path) as store:
        store.add_plan(plan.as_data(), [(one.label, one.job) for one in planned])
        for job in (one.job for one in planned):
            store.add_entries(sealed(ROW, packed(a_run(job, run, rng, 1.0))) for run in job.runs)
            store.add_entries([account_entry({"job": job.id, "finished": 1e9, "seconds": 6.0, **ACCOUNT})])
    return path


def test_parts_made_on_other_machines_are_compared_by_one_command_that_runs_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    few = ["--competition", "cec2020rw", "--problem", "RC08,RC31", "--runs", "3", "--device", "gpu"]
    parts = [a_part(tmp_path / f"{name}.db", *few, "--method", name) for name in ("sass", "jde")]
    command = ["reproduce", *few, "--from", ",".join(map(str, parts)), "-o", str(tmp_path)]
    assert main([*command, "--method", "sass,jde,shade"]) == 0
    assert "12 of 18 runs" in capsys.readouterr().out
    text = (tmp_path / "reproduce.csv").read_text()
    assert "6 of 18 runs are missing" in text and "sass: of 2 medians" in text and "in this call" not in text
    rows = [line.split(",") for line in text.splitlines()]
    seconds = {row[0]: row[-2] for row in rows if row[0] in ("sass", "jde") and len(row) == 9}
    assert seconds == {"sass": "12.0", "jde": "12.0"}, "the parts say how long they took"
    assert {path.name for path in tmp_path.glob("*.db")} == {"sass.db", "jde.db"}, "no other store is made"

    assert main([*command, "--seed", "1"]) == 2
    assert "is of this plan, on device 'gpu' with 200 points recorded and seed 1" in capsys.readouterr().err
    assert main([*command, "--workers", "2"]) == 2
    assert "workers must not be given with --from: nothing is run" in capsys.readouterr().err
