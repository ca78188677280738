"""Rules: which of two points is better when there are constraints. A rule is two keys, compared in order.

Points without values (not `valid`) come last under every rule, are never accepted and never count as a success.
Stochastic ranking is the one rule that is not two keys; it stands at the end.

A rule that stays: the technique of a run that judges by the same rule from its first generation to its last.

What most techniques share stands here too: ranks by the keys of the rule, and no state to move on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol

import numpy as np

from ..arrays import HUGE, Array, namespace, order
from ..population import Population, Scores
from ..streams import Stream

Keys = tuple[Array, Array]
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
    """The same, with violations up to epsilon counted as none."""

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
    """Feasible points by their objective; the infeasible behind them, all alike: a death penalty."""

    def keys(self, points: Points) -> Keys:
        xp = namespace(points.f)
        feasible = points.violation == 0.0
        first = xp.where(feasible, 0.0, xp.where(points.valid, 1.0, np.inf))
        return first, xp.where(feasible, points.f, 0.0)


def push() -> Rule:
    """The objective alone: every point that has values counts as feasible."""
    return Epsilon(HUGE)


def better(first: Keys, second: Keys) -> Array:
    """Where the first is strictly better."""
    return (first[0] < second[0]) | ((first[0] == second[0]) & (first[1] < second[1]))


def accepts(rule: Rule, trials: Points, parents: Points) -> Array:
    """Where a trial may replace its parent: it has values and is not worse."""
    return ~better(rule.keys(parents), rule.keys(trials)) & trials.valid


def gain(rule: Rule, trials: Points, parents: Points) -> Array:
    """How much better a strictly better trial is, 0 elsewhere: in f where f decided, in violation where that did.

    A trial better than a point without values gains nothing that could be measured.
    """
    xp = namespace(trials.f)
    new, old = rule.keys(trials), rule.keys(parents)
    amount = xp.where(new[0] == old[0], old[1] - new[1], parents.violation - trials.violation)
    return xp.where(better(new, old) & (amount < np.inf), amount, 0.0)


def ranking(rule: Rule, points: Points) -> Array:
    """The rows, best first."""
    return order(*rule.keys(points))


def best_of(rule: Rule, points: Population, groups: int) -> Array:
    """The rows of the best of k-th points: `groups` blocks of m rows, of which the k-th rows compete; (m,).

    Only a strictly better point wins, so ties go to the earlier block.
    """
    xp = namespace(points.f)
    first, second = rule.keys(points)
    size = points.size // groups
    picked = xp.arange(size)
    for block in range(1, groups):
        rows = xp.arange(block * size, (block + 1) * size)
        picked = xp.where(better((first[rows], second[rows]), (first[picked], second[picked])), rows, picked)
    return picked


def stochastic_ranking(points: Population, u: Array, probability: Array | float = 0.45) -> Array:
    """The rows ranked by stochastic ranking (Runarsson and Yao 2000); u (sweeps, n // 2 + 1) uniform numbers.

    Neighbours are compared by objective with the given probability, or if both are feasible; else by violation.
    The original bubbles from one end to the other; here even and odd pairs take turns, so that a sweep is one array
    operation. Points without values are always compared by violation, so they end last.
    """
    xp = namespace(points.f)
    n = points.size
    f, v = points.f, points.violation
    valid, feasible = points.valid, points.feasible
    higher, worse = f[:, None] > f, v[:, None] > v  # (n, n): whether a row on the left is to go behind one on the right
    by_f = xp.where(valid[:, None] & valid, higher, worse)
    by_v = xp.where(feasible[:, None] & feasible, higher, worse)
    places = xp.arange(n)
    left, right, pair = (xp.asarray(table) for table in _neighbours(n))
    u = xp.asarray(u)
    partner = left + right - places  # (2, n)

    def sweep(k: Array | int, rows: Array) -> Array:
        turn = k % 2
        l, r = rows[left[turn]], rows[right[turn]]
        swap = xp.where(u[k, pair[turn]] < probability, by_f[l, r], by_v[l, r])
        return rows[xp.where(swap, partner[turn], places)]

    return repeated(u.shape[0], sweep, places)


@lru_cache(maxsize=64)
def _neighbours(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For even sweeps and odd ones (2, n): the left place and the right place of each place's pair, and its number.

    A place at an end that has no neighbour in a sweep is its own.
    """
    places, offset = np.arange(n), np.array([[0], [1]])
    pair = (places - offset) // 2
    left, right = offset + 2 * pair, offset + 2 * pair + 1
    alone = (left < 0) | (right >= n)
    return np.where(alone, places, left), np.where(alone, places, right), pair


def repeated(count: int, step: Callable[[Any, Array], Array], start: Array) -> Array:
    """`step(k, value)` for k = 0 .. count - 1, one after another; in JAX a loop, which unrolled compiles for long."""
    if namespace(start) is not np:
        import jax

        return jax.lax.fori_loop(0, count, step, start)
    value = start
    for k in range(count):
        value = step(k, value)
    return value


def by_keys(technique: Any, rule: Rule, population: Population, rng: Stream) -> Array:
    """The `rank` of a technique that has no other order than its rule's."""
    return ranking(rule, population)


def unchanged(technique: Any, population: Population, elapsed: Array) -> Any:
    """The `after` of a technique that keeps nothing from one generation to the next."""
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
