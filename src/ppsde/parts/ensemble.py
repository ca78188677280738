"""Ensembles of techniques: feasibility, epsilon, self-adaptive penalty and stochastic comparison side by side.

Mallipeddi, Suganthan, "Ensemble of constraint handling techniques", IEEE Transactions on Evolutionary Computation 14
(2010): all four.
Qu, Suganthan, "Constrained multi-objective optimization algorithm with an ensemble of constraint handling methods",
Engineering Optimization 43 (2011): the first three, for several objectives, of which there is one here.

Deviations (the publications say / we do / because)
  several populations       one per technique, each meets the offspring of all / one, of which the best part by
                            feasibility is judged by feasibility, the next by epsilon, then by penalty, the last by
                            coins / algorithms have one population; so feasible points survive while others explore
  epsilon                   a schedule of its own / that of "epsilon" / the same formula
Of Qu and Suganthan's text only the abstract was in reach: its three techniques are those that the publication of PPS-DE
names. Mallipeddi and Suganthan's is compared with a program that others wrote after it (ECHT_DE of MTO-Platform): it
has the same four techniques, four populations that meet the offspring of all, and coins from 0.475 to 0.025.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..arrays import Array, namespace, setting
from ..population import TOLERANCE, Keys, Population
from ..streams import Stream
from .epsilon import Closing
from .penalties import Distance
from .rules import Feasibility, Points, Rule, of_each_row, ranking
from .stochastic import Coin, falling


@dataclass(frozen=True)
class OneOfSeveral:
    """A rule that judges each row by its own technique."""

    rules: tuple[Any, ...]
    technique: Array  # (n,), which of the rules

    def keys(self, points: Points) -> Keys:
        xp = namespace(points.f)
        rows, technique = xp.arange(points.f.shape[0]), of_each_row(self.technique, points)
        keys = [rule.keys(points) for rule in self.rules]
        first, second = (xp.stack(column)[technique, rows] for column in zip(*keys, strict=True))
        return first, second


def part(population: Population, count: int) -> Array:
    """Which of `count` equal parts of the valid points each row (n,) belongs to, 0 for the best by feasibility."""
    xp = namespace(population.f)
    rank = xp.argsort(ranking(Feasibility(), population))  # of each row
    return xp.minimum(count * rank // xp.maximum(population.valid.sum(), 1), count - 1)


@dataclass(frozen=True)
class Ensemble:
    """Several techniques, of which only epsilon has a state. Ranks are by feasibility."""

    epsilon: Closing
    tolerance: Array | float  # of equalities
    coins: bool = setting(True)  # whether stochastic comparison is one of them

    needs_constraint_values = True

    @classmethod
    def fresh(cls, xp: Any = np, tolerance: Array | float = TOLERANCE, coins: bool = True) -> Ensemble:
        return cls(Closing.fresh(xp), xp.asarray(tolerance), coins)

    def rule(self, population: Population, elapsed: Array, rng: Stream) -> OneOfSeveral:
        rules: list[Any] = [Feasibility(), self.epsilon.rule(population, elapsed, rng)]
        rules.append(Distance.of(population, self.tolerance))
        if self.coins:
            rules.append(Coin.toss(population, falling(elapsed), rng))
        return OneOfSeveral(tuple(rules), part(population, len(rules)))

    def rank(self, rule: Rule, population: Population, rng: Stream) -> Array:
        return ranking(Feasibility(), population)

    def after(self, population: Population, elapsed: Array) -> Ensemble:
        return replace(self, epsilon=self.epsilon.after(population, elapsed))
