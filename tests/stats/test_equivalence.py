"""Two one-sided tests: by hand, and against tests of SciPy on samples."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats

from ppsde.stats import equivalence


def summary(values: np.ndarray) -> tuple[float, float, int]:
    return float(values.mean()), float(values.std(ddof=1)), len(values)


@pytest.mark.parametrize("seed", range(8))
def test_it_is_the_larger_of_two_one_sided_welch_tests(seed: int) -> None:
    rng = np.random.default_rng(seed)
    first, second = rng.normal(0, 1 + seed, 25), rng.normal(0.3, 2, 12)
    test = equivalence(summary(first), summary(second), region=1.5)
    options = {"equal_var": False}
    above = scipy.stats.ttest_ind(first - 1.5, second, alternative="less", **options).pvalue
    below = scipy.stats.ttest_ind(first + 1.5, second, alternative="greater", **options).pvalue
    assert test.p == pytest.approx(max(above, below))
    assert test.p_difference == pytest.approx(scipy.stats.ttest_ind(first, second, **options).pvalue)
    interval = scipy.stats.ttest_ind(first, second, **options).confidence_interval(0.9)
    assert (test.low, test.high) == pytest.approx(tuple(interval))
    assert (test.verdict == "equivalent") == (test.low > -1.5 and test.high < 1.5)


def test_a_larger_spread_never_makes_means_equivalent() -> None:
    """The means of C11 with IUDE: an infeasible run makes the spread large, and used to make them agree."""
    printed = (-0.801, 1.8e-6, 25)
    assert equivalence((-0.1534, 0.028, 25), printed, region=0.01).verdict == "different"
    assert equivalence((-29.96, 149.0, 25), printed, region=0.01).verdict == "undecided"
    p = [equivalence((1.0, std, 25), (1.1, 0.2, 25), region=0.3).p for std in (0.1, 0.5, 1.0, 5.0, 50.0)]
    assert p == sorted(p) and p[0] < 0.05 < p[2]


def test_samples_without_spread_are_compared_as_numbers() -> None:
    assert equivalence((1.0, 0.0, 25), (1.01, 0.0, 25), region=0.02).verdict == "equivalent"
    assert equivalence((1.0, 0.0, 25), (1.05, 0.0, 25), region=0.02).verdict == "different"
    assert equivalence((1.0, 0.0, 25), (1.0, 0.0, 25), region=0.0).verdict == "equivalent"


def test_sizes_do_not_matter() -> None:
    small, large = (
        equivalence((1.0 * s, 0.5 * s, 25), (1.1 * s, 0.4 * s, 25), region=0.4 * s) for s in (1e-160, 1e160)
    )
    assert small.p == pytest.approx(large.p) and small.p < 0.05
    assert small.p_difference == pytest.approx(large.p_difference)


@pytest.mark.parametrize("sample", [(math.nan, 1.0, 25), (1.0, -1.0, 25), (1.0, math.inf, 25), (1.0, 1.0, 1)])
def test_what_is_no_summary_is_refused(sample: tuple[float, float, int]) -> None:
    with pytest.raises(ValueError, match="a sample must have"):
        equivalence(sample, (1.0, 1.0, 25), region=1.0)


def test_a_region_must_be_a_number() -> None:
    with pytest.raises(ValueError, match="region must be"):
        equivalence((1.0, 1.0, 25), (1.0, 1.0, 25), region=math.inf)
