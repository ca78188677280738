"""The command, on a small experiment with a numbered instance."""

from __future__ import annotations

from pathlib import Path

import pytest

from ppsde.cli import main
from ppsde.reproduction.running import COLUMN_OF, Experiment

SMALL = ["reproduce", "--problems", "C01,C17", "--runs", "2", "--evaluations", "60", "--instance", "1"]


def test_it_prints_and_writes_every_cell(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("jax")
    assert main([*SMALL, "--dimensions", "10", "-o", str(tmp_path / "out")]) == 0
    printed = capsys.readouterr()
    assert "pps-de beside PPS-DE, D = 10" in printed.out and "of 1 judged problems" in printed.out
    assert "compiling 1 program" in printed.err
    lines = (tmp_path / "out" / "reproduce.csv").read_text().splitlines()
    assert len(lines) == 3 and lines[1].startswith("pps-de,PPS-DE,10,C01,2,")
    assert "C17" in (tmp_path / "out" / "reproduce.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--dimensions", "20"], "dimensions must be among (10, 30, 50); got 20"),
        (["--dimensions", "ten"], "expected numbers such as 10,30; got 'ten'"),
        (["--method", "nonsense"], "method 'nonsense' has no published column"),
        (["--problems", "C99"], "unknown problem 'C99'"),
        (["--runs", "0"], "runs must be an int >= 1; got 0"),
    ],
)
def test_a_wrong_argument_is_named(
    arguments: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*SMALL, "-o", str(tmp_path), *arguments]) == 2
    assert words in capsys.readouterr().err


def test_the_experiment_is_the_published_one_unless_told_otherwise() -> None:
    experiment = Experiment()
    assert tuple(experiment.dimensions) == (10, 30, 50) and experiment.runs == 25
    assert len(experiment.problems) == 28 and experiment.evaluations_per_variable == 20_000
    assert experiment.instance == "official" and set(COLUMN_OF.values()) >= {"PPS-DE"}
