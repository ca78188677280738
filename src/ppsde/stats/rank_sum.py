"""Two samples of runs compared: the rank-sum test and the effect size A12 of Vargha and Delaney."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import ArrayLike

from .outcomes import Outcomes, as_outcomes, positions
from .tables import Row

# Lower ends of what Vargha and Delaney call a small, a medium and a large effect, as distance from 0.5.
MAGNITUDES = ((0.21, "large"), (0.14, "medium"), (0.06, "small"), (0.0, "negligible"))


@dataclass(frozen=True)
class RankSum:
    """Two samples of runs compared by rank."""

    n_first: int
    n_second: int
    A12: float  # chance that a run of the first is better than one of the second
    magnitude: str
    U: float  # pairs of runs of which the first is better, ties half
    p: float  # two-sided

    def rows(self) -> list[Row]:
        return [asdict(self)]


def a12(first: Outcomes | ArrayLike, second: Outcomes | ArrayLike) -> float:
    """The chance that a run of the first algorithm is better than one of the second, ties counted half.

    0.5 says that neither is better, 1 that every run of the first is better than every run of the second.

    Parameters
    ----------
    first, second : Outcomes, or array_like (runs,) of objectives of feasible runs
        Compared in the order feasible by objective, infeasible by violation, failed last. The original measure is for
        values to be maximised; here better means smaller.

    References
    ----------
    Vargha, Delaney, Journal of Educational and Behavioral Statistics 25 (2000) 101.

    Examples
    --------
    >>> a12([1.0, 2.0], [2.0, 3.0])
    0.875
    >>> a12([1.0, float("nan")], [2.0, 3.0])
    0.5
    """
    one, two = as_outcomes(first), as_outcomes(second)
    return _pairs_won(one, two) / (one.n * two.n)


def rank_sum(first: Outcomes | ArrayLike, second: Outcomes | ArrayLike) -> RankSum:
    """Wilcoxon's rank-sum test (Mann and Whitney's U) of two samples of runs, by `scipy.stats.mannwhitneyu`.

    Parameters
    ----------
    first, second : Outcomes, or array_like (runs,) of objectives of feasible runs
        Independent runs of two algorithms on one problem, compared as in `a12`. Infeasible and failed runs stay in the
        sample, behind the others.

    Returns
    -------
    RankSum
        The p-value is exact where one of the samples has at most 8 runs and nothing is tied; else from the normal
        distribution with corrections for ties and continuity; 1 where all runs are equal.

    Examples
    --------
    >>> from ppsde.stats import as_text
    >>> test = rank_sum([1.0, 2.0, 2.5, 4.0], Outcomes([0.0, 9.0, 8.0, 7.0], [0.5, 0.0, 0.0, 0.0]))
    >>> print(as_text(test.rows()))
    n_first  n_second  A12  magnitude   U         p
          4         4    1  large      16  0.028571
    """
    from scipy.stats import mannwhitneyu

    one, two = as_outcomes(first), as_outcomes(second)
    a, b = positions(one, two)
    equal = np.ptp(np.concatenate([a, b])) == 0
    p = 1.0 if equal else float(mannwhitneyu(a, b, alternative="two-sided").pvalue)
    won = _pairs_won(one, two)
    effect = won / (one.n * two.n)
    magnitude = next(word for limit, word in MAGNITUDES if abs(effect - 0.5) >= limit)
    return RankSum(one.n, two.n, effect, magnitude, won, p)


def _pairs_won(one: Outcomes, two: Outcomes) -> float:
    """Pairs of a run of each of which the first is better, ties half: the rank sum of the second, corrected."""
    _, places = positions(one, two)
    return float(places.sum() - two.n * (two.n + 1) / 2)
