"""Tables: the numbers of the store, in files that others read."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import pytest
from reports.made_up import a_store

from ppsde.experiments import Store
from ppsde.reports import find, gather
from ppsde.reports.figures import draw
from ppsde.reports.tables import ReportTable, as_csv, as_tex, paper_table, tables, write_tables


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
    text = as_tex(ReportTable("t", [r"\input{x}"], [["50% & $1_2^3~#{}"], [1.5], [None], [True]]))
    assert r"\textbackslash{}input\{x\}" in text
    assert r"50\% \& \$1\_2\textasciicircum{}3\textasciitilde{}\#\{\}" in text
    assert text.splitlines()[5:8] == [r"1.5 \\", r"-- \\", r"yes \\"]


@pytest.mark.parametrize("label", ["=cmd|' /C calc'!A0", "@SUM(1)", "+1", "-1+1", "\t=1", "\r=1"])
def test_no_label_is_a_formula_in_a_spreadsheet(label: str) -> None:
    table = ReportTable("t", ["problem", label], [[label, -1.5], ["-", 2]])
    rows = list(csv.reader(io.StringIO(as_csv(table), newline="")))
    harmless = "'" + label.replace("\r", " ")
    assert rows == [["problem", harmless], [harmless, "-1.5"], ["-", "2"]]
