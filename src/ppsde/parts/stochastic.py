"""Stochastic ranking as a technique: now and then the objective alone decides, whatever the constraints say.

Runarsson, Yao, "Stochastic ranking for constrained evolutionary optimization", IEEE Transactions on Evolutionary
Computation 4 (2000).

Deviations (the publication says / we do / because)
  selection                 the best of a ranking of all offspring survive / ranks as there; a trial against its parent
                            by a coin of their own / differential evolution has one-to-one survival
  probability               0.45 / in ranks; of the coins it falls linearly from 0.475 to 0.025, as in Mallipeddi and
                            Suganthan's ensemble / a coin has no ranking to correct it: at 0.45 no population settles
  a sweep without a swap    ends the ranking / n sweeps always / arrays of fixed shape; such a sweep is rare
"""

from __future__ import annotations

from dataclasses import dataclass

from ..arrays import Array, namespace
from ..population import Population
from ..streams import Stream
from .rules import Keys, Points, Rule, stochastic_ranking, unchanged

PROBABILITY = 0.45  # of a comparison by the objective, in ranks
FIRST, LAST = 0.475, 0.025  # of a coin, at the start and at the end of the budget


def falling(elapsed: Array) -> Array:
    """The probability of a coin along a run."""
    return FIRST + (LAST - FIRST) * elapsed


def of_each_row(values: Array, points: Points) -> Array:
    """The values (n,) of the members for points of any number of rows: row k is of member k modulo n."""
    m, n = points.f.shape[0], values.shape[0]
    return values if m == n else values[namespace(values).arange(m) % n]


@dataclass(frozen=True)
class Coin:
    """By the objective alone in some rows, by the feasibility rule in the others."""

    u: Array  # (n,), a uniform number per member, for its trial as well
    probability: Array | float  # below which the objective decides

    @classmethod
    def toss(cls, population: Population, probability: Array | float, rng: Stream) -> Coin:
        return cls(rng.uniform(population.size), probability)

    def keys(self, points: Points) -> Keys:
        xp = namespace(points.f)
        by_f = of_each_row(self.u, points) < self.probability
        return xp.where(by_f & points.valid, 0.0, points.violation), points.f


def stochastic_rank(population: Population, probability: Array | float, rng: Stream) -> Array:
    """The rows ranked in as many sweeps as there are."""
    n = population.size
    return stochastic_ranking(population, rng.uniform(n, n // 2 + 1), probability)


@dataclass(frozen=True)
class Stochastic:
    """Ranks by stochastic ranking, survival by a coin per row."""

    def rule(self, population: Population, elapsed: Array, rng: Stream) -> Coin:
        return Coin.toss(population, falling(elapsed), rng)

    def rank(self, rule: Rule, population: Population, rng: Stream) -> Array:
        return stochastic_rank(population, PROBABILITY, rng)

    after = unchanged
