"""Nemenyi's comparison of all pairs of algorithms by their average ranks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .ranks import average_ranks, checked_alpha, checked_names, checked_table
from .tables import Row


@dataclass(frozen=True)
class Nemenyi:
    """Which pairs of algorithms differ by more than the critical difference."""

    algorithms: tuple[str, ...]
    average_ranks: np.ndarray  # (algorithms,)
    alpha: float
    critical_difference: float
    p: np.ndarray  # (algorithms, algorithms), 1 on the diagonal

    def rows(self) -> list[Row]:
        """A row per pair."""
        pairs = zip(*np.triu_indices(len(self.algorithms), 1), strict=True)
        return [
            {
                "first": self.algorithms[i],
                "second": self.algorithms[j],
                "difference": float(self.average_ranks[i] - self.average_ranks[j]),
                "p": float(self.p[i, j]),
                "differ": bool(abs(self.average_ranks[i] - self.average_ranks[j]) > self.critical_difference),
            }
            for i, j in pairs
        ]


def nemenyi(values: ArrayLike, algorithms: Sequence[str] | None = None, *, alpha: float = 0.05) -> Nemenyi:
    """Compare all pairs of algorithms after Friedman's test.

    Two average ranks differ where they lie further apart than q sqrt(k (k + 1) / (6 n)), with sqrt(2) q the quantile
    1 - alpha of the studentized range of k groups and infinite degrees of freedom. The p-values come from the same
    distribution, so they need no further correction for the number of pairs.

    Parameters
    ----------
    values : array_like, (problems, algorithms)
        Smaller is better; NaN is worst.
    algorithms : sequence of str, optional
    alpha : float
        The level of the critical difference.

    References
    ----------
    Nemenyi, Distribution-free Multiple Comparisons, thesis, Princeton, 1963; Demsar, JMLR 7 (2006) 1.

    Examples
    --------
    >>> from ppsde.stats import as_text
    >>> test = nemenyi([[1, 2, 3], [1, 3, 2], [1, 2, 3], [2, 1, 3]], ["a", "b", "c"])
    >>> round(test.critical_difference, 3)
    1.657
    >>> print(as_text(test.rows(), digits=3))
    first  second  difference       p  differ
    a      b            -0.75   0.539      no
    a      c             -1.5  0.0855      no
    b      c            -0.75   0.539      no
    """
    from scipy.stats import studentized_range

    table = checked_table(values, problems=1, algorithms=2)
    n, k = table.shape
    ranks = average_ranks(table)
    unit = np.sqrt(k * (k + 1) / (6 * n))  # standard deviation of a difference of two average ranks
    quantile = studentized_range.ppf(1 - checked_alpha(alpha), k, np.inf) / np.sqrt(2)
    apart = np.abs(ranks[:, None] - ranks)
    p = studentized_range.sf(apart / unit * np.sqrt(2), k, np.inf)
    np.fill_diagonal(p, 1.0)
    return Nemenyi(checked_names(algorithms, k), ranks, float(alpha), float(quantile * unit), p)
