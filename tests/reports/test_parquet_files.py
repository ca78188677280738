"""Parquet tables against what is written here, and as pandas reads them."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reports.by_hand import a_store_by_hand
from reports.made_up import a_store

from ppsde.experiments import Plan, Store, run
from ppsde.reports.exports import export

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
