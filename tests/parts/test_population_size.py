"""How many points a population has."""

from __future__ import annotations

import numpy as np

from ppsde.algorithm import Task
from ppsde.parts.sizing import size_or_default


def task(d: int) -> Task:
    return Task(np.zeros(d), np.ones(d), 1)


def test_what_is_given_counts_and_otherwise_five_per_variable_but_at_least_forty() -> None:
    assert size_or_default(12, task(30)) == 12
    assert [size_or_default(None, task(d)) for d in (1, 8, 9, 30)] == [40, 40, 45, 150]


def test_how_many_per_variable_can_be_said() -> None:
    assert [size_or_default(None, task(d), 1, 12) for d in (1, 12, 13, 30)] == [12, 12, 13, 30]
    assert size_or_default(8, task(30), 1, 12) == 8
