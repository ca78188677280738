"""Ranks of algorithms on problems, and the tests of Friedman, of Friedman's aligned ranks and of Quade on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from .tables import TableRow


def decimals(values: np.ndarray) -> np.ndarray:
    """Return finite floats as exact fractions (object array), each the decimal number that it is printed as.

    Sums and differences of them are exact, so two differences are equal where they are on paper: 0.3 - 0.1 is
    0.5 - 0.3, which floats deny.
    """
    return np.array([Fraction(repr(value)) for value in values.ravel().tolist()], dtype=object).reshape(values.shape)


def order_of(values: np.ndarray) -> np.ndarray:
    """Return for each entry how many distinct values are smaller, (the shape of values)."""
    _, places = np.unique(values.ravel(), return_inverse=True)
    return np.asarray(places).reshape(values.shape)


def rank_rows(values: ArrayLike) -> np.ndarray:
    """Rank each row of a table (problems, algorithms); smaller values are better.

    NaN and -inf, which no algorithm should gain by, are ranked behind every number, +inf included; several share the
    mean of their ranks.

    Examples
    --------
    >>> rank_rows([[0.2, 0.1, 0.2], [float("nan"), 5.0, 7.0]]).tolist()
    [[2.5, 1.0, 2.5], [3.0, 1.0, 2.0]]
    """
    from scipy.stats import rankdata

    table = checked_table(values)
    missing = ~(table > -np.inf)
    distinct, index = np.unique(np.where(missing, 0.0, table), return_inverse=True)
    ranks: np.ndarray = rankdata(np.where(missing, len(distinct), index.reshape(table.shape)), axis=1)
    return ranks


def average_ranks(values: ArrayLike) -> np.ndarray:
    """Return the mean rank of each algorithm over the problems, (algorithms,): Friedman's average ranks.

    Examples
    --------
    >>> average_ranks([[0.2, 0.1, 0.2], [float("nan"), 5.0, 7.0]]).tolist()
    [2.75, 1.0, 2.25]
    """
    average: np.ndarray = rank_rows(values).mean(axis=0)
    return average


def checked_table(values: ArrayLike, *, problems: int = 1, algorithms: int = 1) -> np.ndarray:
    """Return values as floats (problems, algorithms); ValueError unless there are at least so many."""
    table = np.asarray(values, dtype=float)
    if table.ndim != 2 or table.shape[0] < problems or table.shape[1] < algorithms:
        raise ValueError(
            f"values must have shape (problems, algorithms), at least ({problems}, {algorithms}); got {table.shape}"
        )
    return table


def checked_names(algorithms: Sequence[str] | None, count: int) -> tuple[str, ...]:
    """Return the names of the columns; A1, A2, .. if not given."""
    names = tuple(f"A{k + 1}" for k in range(count)) if algorithms is None else tuple(map(str, algorithms))
    if len(names) != count or len(set(names)) != count:
        raise ValueError(f"algorithms must be {count} different names; got {names}")
    return names


def checked_control(control: str | int, names: tuple[str, ...]) -> int:
    """Return the column of the algorithm that the others are compared with."""
    if isinstance(control, str) and control in names:
        return names.index(control)
    if isinstance(control, int) and not isinstance(control, bool) and 0 <= control < len(names):
        return control
    raise ValueError(f"control must be one of {names} or a column from 0 to {len(names) - 1}; got {control!r}")


def checked_alpha(alpha: float) -> float:
    """Return a level of significance; ValueError unless it lies between 0 and 1."""
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must lie between 0 and 1; got {alpha!r}")
    return float(alpha)


@dataclass(frozen=True)
class RankTest:
    """A test on ranks, with one or two statistics."""

    algorithms: tuple[str, ...]
    average_ranks: np.ndarray  # (algorithms,)
    problems: int
    statistics: tuple[TableRow, ...]  # name, statistic, degrees of freedom, p

    @property
    def p(self) -> float:
        """The p-value of the last statistic, the sharper one where there are two."""
        return float(self.statistics[-1]["p"])  # type: ignore[arg-type]

    def rows(self) -> list[TableRow]:
        """A row per algorithm, best first."""
        return [
            {"algorithm": self.algorithms[k], "average rank": float(self.average_ranks[k])}
            for k in np.argsort(self.average_ranks, kind="stable")
        ]

    def test_rows(self) -> list[TableRow]:
        """A row per statistic."""
        return list(self.statistics)


def friedman(values: ArrayLike, algorithms: Sequence[str] | None = None) -> RankTest:
    """Test by Friedman's ranks whether the algorithms differ: chi-square, and the sharper form of Iman and Davenport.

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
    statistics: tuple[TableRow, ...] = (
        {"test": "chi-square", "statistic": chi_square, "df": (k - 1,), "p": float(chi2.sf(chi_square, k - 1))},
        {
            "test": "Iman-Davenport",
            "statistic": float(F),
            "df": (k - 1, (k - 1) * (n - 1)),
            "p": float(f.sf(F, k - 1, (k - 1) * (n - 1))),
        },
    )
    return RankTest(checked_names(algorithms, k), ranks.mean(axis=0), n, statistics)


def aligned_ranks(values: ArrayLike) -> np.ndarray:
    """Rank all values together from 1 to n k, each less the mean of its problem; (problems, algorithms).

    Parameters
    ----------
    values : array_like, (problems, algorithms)
        Smaller is better, all finite: a missing value has no distance from the mean of its problem, so it has no
        aligned rank. Put a value for it, and say so, or use `friedman`, where missing is worst.

    Notes
    -----
    The arithmetic is exact, on the decimal numbers that the values are printed as: equal distances tie, whatever the
    mean of their problem and the order of the algorithms.

    Examples
    --------
    >>> aligned_ranks([[1.0, 3.0], [10.0, 16.0]]).tolist()
    [[2.0, 3.0], [1.0, 4.0]]
    """
    from scipy.stats import rankdata

    ranks: np.ndarray = rankdata(aligned_order(values)).reshape(np.shape(values))
    return ranks


def aligned_order(values: ArrayLike) -> np.ndarray:
    """Return the order of all values, each less the mean of its problem, as whole numbers (problems, algorithms)."""
    table = checked_finite(checked_table(values), "aligned ranks need")
    exact = decimals(table)
    return order_of(table.shape[1] * exact - exact.sum(axis=1, keepdims=True))  # k times the distances from the means


def range_order(table: np.ndarray) -> np.ndarray:
    """Return the order of the problems by the range of their values, as whole numbers (problems,)."""
    exact = decimals(checked_finite(table, "Quade's test needs"))
    return order_of(exact.max(axis=1) - exact.min(axis=1))


def checked_finite(table: np.ndarray, needs: str) -> np.ndarray:
    """Return the table; ValueError that names the first value that is not finite."""
    if not np.isfinite(table).all():
        row, column = np.argwhere(~np.isfinite(table))[0]
        raise ValueError(f"{needs} finite values; got {table[row, column]} in row {row}, column {column}")
    return table


def friedman_aligned(values: ArrayLike, algorithms: Sequence[str] | None = None) -> RankTest:
    """Test by Friedman's aligned ranks, which compare problems with each other too, whether the algorithms differ.

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
    twice = (2 * ranks).astype(np.int64)  # whole numbers: the sums are exact, in any order
    between = int((twice.sum(axis=0) ** 2).sum()) - k * n**2 * (k * n + 1) ** 2
    within = k * int((twice**2).sum()) - int((twice.sum(axis=1) ** 2).sum())
    T = (k - 1) * k * between / within if within else 0.0
    statistic: TableRow = {"test": "aligned ranks", "statistic": T, "df": (k - 1,), "p": float(chi2.sf(T, k - 1))}
    return RankTest(checked_names(algorithms, k), ranks.mean(axis=0), n, (statistic,))


def quade(values: ArrayLike, algorithms: Sequence[str] | None = None) -> RankTest:
    """Test by Quade's ranks, which weight problems by the range of their values, whether the algorithms differ.

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
    n, k = table.shape
    weight = rankdata(range_order(table))  # equal ranges tie: see `decimals`
    ranks = rank_rows(table)
    s = weight[:, None] * (ranks - (k + 1) / 2)
    A, B = (s**2).sum(), (s.sum(axis=0) ** 2).sum() / n
    no_rest = A - B <= 1e-12 * A
    F = float((n - 1) * B / (A - B)) if not no_rest else np.inf if A else 0.0
    df = (k - 1, (k - 1) * (n - 1))
    statistic: TableRow = {"test": "Quade", "statistic": F, "df": df, "p": float(f.sf(F, *df))}
    return RankTest(checked_names(algorithms, k), weight @ ranks / weight.sum(), n, (statistic,))
