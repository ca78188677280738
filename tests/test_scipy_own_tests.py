"""SciPy's own tests of `differential_evolution`, read from the installed SciPy and run with ours in its place."""

import importlib.util
from functools import cache
from importlib.resources import files
from types import CodeType, ModuleType

import pytest

from ppsde.scipy import differential_evolution

NAME = "test__differential_evolution.py"
SLOW = {
    "test_L1",
    "test_L2",
    "test_L4",
    "test_L9",
    "test_callback_terminates",
    "test_integrality",
    "test_random_generator",
    "test_rng_gives_repeatability",
    "test_strategy_fn",
    "test_vectorized",
}


@cache
def theirs() -> ModuleType | None:
    """Return SciPy's test module, a copy of our own with our function in it; None if the wheel came without tests."""
    path = files("scipy.optimize") / "tests" / NAME
    if not path.is_file():
        return None
    spec = importlib.util.spec_from_file_location("scipy_differential_evolution_tests", str(path))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.differential_evolution = differential_evolution
    return module


def names_in(code: CodeType) -> set[str]:
    inner = (names_in(part) for part in code.co_consts if isinstance(part, CodeType))
    return set(code.co_names).union(*inner)


def their_tests() -> list[str]:
    """Return the names of the tests that call the function; the others use the class inside SciPy alone."""
    if theirs() is None:
        return []
    return [
        name
        for name, test in vars(theirs().TestDifferentialEvolutionSolver).items()
        if name.startswith("test") and "differential_evolution" in names_in(test.__code__)
    ]


def test_scipy_has_its_tests_with_it_and_they_are_found():
    if theirs() is None:
        pytest.skip("this SciPy was installed without its tests")
    assert len(their_tests()) >= 20


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else []) for name in their_tests()],
)
def test_their_test_passes_with_our_function(name):
    suite = theirs().TestDifferentialEvolutionSolver()
    suite.setup_method()
    try:
        getattr(suite, name)()
    finally:
        suite.teardown_method()
