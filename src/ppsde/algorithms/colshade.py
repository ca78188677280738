"""COLSHADE: L-SHADE with Levy flights and a tolerance for each equality, second in the CEC 2020 real-world competition.

Gurrola-Ramos, Hernandez-Aguirre, Dalmau-Cedeno, "COLSHADE for Real-World Single-Objective Constrained optimization
Problems", CEC 2020, and the authors' program.

Every equality has a tolerance of its own. It starts where all members satisfy it and shrinks only while some member
does. A trial comes from DE/current-to-pbest/1 with an archive, or from a heavy-tailed step towards pbest; each of the
two has a memory for F and CR, and the second is used as often as its share of the gains says. F cannot fall below a
critical value that depends on CR and on the size of the population, which shrinks linearly.

Deviations (the program does / we do / because)
  when a tolerance shrinks one member satisfies it; 20 % of the members in the paper / `followers` 0, one; a share of
                           the members else / the program's results
  least F                  redrawn, the paper replaces F by it / by inverse distribution / the program, the same law
  third acceptance         less violation at the final tolerances; the paper wants none at the present ones / the former
                           / the program
  gain of the third        not known / the violation at the final tolerances / it decided
  terminal value of CR     -1 / minus infinity, which stays 0 after any draw / no special case
  Levy law                 stable, alpha 1/2, beta 1 / scale / Z^2 with a normal Z / the same law
  equal violations > 0     not sorted by f / sorted / the order is then total
  budget                   the last generation is not made if it does not fit / is cut / fairness
Steps are numbered as in the literal version.
Checked against: a literal version (tests/reference/colshade.py) fed the same draws.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..algorithm import Ask, Coroutine, Task
from ..arrays import Array, gather, namespace
from ..checks import check_count, check_range
from ..parts.archive import Archive
from ..parts.indices import place
from ..parts.memory import CLOSED, SPREAD, TINY, Memory, cauchy_above
from ..parts.repairs import part_way
from ..parts.sizing import alive, elapsed_share, first_points, linear_size, rounded, shrunk, size_or_default
from ..parts.variation import binomial, current_to_pbest_1
from ..population import Population, choose
from ..streams import Stream

PBEST, LEVY = range(2)


@dataclass(frozen=True)
class State:
    population: Population  # sorted by the feasibility rule: the first member is the incumbent
    generation: Array  # how many were made
    evaluations: Array
    size: Array
    memory: Memory
    archive: Archive
    tolerance: Array  # (q,), of each equality
    levy_rate: Array  # q, the probability of a Levy flight


@dataclass(frozen=True)
class COLSHADE:
    """Settings of COLSHADE.

    Parameters
    ----------
    population_size
        N_init, the number of members at the start; 18 D if None.
    final_size
        N_min, the number of members at the end of the budget.
    memory_size
        H, the number of cells in the memories of F and CR, for each of the two operators.
    pbest
        p: pbest is one of this share of best members.
    archive_rate
        Largest size of the archive, in population sizes.
    first_levy_rate
        Probability of a Levy flight at the start.
    least_levy_rate
        Least probability of each operator.
    momentum
        Share of the old probability of a Levy flight in the new one.
    levy_scale
        Scale of the Levy law.
    closes
        Share of the budget after which every tolerance is the final one.
    followers
        Share of the members that must satisfy an equality before its tolerance shrinks; at least one must.
    """

    needs_constraint_values: ClassVar[bool] = True

    population_size: int | None = None
    final_size: int = 4
    memory_size: int = 6
    pbest: float = 0.11
    archive_rate: float = 2.6
    first_levy_rate: float = 0.5
    least_levy_rate: float = 1e-3
    momentum: float = 0.25
    levy_scale: float = 0.01
    closes: float = 0.6
    followers: float = 0.0

    def __post_init__(self) -> None:
        check_count(self, 4, "final_size")
        check_count(self, self.final_size, "population_size")
        check_count(self, 1, "memory_size")
        check_range(self, 0.0, 1.0, "pbest", "first_levy_rate", "momentum", "followers")
        check_range(self, 0.0, 0.5, "least_levy_rate")
        check_range(self, 0.0, 100.0, "archive_rate", "levy_scale")
        check_range(self, 0.01, 1.0, "closes")

    def start(self, task: Task, rng: Stream) -> Coroutine:
        n = size_or_default(self.population_size, task, per_variable=18, least=self.final_size)
        points = yield first_points(task, n, rng)
        xp = namespace(points.f)
        missed = xp.where(points.valid[:, None], xp.abs(points.h), 0.0)
        return State(
            population=points.sorted(),
            generation=xp.asarray(0),
            evaluations=xp.asarray(n),
            size=xp.asarray(n),
            memory=Memory.fresh(2, self.memory_size, xp),
            archive=Archive.fresh(int(rounded(self.archive_rate * n)), task.dimension, xp),
            tolerance=xp.maximum(missed.max(axis=0), task.tolerance),
            levy_rate=xp.asarray(self.first_levy_rate),
        )

    def generation(self, state: State, task: Task, rng: Stream) -> Coroutine:
        population, size = state.population, state.size
        n, d = population.x.shape
        xp = namespace(population.f)

        # Step 1: the tolerances, and the violations by them.
        tolerance = self._tolerance(state, task)
        parents = violation_by(population, tolerance)

        # Step 2: operator, CR and F of each trial.
        u_operator, u_cell, u_F, u_certain, u_archive = rng.uniform(5, n)
        operator = xp.where(u_operator < state.levy_rate, LEVY, PBEST)
        F, CR = self._parameters(state, operator, u_cell, u_F, rng.normal(n))

        # Step 3: mutation by either operator, repair near the bound, binomial crossover.
        i = xp.arange(n)
        best = xp.ceil(self.pbest * size).astype(int)
        pbest, r1, r2 = state.archive.parents(rng.uniform(3, n), i, xp.maximum(best, 1), size, n)
        led = current_to_pbest_1(state.archive.joined(population.x), i, pbest, r1, r2, F)
        far = self.levy_scale / xp.maximum(rng.normal(n, d) ** 2, TINY)
        flown = population.x + F[:, None] * far * (gather(population.x, pbest) - population.x)
        mutants = xp.where((operator == LEVY)[:, None], flown, led)
        share = 1.0 - 0.1 * rng.uniform(n, d)
        mutants = part_way(mutants, task.lower, task.upper, population.x, share)
        trials = yield Ask(binomial(mutants, population.x, CR, rng.uniform(n, d), place(u_certain, d)), alive(n, size))

        # Step 4: selection; gains in f and in violation, each kind relative to its largest.
        svc = violation_by(trials, tolerance)
        first = i == 0
        relaxed = (tolerance > task.tolerance).any() & ~first
        less = xp.where(first, trials.violation < population.violation, svc < parents)
        both = xp.where(first, trials.feasible & population.feasible, (svc == 0) & (parents == 0))
        by_f = both & (trials.f < population.f)
        nearer = relaxed & ~less & ~by_f & (trials.violation < population.violation)
        accepted = trials.valid & (less | by_f | nearer)
        fall = xp.where(first | nearer, population.violation - trials.violation, parents - svc)
        success = accepted & population.valid
        gains = relative(population.f - trials.f, success & by_f) + relative(fall, success & ~by_f)

        # Steps 5 to 7: memories, the probability of a flight, archive and population.
        flights = xp.where(operator == LEVY, gains, 0.0).sum()
        total = gains.sum()
        rate = self.momentum * state.levy_rate + (1 - self.momentum) * flights / (total + (total == 0))
        rate = xp.clip(rate, self.least_levy_rate, 1 - self.least_levy_rate)
        evaluations = state.evaluations + size
        fewer = linear_size(n, self.final_size, elapsed_share(evaluations, task))
        archive = state.archive.put(population.x, success, rounded(self.archive_rate * size), u_archive)
        u_cut = rng.uniform(archive.x.shape[0])
        return State(
            population=shrunk(choose(accepted, trials, population).sorted(), fewer),
            generation=state.generation + 1,
            evaluations=evaluations,
            size=fewer,
            memory=state.memory.learn(operator, F, CR, gains, ties=success, lehmer_CR=True, closing=True),
            archive=archive.cut(rounded(self.archive_rate * fewer), u_cut),
            tolerance=tolerance,
            levy_rate=xp.where(total > 0, rate, state.levy_rate),
        )

    def answer(self, state: State, best_member: Population) -> Population:
        """The first member, which only a better point can replace."""
        return state.population.take(slice(0, 1))

    def watch(self, state: State) -> dict[str, Array]:
        return {"size": state.size, "levy_rate": state.levy_rate}

    def _tolerance(self, state: State, task: Task) -> Array:
        """The tolerance of each equality (q,) in this generation."""
        xp = namespace(state.tolerance)
        population = state.population
        old, final = state.tolerance, task.tolerance + xp.zeros_like(state.tolerance)
        satisfied = ((xp.abs(population.h) <= old) & population.valid[:, None]).sum(axis=0)
        follows = satisfied >= xp.maximum(self.followers * state.size, 1)
        left = self.closes * task.max_evaluations - state.evaluations
        power = state.size / xp.maximum(left, 1.0)
        smaller = xp.maximum(old * (final / xp.maximum(old, TINY)) ** power, final)
        return xp.where(left > 0, xp.where(follows, smaller, old), final)

    def _parameters(self, state: State, operator: Array, u_cell: Array, u_F: Array, z: Array) -> tuple[Array, Array]:
        """F and CR (n,): F above sqrt((1 - CR / 2) / N), with CR before it is clipped."""
        xp = namespace(z)
        cell = operator, place(u_cell, self.memory_size)
        centre = state.memory.CR[cell]
        CR = xp.where(centre == CLOSED, 0.0, centre + SPREAD * z)
        critical = xp.sqrt(xp.maximum(1.0 - CR / 2, 0.0) / state.size)
        return cauchy_above(state.memory.F[cell], u_F, xp.clip(critical, TINY, 1.0)), xp.clip(CR, 0.0, 1.0)


def violation_by(points: Population, tolerance: Array) -> Array:
    """svc (n,): the sum of the violations, each equality with a tolerance of its own (q,)."""
    xp = namespace(points.f)
    missed = xp.maximum(xp.abs(points.h) - tolerance, 0.0).sum(axis=1)
    return xp.where(points.valid, xp.maximum(points.g, 0.0).sum(axis=1) + missed, np.inf)


def relative(amount: Array, counts: Array) -> Array:
    """The amounts (n,) over the largest of those that count and are finite; 0 for the others."""
    xp = namespace(amount)
    amount = xp.where(counts & (amount < np.inf), amount, 0.0)
    largest = amount.max()
    return amount / (largest + (largest == 0))
