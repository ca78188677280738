"""Rules: which of two points is better when there are constraints. A rule is two keys, compared in order.

Points without values (not `valid`) come last under every rule, are never accepted and never count as a success.
`Fixed` is the technique that uses the same rule in every generation; `by_keys` and `unchanged` are methods that most
techniques share. Techniques that judge by more than the sum of violations have `needs_constraint_values` and a field
`tolerance`, which becomes that of the problem, and get the violations of single constraints by `violations`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ..arrays import HUGE, Array, namespace, order
from ..population import Keys, Population, Scores, better
from ..streams import Stream

Points = Population | Scores


class Rule(Protocol):
    def keys(self, points: Points) -> Keys: ...


@dataclass(frozen=True)
class Feasibility:
    """Less violation first, then the smaller objective (Deb's rule, with ties of violation broken by f)."""

    def keys(self, points: Points) -> Keys:
        return points.violation, points.f


@dataclass(frozen=True)
class Epsilon:
    """The feasibility rule with violations up to epsilon counted as 0."""

    epsilon: Array | float

    def keys(self, points: Points) -> Keys:
        xp = namespace(points.f)
        return xp.where(points.violation <= self.epsilon, 0.0, points.violation), points.f


@dataclass(frozen=True)
class Penalty:
    """The objective plus weight times violation: a static penalty."""

    weight: Array | float

    def keys(self, points: Points) -> Keys:
        xp = namespace(points.f)
        valid = points.valid
        penalised = points.f + self.weight * xp.where(valid, points.violation, 0.0)
        return xp.where(valid, 0.0, np.inf), penalised


@dataclass(frozen=True)
class Death:
    """Feasible points by their objective, then all infeasible ones, which are equal: a death penalty."""

    def keys(self, points: Points) -> Keys:
        xp = namespace(points.f)
        feasible = points.violation == 0.0
        first = xp.where(feasible, 0.0, xp.where(points.valid, 1.0, np.inf))
        return first, xp.where(feasible, points.f, 0.0)


@dataclass(frozen=True)
class Blockwise:
    """A rule applied to each block of `size` rows separately, so that row k of every block is judged as member k."""

    rule: Rule
    size: int

    def keys(self, points: Points) -> Keys:
        xp = namespace(points.f)
        blocks = [slice(k, k + self.size) for k in range(0, points.f.shape[0], self.size)]
        keys = [self.rule.keys(points.take(block)) for block in blocks]
        first, second = (xp.concatenate(column) for column in zip(*keys, strict=True))
        return first, second


def of_each_row(values: Array, points: Points) -> Array:
    """The values (n,) of the members repeated for points of any number of rows; row k is of member k modulo n."""
    m, n = points.f.shape[0], values.shape[0]
    return values if m == n else values[namespace(values).arange(m) % n]


def against_members(points: Points, f: Array, violation: Array, wins: Array) -> Keys:
    """Keys for a rule that is no order, but says whether each point wins (m,) against the member of its row.

    Those of a winner are below those of its member, those of a loser above; a point of the same values is alike. Among
    winners, and among losers, less violation is better. `f` and `violation` (n,) are those of the members.
    """
    xp = namespace(points.f)
    same = (points.f == of_each_row(f, points)) & (points.violation == of_each_row(violation, points))
    missed = xp.where(points.valid, points.violation, 0.0)
    grade = xp.where(same, 0.0, xp.where(wins, -1.0, 1.0)) + missed / (missed + 1.0) / 2
    return xp.where(points.valid, 0.0, np.inf), grade


def push() -> Rule:
    """The objective alone: every point that has values counts as feasible."""
    return Epsilon(HUGE)


def accepts(rule: Rule, trials: Points, parents: Points) -> Array:
    """Where a trial may replace its parent: it is valid and not worse."""
    return ~better(rule.keys(parents), rule.keys(trials)) & trials.valid


def gain(rule: Rule, trials: Points, parents: Points) -> Array:
    """The gain of each strictly better trial, 0 elsewhere: in f where f decided, in violation where that did.

    A trial that is better than a point without values has no measurable gain: 0.
    """
    xp = namespace(trials.f)
    new, old = rule.keys(trials), rule.keys(parents)
    amount = xp.where(new[0] == old[0], old[1] - new[1], parents.violation - trials.violation)
    return xp.where(better(new, old) & (amount < np.inf), amount, 0.0)


def ranking(rule: Rule, points: Points) -> Array:
    """The rows, best first."""
    return order(*rule.keys(points))


def best_of(rule: Rule, points: Population, groups: int) -> Array:
    """For each target k, the row of its best trial (m,).

    `points` are `groups` blocks of m trials; row k of every block is a trial of target k. Ties go to the earlier block.
    """
    xp = namespace(points.f)
    first, second = rule.keys(points)
    size = points.size // groups
    rows = xp.arange(groups * size)
    picked = rows[:size]
    for start in range(size, groups * size, size):
        block = slice(start, start + size)
        wins = better((first[block], second[block]), (first[picked], second[picked]))
        picked = xp.where(wins, rows[block], picked)
    return picked


def by_keys(technique: Any, rule: Rule, population: Population, rng: Stream) -> Array:
    """The `rank` of a technique that ranks by the keys of its rule."""
    return ranking(rule, population)


def unchanged(technique: Any, population: Population, elapsed: Array) -> Any:
    """The `after` of a technique without a state."""
    return technique


@dataclass(frozen=True)
class Fixed:
    """The same rule in every generation."""

    always: Any  # a Rule, itself a frozen dataclass of arrays

    def rule(self, population: Population, elapsed: Array, rng: Stream) -> Rule:
        rule: Rule = self.always
        return rule

    rank = by_keys
    after = unchanged


def violations(points: Population, tolerance: Array | float) -> Array:
    """How far each constraint is missed (n, constraints), inequalities first; 0 for points without values.

    Where several problems are compiled together, those with fewer constraints have columns of zeros added: a column
    that is 0 for all members is no constraint.
    """
    xp = namespace(points.f)
    missed = xp.concatenate([points.g, xp.abs(points.h) - tolerance], axis=1)
    return xp.maximum(xp.where(points.valid[:, None], missed, 0.0), 0.0)


def constraint_count(points: Population) -> Array:
    """How many constraints there are, columns that are 0 for all points not counted; at least 1."""
    xp = namespace(points.f)
    columns = xp.concatenate([points.g, points.h], axis=1)
    return xp.maximum(((columns != 0.0) & points.valid[:, None]).any(axis=0).sum(), 1)


def largest_violations(points: Population, tolerance: Array | float) -> Array:
    """The largest violation of each constraint (constraints,)."""
    return violations(points, tolerance).max(axis=0, initial=0.0)
