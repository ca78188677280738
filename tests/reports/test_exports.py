"""A study as files of the CEC competitions, of IOHprofiler and as Parquet, read back."""

from __future__ import annotations

import json
import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reports.by_hand import a_store_by_hand
from reports.hostile import STRINGS
from reports.made_up import a_store, entries_of

import ppsde
from ppsde.experiments import Plan, Store, run
from ppsde.experiments.store import StoredRun
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
        expected = [[number for result in runs for number in known_at(result, int(row[0]))] for row in values]
        assert np.array_equal(values[:, 1:], expected, equal_nan=True)


def known_at(result: StoredRun, evaluations: int) -> tuple[float, float]:
    """Best feasible objective and least violation of what a store has of a run up to then."""
    points = list(zip(*(result.record[name] for name in ("evaluations", "f", "violation")), strict=True))
    seen = [(f, v) for made, f, v in [*points, (result.evaluations, result.f, result.violation)] if made <= evaluations]
    return min((f for f, v in seen if v == 0), default=float("nan")), min((v for _, v in seen), default=float("inf"))


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
    runs: dict[tuple[str, str, int], list[StoredRun]] = {}
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
    improving = manager.load()  # its default: only lines with a better objective
    assert set(improving["data_id"]) == set(manager.overview["data_id"])
    for row in loaded:
        values = improving.filter(improving["data_id"] == row["data_id"])["raw_y"]
        assert values.min() == row["best_y"]


def known(result: StoredRun) -> list[tuple[int, float, float]]:
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


SHARED = {"algorithm": "mine", "problem": "C05", "dimension": 2}
ASKED: dict[str, Any] = {
    "method": "pps-de",
    "suite": "cec2017",
    "instance": "1",
    "seed": 3,
    "budget": 100,
    "engine": "host",
    "device": "cpu",
}
NAN, INF = float("nan"), float("inf")
FAILED = {"f": NAN, "violation": INF, "competition_violation": INF, "feasible": False, "status": "failed"}
RUNS: list[dict[str, Any]] = [
    {"f": 3.5, "violation": 0.0, "competition_violation": 0.0, "feasible": True, "evaluations": 100, "x": [1.0, 2.0]},
    {"f": 7.0, "violation": 0.125, "competition_violation": 0.125, "feasible": False, "evaluations": 100},
    {**FAILED, "evaluations": 40, "message": "no luck", "x": [NAN, NAN]},
    {**FAILED, "evaluations": 0, "message": "killed", "x": [NAN, NAN]},
    {"f": 0.1, "violation": 0.0, "competition_violation": 0.0, "feasible": True, "evaluations": 95, "x": [0.1, 0.0]},
]
RUNS[1]["x"] = [0.5, -0.5]
RECORDS = [  # run, evaluations, f, violation
    *[(0, 50, 2.0, 0.25), (0, 75, 5.0, 0.0), (0, 100, 3.5, 0.0)],
    *[(1, 20, 9.0, 2.0), (1, 40, 8.0, 0.5), (1, 60, 8.0, 0.125), (1, 100, 7.0, 0.125)],
    *[(4, 25, 6.0, 0.0), (4, 70, 4.0, 0.0)],
]


@pytest.mark.skipif(find_spec("pyarrow") is not None, reason="pyarrow is installed")
def test_parquet_needs_pyarrow_and_says_so(tmp_path: Path) -> None:
    with (
        Store(a_store_by_hand(tmp_path / "study.db")) as store,
        pytest.raises(ValueError, match="parquet needs pyarrow"),
    ):
        export(store, "parquet", tmp_path / "parquet")
    assert not (tmp_path / "parquet").exists()


def test_tables_have_every_run_and_every_recorded_point(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    with Store(a_store_by_hand(tmp_path / "study.db")) as store:
        written = export(store, "parquet", tmp_path / "parquet")
    assert written == [tmp_path / "parquet" / "runs.parquet", tmp_path / "parquet" / "records.parquet"]
    runs, records = (parquet.read_table(path) for path in written)
    for number, (row, expected) in enumerate(zip(runs.to_pylist(), RUNS, strict=True)):
        full = {**SHARED, "run": number, "status": "ok", "message": "", **ASKED, **expected}
        assert set(row) == set(full)
        for name, value in full.items():
            same = np.array_equal(row[name], value, equal_nan=True) if name in ("f", "x") else row[name] == value
            assert same, (name, row[name], value)
    assert records.to_pylist() == [
        {**SHARED, **dict(zip(("run", "evaluations", "f", "violation"), values, strict=True))} for values in RECORDS
    ]


@pytest.mark.parametrize("kind", ["cec", "ioh", "parquet"])
def test_a_message_of_any_text_is_exported(kind: str, tmp_path: Path) -> None:
    if kind == "parquet":
        pytest.importorskip("pyarrow")
    message = "a lone \udc80, a \x00 and a \U0001f600"
    path = a_store(tmp_path / "s.db", ["a"], ["C01"], 2, failing={("a", "C01"): message})
    with Store(path) as store:
        written = export(store, kind, tmp_path / "out")
    assert written and all(file.stat().st_size for file in written)
    if kind == "parquet":
        parquet = pytest.importorskip("pyarrow.parquet")
        (row, _) = parquet.read_table(written[0]).to_pylist()
        assert row["message"] == "a lone \\udc80, a \x00 and a \U0001f600"


def test_columns_have_the_same_types_whatever_a_study_holds(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    (tmp_path / "bad.py").write_text("import ppsde\n\nproblem = ppsde.Problem(lambda x: 1 / 0, [(0, 1), (0, 1)])\n")
    plan = Plan(["pps-de"], problems=[f"{tmp_path}/bad.py:problem"], runs=2, budget=200, record=5, engine="host")
    run(plan, tmp_path / "failed.db", workers=1)
    paths = {
        "whole": a_store_by_hand(tmp_path / "whole.db"),
        "failed": tmp_path / "failed.db",
        "empty": a_store(tmp_path / "empty.db", ["a"], ["C01"], 2, undone=[("a", "C01")]),
    }
    schemas = {}
    for name, path in paths.items():
        with Store(path) as store:
            written = export(store, "parquet", tmp_path / name)
        tables = [parquet.read_table(path) for path in written]
        schemas[name] = [table.schema for table in tables]
        assert [table.num_rows for table in tables] == {"whole": [5, 9], "failed": [2, 0], "empty": [0, 0]}[name]
    (row, _) = parquet.read_table(tmp_path / "failed" / "runs.parquet").to_pylist()
    assert (row["problem"], row["status"], row["suite"], row["instance"]) == ("bad.py:problem", "failed", None, None)
    assert schemas["whole"] == schemas["failed"] == schemas["empty"]
    kinds = {str(field.type).partition("<")[0] for schema in schemas["whole"] for field in schema}
    assert kinds == {"string", "int64", "double", "bool", "list"}


def test_pandas_reads_the_tables(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    pandas = pytest.importorskip("pandas")
    with Store(a_store_by_hand(tmp_path / "study.db")) as store:
        runs, records = (pandas.read_parquet(path) for path in export(store, "parquet", tmp_path / "parquet"))
    assert runs["f"].tolist()[::4] == [3.5, 0.1] and runs["f"].isna().tolist() == [False, False, True, True, False]
    assert [runs[name].dtype for name in ("f", "evaluations", "feasible")] == [np.float64, np.int64, np.bool_]
    assert np.array_equal(np.stack(runs["x"].to_list()), [row["x"] for row in RUNS], equal_nan=True)
    assert list(records[["run", "evaluations", "f", "violation"]].itertuples(index=False, name=None)) == RECORDS


def test_an_unknown_format_is_refused(tmp_path: Path) -> None:
    with (
        Store(a_store(tmp_path / "study.db", ["a"], ["C01"], 1)) as store,
        pytest.raises(ValueError, match="format must be one of cec, ioh, parquet; got 'xls'"),
    ):
        export(store, "xls", tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("kind", ["cec", "ioh"])
def test_no_name_leads_out_of_the_folder(kind: str, tmp_path: Path) -> None:
    labels = ["../../up", "/etc/passwd", "..", *STRINGS[:3]]
    with Store(a_store(tmp_path / "study.db", labels, ["../C01", "C01"], 1, record=3)) as store:
        written = export(store, kind, tmp_path / "out")
    assert len(set(written)) == len(written) == {"cec": 12, "ioh": 24}[kind]
    assert all(path.resolve().is_relative_to((tmp_path / "out").resolve()) for path in written)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "study.db"]


@pytest.mark.parametrize("kind", ["cec", "ioh"])
def test_of_plans_that_contradict_each_other_the_last_or_the_chosen_one_is_written(kind: str, tmp_path: Path) -> None:
    path = a_store(tmp_path / "study.db", ["a"], ["C01", "C02"], 2, record=3)
    with Store(path, writable=True) as store:
        store.add_entries(entries_of(["a"], ["C01"], 2, record=3, seed=2, budget=900))
    with Store(path) as store:
        last = export(store, kind, tmp_path / "last")
        first = export(store, kind, tmp_path / "first", plan=1)
    files = {"cec": 1, "ioh": 2}[kind]
    assert (len(last), len(first)) == (files, 2 * files)
    end = {name: (tmp_path / name / first[0].relative_to(tmp_path / "first")).read_text() for name in ("last", "first")}
    assert end["last"].splitlines()[-1].startswith("900 ")
    assert end["first"].splitlines()[-1].startswith("20000 ")


def test_a_study_without_results_gives_no_files(tmp_path: Path) -> None:
    with Store(a_store(tmp_path / "study.db", ["a"], ["C01"], 2, undone=[("a", "C01")])) as store:
        assert export(store, "cec", tmp_path / "cec") == export(store, "ioh", tmp_path / "ioh") == []
