"""The page of the competitions: it is current, and its program reads the file that `ppsde reproduce` writes."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest
from reports.made_up import a_study

from ppsde.reports.competitions import rerun
from ppsde.reports.findings import find

DOCS = Path(__file__).parent.parent / "docs"
PROGRAM = runpy.run_path(str(DOCS / "competitions.py"))


def test_the_page_is_what_its_program_writes() -> None:
    """`python docs/competitions.py` writes it."""
    text = (DOCS / "competitions.md").read_text(encoding="utf-8")
    assert text.split(PROGRAM["BEGIN"])[1].split(PROGRAM["END"])[0] == PROGRAM["part"]()


def written(tmp_path: Path, name: str, suite: str, problems: dict[str, int], levels: dict[str, float]) -> str:
    """The part of the page about a made-up study."""
    study = a_study(tmp_path / "s.db", suite, problems, levels)
    path = tmp_path / "reproduce.csv"
    path.write_text(rerun(name, study, find(study)).as_csv(), encoding="utf-8")
    text: str = PROGRAM[name](*PROGRAM["blocks"](path))
    return text


def test_cec2026_shows_the_field_the_losses_of_the_default_and_rde26(tmp_path: Path) -> None:
    levels = {"pps-sqp": 20.0, "rde26": 13.9, "jde": 50.0}
    text = written(tmp_path, "cec2026", "cec2017", {"C04": 30, "C19": 30}, levels)
    assert "| 1 | `rde26` | " in text and " | 192,754 |\n" in text
    assert "- pps-sqp is first on 0 of 2 problems; it loses by " in text and text.count(" | `rde26` | ") == 3
    assert "### `pps-sqp`, where it is not first\n" in text
    assert "of 1 are; 20 were wanted: not reached.\n" in text and "`jde` on 0" in text


def test_cec2020rw_shows_the_field_the_losses_of_the_default_and_medians(tmp_path: Path) -> None:
    levels = {"pps-sqp": 2.0, "sass": 1000.0}
    text = written(tmp_path, "cec2020rw", "cec2020rw", {"RC08": 2, "RC31": 4}, levels)
    assert "SASS (published)" in text and "`pps-sqp`, where it is not first" in text
    assert "Of 2, 0 agree and 0 are better. 45 were wanted: not reached." in text


@pytest.mark.parametrize(("text", "shown"), [("0.123456", "0.1235"), ("-", "-"), (repr(np.pi * 1e9), "3.142e+09")])
def test_numbers_have_four_digits(text: str, shown: str) -> None:
    assert PROGRAM["number"](text) == shown
