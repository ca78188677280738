"""EnMODE: enhanced multi-operator differential evolution, fourth in the CEC 2020 real-world competition.

Sallam, Elsayed, Chakrabortty, Ryan, "Multi-operator Differential Evolution Algorithm for Solving Real-World Constrained
Optimization Problems", CEC 2020, and the authors' program.

A member makes one trial by one of two close relatives of DE/current-to-pbest/1, with or without an archive; their
shares follow their gains. pbest is good by the objective alone. In the first generations only the easier half of the
constraints counts. The population shrinks linearly.

The program differs from the paper in almost every parameter; this is the program, whose results are the published ones.

Deviations (the program does / we do / because)
  first generations        an index is applied twice, so that not exactly the easier half counts / the easier half, by
                           the mean violation of the first members; at most half of the budget / a slip; small budgets
  relative change of f     over |f| of the parent / over the larger |f| of the two / no division by 0
  rise of f                in a gain of less violation: not known / counts as no change / a gain is never negative
  bounds                   one of three repairs for all trials of a generation: halfway, mirrored, uniform / likewise
  threshold                computed but not used: the feasibility rule / the feasibility rule / the program
  violation                a mean over the constraints, |h| beyond the tolerance / the sum, |h| less the tolerance /
                           one measure for all methods
  redrawing                F and CR until positive / by inverse distribution / the same law
  budget                   overshot by less than a generation / met exactly / fairness
Steps are numbered as in the literal version.
Checked against: a literal version (tests/reference/enmode.py) fed the same draws.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ..algorithm import Ask, Coroutine, Task
from ..arrays import Array, ascending, namespace
from ..checks import check_count, check_range
from ..parts.archive import Archive
from ..parts.indices import place, uniform_index
from ..parts.memory import TINY, Memory, positive_cauchy
from ..parts.repairs import midpoint, mirrored, resample
from ..parts.sizing import alive, elapsed_share, first_points, linear_size, rounded, shrunk
from ..parts.variation import binomial, current_to_pbest_1
from ..population import Population, better, choose
from ..streams import Stream

WITH_ARCHIVE, WITHOUT = range(2)
SIZES = ((30, 200), (50, 150), (None, 80))  # up to so many variables, so many members at the start


@dataclass(frozen=True)
class Easy:
    """The easier half of the constraints, and the number of generations in which only they count."""

    counts: Array  # (m,) bool, of each constraint, g then h
    left: Array

    def violation(self, points: Population, tolerance: Array | float) -> Array:
        """The violation (n,) of the constraints that count."""
        xp = namespace(points.f)
        easy = xp.where(self.counts, single_violations(points, tolerance), 0.0).sum(axis=1)
        return xp.where(points.valid & (self.left > 0), easy, points.violation)


@dataclass(frozen=True)
class State:
    population: Population  # sorted by the feasibility rule; the first `size` rows are alive
    generation: Array  # how many were made
    evaluations: Array
    size: Array
    memory: Memory
    archive: Archive  # of parents that their trials did not replace
    archive_share: Array  # the probability of the operator with archive
    easy: Easy


@dataclass(frozen=True)
class EnMODE:
    """Settings of EnMODE.

    Parameters
    ----------
    population_size
        N_init, the number of members at the start; 200, 150 beyond 30 variables, 80 beyond 50 if None.
    final_size
        N_min, the number of members at the end of the budget.
    memory_size
        H, the number of cells in the memories of F and CR; N_init if None.
    first_F
        Content of the memory of F at the start.
    first_CR
        Content of the memory of CR at the start.
    pbest
        phi: pbest is one of this share of the members with the lowest objectives.
    archive_rate
        Largest size of the archive, in first population sizes.
    least_share
        Least share of each operator.
    shares_until
        Share of the budget after which both operators are equally likely.
    easy_generations
        Number of generations, the first ones, in which only the easier half of the constraints counts.
    """

    needs_constraint_values: ClassVar[bool] = True

    population_size: int | None = None
    final_size: int = 4
    memory_size: int | None = None
    first_F: float = 0.5
    first_CR: float = 0.2
    pbest: float = 0.25
    archive_rate: float = 2.0
    least_share: float = 0.1
    shares_until: float = 0.75
    easy_generations: int = 100

    def __post_init__(self) -> None:
        check_count(self, 4, "final_size")
        check_count(self, self.final_size, "population_size")
        check_count(self, 1, "memory_size")
        check_count(self, 0, "easy_generations")
        check_range(self, 0.0, 1.0, "first_F", "first_CR", "pbest", "shares_until")
        check_range(self, 0.0, 0.5, "least_share")
        check_range(self, 0.0, 100.0, "archive_rate")

    def start(self, task: Task, rng: Stream) -> Coroutine:
        d = task.dimension
        n = self.population_size or next(size for most, size in SIZES if most is None or d <= most)
        points = yield first_points(task, n, rng)
        xp = namespace(points.f)
        known = points.valid[:, None]
        mean = xp.where(known, single_violations(points, task.tolerance), 0.0).sum(axis=0)
        real = task.real(points)
        rank = xp.argsort(ascending(xp.where(real, mean, np.inf)))
        return State(
            population=points.sorted(),
            generation=xp.asarray(0),
            evaluations=xp.asarray(n),
            size=xp.asarray(n),
            memory=Memory.fresh(1, self.memory_size or n, xp, F=self.first_F, CR=self.first_CR),
            archive=Archive.fresh(int(rounded(self.archive_rate * n)), d, xp),
            archive_share=xp.asarray(0.5),
            easy=Easy(real & (rank < (real.sum() + 1) // 2), xp.asarray(self.easy_generations)),
        )

    def generation(self, state: State, task: Task, rng: Stream) -> Coroutine:
        population, size = state.population, state.size
        n, d = population.x.shape
        xp = namespace(population.f)
        elapsed = elapsed_share(state.evaluations, task)

        # Step 1: operator, F and CR of each trial, both from Cauchy laws around one cell.
        u_operator, u_cell, u_F, u_CR, u_best, u_certain, u_archive = rng.uniform(7, n)
        operator = xp.where(u_operator < state.archive_share, WITH_ARCHIVE, WITHOUT)
        cell = place(u_cell, state.memory.F.shape[1])
        F = positive_cauchy(state.memory.F[0][cell], u_F)
        CR = positive_cauchy(state.memory.CR[0][cell], u_CR)

        # Step 2: DE/current-to-pbest/1, pbest by f alone; one of three repairs for all; binomial crossover.
        i, u = xp.arange(n), rng.uniform(3, n)
        lowest = ascending(population.f)  # dead rows have f = inf and come last
        pbest = lowest[place(u_best, xp.maximum((self.pbest * size).astype(int), 1))]
        _, r1, r2 = state.archive.parents(u, i, 1, size, n)
        r2 = xp.where(operator == WITH_ARCHIVE, r2, uniform_index(u[2], size, i, r1))
        mutants = current_to_pbest_1(state.archive.joined(population.x), i, pbest, r1, r2, F)
        mutants = self._repaired(mutants, population.x, task, rng)
        x = binomial(mutants, population.x, CR, rng.uniform(n, d), place(u_certain, d))
        trials = yield Ask(x, alive(n, size))

        # Step 3: the feasibility rule by the constraints that count; gains.
        easy = replace(state.easy, left=xp.where(elapsed < 0.5, state.easy.left, 0))
        old, new = (easy.violation(points, task.tolerance) for points in (population, trials))
        accepted = better((new, trials.f), (old, population.f))
        gains = gain(population, trials, old, new, accepted & population.valid)

        # Step 4: shares of the operators. Step 5: memories, archive of parents that stay, population.
        evaluations = state.evaluations + size
        fewer = linear_size(n, self.final_size, elapsed_share(evaluations, task))
        survivors = alive(n, size) & ~accepted & population.valid
        return State(
            population=shrunk(choose(accepted, trials, population).sorted(), fewer),
            generation=state.generation + 1,
            evaluations=evaluations,
            size=fewer,
            memory=state.memory.learn(xp.zeros(n, dtype=int), F, CR, gains, lehmer_CR=True),
            archive=state.archive.put(population.x, survivors, state.archive.x.shape[0], u_archive),
            archive_share=self._share(operator, gains, alive(n, size), elapsed),
            easy=replace(easy, left=xp.maximum(easy.left - 1, 0)),
        )

    def answer(self, state: State, best_member: Population) -> Population:
        return best_member

    def watch(self, state: State) -> dict[str, Array]:
        return {"size": state.size, "archive_share": state.archive_share}

    def _repaired(self, mutants: Array, x: Array, task: Task, rng: Stream) -> Array:
        """The mutants (n, d) in the box, by one of three repairs that is drawn for all of them."""
        xp = namespace(x)
        box = task.lower, task.upper
        kind = place(rng.uniform(1), 3)
        u = rng.uniform(*x.shape)
        other = xp.where(kind == 1, mirrored(mutants, *box), resample(mutants, *box, x, u))
        return xp.where(kind == 0, midpoint(mutants, *box, x, u), other)

    def _share(self, operator: Array, gains: Array, made: Array, elapsed: Array) -> Array:
        """The probability of the operator with archive: its share of the mean gains, one half late in the run."""
        xp = namespace(gains)
        mine = [(operator == k) & made for k in (WITH_ARCHIVE, WITHOUT)]
        means = [xp.where(mask, gains, 0.0).sum() / xp.maximum(mask.sum(), 1) for mask in mine]
        total = means[0] + means[1]
        share = xp.clip(means[0] / (total + (total == 0)), self.least_share, 1 - self.least_share)
        return xp.where((total > 0) & (elapsed < self.shares_until), share, 0.5)


def single_violations(points: Population, tolerance: Array | float) -> Array:
    """The violation of each constraint (n, m), g then h."""
    xp = namespace(points.f)
    return xp.concatenate([xp.maximum(points.g, 0.0), xp.maximum(xp.abs(points.h) - tolerance, 0.0)], axis=1)


def gain(parents: Population, trials: Population, old: Array, new: Array, success: Array) -> Array:
    """The gain of each success (n,): relative reductions of violation and objective, 0 for the others.

    `old` and `new` are the violations that decided. A trial that is feasible by them has, in addition, the largest gain
    of those that are not, so that it always weighs more.
    """
    xp = namespace(old)
    known = success & (parents.f < np.inf) & (trials.f < np.inf)
    size = xp.maximum(xp.maximum(xp.abs(parents.f), xp.abs(trials.f)), TINY)
    fall = xp.where(known, xp.maximum(parents.f / size - trials.f / size, 0.0), 0.0)
    less = xp.where(success, old - new, 0.0) / xp.where(success & (old > 0), old, 1.0)
    amount = less + fall
    feasible = success & (new == 0)
    largest = xp.where(success & ~feasible, amount, 0.0).max()
    return xp.where(success, amount + xp.where(feasible, largest, 0.0), 0.0)
