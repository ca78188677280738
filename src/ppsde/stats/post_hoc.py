"""Comparisons of average ranks after a rank test: Nemenyi's critical difference, corrected pairs, intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .ranks import (
    aligned_order,
    aligned_ranks,
    average_ranks,
    checked_alpha,
    checked_control,
    checked_names,
    checked_table,
    range_order,
    rank_rows,
)
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

    table = checked_table(values, problems=2, algorithms=2)
    n, k = table.shape
    ranks = average_ranks(table)
    unit = np.sqrt(k * (k + 1) / (6 * n))  # standard deviation of a difference of two average ranks
    quantile = studentized_range.ppf(1 - checked_alpha(alpha), k, np.inf) / np.sqrt(2)
    apart = np.abs(ranks[:, None] - ranks)
    p = studentized_range.sf(apart / unit * np.sqrt(2), k, np.inf)
    np.fill_diagonal(p, 1.0)
    return Nemenyi(checked_names(algorithms, k), ranks, float(alpha), float(quantile * unit), p)


# --- corrections of p-values for the number of comparisons ----------------------------------------------------------


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
    given = _checked_p(p)
    return _stepped_down(given, np.arange(given.size, 0, -1))


def hochberg(p: ArrayLike) -> np.ndarray:
    """Adjust p-values by Hochberg: Holm's factors, but none may exceed its successor.

    Never larger than Holm's. It is valid where the tests are independent or positively dependent.

    Parameters
    ----------
    p : array_like, (m,)

    References
    ----------
    Hochberg, Biometrika 75 (1988) 800.

    Examples
    --------
    >>> hochberg([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.04, 0.04]
    """
    given = _checked_p(p)
    order = np.argsort(given, kind="stable")
    stepped = np.minimum.accumulate((given[order] * np.arange(given.size, 0, -1))[::-1])[::-1]
    return _in_places(np.minimum(stepped, 1.0), order)


def hommel(p: ArrayLike) -> np.ndarray:
    """Adjust p-values by Hommel: the closed test whose intersections are tested by Simes.

    Never larger than Hochberg's, under the same conditions.

    Parameters
    ----------
    p : array_like, (m,)

    References
    ----------
    Hommel, Biometrika 75 (1988) 383; the computation after Wright, Biometrics 48 (1992) 1005.

    Examples
    --------
    >>> hommel([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.04, 0.04]
    """
    given = _checked_p(p)
    m, order = given.size, np.argsort(given, kind="stable")
    ordered = given[order]
    adjusted = ordered.copy()
    for size in range(m, 1, -1):  # intersections of `size` hypotheses
        simes = (size * ordered[m - size + 1 :] / np.arange(2, size + 1)).min()  # of the largest but one of them
        upper = np.arange(m) > m - size
        adjusted = np.maximum(adjusted, np.where(upper, simes, np.minimum(simes, size * ordered)))
    return _in_places(np.minimum(adjusted, 1.0), order)


def finner(p: ArrayLike) -> np.ndarray:
    """Adjust p-values by Finner: 1 - (1 - p_i)^(m / i) for the i-th smallest, none below its predecessor.

    Parameters
    ----------
    p : array_like, (m,)

    References
    ----------
    Finner, JASA 88 (1993) 920.

    Examples
    --------
    >>> finner([0.01, 0.04, 0.03]).round(4).tolist()
    [0.0297, 0.0447, 0.0447]
    """
    given = _checked_p(p)
    order = np.argsort(given, kind="stable")
    with np.errstate(divide="ignore"):  # p = 1
        raised = -np.expm1(np.log1p(-given[order]) * given.size / np.arange(1, given.size + 1))
    return _in_places(np.maximum.accumulate(raised), order)


def shaffer(p: ArrayLike) -> np.ndarray:
    """Adjust the p-values of all pairs by Shaffer's static procedure, which knows how many of them can be true at once.

    As Holm's, with smaller factors: if three algorithms are not all equal, at most one of their three pairs is.

    Parameters
    ----------
    p : array_like, (k (k - 1) / 2,)
        Of all pairs of k algorithms.

    References
    ----------
    Shaffer, JASA 81 (1986) 826.

    Examples
    --------
    >>> shaffer([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.04, 0.03]
    """
    given = _checked_p(p)
    possible = np.array(sorted(_true_pairs(_algorithms_of_pairs(given.size))))
    left = np.arange(given.size, 0, -1)
    return _stepped_down(given, possible[np.searchsorted(possible, left, side="right") - 1])


def bergmann_hommel(p: ArrayLike) -> np.ndarray:
    """Adjust the p-values of all pairs by Bergmann and Hommel: over all ways in which the algorithms can be equal.

    A set of pairs is exhaustive if exactly these can be true: the algorithms are divided into groups of equal ones. The
    adjusted p of a pair is the largest, over the exhaustive sets that it is in, of their size times their smallest p.
    The sharpest of the corrections here; the number of sets grows fast, so up to 10 algorithms.

    Parameters
    ----------
    p : array_like, (k (k - 1) / 2,)
        Of all pairs of k <= 10 algorithms, in the order of `numpy.triu_indices(k, 1)`.

    References
    ----------
    Bergmann, Hommel, in: Multiple Hypotheses Testing, Springer (1988) 100; Garcia, Herrera, JMLR 9 (2008) 2677.

    Examples
    --------
    >>> bergmann_hommel([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.04, 0.03]
    """
    given = _checked_p(p)
    k = _algorithms_of_pairs(given.size)
    if k > MOST_FOR_BERGMANN:
        raise ValueError(f"bergmann_hommel takes at most {MOST_FOR_BERGMANN} algorithms; got {k}")
    first, second = np.triu_indices(k, 1)
    groups = _groupings(k)
    inside = groups[:, first] == groups[:, second]  # (sets, pairs)
    inside = inside[inside.any(axis=1)]
    bound = inside.sum(axis=1) * np.where(inside, given, np.inf).min(axis=1)
    adjusted: np.ndarray = np.minimum(np.where(inside, bound[:, None], 0.0).max(axis=0), 1.0)
    return adjusted


MOST_FOR_BERGMANN = 10  # algorithms: 115,975 sets of pairs

CORRECTIONS: dict[str, Callable[[ArrayLike], np.ndarray]] = {
    "holm": holm,
    "hochberg": hochberg,
    "hommel": hommel,
    "finner": finner,
    "shaffer": shaffer,
    "bergmann-hommel": bergmann_hommel,
}
FOR_ALL_PAIRS = ("shaffer", "bergmann-hommel")


def _checked_p(p: ArrayLike) -> np.ndarray:
    given = np.asarray(p, dtype=float)
    if given.ndim != 1 or not ((given >= 0) & (given <= 1)).all():
        raise ValueError(f"p must be a sequence of numbers between 0 and 1; got {p!r}")
    return given


def _stepped_down(p: np.ndarray, factors: np.ndarray) -> np.ndarray:
    order = np.argsort(p, kind="stable")
    return _in_places(np.minimum(np.maximum.accumulate(p[order] * factors), 1.0), order)


def _in_places(ordered: np.ndarray, order: np.ndarray) -> np.ndarray:
    placed = np.empty_like(ordered)
    placed[order] = ordered
    return placed


def _algorithms_of_pairs(pairs: int) -> int:
    k = (1 + math.isqrt(1 + 8 * pairs)) // 2
    if pairs < 1 or k * (k - 1) // 2 != pairs:
        raise ValueError(f"p must have an entry for each pair of algorithms: 1, 3, 6, 10, ..; got {pairs}")
    return k


def _true_pairs(k: int) -> set[int]:
    """Return the numbers of pairs of k algorithms that can be equal at once."""
    possible: list[set[int]] = [{0}, {0}]
    for count in range(2, k + 1):
        possible.append({j * (j - 1) // 2 + rest for j in range(1, count + 1) for rest in possible[count - j]})
    return possible[k]


def _groupings(k: int) -> np.ndarray:
    """Return all divisions of k algorithms into groups, as the number of the group of each, (divisions, k)."""
    labels = np.zeros((1, 1), dtype=int)
    for _ in range(1, k):
        choices = labels.max(axis=1) + 2  # one of the groups so far, or a new one
        rows = np.repeat(labels, choices, axis=0)
        last = np.concatenate([np.arange(count) for count in choices])
        labels = np.column_stack([rows, last])
    return labels


# --- pairs of algorithms --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Comparisons:
    """Pairs of algorithms, the statistic of each and its p-value before and after the correction."""

    first: tuple[str, ...]
    second: tuple[str, ...]
    z: np.ndarray  # (pairs,), negative where the first is better
    p: np.ndarray  # (pairs,), two-sided
    correction: str
    adjusted: np.ndarray  # (pairs,), p after the correction

    def rows(self) -> list[TableRow]:
        """A row per pair, the most significant first."""
        return [
            {
                "first": self.first[i],
                "second": self.second[i],
                "z": float(self.z[i]),
                "p": float(self.p[i]),
                f"p {self.correction}": float(self.adjusted[i]),
            }
            for i in np.argsort(self.p, kind="stable")
        ]


def all_pairs(
    values: ArrayLike,
    algorithms: Sequence[str] | None = None,
    *,
    ranks: str = "friedman",
    correction: str = "holm",
    variance: str = "published",
) -> Comparisons:
    """Compare all pairs of algorithms by their average ranks.

    The difference of two average ranks, divided by its standard deviation, is compared with the standard normal
    distribution.

    Parameters
    ----------
    values : array_like, (problems, algorithms)
        Smaller is better; NaN is worst with Friedman's ranks, and refused with the others.
    algorithms : sequence of str, optional
    ranks : "friedman", "aligned" or "quade"
        Those of `friedman`, of `friedman_aligned` or of `quade`.
    correction : "holm", "hochberg", "hommel", "finner", "shaffer" or "bergmann-hommel"
    variance : "published" or "permutations"
        Of a difference of two average ranks, n problems and k algorithms. As published, without regard to ties:
        k (k + 1) / (6 n) by Friedman's ranks, k (k n + 1) / 6 by aligned ranks and
        k (k + 1) (2 n + 1) (k - 1) / (18 n (n + 1)) by Quade's. Or the exact variance over all permutations of the
        ranks within their problems: the same by Friedman's ranks without ties. By Quade's, the published variance is
        (k - 1) / 2 times the exact one, so it finds less than there is from four algorithms on.

    References
    ----------
    Demsar, JMLR 7 (2006) 1; Garcia, Fernandez, Luengo, Herrera, Information Sciences 180 (2010) 2044. The formula for
    aligned ranks is printed there as k (n + 1) / 6, but its p-values are those of k (k n + 1) / 6.

    Examples
    --------
    >>> from ppsde.stats import as_text
    >>> print(as_text(all_pairs([[1, 2, 3], [1, 3, 2], [1, 2, 3], [2, 1, 3]]).rows(), digits=3))
    first  second      z       p  p holm
    A1     A3      -2.12  0.0339   0.102
    A1     A2      -1.06   0.289   0.578
    A2     A3      -1.06   0.289   0.578
    """
    table = checked_table(values, problems=2, algorithms=2)
    first, second = np.triu_indices(table.shape[1], 1)
    return _compared(table, algorithms, first, second, ranks, correction, variance, tuple(CORRECTIONS))


def against_control(
    values: ArrayLike,
    control: str | int,
    algorithms: Sequence[str] | None = None,
    *,
    ranks: str = "friedman",
    correction: str = "holm",
    variance: str = "published",
) -> Comparisons:
    """Compare every other algorithm with a control by their average ranks.

    There are fewer comparisons than with all pairs, so the correction is smaller: use it to ask whether one method
    beats the field.

    Parameters
    ----------
    values : array_like, (problems, algorithms)
        As for `all_pairs`.
    control : str or int
        A name or a column; it is the `first` of every comparison.
    algorithms : sequence of str, optional
    ranks, variance : str
        As for `all_pairs`.
    correction : "holm", "hochberg", "hommel" or "finner"
        The two others rest on the logic of all pairs.

    Examples
    --------
    >>> from ppsde.stats import as_text
    >>> print(as_text(against_control([[1, 2, 3], [1, 3, 2], [1, 2, 3], [2, 1, 3]], "A1").rows(), digits=3))
    first  second      z       p  p holm
    A1     A3      -2.12  0.0339  0.0678
    A1     A2      -1.06   0.289   0.289
    """
    table = checked_table(values, problems=2, algorithms=2)
    k = table.shape[1]
    column = checked_control(control, checked_names(algorithms, k))
    others = np.delete(np.arange(k), column)
    allowed = tuple(name for name in CORRECTIONS if name not in FOR_ALL_PAIRS)
    return _compared(table, algorithms, np.full(k - 1, column), others, ranks, correction, variance, allowed)


def _compared(
    table: np.ndarray,
    algorithms: Sequence[str] | None,
    first: np.ndarray,
    second: np.ndarray,
    ranks: str,
    correction: str,
    variance: str,
    allowed: tuple[str, ...],
) -> Comparisons:
    from scipy.stats import norm

    if correction not in allowed:
        raise ValueError(f"correction must be one of {allowed}; got {correction!r}")
    if variance not in ("published", "permutations"):
        raise ValueError(f"variance must be 'published' or 'permutations'; got {variance!r}")
    n, k = table.shape
    names, (scores, total) = checked_names(algorithms, k), _scores(table, ranks)
    sums = scores.sum(axis=0)
    of_difference = _published_variance(ranks, n, k) if variance == "published" else _permuted_variance(scores / total)
    apart = (sums[first] - sums[second]) / total
    z = apart / np.sqrt(of_difference) if of_difference else np.zeros_like(apart)  # 0: nothing differs
    p = 2 * norm.sf(np.abs(z))
    firsts, seconds = tuple(names[i] for i in first), tuple(names[j] for j in second)
    return Comparisons(firsts, seconds, z, p, correction, CORRECTIONS[correction](p))


def _scores(table: np.ndarray, ranks: str) -> tuple[np.ndarray, float]:
    """Return the weighted rank of each value (problems, algorithms), and the sum of the weights.

    The sum of a column, divided by that of the weights, is the average rank; the scores are exact halves.
    """
    from scipy.stats import rankdata

    if ranks == "friedman":
        return rank_rows(table), len(table)
    if ranks == "aligned":
        return aligned_ranks(table), len(table)
    if ranks == "quade":
        weight = rankdata(range_order(table))
        return weight[:, None] * rank_rows(table), float(weight.sum())
    raise ValueError(f"ranks must be 'friedman', 'aligned' or 'quade'; got {ranks!r}")


def _published_variance(ranks: str, n: int, k: int) -> float:
    if ranks == "friedman":
        return k * (k + 1) / (6 * n)
    if ranks == "aligned":
        return k * (k * n + 1) / 6
    return k * (k + 1) * (2 * n + 1) * (k - 1) / (18 * n * (n + 1))


def _permuted_variance(scores: np.ndarray) -> float:
    """Return the variance of the difference of two columns' sums if the scores of each row are permuted at random."""
    spread = ((scores - scores.mean(axis=1, keepdims=True)) ** 2).sum()
    return float(2 * spread / (scores.shape[1] - 1))


# --- intervals ------------------------------------------------------------------------------------------------------

RESAMPLES_AT_ONCE = 1000


@dataclass(frozen=True)
class RankIntervals:
    """Average ranks and an interval for each."""

    algorithms: tuple[str, ...]
    average_ranks: np.ndarray  # (algorithms,)
    low: np.ndarray  # (algorithms,)
    high: np.ndarray  # (algorithms,)
    level: float

    def rows(self) -> list[TableRow]:
        """A row per algorithm, best first."""
        return [
            {
                "algorithm": self.algorithms[k],
                "average rank": float(self.average_ranks[k]),
                "low": float(self.low[k]),
                "high": float(self.high[k]),
            }
            for k in np.argsort(self.average_ranks, kind="stable")
        ]


def rank_intervals(
    values: ArrayLike,
    algorithms: Sequence[str] | None = None,
    *,
    ranks: str = "friedman",
    level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
) -> RankIntervals:
    """Compute bootstrap intervals of average ranks: how far they depend on which problems were chosen.

    Problems are drawn with replacement, as many as there are, and ranked again; the interval has the middle `level` of
    the average ranks of all such draws (the percentile interval). With few problems it is too narrow.

    Parameters
    ----------
    values : array_like, (problems, algorithms)
        As for `all_pairs`.
    algorithms : sequence of str, optional
    ranks : "friedman", "aligned" or "quade"
    level : float
        Between 0 and 1.
    resamples : int
    seed : int

    References
    ----------
    Efron, Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13.

    Examples
    --------
    >>> from ppsde.stats import as_text
    >>> values = [[1, 2, 3], [1, 3, 2], [1, 2, 3], [2, 1, 3], [1, 2, 3], [1, 2, 3]]
    >>> print(as_text(rank_intervals(values, ["a", "b", "c"]).rows(), digits=3))
    algorithm  average rank  low  high
    a                  1.17    1   1.5
    b                     2  1.5   2.5
    c                  2.83  2.5     3
    """
    table = checked_table(values, problems=2, algorithms=2)
    checked_alpha(level)
    if isinstance(resamples, bool) or not isinstance(resamples, int) or resamples < 1:
        raise ValueError(f"resamples must be an int >= 1; got {resamples!r}")
    scores, total = _scores(table, ranks)
    rng, n, again = np.random.default_rng(seed), len(table), _again(table, ranks)
    parts = [
        again(rng.integers(n, size=(min(RESAMPLES_AT_ONCE, resamples - done), n)))
        for done in range(0, resamples, RESAMPLES_AT_ONCE)
    ]
    low, high = np.quantile(np.concatenate(parts), [(1 - level) / 2, (1 + level) / 2], axis=0)
    names = checked_names(algorithms, table.shape[1])
    return RankIntervals(names, scores.sum(axis=0) / total, low, high, float(level))


def _again(table: np.ndarray, ranks: str) -> Callable[[np.ndarray], np.ndarray]:
    """Return a function of drawn problems (draws, n) -> average ranks (draws, k)."""
    from scipy.stats import rankdata

    n, k = table.shape
    if ranks == "aligned":
        order = aligned_order(table)
        return lambda rows: np.asarray(
            rankdata(order[rows].reshape(len(rows), n * k), axis=1).reshape(len(rows), n, k).mean(axis=1)
        )
    within = rank_rows(table)
    if ranks == "friedman":
        return lambda rows: np.asarray(within[rows].mean(axis=1))
    by_range = range_order(table)

    def by_quade(rows: np.ndarray) -> np.ndarray:
        weight = rankdata(by_range[rows], axis=1)
        return np.asarray(np.einsum("ri,rik->rk", weight, within[rows]) / weight.sum(axis=1, keepdims=True))

    return by_quade
