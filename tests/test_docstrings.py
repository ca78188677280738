"""The examples in the docstrings are true."""

import doctest
import importlib
import pkgutil

import pytest

import ppsde

MODULES = sorted(
    name for _, name, _ in pkgutil.walk_packages(ppsde.__path__, "ppsde.") if not name.endswith("__main__")
)
NEEDS = {"ppsde.batch": "jax", "ppsde.bridges.pymoo": "pymoo", "ppsde.bridges.optuna": "optuna"}


@pytest.mark.parametrize("module", MODULES)
def test_the_examples_in_the_docstrings_are_true(module):
    if module in NEEDS:
        pytest.importorskip(NEEDS[module], reason=f"{NEEDS[module]} is not installed")
    failed, _ = doctest.testmod(importlib.import_module(module))
    assert failed == 0
