"""Success counts by hand: rates, successes, and the return of those that became rare."""

from __future__ import annotations

import numpy as np

from ppsde.parts.strategies import SuccessCounts


def test_rates_are_equal_at_first_and_follow_the_successes() -> None:
    counts = SuccessCounts.fresh(3, 2)
    np.testing.assert_allclose(counts.rates, [1 / 3] * 3)
    operator, success = np.array([0, 0, 2, 2, 1]), np.array([True, True, True, False, False])
    later = counts.record(operator, success)
    assert later.counts.tolist() == [4, 2, 3]
    np.testing.assert_allclose(later.rates, [4 / 9, 2 / 9, 3 / 9])
    assert counts.counts.tolist() == [2, 2, 2], "the old ones are as they were"


def test_all_begin_again_when_one_has_become_rare() -> None:
    counts = SuccessCounts(np.array([19, 1, 20]))  # the rate of the second is 1/40
    assert counts.renewed(0.025, 2).counts.tolist() == [19, 1, 20]
    assert counts.renewed(0.026, 2).counts.tolist() == [2, 2, 2]
