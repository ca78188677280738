"""Whatever a function does to its worker: the run ends in time, its result is right, and no process is left."""

from __future__ import annotations

import sys
import time

import numpy as np
import pytest
from adversary.attacks import ATTACKS
from processes import all_gone, marked

import ppsde

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are looked for in /proc")

SAMPLE = ("descriptors closed", "keeper stopped")
SEEDS = 3  # of the slow tests
BOX = [(-1.0, 1.0)] * 2
PATIENCE = 60.0  # seconds, on a busy machine


def attacked(name: str, seed: int) -> None:
    """A search of 24 points, of which some attack their worker."""
    attack = ATTACKS[name]

    def fun(x):
        if np.random.default_rng(np.frombuffer(x.tobytes(), np.uint32)).random() < 0.25:  # by the point alone
            value = attack()
            if value is not None and not isinstance(value, tuple | list):
                return value
        return 1.0 + float(x @ x)

    asked = {"method": "pps-de", "max_evaluations": 24, "rng": seed, "eval_timeout": 0.4, "max_time": PATIENCE / 2}
    with marked() as mark:
        began = time.monotonic()
        result = ppsde.minimize(fun, BOX, workers=2, x0=[0.5, 0.5], **asked)
        assert time.monotonic() - began < PATIENCE
        assert all_gone(mark)
    assert result.limited_by == "max_evaluations", result
    assert result.n_failed == len(result.failures) < 24
    assert result.success and result.fun == 1.0 + float(result.x @ result.x)


@pytest.mark.parametrize("name", SAMPLE)
def test_a_worker_may_be_attacked(name: str) -> None:
    attacked(name, 1)


@pytest.mark.slow
@pytest.mark.parametrize("name", ATTACKS)
def test_a_worker_may_be_attacked_in_any_way(name: str) -> None:
    for seed in range(SEEDS):
        attacked(name, seed)
