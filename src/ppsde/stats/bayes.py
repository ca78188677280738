"""The Bayesian signed-rank test: how probable it is that one algorithm is better, or that both are equivalent."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from .ranks import decimals
from .tables import TableRow

SAMPLES_AT_ONCE = 2000


@dataclass(frozen=True)
class BayesianSignedRank:
    """Probabilities after the data, which add up to 1."""

    n: int  # problems
    rope: float
    first: float  # the first is better by more than the rope
    equivalent: float  # the difference lies within the rope
    second: float  # the second is better by more than the rope

    def rows(self) -> list[TableRow]:
        return [asdict(self)]


def bayesian_signed_rank(
    first: ArrayLike,
    second: ArrayLike,
    *,
    rope: float,
    prior: float = 0.5,
    samples: int = 50_000,
    seed: int = 0,
) -> BayesianSignedRank:
    """Compare two algorithms on the same problems by the Bayesian signed-rank test.

    Unlike a p-value, the answer can be that two algorithms are equivalent. With z_i the differences first - second, z_0
    = 0 for the prior, and weights w drawn from the Dirichlet distribution (prior, 1, .., 1), the shares

        sum of w_i w_j where z_i + z_j < -2 rope,    within +-2 rope,    > 2 rope

    are those of a better first, of equivalence and of a better second. The probability of each answer is how often its
    share is the largest of the three.

    Parameters
    ----------
    first, second : array_like, (problems,)
        One value per problem on one scale, such as ranks or errors relative to the best known value; smaller is better,
        all finite.
    rope : float
        The region of practical equivalence: half the width of the interval around 0 in which a difference does not
        matter. 0 leaves only exact ties.
    prior : float
        Weight of the prior, in problems; it says that the algorithms are equal.
    samples : int
        Draws of the weights. A probability of 0.5 is exact to 0.005 or so with the default.
    seed : int

    References
    ----------
    Benavoli, Corani, Demsar, Zaffalon, "Time for a Change: a Tutorial for Comparing Multiple Classifiers Through
    Bayesian Analysis", JMLR 18 (2017) 77, section 4.2.

    Examples
    --------
    >>> test = bayesian_signed_rank([1.0, 2.0, 0.0, 4.0, 5.0], [2.0, 4.0, 3.0, 8.0, 9.0], rope=0.5)
    >>> test.first > 0.99, test.equivalent < 0.01
    (True, True)
    """
    a, b = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if a.ndim != 1 or a.shape != b.shape or not a.size:
        raise ValueError(f"first and second must have one shape (problems,); got {a.shape} and {b.shape}")
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        raise ValueError("the Bayesian signed-rank test needs finite values; put a value for a missing one")
    if not 0 <= rope < np.inf:
        raise ValueError(f"rope must be a finite number >= 0; got {rope!r}")
    if not 0 < prior < np.inf:
        raise ValueError(f"prior must be a finite number > 0; got {prior!r}")
    if isinstance(samples, bool) or not isinstance(samples, int) or samples < 1:
        raise ValueError(f"samples must be an int >= 1; got {samples!r}")
    z = np.array([*(decimals(a) - decimals(b)), Fraction(0)], dtype=object)  # exact: the edge belongs to the rope
    sums, edge = np.add.outer(z, z), 2 * Fraction(repr(float(rope)))
    below, above = (sums < -edge).astype(float), (sums > edge).astype(float)
    rng, weights = np.random.default_rng(seed), np.append(np.ones(a.size), prior)
    wins = np.zeros(3)
    for done in range(0, samples, SAMPLES_AT_ONCE):
        w = rng.dirichlet(weights, min(SAMPLES_AT_ONCE, samples - done))
        left, right = ((w @ sign * w).sum(axis=1) for sign in (below, above))
        wins += np.bincount(np.argmax([1 - left - right, left, right], axis=0), minlength=3)
    equivalent, better, worse = (wins / samples).tolist()
    return BayesianSignedRank(a.size, float(rope), better, equivalent, worse)
