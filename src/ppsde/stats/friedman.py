"""Friedman's test: do the algorithms differ at all, judged by their ranks on each problem?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .ranks import checked_names, checked_table, rank_rows
from .tables import Row


@dataclass(frozen=True)
class RankTest:
    """A test on ranks, with one or two statistics."""

    algorithms: tuple[str, ...]
    average_ranks: np.ndarray  # (algorithms,)
    problems: int
    statistics: tuple[Row, ...]  # name, statistic, degrees of freedom, p

    @property
    def p(self) -> float:
        """The p-value of the last statistic, the sharper one where there are two."""
        return float(self.statistics[-1]["p"])  # type: ignore[arg-type]

    def rows(self) -> list[Row]:
        """A row per algorithm, best first."""
        return [
            {"algorithm": self.algorithms[k], "average rank": float(self.average_ranks[k])}
            for k in np.argsort(self.average_ranks, kind="stable")
        ]

    def test_rows(self) -> list[Row]:
        """A row per statistic."""
        return list(self.statistics)


def friedman(values: ArrayLike, algorithms: Sequence[str] | None = None) -> RankTest:
    """Friedman's test by chi-square, and in the sharper form of Iman and Davenport.

    Parameters
    ----------
    values : array_like, (problems, algorithms)
        Smaller is better; NaN is worst. At least two of each.
    algorithms : sequence of str, optional

    Returns
    -------
    RankTest
        Chi-square is corrected for ties, as in `scipy.stats.friedmanchisquare`. Iman and Davenport's
        F = (n - 1) chi2 / (n (k - 1) - chi2) has k - 1 and (k - 1)(n - 1) degrees of freedom; it is infinite, with
        p = 0, where all problems rank the algorithms alike. Where all values of every problem are equal, chi-square
        and F are 0 and p is 1.

    References
    ----------
    Friedman, JASA 32 (1937) 675; Iman, Davenport, Communications in Statistics A 9 (1980) 571; Demsar, JMLR 7 (2006) 1.

    Examples
    --------
    >>> from ppsde.stats import as_text
    >>> test = friedman([[1, 2, 3], [1, 3, 2], [1, 2, 3], [2, 1, 3]], ["a", "b", "c"])
    >>> print(as_text(test.rows()))
    algorithm  average rank
    a                  1.25
    b                     2
    c                  2.75
    >>> print(as_text(test.test_rows(), digits=4))
    test            statistic      df        p
    chi-square            4.5     (2)   0.1054
    Iman-Davenport      3.857  (2, 6)  0.08374
    """
    from scipy.stats import chi2, f

    table = checked_table(values, problems=2, algorithms=2)
    n, k = table.shape
    ranks = rank_rows(table)
    spread = ((ranks - (k + 1) / 2) ** 2).sum()  # n k (k^2 - 1) / 12 without ties
    between = ((ranks.sum(axis=0) - n * (k + 1) / 2) ** 2).sum()
    chi_square = float((k - 1) * between / spread) if spread else 0.0
    rest = n * (k - 1) - chi_square
    F = (n - 1) * chi_square / rest if rest > 1e-12 * n * k else np.inf
    statistics: tuple[Row, ...] = (
        {"test": "chi-square", "statistic": chi_square, "df": (k - 1,), "p": float(chi2.sf(chi_square, k - 1))},
        {
            "test": "Iman-Davenport",
            "statistic": float(F),
            "df": (k - 1, (k - 1) * (n - 1)),
            "p": float(f.sf(F, k - 1, (k - 1) * (n - 1))),
        },
    )
    return RankTest(checked_names(algorithms, k), ranks.mean(axis=0), n, statistics)
