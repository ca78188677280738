"""Result files of the CEC competitions against the store, and against what is written here."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from reports.by_hand import a_store_by_hand
from reports.made_up import a_store, entries_of

from ppsde.experiments import Plan, Store, run
from ppsde.experiments.store import Result
from ppsde.reports.exports import export

BY_HAND = """\
25 nan inf nan 2.0 nan inf nan inf 6.0 0.0
50 nan 0.25 nan 0.5 nan inf nan inf 6.0 0.0
75 5.0 0.0 nan 0.125 nan inf nan inf 4.0 0.0
100 3.5 0.0 nan 0.125 nan inf nan inf 0.1 0.0
"""


def test_rows_are_evaluations_then_objective_and_violation_of_each_run(tmp_path: Path) -> None:
    with Store(a_store_by_hand(tmp_path / "study.db")) as store:
        written = export(store, "cec", tmp_path / "cec")
    assert [path.name for path in written] == ["mine_F5_D2.txt"]
    assert written[0].read_text() == BY_HAND


def test_files_are_named_by_algorithm_function_and_dimension(tmp_path: Path) -> None:
    path = a_store(tmp_path / "study.db", ["a", "b c"], ["C01", "C12", "beam"], 2)
    with Store(path, writable=True) as store:
        store.add_entries(entries_of(["a"], ["C01"], 2, dimension=30))
    with Store(path) as store:
        written = export(store, "cec", tmp_path / "cec")
    names = [f"{label}_F{number}_D10.txt" for label in ("a", "b_c") for number in ("1", "12", "beam")]
    assert sorted(path.name for path in written) == sorted([*names, "a_F1_D30.txt"])


def test_every_algorithm_is_written_to_the_end_of_its_own_budget(tmp_path: Path) -> None:
    path = a_store(tmp_path / "study.db", ["a"], ["C01"], 2)
    with Store(path, writable=True) as store:
        store.add_entries(entries_of(["b"], ["C01"], 2, budget=50_000, record=20))
    with Store(path) as store:
        export(store, "cec", tmp_path / "cec")
        best = {label: [r.f for r in store.results() if r.algorithm == label] for label in "ab"}
    for label, rows, budget in (("a", 50, 20_000), ("b", 20, 50_000)):
        values = np.loadtxt(tmp_path / "cec" / f"{label}_F1_D10.txt")
        assert values[:, 0].tolist() == np.linspace(budget / rows, budget, rows).tolist()
        assert values[-1, 1::2].tolist() == best[label]


def test_a_study_that_was_run_comes_out_as_it_is_stored(tmp_path: Path) -> None:
    plan = Plan(["pps-de", "shade"], problems=["engineering:welded-beam"], runs=2, budget=600, record=37, engine="host")
    run(plan, tmp_path / "study.db", workers=1)
    with Store(tmp_path / "study.db") as store:
        export(store, "cec", tmp_path / "cec")
        results = list(store.results())
    for label in ("pps-de", "shade"):
        values = np.loadtxt(tmp_path / "cec" / f"{label}_Fwelded-beam_D4.txt")
        assert values[:, 0].tolist() == [-(-600 * k // 37) for k in range(1, 38)]
        runs = [result for result in results if result.algorithm == label]
        assert np.isnan(runs[0].record["evaluations"]).any()  # parts of the budget in which no generation ended
        expected = [[number for result in runs for number in known(result, int(row[0]))] for row in values]
        assert np.array_equal(values[:, 1:], expected, equal_nan=True)


def known(result: Result, evaluations: int) -> tuple[float, float]:
    """Best feasible objective and least violation of what a store has of a run up to then."""
    points = list(zip(*(result.record[name] for name in ("evaluations", "f", "violation")), strict=True))
    seen = [(f, v) for made, f, v in [*points, (result.evaluations, result.f, result.violation)] if made <= evaluations]
    return min((f for f, v in seen if v == 0), default=float("nan")), min((v for _, v in seen), default=float("inf"))
