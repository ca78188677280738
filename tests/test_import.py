"""Importing the package is cheap, and its examples are true."""

import doctest
import importlib
import pkgutil
import subprocess
import sys

import pytest

import ppsde

MODULES = sorted(
    name for _, name, _ in pkgutil.walk_packages(ppsde.__path__, "ppsde.") if not name.endswith("__main__")
)


def test_importing_takes_little_time_beyond_numpy():
    """Imports are timed by the interpreter itself, one module's own time each, so that numpy's share is known."""
    command = [sys.executable, "-X", "importtime", "-c", "import numpy, ppsde"]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stderr.splitlines()
    rows = [line.removeprefix("import time:").split("|") for line in lines if "|" in line and "[us]" not in line]
    total = {name.strip(): int(cumulative) for _, cumulative, name in rows}
    assert total["ppsde"] < 200_000, f"{total['ppsde']} microseconds"


@pytest.mark.parametrize("module", MODULES)
def test_the_examples_in_the_docstrings_are_true(module):
    failed, _ = doctest.testmod(importlib.import_module(module))
    assert failed == 0
