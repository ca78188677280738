"""The table of algorithms: each is imported when it is first asked for."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import is_dataclass

import pytest

import ppsde
from ppsde.algorithms import Table

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
    told = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True).stdout
    assert told.splitlines() == ["table", "table", "jde table"]


def test_every_name_has_an_algorithm_with_its_default_settings() -> None:
    for name, algorithm in ppsde.ALGORITHMS.items():
        assert is_dataclass(algorithm) and algorithm is ppsde.ALGORITHMS[name]
        if name != "pps-de-published":
            assert algorithm == type(algorithm)(), name


def test_a_table_is_a_mapping_to_which_one_may_add() -> None:
    table = Table({"jde": "jde:JDE"})
    table["mine"] = mine = object()
    assert list(table) == ["jde", "mine"] and table["mine"] is mine and repr(table) == "<algorithms: jde, mine>"
    del table["mine"]
    assert "mine" not in table and table.get("mine") is None
    with pytest.raises(KeyError, match="mine"):
        table["mine"]
