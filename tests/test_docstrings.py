"""The examples in the docstrings are true, and deviations from publications are declared in them."""

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


@pytest.mark.parametrize(
    ("module", "declared"),
    [
        ("pps_de", "sign of g"),
        ("pps_de", "it shrinks already in that generation"),
        ("pps_de", "a push that reaches Tc"),
        ("pps_de", "IUDE's program; SHADE has one trial only"),
        ("pps_de", "with that table is a fit and no prediction"),
        ("iude", "agreement with these is a fit and no prediction"),
        ("emages", "also those below max(m, d) eps of the largest"),
        ("emages", "at least 1e-200"),
        ("emages", "the weights of the others are scaled to 1"),
        ("emages", "also by an equal one"),
        ("ude", "not its measure / the sum over the constraints"),
        ("ude", "mirrored, whatever `repair` says"),
        ("ude", "such a population is last at D = 10"),
    ],
)
def test_a_deviation_from_the_publication_is_declared(module: str, declared: str) -> None:
    text = importlib.import_module(f"ppsde.algorithms.{module}").__doc__
    assert text is not None and declared in " ".join(text.split())
