"""The examples in the docstrings are true."""

import doctest
import importlib
import pkgutil
from contextlib import nullcontext

import pytest
from compiled_programs import optimised

import ppsde

MODULES = sorted(
    name for _, name, _ in pkgutil.walk_packages(ppsde.__path__, "ppsde.") if not name.endswith("__main__")
)
NEEDS = {"ppsde.batch": "jax", "ppsde.bridges.pymoo": "pymoo", "ppsde.bridges.optuna": "optuna"}


@pytest.mark.parametrize("module", MODULES)
def test_the_examples_in_the_docstrings_are_true(module):
    if module in NEEDS:
        pytest.importorskip(NEEDS[module], reason=f"{NEEDS[module]} is not installed")
    # The program of solve_batch is then one that `test_batch` compiles too.
    with optimised() if module == "ppsde.batch" else nullcontext():
        failed, _ = doctest.testmod(importlib.import_module(module))
    assert failed == 0
