"""C2oDE: composite differential evolution for constrained problems.

Wang, Li, Li, Wang, "Composite Differential Evolution for Constrained Evolutionary Optimization", IEEE Transactions on
Systems, Man, and Cybernetics: Systems 49 (2019).

Each member makes three trials: one led by the lowest objective, one led by a feasible point, one led by nothing. The
feasibility rule picks the best of the three, and a shrinking epsilon decides whether it replaces the member. A
population that is infeasible and has lost its spread is drawn anew.

Deviations (the paper, or the programs of its family, say / we do / because)
  population size         not known / `population_size` 5 D, at least 40 / reproduces the means printed by others
  guide to feasibility    any feasible point / likewise, `feasible_guide` "best" is the best / fits D = 30 better
  bounds                  `repair` "chance": mirrored by chance, else put on the upper bound / likewise / what the
                          programs do; "mirror" is CoDE's repair, which treats both sides of the box alike
  epsilon that starts     below exp(-6) would grow / stays / an epsilon that grows makes no sense
  epsilon closes          from t = 0.5 on / after t = 0.5 / the formula is shared with IUDE
  restart                 within a generation / is one of its own, whose trials are not made / the same evaluations
Checked against: a literal version (tests/reference/c2ode.py) fed the same draws; the printed D = 10 means.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..algorithm import Ask, Coroutine, Task
from ..arrays import Array, gather, namespace, order, when
from ..parts.census import feasible_share
from ..parts.epsilon import ClosingEpsilon
from ..parts.indices import place
from ..parts.memory import any_of
from ..parts.repairs import mirrored, mirrored_or_put
from ..parts.rules import Epsilon, Feasibility, best_of, better
from ..parts.settings import check_choices, check_count, check_range
from ..parts.sizing import first_points, inside, size_or_default
from ..parts.variation import Roles, binomial, distinct, two_differences
from ..population import Population, choose, forgotten
from ..streams import Stream

F_POOL = (0.6, 0.8, 1.0)
CR_POOL = (0.1, 0.2, 1.0)
TO_LOWEST, TO_FEASIBLE, TO_RAND = range(3)


@dataclass(frozen=True)
class State:
    population: Population
    generation: Array  # how many were made, restarts included
    closing: ClosingEpsilon  # restarts do not make it older


@dataclass(frozen=True)
class C2oDE:
    """Settings; see the deviations above."""

    population_size: int | None = None
    closes: float = 0.5  # the share of all generations after which epsilon is 0
    least_spread: float = 1e-8  # of the violation; below, an infeasible population is drawn anew
    feasible_guide: Literal["any", "best"] = "any"
    repair: Literal["chance", "mirror"] = "chance"

    def __post_init__(self) -> None:
        check_choices(self)
        if self.population_size is not None:
            check_count(self, 6, "population_size")
        check_range(self, 0.01, 0.99, "closes")
        check_range(self, 0.0, 1.0, "least_spread")

    def start(self, task: Task, rng: Stream) -> Coroutine:
        points = yield first_points(task, size_or_default(self.population_size, task), rng)
        xp = namespace(points.f)
        return State(points, xp.asarray(0), ClosingEpsilon.of(points))

    def generation(self, state: State, task: Task, rng: Stream) -> Coroutine:
        population = state.population
        xp = namespace(population.f)
        n = population.size
        anew = self._has_collapsed(population)

        # Three trials per target, strategy after strategy, or a new population in place of the first of them.
        u = rng.uniform(3 * n, task.dimension)
        x = self._trials(population, state.closing.elapsed, u, task, rng)
        first = xp.arange(3 * n) < n
        trials = yield Ask(when(anew, lambda: inside(task, u), x), first | ~anew)

        # Feasibility picks one of the three; epsilon, strictly, decides whether it replaces its target.
        picked = xp.where(anew, xp.arange(n), best_of(Feasibility(), trials, 3))
        offspring = trials.take(picked)
        parents = when(anew, lambda: forgotten(population), population)
        rule = Epsilon(xp.nextafter(state.closing.epsilon(self.closes), 0.0))
        accepted = better(rule.keys(offspring), rule.keys(parents))
        later = state.closing.elapsed + 3 * n / task.max_evaluations
        return State(
            population=choose(accepted, offspring, population),
            generation=state.generation + 1,
            closing=state.closing.at(xp.where(anew, state.closing.elapsed, later)),
        )

    def answer(self, state: State, kept: Population) -> Population:
        """The best point of the last population."""
        return state.population.take(state.population.best()[None])

    def watch(self, state: State) -> dict[str, Array]:
        return {"epsilon": state.closing.epsilon(self.closes)}

    def _has_collapsed(self, population: Population) -> Array:
        """Whether nothing is feasible, and all violate alike."""
        xp = namespace(population.f)
        known = population.valid.all()
        spread = xp.std(xp.where(known, population.violation, 0.0))
        return known & ~population.feasible.any() & (spread < self.least_spread)

    def _trials(self, population: Population, t: Array, u: Array, task: Task, rng: Stream) -> Array:
        """Three blocks of n trials (3 n, d), a block per strategy; u (3 n, d) are the numbers of the crossover."""
        xp = namespace(u)
        n, (m, d) = population.size, u.shape
        i, strategy = xp.arange(m) % n, xp.arange(m) // n
        u_F, u_CR, u_K, u_kept, u_guide, u_below, u_above = rng.uniform(7, m)
        r1, r2, r3, r4 = distinct(rng.uniform(4, m), n, i)
        F, CR = any_of(F_POOL, u_F), any_of(CR_POOL, u_CR)

        to_lowest, to_feasible, to_rand = (strategy == s for s in (TO_LOWEST, TO_FEASIBLE, TO_RAND))
        feasible = self._feasible_guide(population, u_guide)
        roles = Roles(
            base=xp.where(to_feasible, r1, i),
            guide=xp.where(to_lowest, population.f.argmin(), r1),
            plus=xp.where(to_lowest, r1, xp.where(to_feasible, feasible, r3)),
            minus=r2,
            second_plus=r3,
            second_minus=r4,
        )
        K, second_F = xp.where(to_rand, u_K, F), xp.where(to_feasible, F, 0.0)
        mutants = two_differences(population.x, roles, K[:, None], F[:, None], second_F[:, None])
        parents = gather(population.x, i)
        if self.repair == "mirror":
            mutants = mirrored(mutants, task.lower, task.upper)
        else:
            infeasible = 1.0 - feasible_share(population)
            early = xp.maximum(1.0 - t, infeasible)
            below = xp.stack([infeasible**3, t, early])[strategy]
            above = xp.stack([infeasible**3, t, infeasible])[strategy]
            mutants = mirrored_or_put(mutants, task.lower, task.upper, u_below < below, u_above < above)
        return binomial(mutants, parents, xp.where(to_rand, 1.0, CR), u, place(u_kept, d))

    def _feasible_guide(self, population: Population, u: Array) -> Array:
        """A feasible row per number (m,), any or the best; where there is none, the row with the least violation."""
        xp = namespace(u)
        if self.feasible_guide == "best":
            return xp.where(u < 1.0, population.best(), 0)
        feasible_first = order(~population.feasible, xp.arange(population.size))
        some = population.feasible.sum()
        return xp.where(some > 0, feasible_first[place(u, some)], population.violation.argmin())
