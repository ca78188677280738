"""A run with very many constraints; only public names are used here."""

from __future__ import annotations

import time

import numpy as np

import ppsde


def test_the_cost_of_a_result_is_linear_in_the_constraints() -> None:
    began = time.process_time()
    n = 40_000
    result = ppsde.minimize(lambda x: (1.0, np.full(n, -1.0), []), [(-1, 1)] * 2, max_evaluations=20, rng=1)
    assert len({report.name for report in result.constraints}) == n
    assert time.process_time() - began < 5  # comparing each with each takes four times as long, or more
