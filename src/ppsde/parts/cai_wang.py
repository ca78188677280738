"""CW: a trial survives if it dominates its parent in objective and violation; the least violating may survive too.

Cai, Wang, "A Multiobjective Optimization-Based Evolutionary Algorithm for Constrained Optimization", IEEE Transactions
on Evolutionary Computation 10 (2006), pp. 658-675.

Deviations (the publication says / we do / because)
  replacement               those of ten offspring that none of the others dominates, each for one of eight parents that
                            it dominates / every trial, for its own parent / algorithms have one-to-one survival
  infeasible archive        while no offspring is feasible, the least violating one is stored; every 22 generations the
                            stored ones replace random members / it replaces its parent at once, if that violates more /
                            a rule has no points of its own
  ranks                     none / by how many members dominate a point, then by violation / algorithms that need some
The text was not in reach, and a search of public repositories found no program of it: the steps are read from the
authors' later publications and from surveys.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Array, namespace
from ..population import Keys, Population, Scores
from ..streams import Stream
from .dominance import Dominated
from .rules import Points, Rule, against_members, of_each_row, ranking, unchanged


@dataclass(frozen=True)
class DominatesItsMember:
    """A point wins against the member of its row if it dominates it, or if it is the least violating of its kind."""

    members: Scores

    def keys(self, points: Points) -> Keys:
        xp = namespace(points.f)
        f, violation = (of_each_row(values, points) for values in self.members)
        less = points.violation < violation
        dominates = (points.f <= f) & (points.violation <= violation) & ((points.f < f) | less)
        infeasible = xp.where(points.valid, points.violation, np.inf).min() > 0.0
        least = xp.arange(points.f.shape[0]) == xp.argmin(points.violation)
        return against_members(points, *self.members, dominates | (infeasible & least & less))


@dataclass(frozen=True)
class CaiWang:
    """Survival by dominance over the own parent."""

    def rule(self, population: Population, elapsed: Array, rng: Stream) -> DominatesItsMember:
        return DominatesItsMember(Scores(population.f, population.violation))

    def rank(self, rule: Rule, population: Population, rng: Stream) -> Array:
        return ranking(Dominated.of(population), population)

    after = unchanged
