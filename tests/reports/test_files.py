"""Tables and exports: the numbers of the store, in files that others read."""

from __future__ import annotations

import csv
import json
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from reports.hostile import STRINGS
from reports.made_up import a_store

from ppsde.experiments import Store
from ppsde.reports import find, gather
from ppsde.reports.export import NOTHING, export
from ppsde.reports.figures import draw
from ppsde.reports.tables import Table, as_tex, paper_table, tables, write_tables


@pytest.fixture
def store(tmp_path: Path) -> Store:
    more = {"infeasible": {"b": 1.0}, "failing": {("b", "C02"): "no luck"}}
    return Store(a_store(tmp_path / "study.db", ["a", "b"], ["C01", "C02", "beam"], 3, **more))


def test_tables_hold_the_numbers_of_the_store(store: Store, tmp_path: Path) -> None:
    with store:
        study = gather(store)
        f = [r.f for r in store.results() if (r.algorithm, r.problem) == ("a", "C01")]
    findings = find(study)
    found = tables(study, findings, draw(study, findings))
    written = write_tables(found, paper_table(study, findings), tmp_path / "tables")
    names = {path.name for path in written}
    assert {"paper.tex", "results.csv", "results.tex", "ranks.csv", "pairs.csv", "wins.csv", "scores.csv"} <= names
    with (tmp_path / "tables" / "results.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 6
    first = rows[0]
    assert (first["problem"], first["D"], first["algorithm"], first["n"]) == ("C01", "10", "a", "3")
    assert float(first["mean"]) == np.mean(f) and float(first["best"]) == min(f)
    failed = next(row for row in rows if (row["algorithm"], row["problem"]) == ("b", "C02"))
    assert (failed["n_failed"], failed["mean"]) == ("3", "nan")


def test_the_table_of_the_paper_has_the_best_in_bold_and_feasible_runs(store: Store) -> None:
    with store:
        study = gather(store)
    text = paper_table(study, find(study))
    lines = text.splitlines()
    assert lines[0] == r"\begin{tabular}{lrr}" and lines[2] == r"problem & a & b \\"
    assert lines[4].startswith(r"C01 & \textbf{") and lines[4].count("textbf") == 1
    assert lines[5] == r" & 3/3 feasible & 0/3 feasible \\"
    assert r"average rank & 1.000 & 2.000 \\" in lines


def test_nothing_is_a_command_in_tex() -> None:
    text = as_tex(Table("t", [r"\input{x}"], [["50% & $1_2^3~#{}"], [1.5], [None], [True]]))
    assert r"\textbackslash{}input\{x\}" in text
    assert r"50\% \& \$1\_2\textasciicircum{}3\textasciitilde{}\#\{\}" in text
    assert text.splitlines()[5:8] == [r"1.5 \\", r"-- \\", r"yes \\"]


def test_cec_files_have_evaluations_then_objective_and_violation_of_each_run(store: Store, tmp_path: Path) -> None:
    with store:
        written = export(store, "cec", tmp_path / "cec")
        results = [r for r in store.results() if (r.algorithm, r.problem) == ("a", "C01")]
    assert sorted(path.name for path in written) == sorted(
        [f"{a}_F{p}_D10.txt" for a in "ab" for p in ("1", "2", "beam")]
    )
    values = np.loadtxt(tmp_path / "cec" / "a_F1_D10.txt")
    assert values.shape == (50, 7)
    assert values[:, 0].tolist() == (np.arange(1, 51) * 400).tolist()
    for k, result in enumerate(results):
        feasible = result.record["violation"] == 0
        assert np.isnan(values[~feasible, 1 + 2 * k]).all()
        np.testing.assert_allclose(values[feasible, 1 + 2 * k], result.record["f"][feasible], rtol=1e-14)
        np.testing.assert_allclose(values[:, 2 + 2 * k], result.record["violation"], rtol=1e-14)
    never = np.loadtxt(tmp_path / "cec" / "b_F1_D10.txt")
    assert np.isnan(never[:, 1::2]).all() and (never[:, 2::2] > 0).all()
    assert np.isinf(np.loadtxt(tmp_path / "cec" / "b_F2_D10.txt")[:, 2::2]).all()  # every run failed


def test_ioh_folders_name_their_data_and_hold_every_run(store: Store, tmp_path: Path) -> None:
    with store:
        export(store, "ioh", tmp_path / "ioh")
        results = [r for r in store.results() if (r.algorithm, r.problem) == ("a", "C01")]
    index = json.loads((tmp_path / "ioh" / "a" / "IOHprofiler_f1_C01.json").read_text())
    assert (index["function_name"], index["suite"], index["maximization"]) == ("C01", "cec2017", False)
    (scenario,) = index["scenarios"]
    assert scenario["dimension"] == 10 and len(scenario["runs"]) == 3
    assert [run["best"]["y"] for run in scenario["runs"]] == [result.f for result in results]
    text = (tmp_path / "ioh" / "a" / scenario["path"]).read_text()
    blocks = [block.splitlines() for block in text.split("evaluations raw_y violation\n")[1:]]
    assert len(blocks) == 3
    last = [float(value) for value in blocks[0][-1].split()]
    assert last == [20_000, results[0].f, 0.0]
    falling = [float(line.split()[1]) for line in blocks[0]]
    assert falling == sorted(falling, reverse=True) and falling[0] == NOTHING
    failed = json.loads((tmp_path / "ioh" / "b" / "IOHprofiler_f2_C02.json").read_text())
    assert [run["best"]["y"] for run in failed["scenarios"][0]["runs"]] == [NOTHING] * 3


def test_parquet_needs_pyarrow_and_says_so(store: Store, tmp_path: Path) -> None:
    with store:
        if find_spec("pyarrow") is None:
            with pytest.raises(ValueError, match="parquet needs pyarrow"):
                export(store, "parquet", tmp_path / "parquet")
            assert not (tmp_path / "parquet").exists()
            return
        import pyarrow.parquet

        export(store, "parquet", tmp_path / "parquet")
        runs = pyarrow.parquet.read_table(tmp_path / "parquet" / "runs.parquet").to_pylist()
        records = pyarrow.parquet.read_table(tmp_path / "parquet" / "records.parquet").to_pylist()
        first = next(store.results())
    assert len(runs) == 18 and (runs[0]["f"], runs[0]["x"]) == (first.f, first.x.tolist())
    assert len(records) == 15 * 50 and records[49]["f"] == first.record["f"][-1]


def test_an_unknown_format_is_refused(store: Store, tmp_path: Path) -> None:
    with store, pytest.raises(ValueError, match="format must be one of cec, ioh, parquet; got 'xls'"):
        export(store, "xls", tmp_path)


@pytest.mark.parametrize("kind", ["cec", "ioh"])
def test_no_name_leads_out_of_the_folder(kind: str, tmp_path: Path) -> None:
    labels = ["../../up", "/etc/passwd", "..", *STRINGS[:3]]
    with Store(a_store(tmp_path / "study.db", labels, ["../C01", "C01"], 1, record=3)) as store:
        written = export(store, kind, tmp_path / "out")
    assert len(set(written)) == len(written) == {"cec": 12, "ioh": 24}[kind]
    assert all(path.resolve().is_relative_to((tmp_path / "out").resolve()) for path in written)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "study.db"]
