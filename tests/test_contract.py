"""Every algorithm of the table keeps the contract."""

import pytest

import ppsde
from ppsde.testing import CONTRACT


@pytest.mark.parametrize("check", CONTRACT, ids=lambda check: check.__name__)
@pytest.mark.parametrize("method", ppsde.ALGORITHMS)
def test_the_algorithm_keeps_the_contract(method, check):
    if "jax" in check.__name__ or "compiled" in check.__name__:
        pytest.importorskip("jax")
    check(ppsde.ALGORITHMS[method])
