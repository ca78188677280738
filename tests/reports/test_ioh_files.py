"""Files of IOHprofiler: against what is written here, and as a program loads them that others wrote for it."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reports.by_hand import a_store_by_hand
from reports.made_up import a_store, entries_of

import ppsde
from ppsde.experiments import Plan, Store, run
from ppsde.experiments.store import Result
from ppsde.reports.exports import export

LARGEST = 1.7976931348623157e308
NEXT = 1.7976931348623155e308

DATA = """\
evaluations raw_y violation
1 1.7976931348623157e+308 1.7976931348623157e+308
50 1.7976931348623157e+308 0.25
75 5.0 0.0
100 3.5 0.0
evaluations raw_y violation
1 1.7976931348623155e+308 1.7976931348623155e+308
20 1.7976931348623155e+308 2.0
40 1.7976931348623155e+308 0.5
60 1.7976931348623155e+308 0.125
100 1.7976931348623155e+308 0.125
evaluations raw_y violation
1 1.7976931348623157e+308 1.7976931348623157e+308
40 1.7976931348623157e+308 1.7976931348623157e+308
evaluations raw_y violation
1 1.7976931348623155e+308 1.7976931348623155e+308
evaluations raw_y violation
1 1.7976931348623157e+308 1.7976931348623157e+308
25 6.0 0.0
70 4.0 0.0
95 0.1 0.0
"""

INDEX = {
    "version": "0.3.5",
    "suite": "cec2017",
    "function_id": 5,
    "function_name": "C05",
    "maximization": False,
    "algorithm": {"name": "mine", "info": f"ppsde {ppsde.__version__}"},
    "run_attributes": ["run"],
    "attributes": ["evaluations", "raw_y", "violation"],
    "scenarios": [
        {
            "dimension": 2,
            "path": "data_f5_C05/IOHprofiler_f5_DIM2.dat",
            "runs": [
                {"instance": 1, "evals": 100, "best": {"evals": 100, "y": 3.5, "x": [1.0, 2.0]}, "run": 0},
                {"instance": 1, "evals": 100, "best": {"evals": 60, "y": NEXT, "x": [0.5, -0.5]}, "run": 1},
                {"instance": 1, "evals": 40, "best": {"evals": 1, "y": LARGEST, "x": [LARGEST] * 2}, "run": 2},
                {"instance": 1, "evals": 0, "best": {"evals": 0, "y": NEXT, "x": [LARGEST] * 2}, "run": 3},
                {"instance": 1, "evals": 95, "best": {"evals": 95, "y": 0.1, "x": [0.1, 0.0]}, "run": 4},
            ],
        }
    ],
}


def test_an_index_names_the_data_and_the_data_hold_every_run(tmp_path: Path) -> None:
    with Store(a_store_by_hand(tmp_path / "study.db")) as store:
        written = export(store, "ioh", tmp_path / "ioh")
    data, index = written
    assert index == tmp_path / "ioh" / "mine" / "IOHprofiler_f5_C05.json"
    assert data == tmp_path / "ioh" / "mine" / "data_f5_C05" / "IOHprofiler_f5_DIM2.dat"
    assert data.read_text() == DATA
    assert json.loads(index.read_text()) == INDEX


def test_an_index_has_every_dimension_of_its_problem(tmp_path: Path) -> None:
    path = a_store(tmp_path / "study.db", ["a"], ["C01"], 2)
    with Store(path, writable=True) as store:
        store.add_entries(entries_of(["a"], ["C01"], 3, dimension=30))
    with Store(path) as store:
        written = export(store, "ioh", tmp_path / "ioh")
    (index,) = [json.loads(path.read_text()) for path in written if path.suffix == ".json"]
    assert [(s["dimension"], len(s["runs"])) for s in index["scenarios"]] == [(10, 2), (30, 3)]
    assert {tmp_path / "ioh" / "a" / s["path"] for s in index["scenarios"]} < set(written)


def test_problems_keep_their_numbers_and_no_two_have_the_same(tmp_path: Path) -> None:
    path = a_store(tmp_path / "study.db", ["a", "b"], ["beam", "C02", "g02", "C17", "x65536"], 1, record=2)
    with Store(path) as store:
        written = export(store, "ioh", tmp_path / "ioh")
    found = [json.loads(path.read_text()) for path in written if path.suffix == ".json"]
    ids = [{i["function_name"]: i["function_id"] for i in found if i["algorithm"]["name"] == label} for label in "ab"]
    # C02 was there before g02, and readers hold numbers up to 65535.
    assert ids == [{"beam": 1, "C02": 2, "g02": 3, "C17": 17, "x65536": 4}] * 2
    assert len(found) == 10


def a_study(path: Path) -> Path:
    """Several algorithms, problems and dimensions; runs that are infeasible or failed beside each other."""
    more: dict[str, Any] = {"infeasible": {"a": 0.3, "b": 1.0}, "failing": {("b", "C02"): "no luck"}}
    a_store(path, ["a", "b"], ["C01", "C02", "beam"], 4, **more)
    with Store(path, writable=True) as store:
        store.add_entries(entries_of(["a"], ["C01"], 2, dimension=30, budget=60_000))
    return path


def a_real_study(path: Path) -> Path:
    problems = ["engineering:welded-beam", "cec2006:g06"]
    run(Plan(["pps-de", "shade"], problems=problems, runs=3, budget=900, record=15, engine="host"), path, workers=1)
    return path


@pytest.mark.parametrize("made", [a_store_by_hand, a_study, a_real_study])
def test_iohinspector_loads_what_the_store_holds(made: Any, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what it imports
        reader = pytest.importorskip("iohinspector")
    with Store(made(tmp_path / "study.db")) as store:
        export(store, "ioh", tmp_path / "ioh")
        results = list(store.results())
    manager = reader.DataManager()
    manager.add_folder(str(tmp_path / "ioh"))
    loaded = manager.overview.sort("data_id").to_dicts()
    runs: dict[tuple[str, str, int], list[Result]] = {}
    for result in results:
        runs.setdefault((result.algorithm, result.problem, result.dimension), []).append(result)
    assert len(loaded) == len(results)
    lines = manager.load(monotonic=False)
    for row in loaded:
        result = runs[row["algorithm_name"], row["function_name"], row["dimension"]][row["run_id"] - 1]
        assert (row["suite"], row["instance"]) == (result.job.suite, result.job.instance or 0)
        assert row["evals"] == result.evaluations
        assert row["best_y"] == result.f if result.feasible else row["best_y"] >= NEXT
        trace = lines.filter(lines["data_id"] == row["data_id"]).select("evaluations", "raw_y", "violation").rows()
        assert trace[0] == (1, trace[0][1], trace[0][1]) and trace[0][1] >= NEXT
        expected = known(result)
        assert len(trace) == 1 + len(expected)
        for (evaluations, f, violation), line in zip(expected, trace[1:], strict=True):
            assert line[0] == evaluations
            assert line[1] == f if np.isfinite(f) else line[1] >= NEXT
            assert line[2] == violation if np.isfinite(violation) else line[2] >= NEXT
    improving = manager.load()  # as it does unless told otherwise: lines with a better objective alone
    assert set(improving["data_id"]) == set(manager.overview["data_id"])
    for row in loaded:
        values = improving.filter(improving["data_id"] == row["data_id"])["raw_y"]
        assert values.min() == row["best_y"]


def known(result: Result) -> list[tuple[int, float, float]]:
    """Evaluations, best feasible objective and least violation wherever a store has a point of a run."""
    if not result.ok:
        return [(result.evaluations, float("inf"), float("inf"))] if result.evaluations > 1 else []
    points = list(zip(*(result.record[name] for name in ("evaluations", "f", "violation")), strict=True))
    points = [point for point in points if not np.isnan(point[0])] + [(result.evaluations, result.f, result.violation)]
    found = {}
    for made, _, _ in points:
        seen = [(f, v) for e, f, v in points if e <= made]
        found[int(made)] = (min((f for f, v in seen if v == 0), default=float("inf")), min(v for _, v in seen))
    return [(made, *values) for made, values in found.items()]
