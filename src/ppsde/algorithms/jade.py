"""JADE: adaptive differential evolution with an archive of replaced parents.

Zhang, Sanderson, "JADE: Adaptive Differential Evolution With Optional External Archive", IEEE Transactions on
Evolutionary Computation 13(5), 2009, pp. 945-958.

Every member makes one trial by DE/current-to-pbest/1/bin, whose last difference reaches into an archive of parents that
were replaced. F and CR are drawn around two means, which follow what succeeds.

Deviations (the publication says / we do / because)
  no constraints            the smaller f is better / `rule` decides / constraints
  duplicates in the archive removed by the program / not removed / only equal members can make them
  pbest                     of 100 p % / the nearest integer, at least 2 / the program
Checked against: a literal version (tests/reference/jade.py) fed the same draws.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..algorithm import Coroutine, Task
from ..arrays import Array, namespace
from ..checks import check_count, check_range
from ..parts.archive import Archive, pbest_trials
from ..parts.handling import Handling, RuleOrName, check_rule, first_ranked, handling_of
from ..parts.memory import clipped_normal, positive_cauchy
from ..parts.sizing import elapsed_share, first_points, rounded
from ..population import Population, better, choose
from ..streams import Stream


@dataclass(frozen=True)
class State:
    population: Population  # best first: the index is the rank
    generation: Array  # how many were made
    means: Means
    archive: Archive  # with room for a generation more than its limit
    handling: Handling


@dataclass(frozen=True)
class JADE:
    """Settings of JADE.

    Parameters
    ----------
    population_size
        NP, the number of members.
    pbest
        p: pbest is one of this share of best members, at least two.
    c
        Rate at which the means of F and CR follow those of the successful trials.
    archive_rate
        Largest size of the archive, in population sizes.
    rule
        Constraint-handling technique, a name or your own; see docs/rules.md.
    """

    population_size: int = 100
    pbest: float = 0.05
    c: float = 0.1
    archive_rate: float = 1.0
    rule: RuleOrName = "feasibility"

    def __post_init__(self) -> None:
        check_count(self, 4, "population_size")
        check_range(self, 0.0, 1.0, "pbest", "c")
        check_range(self, 0.0, 100.0, "archive_rate")
        check_rule(self)

    def start(self, task: Task, rng: Stream) -> Coroutine:
        n = self.population_size
        points = yield first_points(task, n, rng)
        xp = namespace(points.f)
        population, handling = first_ranked(handling_of(self.rule, xp, task), points, rng)
        return State(
            population=population,
            generation=xp.asarray(0),
            means=Means.fresh(xp),
            archive=Archive.fresh(int(rounded(self.archive_rate * n)) + n, task.dimension, xp),
            handling=handling,
        )

    def generation(self, state: State, task: Task, rng: Stream) -> Coroutine:
        population = state.population
        n, capacity = population.size, state.archive.x.shape[0]
        elapsed = elapsed_share((state.generation + 1) * n, task)
        rule = state.handling.rule(population, elapsed, rng)

        # DE/current-to-pbest/1/bin with archive, F and CR around their means.
        F, CR = state.means.draw(rng.uniform(n), rng.normal(n))
        best = max(2, int(rounded(self.pbest * n)))
        trials = yield pbest_trials(population.x, state.archive, F, CR, best, n, task, rng)

        # A better trial replaces its parent, which goes to the archive; random ones leave too long an archive.
        accepted = better(rule.keys(trials), rule.keys(population))
        success = accepted & population.valid
        after = choose(accepted, trials, population)
        archive = state.archive.put(population.x, success, capacity, rng.uniform(n))
        return State(
            population=after.take(state.handling.rank(rule, after, rng)),
            generation=state.generation + 1,
            means=state.means.learn(F, CR, success, self.c),
            archive=archive.cut(capacity - n, rng.uniform(capacity)),
            handling=state.handling.after(after, elapsed),
        )

    def answer(self, state: State, best_member: Population) -> Population:
        return best_member

    def watch(self, state: State) -> dict[str, Array]:
        return {"mean_F": state.means.F, "mean_CR": state.means.CR, "archived": state.archive.size}


@dataclass(frozen=True)
class Means:
    """JADE's mu_F and mu_CR, which follow what succeeds."""

    F: Array
    CR: Array

    @classmethod
    def fresh(cls, xp: Any = np, F: float = 0.5, CR: float = 0.5) -> Means:
        return cls(xp.asarray(F), xp.asarray(CR))

    def draw(self, u_F: Array, z_CR: Array) -> tuple[Array, Array]:
        """F and CR (m,) around the means."""
        return positive_cauchy(self.F, u_F), clipped_normal(self.CR, z_CR)

    def learn(self, F: Array, CR: Array, success: Array, c: float) -> Means:
        """(1 - c) mean + c times the mean over the successes (m,): Lehmer's of F, the arithmetic one of CR."""
        xp = namespace(F)
        count = success.sum()
        some = count > 0
        sum_F, sum_FF, sum_CR = (xp.where(success, values, 0.0).sum() for values in (F, F * F, CR))
        return Means(
            F=xp.where(some, (1 - c) * self.F + c * sum_FF / (sum_F + ~some), self.F),  # + 1 without success: no 0 / 0
            CR=xp.where(some, (1 - c) * self.CR + c * sum_CR / (count + ~some), self.CR),
        )
