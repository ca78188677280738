"""The table of algorithms: each is imported when it is first asked for."""

from __future__ import annotations

import runpy
import subprocess
import sys
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path

import pytest

import ppsde
from ppsde.algorithms import ALGORITHMS, Setting, _parameters, settings_of
from ppsde.lookup import Table

DOCS = Path(__file__).resolve().parents[1] / "docs"

LOADED = """
import sys, ppsde
def loaded():
    return sorted(name.rpartition(".")[2] for name in sys.modules if name.startswith("ppsde.algorithms."))
print(*loaded())
assert "iude" in ppsde.ALGORITHMS and len(list(ppsde.ALGORITHMS)) == len(ppsde.ALGORITHMS)
print(*loaded())
ppsde.ALGORITHMS["jde"]
print(*loaded())
"""


def test_an_algorithm_is_imported_when_it_is_first_asked_for() -> None:
    printed = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True).stdout
    assert printed.splitlines() == ["", "", "jde"]


def test_every_name_has_an_algorithm_with_its_default_settings() -> None:
    for name, algorithm in ppsde.ALGORITHMS.items():
        assert is_dataclass(algorithm) and algorithm is ppsde.ALGORITHMS[name]
        if name not in ("pps-de-published", "rde26"):  # presets
            assert algorithm == type(algorithm)(), name


def test_a_table_is_a_mapping_to_which_one_may_add() -> None:
    table = Table("thing", "ppsde.things", {"jde": "jde:JDE"}, "ppsde.algorithms", lambda thing, what: thing)
    table["mine"] = mine = object()
    assert list(table) == ["jde", "mine"] and table["mine"] is mine and repr(table) == "<things: jde, mine>"
    del table["mine"]
    assert "mine" not in table and table.get("mine") is None
    with pytest.raises(KeyError, match="mine"):
        table["mine"]


@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_setting_has_one_line_of_meaning(name: str) -> None:
    algorithm = ALGORITHMS[name]
    settings = settings_of(algorithm)
    assert [s.name for s in settings] == [field.name for field in fields(algorithm)]
    for setting in settings:
        assert setting.meaning.endswith(".") and len(setting.meaning) > 10, setting
        assert setting.default == getattr(algorithm, setting.name)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_no_meaning_is_of_a_setting_that_does_not_exist(name: str) -> None:
    algorithm = ALGORITHMS[name]
    assert _parameters(type(algorithm).__doc__ or "").keys() == {field.name for field in fields(algorithm)}


def test_meanings_are_read_from_the_section_parameters_alone() -> None:
    @dataclass(frozen=True)
    class Mine:
        """An algorithm.

        Parameters
        ----------
        size : int
            How many there are,
            counted twice.
        F

            A factor.

        Notes
        -----
        rate
            No setting.
        """

        size: int = 3
        F: float = 0.5
        rate: float = 1.0

    sizes, factors, rates = settings_of(Mine())
    assert sizes == Setting("size", 3, "int", "How many there are, counted twice.")
    assert (factors.meaning, rates.meaning) == ("A factor.", "")


def test_the_page_of_settings_is_what_the_algorithms_say() -> None:
    """`python docs/settings.py` writes it."""
    page = runpy.run_path(str(DOCS / "settings.py"))["page"]()
    assert (DOCS / "settings.md").read_text(encoding="utf-8") == page
