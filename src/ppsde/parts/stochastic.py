"""Stochastic ranking as a technique: with some probability the objective alone decides a comparison.

Runarsson, Yao, "Stochastic ranking for constrained evolutionary optimization", IEEE Transactions on Evolutionary
Computation 4 (2000).

Deviations (the publication says / we do / because)
  selection                 the best of a ranking of all offspring survive / ranks as there; a trial against its parent
                            by a coin toss / differential evolution has one-to-one survival
  probability               0.45 / in ranks; of the coins it falls linearly from 0.475 to 0.025, as in Mallipeddi and
                            Suganthan's ensemble / a coin has no ranking to correct it: at 0.45 no population settles
  a sweep without a swap    ends the ranking / n sweeps always / arrays of fixed shape; such a sweep is rare
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..arrays import Array, namespace, repeated, setting
from ..population import Keys, Population
from ..streams import Stream
from .rules import Points, Rule, of_each_row, unchanged

FIRST, LAST = 0.475, 0.025  # of a coin, at the start and at the end of the budget


def falling(elapsed: Array) -> Array:
    """The probability of a coin after a share `elapsed` of the run."""
    return FIRST + (LAST - FIRST) * elapsed


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


def stochastic_rank(population: Population, probability: Array | float, rng: Stream) -> Array:
    """The rows ranked by stochastic ranking in n sweeps."""
    n = population.size
    return stochastic_ranking(population, rng.uniform(n, n // 2 + 1), probability)


@dataclass(frozen=True)
class Stochastic:
    """Ranks by stochastic ranking, survival by a coin per row."""

    probability: float = setting(0.45)  # of a comparison by the objective, in ranks

    def rule(self, population: Population, elapsed: Array, rng: Stream) -> Coin:
        return Coin.toss(population, falling(elapsed), rng)

    def rank(self, rule: Rule, population: Population, rng: Stream) -> Array:
        return stochastic_rank(population, self.probability, rng)

    after = unchanged
