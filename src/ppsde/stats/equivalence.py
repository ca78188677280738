"""The test of equivalence of two means, from their summaries: two one-sided tests."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import NamedTuple

from .ranks import checked_alpha
from .tables import TableRow


class Sample(NamedTuple):
    """The summary of a sample of runs."""

    mean: float
    std: float  # n - 1 in the denominator
    n: int


@dataclass(frozen=True)
class Equivalence:
    """The difference of two means, its interval, and whether it lies within the region."""

    difference: float  # first mean less second mean
    low: float  # ends of the interval of the level 1 - 2 alpha
    high: float
    region: float
    p: float  # of the hypothesis that the difference lies outside the region
    p_difference: float  # of the hypothesis that there is no difference, two-sided
    alpha: float

    @property
    def verdict(self) -> str:
        """Return 'equivalent', 'different' or 'undecided'; a small difference that is certain is equivalent."""
        if self.p < self.alpha:
            return "equivalent"
        return "different" if self.p_difference < self.alpha else "undecided"

    def rows(self) -> list[TableRow]:
        return [{**asdict(self), "verdict": self.verdict}]


def equivalence(
    first: tuple[float, float, int], second: tuple[float, float, int], *, region: float, alpha: float = 0.05
) -> Equivalence:
    """Test whether two means differ by less than a region, from means, standard deviations and numbers of runs.

    Two one-sided Welch tests: the means are equivalent if both hypotheses, that the difference is at least +region and
    that it is at most -region, are rejected; that is, if the interval of the level 1 - 2 alpha lies within the region.
    Unlike a test that fails to find a difference, it does not pass because the spread is large or the runs are few.

    Parameters
    ----------
    first, second : (mean, standard deviation, number of runs)
        Finite; at least two runs.
    region : float
        Differences smaller than this do not matter; chosen before the data are seen, and not from their spread.
    alpha : float

    Returns
    -------
    Equivalence
        Samples without any spread are equivalent if their means differ by no more than the region.

    References
    ----------
    Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics 15 (1987) 657; Welch, Biometrika 34 (1947) 28.

    Examples
    --------
    >>> equivalence((10.0, 1.0, 25), (10.2, 1.0, 25), region=1.0).verdict
    'equivalent'
    >>> equivalence((10.0, 9.0, 25), (10.2, 9.0, 25), region=1.0).verdict
    'undecided'
    >>> equivalence((10.0, 1.0, 25), (12.0, 1.0, 25), region=1.0).verdict
    'different'
    """
    from scipy.special import stdtr, stdtrit  # what `scipy.stats.t` calls, at a hundredth of its cost for a number

    one, two = _checked(Sample(*first)), _checked(Sample(*second))
    level = checked_alpha(alpha)
    if not 0 <= region < math.inf:
        raise ValueError(f"region must be a finite number >= 0; got {region!r}")
    difference = one.mean - two.mean
    unit = max(one.std, two.std)  # of what follows, so that no square overflows
    if unit == 0.0:
        outside, apart = float(abs(difference) > region), float(difference == 0.0)
        return Equivalence(difference, difference, difference, region, outside, apart, level)
    a, b = (one.std / unit) ** 2 / one.n, (two.std / unit) ** 2 / two.n
    error = math.sqrt(a + b) * unit
    df = (a + b) ** 2 / (a**2 / (one.n - 1) + b**2 / (two.n - 1))
    half = float(stdtrit(df, 1 - level)) * error
    p = float(stdtr(df, (abs(difference) - region) / error))
    p_difference = float(2 * stdtr(df, -abs(difference) / error))
    return Equivalence(difference, difference - half, difference + half, region, p, p_difference, level)


def _checked(sample: Sample) -> Sample:
    if not (math.isfinite(sample.mean) and 0 <= sample.std < math.inf and sample.n >= 2):
        raise ValueError(f"a sample must have a finite mean, a finite std >= 0 and n >= 2; got {tuple(sample)}")
    return sample
