"""Does a sample follow a law? p-values of the usual tests, and the level below which the answer is no."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import stats

LEVEL = 1e-3  # seeds are fixed, so a test that passes once passes always; this only says what counts as agreement
EXTREMES = (0.0, 1.0 - 2.0**-53)  # the smallest and the largest number that a stream can give


def p_of_counts(sample: Any, probabilities: Any) -> float:
    """Chi-square: integers 0 .. k - 1 against their probabilities. An impossible value gives 0."""
    probabilities = np.asarray(probabilities, float)
    observed = np.bincount(np.asarray(sample).ravel(), minlength=len(probabilities))
    possible = probabilities > 0
    if len(observed) > len(probabilities) or observed[~possible].any():
        return 0.0
    expected = probabilities[possible] / probabilities.sum() * observed.sum()
    return float(stats.chisquare(observed[possible], expected).pvalue)


def p_of_same_counts(first: Any, second: Any) -> float:
    """Chi-square: two samples of small integers, from one law?"""
    first, second = np.asarray(first).ravel(), np.asarray(second).ravel()
    size = int(max(first.max(), second.max())) + 1
    table = np.array([np.bincount(first, minlength=size), np.bincount(second, minlength=size)])
    return float(stats.chi2_contingency(table[:, table.sum(axis=0) > 0]).pvalue)


def p_of_law(sample: Any, distribution: Callable[[np.ndarray], np.ndarray]) -> float:
    """Kolmogorov-Smirnov: a sample against a continuous distribution function."""
    return float(stats.kstest(np.asarray(sample).ravel(), distribution).pvalue)


def p_of_same_law(first: Any, second: Any) -> float:
    """Kolmogorov-Smirnov: two samples, from one law?"""
    return float(stats.ks_2samp(np.asarray(first).ravel(), np.asarray(second).ravel()).pvalue)
