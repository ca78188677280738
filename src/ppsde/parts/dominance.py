"""Pareto dominance: the objective and the constraints as several objectives.

`Pareto`: two objectives, f and the violation. Camponogara, Talukdar, "A genetic algorithm for constrained and
    multiobjective optimization", 3NWGA 1997, and many after them.
`ParetoConstraints`: f and the violation of each constraint. Coello Coello, "Treating constraints as objectives for
    single-objective evolutionary optimization", Engineering Optimization 32 (2000), and others.

A point dominates another if it is no worse in every objective and better in one. Both techniques rank points by how
many members dominate them: Fonseca, Fleming, "Multiobjective optimization and multiple constraint handling with
evolutionary algorithms", IEEE Transactions on Systems, Man, and Cybernetics A 28 (1998). So who dominates its parent is
always better.

Deviations (the publications say / we do / because)
  selection             tournaments or shares in proportion to ranks / by rank, a trial against its parent / algorithms
                        have their own selection
  equal ranks           niches / less violation / in the end one point is wanted, not a front
The texts of the three were not in reach: both techniques and the ranks are read from surveys.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array, namespace, repeated_while
from ..population import TOLERANCE, Keys, Population
from ..streams import Stream
from .rules import Points, by_keys, unchanged, violations


def dominating(members: Array, points: Array, among: Array) -> Array:
    """Whether each member dominates each point, (points, members); objectives in columns, only members `among` (n,)."""
    no_worse = (members <= points[:, None]).all(axis=2)
    better = (members < points[:, None]).any(axis=2)
    return no_worse & better & among


def layers(dominated: Array) -> Array:
    """The layer (n,) of each member: 1 where none dominates it, else one more than the last layer that does.

    `dominated` (n, n) says whether a member, in columns, dominates another, in rows.
    """
    xp = namespace(dominated)

    def deeper(found: tuple[Array, Array]) -> tuple[Array, Array]:
        _, layer = found
        return layer, beyond(dominated, layer)

    first = xp.ones(dominated.shape[0], dtype=int)
    start = (xp.zeros(dominated.shape[0], dtype=int), first)
    layer: Array = repeated_while(lambda found: (found[0] != found[1]).any(), deeper, start)[1]
    return layer


def beyond(dominated: Array, layer: Array) -> Array:
    """The layer (m,) of points, one more than the last layer (n,) of members that dominate them; (m, n) says which."""
    return 1 + namespace(layer).where(dominated, layer, 0).max(axis=1)


def two_objectives(points: Points) -> Array:
    """Objective and violation (n, 2)."""
    return namespace(points.f).stack([points.f, points.violation], axis=1)


@dataclass(frozen=True)
class Dominated:
    """By the number of members that dominate a point, then by violation."""

    members: Array  # (n, objectives)
    among: Array  # (n,), the members that count
    unit: Array  # of violation
    tolerance: Array | float | None = None  # None: the objectives are f and the violation, else f and each constraint

    @classmethod
    def of(cls, population: Population, tolerance: Array | float | None = None) -> Dominated:
        xp = namespace(population.f)
        largest = population.largest_violation
        among, unit = population.valid, xp.where(largest > 0, largest, 1.0)
        return cls(objectives(population, tolerance), among, unit, tolerance)

    def keys(self, points: Any) -> Keys:
        xp = namespace(points.f)
        count = dominating(self.members, objectives(points, self.tolerance), self.among).sum(axis=1)
        return xp.where(points.valid, 0.0, np.inf), count + below_one(points, self.unit)


def objectives(points: Any, tolerance: Array | float | None) -> Array:
    """Objective and violation (n, 2), or with a tolerance objective and violations (n, 1 + constraints)."""
    if tolerance is None:
        return two_objectives(points)
    return namespace(points.f).concatenate([points.f[:, None], violations(points, tolerance)], axis=1)


def below_one(points: Points, unit: Array) -> Array:
    """A number from 0 up to 1 that grows with violation, 1/2 at the unit: to break ties of whole numbers."""
    half = namespace(points.f).where(points.valid, points.violation, 0.0) / 2  # halves, so that nothing overflows
    return half / (half + unit / 2)


@dataclass(frozen=True)
class Pareto:
    """Ranks by dominance in objective and violation, by the current population."""

    def rule(self, population: Population, elapsed: Array, rng: Stream) -> Dominated:
        return Dominated.of(population)

    rank = by_keys
    after = unchanged


@dataclass(frozen=True)
class ParetoConstraints:
    """Ranks by dominance in the objective and each constraint, by the current population."""

    tolerance: Array | float = TOLERANCE  # of equalities

    needs_constraint_values = True

    def rule(self, population: Population, elapsed: Array, rng: Stream) -> Dominated:
        return Dominated.of(population, self.tolerance)

    rank = by_keys
    after = unchanged
