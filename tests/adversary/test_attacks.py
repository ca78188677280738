"""Whatever a function does to its worker: the run ends in time, its result is right, and no process is left."""

from __future__ import annotations

import sys

import pytest
from adversary.attacks import ATTACKS, attacked

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are looked for in /proc")

SAMPLE = ("descriptors closed", "keeper stopped")
SEEDS = 3  # of the slow tests


@pytest.mark.parametrize("name", SAMPLE)
def test_a_worker_may_be_attacked(name: str) -> None:
    attacked(name, 1)


@pytest.mark.slow
@pytest.mark.parametrize("name", ATTACKS)
def test_a_worker_may_be_attacked_in_any_way(name: str) -> None:
    for seed in range(SEEDS):
        attacked(name, seed)
