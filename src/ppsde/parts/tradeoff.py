"""The adaptive trade-off model: a rule that depends on whether no, some or all points of the population are feasible.

Wang, Cai, Zhou, Zeng, "An adaptive tradeoff model for constrained evolutionary optimization", IEEE Transactions on
Evolutionary Computation 12 (2008).

  no feasible points    both f and violation are to be small: of the points that no other dominates, the half with less
                        violation comes first; then the same among the others, and so on
  some                  f of the infeasible is raised to share f_best + (1 - share) f_worst of the feasible, f and
                        violation are normalised and added
  all                   by f

Deviations (the publication says / we do / because)
  no feasible points    of parents and offspring together / of the population; a trial belongs to the first round in
                        which no member left dominates it and the better half does not all violate less / a rule gives
                        every point a key
  range to normalise by   all points to be compared / the population / trials and parents must have one measure
  below that range      cannot be / feasible points count on, infeasible ones stop there / as Tessema and Yen's
  all are feasible      by f / infeasible trials come last / there the trials are feasible too
A search of public repositories and pages found neither the text nor a program of it: rounds and sum were not compared
with either, and are tested by hand-computed examples.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..arrays import Array, namespace, repeated_while, when
from ..population import Keys, Population
from ..streams import Stream
from .dominance import below_one, beyond, dominating, two_objectives
from .penalties import extent, scaled
from .rules import Points, by_keys, unchanged


@dataclass(frozen=True)
class Hierarchy:
    """The rounds in which members are taken: in each, the better half of those that no member left dominates.

    The better half, rounded up, is by violation; with equal violation either all are taken or none.
    """

    members: Array  # (n, 2), objective and violation
    shown: Array  # (n,), the first round in which no member that is left dominates it; rounds count from 1
    taken: Array  # (n,), the round in which it is taken; 0 for members without values

    @classmethod
    def none(cls, population: Population) -> Hierarchy:
        """Of a population that needs none."""
        zero = namespace(population.f).zeros(population.size, dtype=int)
        return cls(two_objectives(population), zero, zero)

    @classmethod
    def of(cls, population: Population) -> Hierarchy:
        xp = namespace(population.f)
        members, violation = two_objectives(population), population.violation
        dominated = dominating(members, members, population.valid)
        less = violation < violation[:, None]  # in columns, than the member of the row

        def next_round(found: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
            round, shown, taken = found
            left = population.valid & (taken == 0)
            front = left & ~(dominated & left).any(axis=1)
            chosen = front & ((less & front).sum(axis=1) < (front.sum() + 1) // 2)
            shown = xp.where(front & (shown == 0), round, shown)
            return round + 1, shown, xp.where(chosen, round, taken)

        def some_left(found: tuple[Array, Array, Array]) -> Array:
            return (population.valid & (found[2] == 0)).any()

        zero = xp.zeros(population.size, dtype=int)
        _, shown, taken = repeated_while(some_left, next_round, (xp.asarray(1), zero, zero))
        return cls(members, shown, taken)

    def rounds(self, points: Points) -> Array:
        """The first round in which a point (m,) is not dominated, and fewer than the better half violate less."""
        xp = namespace(points.f)
        free = beyond(dominating(self.members, two_objectives(points), self.taken > 0), self.taken)
        round = xp.arange(1, self.taken.shape[0] + 1)[:, None]
        front = ((self.shown <= round) & (round <= self.taken)).astype(float)  # (rounds, n)
        better = (self.members[:, 1:] < points.violation).astype(float)  # (n, m)
        half = xp.maximum((front.sum(axis=1, keepdims=True) + 1) // 2, 1)
        chosen = (round >= free) & (front @ better < half)
        return xp.where(chosen.any(axis=0), xp.argmax(chosen, axis=0) + 1, round[-1] + 1)


@dataclass(frozen=True)
class TradeOff:
    """The rule for the feasible share of the current population."""

    hierarchy: Hierarchy
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
            hierarchy=when(share == 0.0, lambda: Hierarchy.of(population), Hierarchy.none(population)),
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
        """The round of the hierarchy plus a violation below 1, for a population without feasible points."""
        unit = namespace(points.f).where(self.v_range[1] > 0, self.v_range[1], 1.0)
        return self.hierarchy.rounds(points) + below_one(points, unit)


@dataclass(frozen=True)
class AdaptiveTradeOff:
    """The trade-off by the current population."""

    def rule(self, population: Population, elapsed: Array, rng: Stream) -> TradeOff:
        return TradeOff.of(population)

    rank = by_keys
    after = unchanged
