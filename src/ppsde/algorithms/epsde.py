"""EPSDE: differential evolution with an ensemble of strategies and parameters.

Mallipeddi, Suganthan, Pan, Tasgetiren, "Differential Evolution Algorithm With Ensemble of Parameters and Mutation
Strategies", Applied Soft Computing 11 (2011), pp. 1679-1696.

Each member has a combination of strategy, CR and F from small pools and makes one trial with it. A combination that
succeeds stays with its member and is remembered; one that fails is exchanged for a remembered one, or for a new one
drawn from the pools.

Deviations (the publication says / we do / because)
  no constraints            the smaller f is better / `rule` decides / constraints
  remembered or new         alike in the publication / remembered with the mean share of failures of the last
                            generations as probability / the authors' program
  successful combinations   stay / stay / in the authors' program every member changes its combination
  remembered combinations   a list that grows / a count for each of the 162 / the same, with a fixed shape
  one remembered, won again leaves its place in the program's list, or another's / is counted again / clear
  K of current-to-rand      one for each component in the program / one for each member / the publication calls it
                            invariant to rotations, and linear equalities are lost else
  parents                   may be the member itself in the program / others / the publication
  components out of bounds  a new point, if all are out / a uniform number each / the program's test never holds
Checked against: a literal version (tests/reference/epsde.py) fed the same draws.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..algorithm import Coroutine, Task
from ..arrays import Array, namespace
from ..checks import check_count, check_range
from ..parts.handling import Handling, RuleOrName, check_rule, first_handling
from ..parts.indices import place
from ..parts.repairs import resample
from ..parts.rules import accepts
from ..parts.sizing import elapsed_share, first_points
from ..parts.variation import Roles, binomial_or_one, distinct, two_differences
from ..population import Population, choose
from ..streams import Stream

BEST_2, RAND_1, CURRENT_TO_RAND_1 = range(3)
CR_POOL = np.arange(1, 10) / 10
F_POOL = np.arange(4, 10) / 10
COMBINATIONS = 3 * len(CR_POOL) * len(F_POOL)  # numbered strategy by strategy, within these CR by CR


@dataclass(frozen=True)
class State:
    population: Population
    generation: Array  # how many were made
    combination: Array  # (n,), of each member
    winners: Winners
    handling: Handling


@dataclass(frozen=True)
class EPSDE:
    """Settings of EPSDE.

    Parameters
    ----------
    population_size
        NP, the number of members.
    window
        Number of generations whose failures decide how often a remembered combination is used.
    F_deviation
        Standard deviation of each component's F from the member's F.
    rule
        Constraint-handling technique, a name or your own; see docs/rules.md.
    """

    population_size: int = 50
    window: int = 11
    F_deviation: float = 0.001
    rule: RuleOrName = "feasibility"

    def __post_init__(self) -> None:
        check_count(self, 5, "population_size")
        check_count(self, 1, "window")
        check_range(self, 0.0, 1.0, "F_deviation")
        check_rule(self)

    def start(self, task: Task, rng: Stream) -> Coroutine:
        n = self.population_size
        points = yield first_points(task, n, rng)
        xp = namespace(points.f)
        return State(
            population=points,
            generation=xp.asarray(0),
            combination=place(rng.uniform(n), COMBINATIONS),
            winners=Winners(xp.zeros(COMBINATIONS, dtype=int), xp.zeros(self.window)),
            handling=first_handling(self.rule, points, task),
        )

    def generation(self, state: State, task: Task, rng: Stream) -> Coroutine:
        population = state.population
        xp = namespace(population.f)
        n, d = population.x.shape
        elapsed = elapsed_share((state.generation + 1) * n, task)
        rule = state.handling.rule(population, elapsed, rng)

        # Strategy, CR and F of each member's combination.
        per_strategy = len(CR_POOL) * len(F_POOL)
        strategy, parameters = state.combination // per_strategy, state.combination % per_strategy
        CR = xp.asarray(CR_POOL)[parameters // len(F_POOL)]
        F = xp.asarray(F_POOL)[parameters % len(F_POOL)][:, None] + self.F_deviation * rng.normal(n, d)
        K = rng.uniform(n, 1)

        # best/2             x_best + F (x_r2 - x_r3) + F (x_r1 - x_r4)
        # rand/1             x_r1 + F (x_r2 - x_r3)
        # current-to-rand/1  x_i + K (x_r1 - x_i) + F (x_r2 - x_r3), not crossed
        best = xp.broadcast_to(state.handling.rank(rule, population, rng)[0], (n,))
        r1, r2, r3, r4 = distinct(rng.uniform(4, n), n, xp.arange(n))
        of_best, of_rand = strategy == BEST_2, strategy == RAND_1
        base = xp.where(of_best, best, xp.where(of_rand, r1, xp.arange(n)))
        roles = Roles(base, xp.where(of_best, best, r1), r2, r3, r1, r4)
        mutants = two_differences(population.x, roles, K, F, F * of_best[:, None])
        crossed = xp.where(strategy == CURRENT_TO_RAND_1, np.inf, CR)
        u_spare, u_remembered, u_which, u_new = rng.uniform(4, n)
        x = binomial_or_one(mutants, population.x, crossed, rng.uniform(n, d), place(u_spare, d))
        trials = yield resample(x, task.lower, task.upper, population.x, rng.uniform(n, d))

        # A combination that failed is replaced: the more failed lately, the more often by a remembered one.
        accepted = accepts(rule, trials, population)
        after = choose(accepted, trials, population)
        winners = state.winners.record(state.generation, state.combination, accepted)
        remembered = (u_remembered <= winners.failure_rate(state.generation + 1)) & (winners.counts.sum() > 0)
        other = xp.where(remembered, winners.draw(u_which), place(u_new, COMBINATIONS))
        return State(
            population=after,
            generation=state.generation + 1,
            combination=xp.where(accepted, state.combination, other),
            winners=winners,
            handling=state.handling.after(after, elapsed),
        )

    def answer(self, state: State, best_member: Population) -> Population:
        return best_member

    def watch(self, state: State) -> dict[str, Array]:
        return {"failures": state.winners.failure_rate(state.generation)}


@dataclass(frozen=True)
class Winners:
    """How often each combination has succeeded, and how many trials failed lately."""

    counts: Array  # (combinations,)
    failures: Array  # (window,), shares of the last generations, a ring buffer

    def record(self, generation: Array, combination: Array, success: Array) -> Winners:
        """The same with this generation's combinations (n,) that succeeded (n,) counted."""
        xp = namespace(self.counts)
        window = self.failures.shape[0]
        won = (combination == xp.arange(COMBINATIONS)[:, None]) & success
        here = xp.arange(window) == generation % window
        return Winners(
            self.counts + won.sum(axis=1), xp.where(here, 1.0 - success.sum() / success.shape[0], self.failures)
        )

    def failure_rate(self, generation: Array) -> Array:
        """The mean share of failures of the last generations, where `generation` of them were made."""
        window = self.failures.shape[0]
        return self.failures.sum() / namespace(self.counts).clip(generation, 1, window)

    def draw(self, u: Array) -> Array:
        """A remembered combination (m,) per uniform number, as often as it succeeded; the last one before any did."""
        xp = namespace(self.counts)
        ends = xp.cumsum(self.counts)
        return xp.minimum(xp.searchsorted(ends, place(u, ends[-1]), side="right"), COMBINATIONS - 1)
