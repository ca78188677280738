"""The test of Friedman's aligned ranks (Hodges and Lehmann): ranks that compare problems with each other too."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from .friedman import RankTest
from .ranks import checked_names, checked_table
from .tables import Row


def aligned_ranks(values: ArrayLike) -> np.ndarray:
    """Ranks 1 to n k of all values together, each less the mean of its problem; (problems, algorithms).

    Parameters
    ----------
    values : array_like, (problems, algorithms)
        Smaller is better, all finite: a missing value has no distance from the mean of its problem, so it has no
        aligned rank. Put a value for it, and say so, or use `friedman`, where missing is worst.

    Examples
    --------
    >>> aligned_ranks([[1.0, 3.0], [10.0, 16.0]]).tolist()
    [[2.0, 3.0], [1.0, 4.0]]
    """
    from scipy.stats import rankdata

    table = checked_table(values)
    if not np.isfinite(table).all():
        row, column = np.argwhere(~np.isfinite(table))[0]
        raise ValueError(f"aligned ranks need finite values; got {table[row, column]} in row {row}, column {column}")
    apart = table - table.mean(axis=1, keepdims=True)
    rounding = table.shape[1] * np.finfo(float).eps * np.abs(table).max(axis=1, keepdims=True)
    apart = np.where(np.abs(apart) <= rounding, 0.0, apart)  # so that problems without differences tie with each other
    return rankdata(apart).reshape(table.shape)


def friedman_aligned(values: ArrayLike, algorithms: Sequence[str] | None = None) -> RankTest:
    """The test of Friedman's aligned ranks.

    With R_j the sum of the aligned ranks of algorithm j and B_i that of problem i, the statistic

        T = (k - 1) (sum_j R_j^2 - k n^2 (k n + 1)^2 / 4) / (sum_ij r_ij^2 - sum_i B_i^2 / k)

    is compared with chi-square of k - 1 degrees of freedom. Without ties sum_ij r_ij^2 is k n (k n + 1)(2 k n + 1) / 6,
    the form usually printed; the sum itself is right with ties as well.

    Parameters
    ----------
    values : array_like, (problems, algorithms)
        Smaller is better, all finite; at least two of each. The scale matters: a problem with large differences
        weighs more, so values of unlike problems should be put on one scale first.
    algorithms : sequence of str, optional

    Returns
    -------
    RankTest
        `average_ranks` are the means of the aligned ranks, between 1 and n k.

    References
    ----------
    Hodges, Lehmann, Annals of Mathematical Statistics 33 (1962) 482; Garcia, Fernandez, Luengo, Herrera, Information
    Sciences 180 (2010) 2044.

    Examples
    --------
    >>> from ppsde.stats import as_text
    >>> test = friedman_aligned([[1.0, 2.0, 6.0], [2.0, 5.0, 8.0], [1.0, 3.0, 14.0]], ["a", "b", "c"])
    >>> print(as_text(test.rows()))
    algorithm  average rank
    a                   2.5
    b                   4.5
    c                     8
    >>> print(as_text(test.test_rows()))
    test           statistic   df         p
    aligned ranks      4.997  (2)  0.082208
    """
    from scipy.stats import chi2

    table = checked_table(values, problems=2, algorithms=2)
    n, k = table.shape
    ranks = aligned_ranks(table)
    between = (ranks.sum(axis=0) ** 2).sum() - k * n**2 * (k * n + 1) ** 2 / 4
    within = (ranks**2).sum() - (ranks.sum(axis=1) ** 2).sum() / k
    T = float((k - 1) * between / within) if within else 0.0
    statistic: Row = {"test": "aligned ranks", "statistic": T, "df": (k - 1,), "p": float(chi2.sf(T, k - 1))}
    return RankTest(checked_names(algorithms, k), ranks.mean(axis=0), n, (statistic,))
