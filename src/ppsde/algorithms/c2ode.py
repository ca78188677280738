"""C2oDE: composite differential evolution for constrained problems.

Wang, Li, Li, Wang, "Composite Differential Evolution for Constrained Evolutionary Optimization", IEEE Transactions on
Systems, Man, and Cybernetics: Systems 49 (2019).

Each member makes three trials: one led by the lowest objective, one led by a feasible point, one led by nothing. The
feasibility rule picks the best of the three, and a shrinking epsilon decides whether it replaces the member. A
population that is infeasible and has lost its spread is replaced by a random one.

Deviations (the paper, or the programs of its family, say / we do / because)
  population size         not known / `population_size` 5 D, at least 40 / fits means that others printed for D = 30
  guide to feasibility    any feasible point / likewise, `feasible_guide` "best" is the best / fits D = 30 better
  bounds                  `repair` "chance": mirrored by chance, else put on the upper bound / likewise / what the
                          programs do; "mirror" is CoDE's repair, which treats both sides of the box alike
  epsilon that starts     below exp(-6) would grow / stays / an epsilon that grows makes no sense
  epsilon closes          from t = 0.5 on / after t = 0.5 / the formula is shared with IUDE
  restart                 within a generation / is one of its own, whose trials are not made / the same evaluations
Steps are numbered as in the literal version.
Checked against: a literal version (tests/reference/c2ode.py) fed the same draws; the printed D = 10 means.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..algorithm import Ask, Coroutine, Task
from ..arrays import Array, gather, namespace, order, when
from ..checks import check_choices, check_count, check_range
from ..parts.epsilon import ClosingEpsilon
from ..parts.indices import place
from ..parts.memory import any_of
from ..parts.repairs import mirrored, mirrored_or_put
from ..parts.rules import Epsilon, Feasibility, best_of
from ..parts.sizing import first_points, inside, size_or_default
from ..parts.variation import Roles, binomial, distinct, two_differences
from ..population import Population, better, choose, forgotten
from ..streams import Stream

F_POOL = (0.6, 0.8, 1.0)
CR_POOL = (0.1, 0.2, 1.0)
TO_LOWEST, TO_FEASIBLE, TO_RAND = range(3)


@dataclass(frozen=True)
class State:
    population: Population
    generation: Array  # how many were made, restarts included
    closing: ClosingEpsilon  # its elapsed share counts no restarts


@dataclass(frozen=True)
class C2oDE:
    """Settings of C2oDE.

    Parameters
    ----------
    population_size
        NP, the number of members; 5 D but at least 40 if None.
    closes
        p, the share of the generations after which epsilon is 0.
    least_spread
        mu: an infeasible population whose violations have a smaller standard deviation is replaced by a random one.
    feasible_guide
        The feasible point that guides the second strategy: any one, or the best.
    repair
        Out of bounds: mirrored by chance, else put on the upper bound ("chance"); or always mirrored as in CoDE.
    """

    population_size: int | None = None
    closes: float = 0.5
    least_spread: float = 1e-8
    feasible_guide: Literal["any", "best"] = "any"
    repair: Literal["chance", "mirror"] = "chance"

    def __post_init__(self) -> None:
        check_choices(self)
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

        # Step 2, restart: a random population in place of the first n trials, if this one has collapsed.
        restart = self._has_collapsed(population)

        # Steps 3 and 4: three trials per target, strategy after strategy.
        u = rng.uniform(3 * n, task.dimension)
        x = self._trials(population, state.closing.elapsed, u, task, rng)
        first = xp.arange(3 * n) < n
        trials = yield Ask(when(restart, lambda: inside(task, u), x), first | ~restart)

        # Step 5, pre-selection: the best of the three by feasibility.
        picked = xp.where(restart, xp.arange(n), best_of(Feasibility(), trials, 3))
        offspring = trials.take(picked)
        parents = when(restart, lambda: forgotten(population), population)

        # Step 6, selection: it replaces its target if it is strictly better by epsilon (step 1).
        rule = Epsilon(xp.nextafter(state.closing.epsilon(self.closes), 0.0))
        accepted = better(rule.keys(offspring), rule.keys(parents))
        later = state.closing.elapsed + 3 * n / task.max_evaluations
        return State(
            population=choose(accepted, offspring, population),
            generation=state.generation + 1,
            closing=state.closing.at(xp.where(restart, state.closing.elapsed, later)),
        )

    def answer(self, state: State, best_member: Population) -> Population:
        """The best point of the last population."""
        return state.population.take(state.population.best()[None])

    def watch(self, state: State) -> dict[str, Array]:
        return {"epsilon": state.closing.epsilon(self.closes)}

    def _has_collapsed(self, population: Population) -> Array:
        """Whether no point is feasible and the violations have no spread."""
        xp = namespace(population.f)
        known = population.valid.all()
        spread = xp.std(xp.where(known, population.violation, 0.0))
        return known & ~population.feasible.any() & (spread < self.least_spread)

    def _trials(self, population: Population, t: Array, u: Array, task: Task, rng: Stream) -> Array:
        """Three blocks of n trials (3 n, d), a block per strategy; u (3 n, d) are the uniform numbers of the crossover.

        `t` is the elapsed share of the run.
        """
        xp = namespace(u)
        n, (m, d) = population.size, u.shape
        i, strategy = xp.arange(m) % n, xp.arange(m) // n
        u_F, u_CR, u_K, u_certain, u_guide, u_below, u_above = rng.uniform(7, m)
        r1, r2, r3, r4 = distinct(rng.uniform(4, m), n, i)
        F, CR = any_of(F_POOL, u_F), any_of(CR_POOL, u_CR)

        # Step 3 a, to lowest     x_i + F (x_lowest - x_i) + F (x_r1 - x_r2), the lowest by f
        #        b, to feasible   x_r1 + F (x_feasible - x_r2) + F (x_r3 - x_r4)
        #        c, to rand       x_i + K (x_r1 - x_i) + F (x_r3 - x_r2), not crossed
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

        # Boundary repair of the mutants, then binomial crossover.
        if self.repair == "mirror":
            mutants = mirrored(mutants, task.lower, task.upper)
        else:
            infeasible = 1.0 - population.feasible_share
            early = xp.maximum(1.0 - t, infeasible)
            below = xp.stack([infeasible**3, t, early])[strategy]
            above = xp.stack([infeasible**3, t, infeasible])[strategy]
            mutants = mirrored_or_put(mutants, task.lower, task.upper, u_below < below, u_above < above)
        return binomial(mutants, parents, xp.where(to_rand, 1.0, CR), u, place(u_certain, d))

    def _feasible_guide(self, population: Population, u: Array) -> Array:
        """A feasible row per number (m,), any or the best; where there is none, the row with the least violation."""
        xp = namespace(u)
        if self.feasible_guide == "best":
            return xp.where(u < 1.0, population.best(), 0)
        feasible_first = order(~population.feasible, xp.arange(population.size))
        some = population.feasible.sum()
        return xp.where(some > 0, feasible_first[place(u, some)], population.violation.argmin())
