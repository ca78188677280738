"""Tables: the numbers of the store, in files that others read."""

from __future__ import annotations

import csv
import io
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from reports.made_up import a_large_store, a_store

from ppsde.experiments import Plan, Store, run
from ppsde.reports import find, gather
from ppsde.reports.figures import draw
from ppsde.reports.tables import ReportTable, as_csv, as_tex, paper_table, paper_tables, tables, write_tables


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
    written = write_tables(found, paper_tables(study, findings), tmp_path / "tables")
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
    assert text.startswith("% made by ppsde") and r"\label{tab:results}" in text and r"\caption{Mean and" in text
    lines = text[text.index(r"\begin{tabular}{lrr}") :].splitlines()
    assert lines[2] == r"Problem & a & b \\"
    assert lines[4].startswith(r"C01 & {\boldmath$") and lines[4].count("boldmath") == 1
    assert lines[4].endswith(r"$~$\approx$ \\")  # three runs each prove nothing
    assert lines[5].startswith(" & ($") and lines[5].endswith(r"$) 0/3 \\")
    assert r"Average rank & 1.00 & 2.00 \\" in lines and r"$+$/$\approx$/$-$ & -- & 0/3/0 \\" in lines


@pytest.mark.parametrize(("algorithms", "environment"), [(4, "table"), (5, "table*")])
def test_a_table_of_many_algorithms_spans_a_page_of_two_columns(
    algorithms: int, environment: str, tmp_path: Path
) -> None:
    with Store(a_store(tmp_path / "study.db", list("abcdefgh")[:algorithms], ["C01"], 2)) as store:
        study = gather(store)
    text = paper_table(study, find(study))
    assert f"\\begin{{{environment}}}\n" in text and text.endswith(f"\\end{{{environment}}}\n")


def test_errors_are_a_table_where_optima_are_known(tmp_path: Path) -> None:
    with Store(a_large_store(tmp_path / "large.db", runs=2)) as store:
        study = gather(store)
    found = paper_tables(study, find(study, "pps-de"))
    assert set(found) == {"paper", "paper_errors"}
    errors = found["paper_errors"]
    assert errors.count("\n") < 45 and "C01" not in errors and r"g06 & $-6961.8139$ & " in errors
    assert "better than pps-de" in errors and r"\times10^{" in errors and not re.search(r"\de[+-]", errors)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="there is no LaTeX")
def test_latex_sets_every_table_as_it_is(tmp_path: Path) -> None:
    with Store(a_large_store(tmp_path / "large.db", runs=2)) as store:
        study = gather(store)
    findings = find(study)
    found = tables(study, findings, draw(study, findings))
    names = [
        path.stem for path in write_tables(found, paper_tables(study, findings), tmp_path) if path.suffix == ".tex"
    ]
    inputs = "".join(rf"\input{{{name}}}\clearpage" for name in names)
    packages = r"\usepackage{booktabs,graphicx}"
    whole = rf"\documentclass{{article}}{packages}\begin{{document}}{inputs}\end{{document}}"
    (tmp_path / "whole.tex").write_text(whole)
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "whole.tex"]
    log = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace").stdout
    assert "Output written" in log and "Overfull" not in log and len(names) > 5, log[-2000:]


def test_nothing_is_a_command_in_tex() -> None:
    text = as_tex(ReportTable("t", [r"\input{x}"], [["50% & $1_2^3~#{}"], [1.5], [None], [True]]), "a_b")
    assert r"\textbackslash{}input\{x\}" in text
    assert r"50\% \& \$1\_2\textasciicircum{}3\textasciitilde{}\#\{\}" in text
    assert r"\label{tab:a-b}" in text and r"\caption{T.}" in text
    assert text.splitlines()[11:14] == [r"$1.5$ \\", r"-- \\", r"yes \\"]


def test_long_words_are_broken_into_lines_in_tex() -> None:
    text = as_tex(ReportTable("t", ["a", "n", "why"], [["x", 3, "word " * 9]]), "t")
    assert r"\begin{tabular}{lrp{.3\linewidth}}" in text


@pytest.mark.parametrize("label", ["=cmd|' /C calc'!A0", "@SUM(1)", "+1", "-1+1", "\t=1", "\r=1"])
def test_no_label_is_a_formula_in_a_spreadsheet(label: str) -> None:
    table = ReportTable("t", ["problem", label], [[label, -1.5], ["-", 2]])
    rows = list(csv.reader(io.StringIO(as_csv(table), newline="")))
    harmless = "'" + label.replace("\r", " ")
    assert rows == [["problem", harmless], [harmless, "-1.5"], ["-", "2"]]


def test_problems_come_in_the_order_of_the_plan(tmp_path: Path) -> None:
    plan = Plan(
        ["pps-de"], problems=["engineering:welded-beam", "cec2006:g06"], runs=1, budget=60, engine="host", record=2
    )
    run(plan, tmp_path / "study.db", workers=1)
    with Store(tmp_path / "study.db") as store:
        assert [problem.name for problem in gather(store).problems] == ["welded-beam", "g06"]


def test_no_two_tables_have_the_same_label(store: Store, tmp_path: Path) -> None:
    with store:
        study = gather(store)
    findings = find(study)
    written = write_tables(
        tables(study, findings, draw(study, findings)), paper_tables(study, findings), tmp_path / "t"
    )
    labels = [re.findall(r"\\label\{(.+?)\}", path.read_text()) for path in written if path.suffix == ".tex"]
    assert len(labels) > 5 and len({label for (label,) in labels}) == len(labels)
