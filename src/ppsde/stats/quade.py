"""Quade's test: Friedman's, with problems weighted by how far the algorithms lie apart on them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from .friedman import RankTest
from .ranks import checked_names, checked_table, rank_rows
from .tables import Row


def quade(values: ArrayLike, algorithms: Sequence[str] | None = None) -> RankTest:
    """Quade's test.

    Each problem gets the weight q_i, the rank of its range among all problems. With s_ij = q_i (r_ij - (k + 1) / 2),
    A = sum s_ij^2 and B = sum_j (sum_i s_ij)^2 / n, the statistic F = (n - 1) B / (A - B) is compared with the F
    distribution of k - 1 and (k - 1)(n - 1) degrees of freedom.

    Parameters
    ----------
    values : array_like, (problems, algorithms)
        Smaller is better, all finite; at least two of each.
    algorithms : sequence of str, optional

    Returns
    -------
    RankTest
        `average_ranks` are weighted by the problems' weights. F is infinite, with p = 0, where A = B.

    References
    ----------
    Quade, JASA 74 (1979) 680; Conover, Practical Nonparametric Statistics, 3rd edition, 1999, p. 373.

    Examples
    --------
    >>> from ppsde.stats import as_text
    >>> test = quade([[1.0, 2.0, 3.0], [1.0, 9.0, 5.0], [2.0, 1.0, 7.0]], ["a", "b", "c"])
    >>> print(as_text(test.test_rows()))
    test   statistic      df        p
    Quade    0.89655  (2, 4)  0.47676
    """
    from scipy.stats import f, rankdata

    table = checked_table(values, problems=2, algorithms=2)
    if not np.isfinite(table).all():
        row, column = np.argwhere(~np.isfinite(table))[0]
        raise ValueError(f"Quade's test needs finite values; got {table[row, column]} in row {row}, column {column}")
    n, k = table.shape
    ranks = rank_rows(table)
    weight = rankdata(np.ptp(table, axis=1))
    s = weight[:, None] * (ranks - (k + 1) / 2)
    A, B = (s**2).sum(), (s.sum(axis=0) ** 2).sum() / n
    no_rest = A - B <= 1e-12 * A
    F = float((n - 1) * B / (A - B)) if not no_rest else np.inf if A else 0.0
    df = (k - 1, (k - 1) * (n - 1))
    statistic: Row = {"test": "Quade", "statistic": F, "df": df, "p": float(f.sf(F, *df))}
    return RankTest(checked_names(algorithms, k), weight @ ranks / weight.sum(), n, (statistic,))
