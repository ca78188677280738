"""How runs changed from one version of an algorithm to another: the chance of a better run, and a shift, each with
an interval."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from .outcomes import Outcomes, as_outcomes, positions
from .pairs import rank_sum, signed_rank
from .tables import TableRow


@dataclass(frozen=True)
class Change:
    """The runs of one problem before and after a change."""

    n_before: int
    n_after: int
    feasible_before: int
    feasible_after: int
    paired: bool
    chance: float  # that a run after the change is better than one before it, ties half: A12
    chance_low: float
    chance_high: float
    p: float  # two-sided, of no change

    def rows(self) -> list[TableRow]:
        return [asdict(self)]


def change(
    before: Outcomes | ArrayLike, after: Outcomes | ArrayLike, *, paired: bool, confidence: float = 0.95
) -> Change:
    """Compare runs before and after a change, feasible runs first, failed ones last.

    Parameters
    ----------
    before, after : Outcomes, or array_like (runs,) of objectives of feasible runs
    paired : bool
        Whether run k of both began with the same random numbers. Then p is that of the signed-rank test on the ranks
        of all runs together, else that of the rank-sum test.
    confidence : float
        Of the interval of the chance, which is Newcombe's (his method 5): it needs no pairs, and has a width also
        where every run is better.

    References
    ----------
    Newcombe, Statistics in Medicine 25 (2006) 559.

    Examples
    --------
    >>> it = change([5.0, 6.0, 7.0, 8.0, 9.0, 8.5], [1.0, 2.0, 2.5, 3.0, 5.5, 4.0], paired=True)
    >>> round(it.chance, 3), round(it.chance_low, 2), round(it.chance_high, 2), it.p
    (0.972, 0.65, 1.0, 0.03125)
    """
    one, two = as_outcomes(before), as_outcomes(after)
    if paired and one.n != two.n:
        raise ValueError(f"paired runs must be as many before as after; got {one.n} and {two.n}")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be between 0 and 1; got {confidence!r}")
    test = rank_sum(two, one)
    p = signed_rank(*positions(two, one)).p if paired else test.p
    low, high = chance_interval(test.A12, one.n, two.n, confidence)
    feasible = int(one.feasible.sum()), int(two.feasible.sum())
    return Change(one.n, two.n, *feasible, paired, test.A12, low, high, p)


def chance_interval(chance: float, m: int, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return Newcombe's interval of the chance that a run of one sample of size m beats one of another of size n.

    Its ends t are where (chance - t)^2 = z^2 V(t), with Hanley and McNeil's variance V for samples of equal sizes.

    Examples
    --------
    >>> [round(end, 3) for end in chance_interval(0.5, 25, 25)]
    [0.348, 0.652]
    """
    z, each = NormalDist().inv_cdf(0.5 + confidence / 2), (m + n) / 2 - 1

    def excess(t: float) -> float:
        variance = t * (1 - t) / (m * n) * (1 + each * ((1 - t) / (2 - t) + t / (1 + t)))
        return abs(chance - t) - z * math.sqrt(variance)

    def end(outer: float) -> float:
        inner = chance
        for _ in range(60):  # bisection: far out the excess is positive, at the chance itself it is not
            middle = (inner + outer) / 2
            inner, outer = (inner, middle) if excess(middle) > 0 else (middle, outer)
        return outer

    return (0.0 if chance <= 0 else end(0.0)), (1.0 if chance >= 1 else end(1.0))


def shift(before: ArrayLike, after: ArrayLike, *, paired: bool, confidence: float = 0.95) -> tuple[float, float, float]:
    """Return the estimate of Hodges and Lehmann of how far values moved, and its interval; negative is better.

    Of pairs it is the median of the means of any two differences, with the interval of the signed-rank test; else the
    median of all differences, with that of the rank-sum test. An end is infinite where there are too few values.

    Parameters
    ----------
    before, after : array_like, (runs,)
        Finite values; pairs in the same places.
    paired : bool
    confidence : float

    References
    ----------
    Hollander, Wolfe, Chicken, Nonparametric Statistical Methods, 3rd edition, 2014, sections 3.2, 3.3, 4.2 and 4.3.

    Examples
    --------
    >>> shift([5.0, 6.0, 7.0, 8.0, 9.0, 8.5], [4.0, 4.0, 6.5, 5.0, 8.0, 6.0], paired=True)
    (-1.75, -3.0, -0.5)
    """
    one, two = np.asarray(before, float), np.asarray(after, float)
    if paired and one.shape != two.shape:
        raise ValueError(f"paired values must be as many before as after; got {one.shape} and {two.shape}")
    if not one.size or not two.size:
        return math.nan, -math.inf, math.inf
    tail = (1 - confidence) / 2
    if paired:
        moved = two - one
        i, j = np.triu_indices(len(moved))
        values = np.sort((moved[i] + moved[j]) / 2)
        skipped = _signed_rank_quantile(len(moved), tail)
    else:
        values = np.sort((two[:, None] - one[None, :]).ravel())
        m, n = len(one), len(two)
        skipped = math.floor(m * n / 2 + NormalDist().inv_cdf(tail) * math.sqrt(m * n * (m + n + 1) / 12))
    low, high = (values[skipped - 1], values[-skipped]) if skipped > 0 else (-math.inf, math.inf)
    return float(np.median(values)), float(low), float(high)


def _signed_rank_quantile(n: int, tail: float) -> int:
    """Return the largest k for which a sum of signed ranks is below k with at most that probability; 0 if none."""
    if n > 60:
        return math.floor(n * (n + 1) / 4 + NormalDist().inv_cdf(tail) * math.sqrt(n * (n + 1) * (2 * n + 1) / 24))
    ways = np.ones(1)  # of making each sum from 0 on
    for rank in range(1, n + 1):
        ways = np.append(ways, np.zeros(rank)) / 2
        ways[rank:] += ways[:-rank].copy()
    return int((np.cumsum(ways) <= tail).sum())
