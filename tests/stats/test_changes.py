"""Changes between two versions: intervals that agree with the tests they come from, and with hand computation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import wilcoxon

from ppsde.stats import Outcomes, a12, change, rank_sum, shift
from ppsde.stats.changes import chance_interval


@pytest.mark.parametrize("seed", range(30))
def test_the_interval_of_paired_shifts_leaves_out_zero_exactly_where_the_signed_rank_test_rejects(seed: int) -> None:
    rng = np.random.default_rng(seed)
    before = rng.normal(size=12)
    after = before + rng.normal(0.4, 0.8, size=12)
    estimate, low, high = shift(before, after, paired=True)
    assert low <= estimate <= high
    p = wilcoxon(after, before, method="exact").pvalue
    assert (low > 0 or high < 0) == (p <= 0.05)


def test_shifts_by_hand() -> None:
    # differences 1, 2, 6: means of any two are 1, 1.5, 2, 3.5, 4, 6, their median 2.75; three pairs give no interval
    assert shift([0, 0, 0], [1, 2, 6], paired=True) == (2.75, -math.inf, math.inf)
    # all differences of [1, 4] from [0, 2]: 1, -1, 4, 2
    assert shift([0, 2], [1, 4], paired=False)[0] == 1.5
    estimate, low, high = shift(np.arange(20.0), np.arange(20.0) + 100, paired=False)
    assert estimate == 100 and 90 < low < 100 < high < 110
    assert math.isnan(shift([], [1.0], paired=False)[0])
    with pytest.raises(ValueError, match="as many before as after"):
        shift([1.0], [1.0, 2.0], paired=True)


def test_large_samples_use_the_normal_distribution() -> None:
    rng = np.random.default_rng(1)
    before = rng.normal(size=80)
    _, low, high = shift(before, before + rng.normal(0.1, 0.5, size=80), paired=True)
    _, low60, high60 = shift(before[:60], before[:60] + rng.normal(0.1, 0.5, size=60), paired=True)
    assert 0.15 < high - low < 0.35 and 0.15 < high60 - low60 < 0.4


def test_the_interval_of_the_chance_is_symmetric_and_has_a_width_at_its_ends() -> None:
    for chance in (0.0, 0.2, 0.5, 0.9, 1.0):
        low, high = chance_interval(chance, 25, 20)
        other = chance_interval(1 - chance, 25, 20)
        assert (low, high) == pytest.approx((1 - other[1], 1 - other[0]), abs=1e-9)
        assert low <= chance <= high and high - low > 0.05
    assert chance_interval(1.0, 25, 25)[0] == pytest.approx(0.9, abs=0.07)


def test_the_interval_of_the_chance_covers_the_truth() -> None:
    rng = np.random.default_rng(3)
    truth, covered = 0.7602, 0  # of normal runs one standard deviation apart: Phi(1 / sqrt 2)
    for _ in range(400):
        found = a12(rng.normal(-1, 1, size=15), rng.normal(0, 1, size=15))
        low, high = chance_interval(found, 15, 15)
        covered += low <= truth <= high
    assert 0.92 <= covered / 400 <= 0.99


def test_feasible_runs_come_first_in_a_change() -> None:
    before = Outcomes([1.0, 1.0, 1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    after = Outcomes([0.0] * 6, [1.0] * 6)  # lower, and infeasible
    found = change(before, after, paired=False)
    assert found.chance == 0 and (found.feasible_before, found.feasible_after) == (6, 0)
    assert found.p == rank_sum(after, before).p
    assert change(before, before, paired=True).p == 1.0
    with pytest.raises(ValueError, match="as many before as after"):
        change([1.0], [1.0, 2.0], paired=True)
    with pytest.raises(ValueError, match="confidence must be between"):
        change([1.0], [1.0], paired=True, confidence=1.0)
