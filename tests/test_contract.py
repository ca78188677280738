"""Every algorithm of the table keeps the contract."""

from collections.abc import Iterator
from contextlib import nullcontext

import pytest
from compiled_programs import optimised

import ppsde
from ppsde.testing import CONTRACT


def cases() -> Iterator[object]:
    """Every algorithm with every check; compiled a second time with other settings only among the slow tests."""
    classes = set()
    for method, algorithm in ppsde.ALGORITHMS.items():
        for check in CONTRACT:
            again = type(algorithm) in classes and "compiled" in check.__name__
            marks = [pytest.mark.slow] if again else []
            yield pytest.param(method, check, id=f"{method}-{check.__name__}", marks=marks)
        classes.add(type(algorithm))


@pytest.mark.parametrize(("method", "check"), list(cases()))
def test_the_algorithm_keeps_the_contract(method, check):
    if "jax" in check.__name__ or "compiled" in check.__name__:
        pytest.importorskip("jax")
    # Whether two programs round alike depends on the optimisations.
    with optimised() if "compiled" in check.__name__ else nullcontext():
        check(ppsde.ALGORITHMS[method])
