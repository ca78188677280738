"""Every algorithm of the table keeps the contract."""

from collections.abc import Iterator
from contextlib import nullcontext

import pytest
from compiled_programs import optimised

import ppsde
from ppsde.testing import CONTRACT

# Whole runs are compiled here for one method of each kind; the others, 5 to 45 s each, are among the slow tests. What
# can go wrong there is the engine's, or a step that JAX does otherwise, which another check finds for every method.
# Longer runs of PPS-DE, alone and beside those of another problem, are in test_batch.py.
COMPILED = ("sqp", "jde", "clpso")


def cases() -> Iterator[object]:
    """Every algorithm with every check; a second preset of one class among the slow tests."""
    classes = set()
    for method, algorithm in ppsde.ALGORITHMS.items():
        for check in CONTRACT:
            dear = "compiled" in check.__name__ and method not in COMPILED
            marks = [pytest.mark.slow] if dear or type(algorithm) in classes else []
            yield pytest.param(method, check, id=f"{method}-{check.__name__}", marks=marks)
        classes.add(type(algorithm))


@pytest.mark.parametrize(("method", "check"), list(cases()))
def test_the_algorithm_keeps_the_contract(method, check):
    if "jax" in check.__name__ or "compiled" in check.__name__:
        pytest.importorskip("jax")
    # Whether two programs round alike depends on the optimisations.
    with optimised() if "compiled" in check.__name__ else nullcontext():
        check(ppsde.ALGORITHMS[method])
