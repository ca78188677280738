"""Comparisons of average ranks after a rank test: Nemenyi's critical difference, and pairs corrected by Holm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .ranks import average_ranks, checked_alpha, checked_control, checked_names, checked_table
from .tables import TableRow


@dataclass(frozen=True)
class Nemenyi:
    """Average ranks, their critical difference, and the p-value of each pair of algorithms."""

    algorithms: tuple[str, ...]
    average_ranks: np.ndarray  # (algorithms,)
    alpha: float
    critical_difference: float
    p: np.ndarray  # (algorithms, algorithms), 1 on the diagonal

    def rows(self) -> list[TableRow]:
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


@dataclass(frozen=True)
class Comparisons:
    """Pairs of algorithms, the statistic of each and its p-value before and after the correction."""

    first: tuple[str, ...]
    second: tuple[str, ...]
    z: np.ndarray  # (pairs,), negative where the first is better
    p: np.ndarray  # (pairs,), two-sided
    p_holm: np.ndarray  # (pairs,)

    def rows(self) -> list[TableRow]:
        """A row per pair, the most significant first."""
        return [
            {
                "first": self.first[i],
                "second": self.second[i],
                "z": float(self.z[i]),
                "p": float(self.p[i]),
                "p holm": float(self.p_holm[i]),
            }
            for i in np.argsort(self.p, kind="stable")
        ]


def holm(p: ArrayLike) -> np.ndarray:
    """Adjust p-values by Holm so that the chance of any false rejection stays below the level.

    The smallest of m is multiplied by m, the next by m - 1, and so on; none may fall below its predecessor or exceed 1.

    Parameters
    ----------
    p : array_like, (m,)

    References
    ----------
    Holm, Scandinavian Journal of Statistics 6 (1979) 65.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    given = np.asarray(p, dtype=float)
    if given.ndim != 1 or not ((given >= 0) & (given <= 1)).all():
        raise ValueError(f"p must be a sequence of numbers between 0 and 1; got {p!r}")
    order = np.argsort(given, kind="stable")
    stepped = np.maximum.accumulate(given[order] * np.arange(given.size, 0, -1))
    adjusted = np.empty_like(given)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


def holm_all_pairs(values: ArrayLike, algorithms: Sequence[str] | None = None) -> Comparisons:
    """Compare all pairs of algorithms by their average ranks, corrected by Holm.

    z = (R_i - R_j) / sqrt(k (k + 1) / (6 n)) is compared with the standard normal distribution.

    Parameters
    ----------
    values : array_like, (problems, algorithms)
        Smaller is better; NaN is worst.
    algorithms : sequence of str, optional

    Examples
    --------
    >>> from ppsde.stats import as_text
    >>> print(as_text(holm_all_pairs([[1, 2, 3], [1, 3, 2], [1, 2, 3], [2, 1, 3]]).rows(), digits=3))
    first  second      z       p  p holm
    A1     A3      -2.12  0.0339   0.102
    A1     A2      -1.06   0.289   0.578
    A2     A3      -1.06   0.289   0.578
    """
    table = checked_table(values, problems=1, algorithms=2)
    first, second = np.triu_indices(table.shape[1], 1)
    return _compared(table, algorithms, first, second)


def holm_control(values: ArrayLike, control: str | int, algorithms: Sequence[str] | None = None) -> Comparisons:
    """Compare every other algorithm with a control by their average ranks, corrected by Holm.

    There are fewer comparisons than with all pairs, so the correction is smaller: use it to ask whether one method
    beats the field.

    Parameters
    ----------
    values : array_like, (problems, algorithms)
        Smaller is better; NaN is worst.
    control : str or int
        A name or a column; it is the `first` of every comparison.
    algorithms : sequence of str, optional

    Examples
    --------
    >>> from ppsde.stats import as_text
    >>> print(as_text(holm_control([[1, 2, 3], [1, 3, 2], [1, 2, 3], [2, 1, 3]], "A1").rows(), digits=3))
    first  second      z       p  p holm
    A1     A3      -2.12  0.0339  0.0678
    A1     A2      -1.06   0.289   0.289
    """
    table = checked_table(values, problems=1, algorithms=2)
    k = table.shape[1]
    column = checked_control(control, checked_names(algorithms, k))
    others = np.delete(np.arange(k), column)
    return _compared(table, algorithms, np.full(k - 1, column), others)


def _compared(
    table: np.ndarray, algorithms: Sequence[str] | None, first: np.ndarray, second: np.ndarray
) -> Comparisons:
    from scipy.stats import norm

    n, k = table.shape
    names, ranks = checked_names(algorithms, k), average_ranks(table)
    z = (ranks[first] - ranks[second]) / np.sqrt(k * (k + 1) / (6 * n))
    p = 2 * norm.sf(np.abs(z))
    return Comparisons(tuple(names[i] for i in first), tuple(names[j] for j in second), z, p, holm(p))
