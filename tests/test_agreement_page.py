"""The page of agreement: its first part is current, and shows our means once they are there."""

from __future__ import annotations

import runpy
from itertools import product
from pathlib import Path

import pytest

from ppsde import published
from ppsde.reports.published import COLUMN_OF

DOCS = Path(__file__).parent.parent / "docs"
PROGRAM = runpy.run_path(str(DOCS / "agreement.py"))


def test_the_first_part_of_the_page_is_what_its_program_writes() -> None:
    """`python docs/agreement.py` writes it."""
    text = (DOCS / "agreement.md").read_text(encoding="utf-8")
    part = text.split(PROGRAM["BEGIN"])[1].split(PROGRAM["END"])[0]
    assert part == "\n" + PROGRAM["part"]() + "\n"


def test_every_method_is_compared_at_every_dimension() -> None:
    """At D = 50 no method but the default was."""
    rows = [line.strip("| ").split(" | ") for line in PROGRAM["results"]().splitlines() if line.startswith("| ")][2:]
    assert {(row[0], int(row[2])) for row in rows} == set(product(COLUMN_OF, published.DIMENSIONS))


def test_the_published_preset_is_nowhere_shown_to_be_the_program_of_the_publication() -> None:
    rows = [line.strip("| ").split(" | ") for line in PROGRAM["results"]().splitlines() if line.startswith("| ")][2:]
    verdicts = {int(row[2]): row[-1] for row in rows if row[0] == "pps-de-published"}
    assert verdicts == {10: "not even a fit", 30: "a fit", 50: "not shown"}
    text = " ".join((DOCS / "reproduction.md").read_text(encoding="utf-8").split())
    assert "at D = 30 alone, where its settings were chosen by these means" in text


def test_results_come_from_the_table_that_reproduce_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the runs of IUDE had come out as printed for it at D = 30, and those of UDE as for PPS-DE."""
    lines = ["method,published_column,dimension,problem,runs,mean,std"]
    for method, column, shown in (("iude", "IUDE", "IUDE"), ("ude", "UDE", "PPS-DE")):
        for k in range(1, 29):
            mean, std = published.cells()[30, f"C{k:02d}", shown]
            lines.append(f"{method},{column},30,C{k:02d},25,{mean!r},{std!r}")
    table = tmp_path / "agreement.csv"
    table.write_text("\n".join(lines), encoding="utf-8")
    results = PROGRAM["results"]
    monkeypatch.setitem(results.__globals__, "RESULTS", table)
    rows = [line for line in results().splitlines() if line.startswith("| ")][2:]
    assert [row.split(" | ")[-1] for row in rows] == ["shown |", "not shown |"]
    assert rows[0].startswith("| iude | IUDE | 30 | 12 | 12 | 0 |")
