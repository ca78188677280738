"""The verdict on a study, its statistics, and the caveats that it must not leave out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reports.made_up import a_job, a_store, entries_of

from ppsde.experiments import Store
from ppsde.experiments.store import CellStatus, StudyStatus, new_store
from ppsde.reports import Findings, Study, find, gather
from ppsde.reports.findings import reasons_of
from ppsde.reports.study import StudyProblem
from ppsde.stats import Outcomes, Records

PROBLEMS = [f"C{k:02d}" for k in range(1, 13)]


def found(tmp_path: Path, *args: Any, **more: Any) -> tuple[Study, Findings]:
    with Store(a_store(tmp_path / "study.db", *args, **more)) as store:
        study = gather(store)
    return study, find(study)


def test_a_clear_winner_is_named_with_the_test_that_says_so(tmp_path: Path) -> None:
    study, findings = found(tmp_path, ["new", "old"], PROBLEMS, 3)
    # by Nemenyi's test, not by Friedman's: 2 (1 - Phi(sqrt(12))) = 0.000532
    wins = "new wins: it ranks significantly better than each of the others (p = 0.000532 against old)."
    assert findings.headline == wins
    assert findings.order == ["new", "old"]
    assert "on each of 12 problems" in findings.reasons[0] and "new 1.00, old 2.00" in findings.reasons[0]
    assert "Iman and Davenport: p < 0.0001" in findings.reasons[1]
    # Nemenyi, two algorithms, twelve problems: 1.960 sqrt(2 x 3 / (6 x 12))
    assert findings.pairs is not None and findings.pairs.critical_difference == pytest.approx(
        1.95996 / np.sqrt(12), 1e-4
    )
    assert "must lie 0.57 apart" in findings.reasons[2]
    assert findings.caveats == ["Everything that was planned was run, and no run failed."]
    assert study.complete == tuple(PROBLEMS)


def test_few_problems_are_called_few(tmp_path: Path) -> None:
    _, findings = found(tmp_path, ["a", "b", "c"], PROBLEMS[:4], 3)
    assert findings.headline.endswith("significantly better than c, but not than b.")
    assert any("4 problems are few" in reason for reason in findings.reasons)


def test_missing_and_failed_runs_are_told_and_left_out_of_no_count(tmp_path: Path) -> None:
    study, findings = found(
        tmp_path,
        ["a", "b"],
        PROBLEMS[:4],
        3,
        undone=[("b", "C02")],
        failing={("a", "C03"): "no luck"},
    )
    assert study.complete == ("C01", "C03", "C04")
    assert findings.ranks is not None and findings.ranks.problems == study.complete
    assert findings.ranks.by_median[1].tolist() == [2.0, 1.0]  # a failed on C03
    assert findings.caveats == [
        "Not run: 3 of 24 runs are missing: b on C02, D=10 (3).",
        "3 of 21 finished runs failed; they count as worse than any other.",
        "Failed 3 times (a; C03): no luck",
        "Left out of ranks and tests, since not every algorithm has a run there: C02.",
    ]
    assert findings.summaries["C03"]["a"].n_failed == 3 and "b" not in findings.summaries["C02"]


def test_what_failed_is_listed_in_the_order_of_the_study(tmp_path: Path) -> None:
    failing = {(name, problem): "no luck" for name in ("b", "a") for problem in ("C03", "C01")}
    study, _ = found(tmp_path, ["a", "b", "c"], PROBLEMS[:4], 2, failing=failing)
    assert [(one.runs, one.algorithms, one.problems) for one in reasons_of(study)] == [(8, ["a", "b"], ["C01", "C03"])]


def test_an_algorithm_whose_runs_all_failed_is_not_ranked_and_the_reason_is_told_once(tmp_path: Path) -> None:
    failing = {("mine", problem): "unknown method 'mine'" for problem in PROBLEMS}
    study, findings = found(tmp_path, ["a", "b", "mine"], PROBLEMS, 3, failing=failing)
    assert study.ranked == ("a", "b") and study.complete == tuple(PROBLEMS)
    assert findings.order == ["a", "b"] and "mine" not in findings.headline
    assert findings.caveats == [
        "36 of 108 finished runs failed; they count as worse than any other.",
        "Failed 36 times (mine; 12 problems): unknown method 'mine'",
        "Every run failed, so not ranked: mine.",
    ]
    assert findings.summaries["C01"]["mine"].n_failed == 3


def test_marks_are_of_the_corrected_test_against_the_reference(tmp_path: Path) -> None:
    study, findings = found(tmp_path, ["a", "b"], PROBLEMS[:3], 8)
    assert findings.reference == "a" and findings.mark("C01", "a") == ""
    assert [findings.mark(p, "b") for p in study.complete] == ["-"] * 3
    assert [find(study, "b").mark(p, "a") for p in study.complete] == ["+"] * 3
    one = findings.comparisons[0]
    assert (one.problem, one.first, one.second, one.A12, one.effect) == ("C01", "a", "b", 1.0, "large")
    assert one.adjusted == pytest.approx(3 * one.p)  # three problems, all with the same p
    (tmp_path / "study.db").unlink()
    _, few = found(tmp_path, ["a", "b"], PROBLEMS[:12], 4)  # p = 0.029 on each, which twelve problems explain
    assert {few.mark(p, "b") for p in PROBLEMS} == {"="} and few.wins[0].ties == 12
    with pytest.raises(ValueError, match="reference must be one of a, b; got 'c'"):
        find(study, "c")


def test_the_optimum_is_known_for_the_suites_of_this_package_alone(tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    jobs = [
        replace(a_job("a", name, 2), problem={"suite": suite, "name": name}, dimension=d, instance=instance)
        for suite, name, d, instance in [
            ("cec2006", "g06", 2, None),
            ("cec2006", "g20", 24, None),  # no point of it is feasible
            ("engineering", "welded-beam", 4, None),
            ("cec2017", "C01", 10, 1),
            ("theirs.py:SUITE", "g07", 10, None),
        ]
    ]
    with new_store(path) as store:
        store.add_plan({}, [("a", job) for job in jobs])
    with Store(path) as store:
        optima = [problem.optimum for problem in gather(store).problems]
    assert optima[0] == pytest.approx(-6961.81388) and optima[2] == pytest.approx(1.724852, abs=1e-6)
    assert optima[1] is None and optima[3] is None and optima[4] is None


def test_title_date_and_plan_are_told_and_do_not_change(tmp_path: Path) -> None:
    study, _ = found(tmp_path, ["a", "b"], PROBLEMS[:3], 2)
    assert study.title == "2 algorithms on 3 problems of cec2017" and study.date == "2001-09-09 01:46 UTC"
    assert study.plan == (
        "2 runs of each of 2 algorithms on each of 3 problems of 10 variables, 20,000 evaluations per run, seed 3, "
        "host engine."
    )
    assert study.seconds["C01"] == {"a": 0.5, "b": 0.5}


def test_lower_but_infeasible_is_ranked_worse(tmp_path: Path) -> None:
    _, findings = found(tmp_path, ["low", "feasible"], PROBLEMS[:3], 3, infeasible={"low": 1.0})
    assert findings.order == ["feasible", "low"]
    assert findings.summaries["C01"]["low"].mean < findings.summaries["C01"]["feasible"].mean
    assert [(w.wins, w.ties, w.losses) for w in findings.wins] == [(0, 3, 0)]  # three runs each prove nothing


def test_significant_wins_are_counted_by_problem(tmp_path: Path) -> None:
    _, findings = found(tmp_path, ["a", "b"], PROBLEMS[:3], 6)
    assert [(w.first, w.second, w.wins, w.ties, w.losses) for w in findings.wins] == [("a", "b", 3, 0, 0)]


def test_where_no_run_is_feasible_it_is_said_and_no_target_is_made_up(tmp_path: Path) -> None:
    _, findings = found(tmp_path, ["a", "b"], PROBLEMS[:2], 3, infeasible={"a": 1.0, "b": 1.0})
    assert any("No run of any algorithm is feasible on C01 and C02" in text for text in findings.caveats)
    assert findings.ecdf == {} and findings.ecdf_problems == 0


def test_targets_reached_end_at_the_share_that_was_reached(tmp_path: Path) -> None:
    _, findings = found(tmp_path, ["a", "b"], PROBLEMS[:2], 1)
    best = findings.ecdf["a"]
    assert best.share[-1] == 1.0  # a has the best run of both problems, which every target is measured from
    assert findings.ecdf["b"].share[-1] < 0.6


def test_one_algorithm_and_one_problem_are_no_comparison(tmp_path: Path) -> None:
    _, findings = found(tmp_path, ["alone"], PROBLEMS[:2], 2)
    assert "nothing to compare it with" in findings.headline and findings.ranks is None and findings.wins == []
    (tmp_path / "study.db").unlink()
    _, findings = found(tmp_path, ["a", "b"], PROBLEMS[:1], 2)
    assert findings.headline == "a is ahead, on a single problem: no test can say how surely."


def test_a_study_that_has_not_begun_can_be_reported(tmp_path: Path) -> None:
    undone = [(a, "C01") for a in ("a", "b")]
    study, findings = found(tmp_path, ["a", "b"], ["C01"], 2, undone=undone)
    assert findings.headline == "No run is finished yet." and study.ranked == ()
    assert findings.caveats[0].startswith("Not run: 4 of 4 runs are missing")
    assert "Without any finished run, so not ranked: a and b." in findings.caveats


def test_dimensions_are_problems_of_their_own(tmp_path: Path) -> None:
    path = a_store(tmp_path / "study.db", ["a", "b"], ["C01"], 2)
    with Store(path, writable=True) as store:
        store.add_plan({"more": 1}, [("a", a_job("a", "C01", 2, dimension=30))])
    with Store(path) as store:
        study = gather(store)
        assert [p.label for p in study.problems] == ["C01 D=10", "C01 D=30"]
        assert [p.label for p in gather(store, 1).problems] == ["C01"]
    assert find(study).ranks is not None and study.complete == ("C01 D=10",)


def test_ranks_are_told_by_dimension_where_there_are_several(tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    with new_store(path) as store:
        store.add_entries(entries_of(["a", "b"], ["C01", "C02"], 2))
        store.add_entries(entries_of(["b", "a"], ["C01"], 2, dimension=30))
    with Store(path) as store:
        findings = find(gather(store))
    assert "By dimension: D=10: a 1.00, b 2.00; D=30: b 1.00, a 2.00." in findings.reasons


def test_of_plans_that_disagree_the_last_is_reported(tmp_path: Path) -> None:
    path = a_store(tmp_path / "study.db", ["a"], ["C01"], 2)
    with Store(path, writable=True) as store:
        store.add_plan({"more": 1}, [("a", a_job("a", "C01", 2, budget=77))])
    with Store(path) as store:
        assert gather(store).problems[0].budget == 77
        assert gather(store, 1).problems[0].budget == 20_000


def test_where_results_come_from_is_kept(tmp_path: Path) -> None:
    study, _ = found(tmp_path, ["a", "b"], ["C01"], 2)
    assert study.origin["seeds"] == ["3 (2 jobs)"]
    assert study.origin["versions"] == ["numpy 2.0.0, ppsde 0.1.0 (2 jobs)"]
    assert study.origin["commands"] == ["ppsde bench run plan.toml (2 jobs)"]
    assert study.origin["hardware"] == ["Linux x86_64, 2 cores (2 jobs)"]


def test_what_differs_by_rounding_is_a_tie() -> None:
    def study_of(first: list[float], second: list[float]) -> Study:
        cells = {"a": Outcomes(first), "b": Outcomes(second)}
        records = {a: Records([10], runs.f[:, None]) for a, runs in cells.items()}
        problem = StudyProblem("C01", "C01", 10, 10, 1)
        done = [CellStatus(a, "C01", 10, 3, 3, 0, 0) for a in "ab"]
        standing = StudyStatus(done, [], 0, 60, 60, None)
        return Study("s", ("a", "b"), (problem,), {"C01": cells}, {"C01": records}, standing, {})

    level = find(study_of([0.0, 0.0, 0.0], [1e-9, 3e-29, 2e-17]))
    assert level.ranks is not None and level.ranks.by_mean.tolist() == level.ranks.by_median.tolist() == [[1.5, 1.5]]
    assert level.u_score is not None and level.u_score.total.tolist() == [4.5, 4.5]
    assert level.headline == "No winner: a and b share the best average rank, 1.50."
    apart = find(study_of([0.0, 0.0, 0.0], [1e-7, 1e-7, 1e-7]))
    assert apart.ranks is not None and apart.ranks.by_median.tolist() == [[1.0, 2.0]]
    assert level.summaries["C01"]["b"].mean == pytest.approx((1e-9 + 2e-17 + 3e-29) / 3)  # tables show what was found
