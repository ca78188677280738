"""IDE: mutation and parameters that depend on the individual's rank.

Tang, Dong, Liu, "Differential Evolution With an Individual-Dependent Mechanism", IEEE Transactions on Evolutionary
Computation 19(4), 2015, pp. 560-574.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..algorithm import Task
from ..arrays import Array, namespace
from ..streams import Stream
from .bounds import resample
from .indices import best_index, place, uniform_index
from .individual_parameters import by_rank
from .sampling import inside
from .sizing import rounded
from .variation import binomial, guided

FEWEST_SUPERIOR = 5  # so that one of them is always left to draw
LATE_THRESHOLD = 0.1  # of the share of successes, in the second half; 0 before
PATIENCE = 0.1  # of all generations, with too few successes, before bases are drawn at random


@dataclass(frozen=True)
class Individual:
    """How far an IDE has come."""

    made: Array  # generations
    total: Array  # generations that it will have
    idle: Array  # generations in a row with too few successes
    random_base: Array  # bool: its second stage, in which the base is a random member and not the target

    @classmethod
    def fresh(cls, evaluations: Array | float, n: int, xp: Any = np) -> Individual:
        """With so many evaluations to come for n members."""
        total = xp.maximum(rounded(evaluations / n), 1)
        return cls(xp.asarray(0), xp.asarray(total), xp.asarray(0), xp.asarray(False))

    @property
    def superior_share(self) -> Array:
        """Of the population: about a tenth for long, all at the end."""
        return 0.1 + 0.9 * 10.0 ** (5.0 * (self.made / self.total - 1.0))

    def trials(self, x: Array, n: int, task: Task, rng: Stream) -> Array:
        """One trial per row of x (m, d), of which the first n are alive, ranked best first."""
        xp = namespace(x)
        m, d = x.shape
        i = xp.arange(m)
        u_base, u_1, u_2, u_3, u_superior, u_F, u_CR, u_kept = rng.uniform(8, m)
        u_where, u_value, u_cross, u_repair = rng.uniform(4, m, d)

        other = uniform_index(u_base, n, i)
        r1 = uniform_index(u_1, n, i, other)
        r2 = uniform_index(u_2, n, i, other, r1)
        r3 = uniform_index(u_3, n, i, other, r1, r2)
        base = xp.where(self.random_base, other, i)
        superior = xp.maximum((self.superior_share * n).astype(int), FEWEST_SUPERIOR)
        led = (base >= superior) & (r1 >= superior)  # an inferior base is led by a superior member
        r1 = xp.where(led, best_index(u_superior, superior, i, other, r2, r3), r1)

        perturbed = xp.where(u_where < 0.1 * self.superior_share, inside(task, u_value), x[r3])
        F, CR = by_rank(base, n, u_F), by_rank(i, n, u_CR)
        mutants = guided(xp.concatenate([x, perturbed]), base, r1, r2, m + i, F, F)
        trials = binomial(mutants, x, CR, u_cross, place(u_kept, d))
        return resample(trials, task.lower, task.upper, x, u_repair)

    def after(self, success_share: Array) -> Individual:
        """A generation later, in which that share of the trials replaced their parents."""
        xp = namespace(success_share)
        threshold = xp.where(self.made >= self.total // 2, LATE_THRESHOLD, 0.0)
        idle = xp.where(success_share <= threshold, self.idle + 1, 0)
        switch = idle >= PATIENCE * self.total
        return Individual(self.made + 1, self.total, idle, self.random_base | switch)
