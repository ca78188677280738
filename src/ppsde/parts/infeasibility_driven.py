"""IDEA: a share of the population is always infeasible, the best of the infeasible, and ranked before the feasible.

Ray, Singh, Isaacs, Smith, "Infeasibility Driven Evolutionary Algorithm for Constrained Optimization", in
Constraint-Handling in Evolutionary Optimization, Studies in Computational Intelligence 198 (2009), pp. 145-165.

The measure of violation is a sum of ranks: for each constraint a point has rank 0 if it satisfies it, else its place
among the violating members. Infeasible points are sorted in layers of dominance, by objective and this measure,
feasible ones by objective. The best infeasible ones, a share alpha of the population, come first, then the feasible
ones, then the rest.

Deviations (the publication says / we do / because)
  survival                  the first half of parents and offspring together / an infeasible trial replaces a feasible
                            parent only while fewer than alpha of the members are infeasible; a feasible trial replaces
                            an infeasible parent unless that is one of the alpha best / one-to-one survival
  a trial that dominates    does not matter / always replaces its parent / it is better in every respect
  places in a layer         by crowding distance / by the measure of violation / a trial alone has no neighbours
Of the text only the abstract was in reach: the steps are read from the authors' later publications and from a program
of their group (BumpEA), which sorts infeasible points by number of violated constraints and sum instead.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Array, namespace, order, setting
from ..population import TOLERANCE, Keys, Population, Scores
from ..streams import Stream
from .dominance import beyond, dominating, layers
from .rules import Rule, against_members, of_each_row, unchanged, violations


@dataclass(frozen=True)
class InfeasibleFirst:
    """The places of points among the members, and who survives by them."""

    members: Scores
    missed: Array  # (n, constraints), the violations of the members
    measure: Array  # (n,), of the members: sums of ranks
    infeasible: Array  # (n,), whether members are
    layer: Array  # (n,), of the infeasible members
    quota: Array  # how many infeasible members come first
    tolerance: Array | float

    @classmethod
    def of(cls, population: Population, alpha: float, tolerance: Array | float) -> InfeasibleFirst:
        xp = namespace(population.f)
        missed = violations(population, tolerance)
        measure = sums_of_ranks(missed, missed)
        infeasible = population.valid & ~population.feasible
        objectives = xp.stack([population.f, measure], axis=1)
        return cls(
            members=Scores(population.f, population.violation),
            missed=missed,
            measure=measure,
            infeasible=infeasible,
            layer=layers(dominating(objectives, objectives, infeasible)),
            quota=xp.floor(alpha * population.valid.sum() + 0.5),
            tolerance=tolerance,
        )

    def places(self, points: Population) -> Array:
        """How many infeasible members come before each point (m,), if it is infeasible."""
        xp = namespace(points.f)
        measure = sums_of_ranks(self.missed, violations(points, self.tolerance))
        ours, theirs = xp.stack([self.members.f, self.measure], axis=1), xp.stack([points.f, measure], axis=1)
        grade = beyond(dominating(ours, theirs, self.infeasible), self.layer) + measure / (measure + 1.0)
        of_members = self.layer + self.measure / (self.measure + 1.0)
        return ((of_members < grade[:, None]) & self.infeasible).sum(axis=1)

    def keys(self, points: Population) -> Keys:
        xp = namespace(points.f)
        place = self.places(points)
        own_place = self.places_of_members()
        f, violation, own = (of_each_row(values, points) for values in (*self.members, own_place))
        feasible, parent_feasible = points.violation == 0.0, violation == 0.0
        room = self.infeasible.sum() < self.quota
        wins = xp.where(
            feasible,
            xp.where(parent_feasible, points.f <= f, own >= self.quota),
            xp.where(parent_feasible, room & (place < self.quota), place <= own),
        )
        return against_members(points, *self.members, wins | ((points.f <= f) & (points.violation <= violation)))

    def places_of_members(self) -> Array:
        """How many infeasible members come before each member (n,)."""
        grade = self.layer + self.measure / (self.measure + 1.0)
        return ((grade < grade[:, None]) & self.infeasible).sum(axis=1)


def sums_of_ranks(members: Array, points: Array) -> Array:
    """For points (m, constraints) the sum of their ranks: 0 where a constraint is satisfied, else 1 plus the number of
    members (n, constraints) that violate it less."""
    xp = namespace(points)
    less = ((members > 0.0) & (members < points[:, None])).sum(axis=1)
    return xp.where(points > 0.0, 1.0 + less, 0.0).sum(axis=1)


@dataclass(frozen=True)
class InfeasibilityDriven:
    """Infeasible members first, by the current population."""

    tolerance: Array | float = TOLERANCE  # of equalities
    alpha: float = setting(0.2)  # the share of the population that is infeasible

    needs_constraint_values = True

    def rule(self, population: Population, elapsed: Array, rng: Stream) -> InfeasibleFirst:
        return InfeasibleFirst.of(population, self.alpha, self.tolerance)

    def rank(self, rule: Rule, population: Population, rng: Stream) -> Array:
        xp = namespace(population.f)
        now = InfeasibleFirst.of(population, self.alpha, self.tolerance)
        place = now.places_of_members()
        group = xp.where(population.feasible, 1.0, xp.where(place < now.quota, 0.0, 2.0))
        return order(xp.where(population.valid, group, np.inf), xp.where(population.feasible, population.f, place))

    after = unchanged
