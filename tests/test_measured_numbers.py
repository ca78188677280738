"""Measured numbers in the documents are what `python docs/measured.py` finds."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from ppsde.parts.handling import RULES

MEASURED = runpy.run_path(str(Path(__file__).parent.parent / "docs" / "measured.py"))


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("| ").split(" | ")]


@pytest.mark.slow  # so that a new technique need not be measured at once
def test_the_table_of_rules_has_a_row_for_each_technique_and_a_column_for_each_problem() -> None:
    head, _, known, *rows = map(cells, MEASURED["shown"]("rules").splitlines())
    assert head == ["rule", *MEASURED["rule_problems"]()]
    assert known[1:] == [f"{problem.optimum.value:.6g}" for problem in MEASURED["rule_problems"]().values()]
    assert [row[0] for row in rows] == [f"`{name}`" for name in RULES]


def test_every_measured_text_has_its_place_in_a_document() -> None:
    for name in MEASURED["NUMBERS"]:
        assert MEASURED["shown"](name).strip(), name


def test_a_number_is_rounded_up_to_one_digit() -> None:
    assert [MEASURED["rounded_up"](value) for value in (1.0036e-9, 2e-9, 9.1e-9)] == ["2e-09", "2e-09", "1e-08"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["spring", "limits"])
def test_a_measured_sentence_is_what_is_found(name: str) -> None:
    assert MEASURED["shown"](name) == MEASURED["NUMBERS"][name][1]()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rule", "problem"), [("feasibility", "g05"), ("epsilon", "heat-exchanger"), ("static-penalty", "speed-reducer")]
)
def test_a_cell_of_the_table_of_rules_is_what_is_found(rule: str, problem: str) -> None:
    head, _, _, *rows = map(cells, MEASURED["shown"]("rules").splitlines())
    shown = next(row for row in rows if row[0] == f"`{rule}`")[head.index(problem)]
    assert MEASURED["rule_cell"](rule, MEASURED["rule_problems"]()[problem]) == shown
