"""How many points a population has."""

from __future__ import annotations

import numpy as np

from ppsde.algorithm import Task
from ppsde.parts.population_size import size_or_default


def task(d: int) -> Task:
    return Task(np.zeros(d), np.ones(d), 1)


def test_what_is_given_counts_and_otherwise_five_per_variable_but_at_least_forty() -> None:
    assert size_or_default(12, task(30)) == 12
    assert [size_or_default(None, task(d)) for d in (1, 8, 9, 30)] == [40, 40, 45, 150]
