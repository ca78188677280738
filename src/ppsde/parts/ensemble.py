"""An ensemble of techniques: feasibility, self-adaptive penalty, epsilon and stochastic comparison side by side.

Mallipeddi, Suganthan, "Ensemble of constraint handling techniques", IEEE Transactions on Evolutionary Computation 14
(2010).

Deviations (the publication says / we do / because)
  four populations          one per technique, each meets the offspring of all / one, of which the best quarter by
                            feasibility is judged by feasibility, the next by epsilon, then by penalty, the last by
                            coins / algorithms have one population; so feasible points survive while others explore
  epsilon                   a schedule of its own / that of "epsilon" / the same formula
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array, namespace
from ..population import Keys, Population
from ..streams import Stream
from .epsilon import Closing
from .penalties import Distance
from .rules import Epsilon, Feasibility, Points, Rule, ranking
from .stochastic import Coin, falling, of_each_row


@dataclass(frozen=True)
class OneOfFour:
    """A rule that judges each row by its own technique."""

    feasibility: Feasibility
    epsilon: Epsilon
    penalty: Distance
    coin: Coin
    technique: Array  # (n,), 0 to 3 in this order

    def keys(self, points: Points) -> Keys:
        xp = namespace(points.f)
        rows, technique = xp.arange(points.f.shape[0]), of_each_row(self.technique, points)
        keys = [rule.keys(points) for rule in (self.feasibility, self.epsilon, self.penalty, self.coin)]
        first, second = (xp.stack(column)[technique, rows] for column in zip(*keys, strict=True))
        return first, second


def quarter(population: Population) -> Array:
    """The quarter (n,) of the valid points that each row belongs to, 0 for the best by feasibility."""
    xp = namespace(population.f)
    rank = xp.argsort(ranking(Feasibility(), population))  # of each row
    return xp.minimum(4 * rank // xp.maximum(population.valid.sum(), 1), 3)


@dataclass(frozen=True)
class Ensemble:
    """Four techniques, of which only epsilon has a state. Ranks are by feasibility."""

    epsilon: Closing

    @classmethod
    def fresh(cls, xp: Any = np) -> Ensemble:
        return cls(Closing.fresh(xp))

    def rule(self, population: Population, elapsed: Array, rng: Stream) -> OneOfFour:
        return OneOfFour(
            feasibility=Feasibility(),
            epsilon=self.epsilon.rule(population, elapsed, rng),
            penalty=Distance.of(population),
            coin=Coin.toss(population, falling(elapsed), rng),
            technique=quarter(population),
        )

    def rank(self, rule: Rule, population: Population, rng: Stream) -> Array:
        return ranking(Feasibility(), population)

    def after(self, population: Population, elapsed: Array) -> Ensemble:
        return Ensemble(self.epsilon.after(population, elapsed))
