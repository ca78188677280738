"""`ppsde reproduce`, on a small experiment with a numbered instance."""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import pytest
from experiments.studies import contents

import ppsde
from ppsde.cli import main
from ppsde.commands import reproduce
from ppsde.experiments import Plan, Store
from ppsde.experiments.database import drop
from ppsde.reports.published import COLUMN_OF

SMALL = ["reproduce", "--problem", "C01,C17", "--runs", "2", "--budget-per-variable", "60", "--instance", "1"]


def test_it_prints_and_writes_every_cell_and_resumes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("jax")
    out = tmp_path / "out"
    command = [*SMALL, "--dimensions", "10", "-o", str(out)]
    assert main(command) == 0
    printed = capsys.readouterr()
    assert "pps-de beside PPS-DE, D = 10" in printed.out and "of 1 judged problems" in printed.out
    assert "4 of 4 runs done" in printed.out and printed.err.endswith("jobs 2/2\n")
    table = (out / "reproduce.csv").read_text()
    lines = table.splitlines()
    assert len(lines) == 3 and lines[1].startswith("pps-de,PPS-DE,10,C01,2,")
    text = (out / "reproduce.html").read_text()
    assert "C17" in text and "Beside the published table" in text and "pps-de beside PPS-DE, D = 10" in text
    rows, accounts = contents(out / "reproduce.db"), accounts_of(out / "reproduce.db")

    assert main([*command, "--device", "cpu", "--report", "original"]) == 0, "no run is repeated"
    assert accounts_of(out / "reproduce.db") == accounts and "4 of 4 runs done" in capsys.readouterr().out
    assert "original program" in (out / "reproduce.html").read_text()

    with Store(out / "reproduce.db", writable=True) as store, store.database.writing() as execute:
        for (number,) in execute("SELECT max(number) FROM results GROUP BY job").fetchall():  # of each: no new program
            drop(execute, b"R", number)
    assert main([*command, "--device", "cpu"]) == 0, "runs that are missing are made"
    assert contents(out / "reproduce.db") == rows and (out / "reproduce.csv").read_text() == table
    assert accounts_of(out / "reproduce.db") != accounts


def accounts_of(path: Path) -> list[tuple[object, ...]]:
    with Store(path) as store:
        return store.database.rows("SELECT * FROM accounts ORDER BY job")


@pytest.mark.slow
def test_its_cells_are_those_of_a_batch_to_the_last_bit(tmp_path: Path) -> None:
    pytest.importorskip("jax")
    for report in ("best", "original"):
        more = ["--runs", "9", "--dimensions", "10", "--device", "cpu", "--report", report, "--method", "pps-de,iude"]
        assert main([*SMALL, *more, "-o", str(tmp_path)]) == 0
        with (tmp_path / "reproduce.csv").open() as file:
            cells = {(cell["method"], cell["problem"]): cell for cell in csv.DictReader(file)}
        assert len(cells) == 4
        for (method, name), cell in cells.items():
            problem = ppsde.suites.get("cec2017").problem(name, 10, instance=1)
            batch = ppsde.solve_batch(problem, method=method, runs=9, max_evaluations=600, record=1, device="cpu")
            x, f = (batch.x, batch.f) if report == "best" else (batch.answer_x, batch.answer_f)
            _, g, h = problem.evaluate(x)
            assert float(cell["mean"]) == f.mean() and float(cell["std"]) == f.std(ddof=1)
            assert float(cell["mean_violation"]) == ppsde.population.competition_violation(g, h).mean()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--dimension", "20"], "dimension must be among (10, 30, 50); got 20"),
        (["--dimension", "ten"], "expected a whole number; got 'ten'"),
        (["--method", "nonsense"], "method 'nonsense' has no published column"),
        (["--problem", "C99"], "has no 'C99'"),
        (["--runs", "0"], "runs must be an int >= 1 and <= 4294967296; got 0"),
    ],
)
def test_a_wrong_argument_is_named(
    arguments: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*SMALL, "-o", str(tmp_path), *arguments]) == 2
    assert words in capsys.readouterr().err


def test_the_experiment_is_the_published_one_unless_another_is_asked_for() -> None:
    plan = plan_of("--device", "cpu")
    assert tuple(plan.dimensions or ()) == (10, 30, 50) and plan.runs == 25
    assert len(plan.sources) == 28 and plan.budget_of(plan.sources[0], 10) == 200_000
    assert plan.instance == "official" and plan.seed == 0 and [c.name for c in plan.contenders] == ["pps-de"]
    assert len(plan_of("--device", "gpu", "--method", "all").contenders) == len(COLUMN_OF)
    assert set(COLUMN_OF.values()) == set(ppsde.published.COLUMNS)


def plan_of(*words: str) -> Plan:
    parser = argparse.ArgumentParser()
    reproduce.add(parser.add_subparsers())
    return reproduce.published_plan(parser.parse_args(["reproduce", *words]))
