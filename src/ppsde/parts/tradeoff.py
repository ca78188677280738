"""The adaptive trade-off model: a rule that depends on whether no, some or all points of the population are feasible.

Wang, Cai, Zhou, Zeng, "An adaptive tradeoff model for constrained evolutionary optimization", IEEE Transactions on
Evolutionary Computation 12 (2008).

  no feasible points    both f and violation are to be small: points that others dominate come later; then by violation
  some                  f of the infeasible is raised to share f_best + (1 - share) f_worst of the feasible, f and
                        violation are normalised and added
  all                   by f

Deviations (the publication says / we do / because)
  no feasible points    layer by layer, the half of each with less violation / by how many members of the population
                        dominate, ties by violation / a rule gives every point a key
  range to normalise by   all points to be compared / the population / trials and parents must have one measure
  below that range      cannot be / feasible points count on, infeasible ones stop there / as Tessema and Yen's
  all are feasible      by f / infeasible trials come last / there the trials are feasible too
"""

from __future__ import annotations

from dataclasses import dataclass

from ..arrays import Array, namespace, when
from ..population import Keys, Population, Scores
from ..streams import Stream
from .penalties import extent, scaled
from .rules import Points, by_keys, unchanged


@dataclass(frozen=True)
class TradeOff:
    """The rule for the feasible share of the current population."""

    members: Scores
    share: Array  # of the feasible
    floor: Array  # the objective to which infeasible points are raised
    f_range: tuple[Array, Array]  # of the members, once raised
    v_range: tuple[Array, Array]  # of the infeasible members

    @classmethod
    def of(cls, population: Population) -> TradeOff:
        xp = namespace(population.f)
        share = population.feasible_share
        best, worst = extent(population.f, population.feasible)
        floor = share * best + (1.0 - share) * worst
        raised = xp.where(population.feasible, population.f, xp.maximum(population.f, floor))
        infeasible = population.valid & ~population.feasible
        return cls(
            members=Scores(population.f, population.violation),
            share=share,
            floor=floor,
            f_range=extent(raised, population.valid),
            v_range=extent(population.violation, infeasible),
        )

    def keys(self, points: Points) -> Keys:
        xp = namespace(points.f)
        first = xp.where(points.valid & (self.share < 1.0), 0.0, points.violation)
        some = when(self.share < 1.0, lambda: self._transformed(points), points.f)
        return first, when(self.share == 0.0, lambda: self._dominated(points), some)

    def _transformed(self, points: Points) -> Array:
        """Normalised objective plus normalised violation, for a population with some feasible points."""
        xp = namespace(points.f)
        infeasible = points.violation > 0.0
        raised = xp.where(infeasible, xp.maximum(points.f, self.floor), points.f)
        violation = xp.where(points.valid, points.violation, 0.0)
        weight = xp.maximum(scaled(violation, *self.v_range), 0.0)
        return scaled(raised, *self.f_range) + xp.where(infeasible, weight, 0.0)

    def _dominated(self, points: Points) -> Array:
        """The number of dominating members plus a violation below 1, for a population without feasible points."""
        xp = namespace(points.f)
        f, v = points.f[:, None], points.violation[:, None]
        no_worse = (self.members.f <= f) & (self.members.violation <= v) & self.members.valid
        count = (no_worse & ((self.members.f < f) | (self.members.violation < v))).sum(axis=1)
        half = xp.where(points.valid, points.violation, 0.0) / 2
        unit = xp.where(self.v_range[1] > 0, self.v_range[1], 1.0) / 2
        return count + half / (half + unit)


@dataclass(frozen=True)
class AdaptiveTradeOff:
    """The trade-off by the current population."""

    def rule(self, population: Population, elapsed: Array, rng: Stream) -> TradeOff:
        return TradeOff.of(population)

    rank = by_keys
    after = unchanged
