"""CoDE: differential evolution with composite trial vector generation strategies and control parameters.

Wang, Cai, Zhang, "Differential Evolution with Composite Trial Vector Generation Strategies and Control Parameters",
IEEE Transactions on Evolutionary Computation 15 (2011).

Each member makes three trials, one per strategy, each with one of three pairs of F and CR. The best of the three
replaces the member unless it is worse.

Deviations (the paper says / we do / because)
  no constraints            the smaller f is better / `rule` decides / constraints
  current-to-rand/1         three distinct parents / any three, the target too / the authors' program has it so
Checked against: a literal version (tests/reference/code_de.py) fed the same draws.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..algorithm import Coroutine, Task
from ..arrays import Array, gather, namespace
from ..checks import check_count
from ..parts.handling import Handling, RuleOrName, check_rule, first_handling
from ..parts.indices import place
from ..parts.memory import any_pair
from ..parts.repairs import mirrored
from ..parts.rules import accepts, best_of
from ..parts.sizing import elapsed_share, first_points
from ..parts.variation import Roles, binomial, distinct, two_differences
from ..population import Population, choose
from ..streams import Stream

F_AND_CR = ((1.0, 0.1), (1.0, 0.9), (0.8, 0.2))
RAND_1, RAND_2, CURRENT_TO_RAND = range(3)


@dataclass(frozen=True)
class State:
    population: Population
    generation: Array  # how many were made
    wins: Array  # (3,), how often a trial of each strategy was the best of three and replaced its target
    handling: Handling


@dataclass(frozen=True)
class CoDE:
    """Settings of CoDE.

    Parameters
    ----------
    population_size
        NP, the number of members.
    rule
        Constraint-handling technique, a name or your own; see docs/rules.md.
    """

    population_size: int = 30
    rule: RuleOrName = "feasibility"

    def __post_init__(self) -> None:
        check_count(self, 6, "population_size")
        check_rule(self)

    def start(self, task: Task, rng: Stream) -> Coroutine:
        points = yield first_points(task, self.population_size, rng)
        xp = namespace(points.f)
        return State(points, xp.asarray(0), xp.zeros(3, dtype=int), first_handling(self.rule, points, task))

    def generation(self, state: State, task: Task, rng: Stream) -> Coroutine:
        population = state.population
        xp = namespace(population.f)
        n = population.size
        elapsed = elapsed_share((3 * state.generation + 1) * n, task)
        rule = state.handling.rule(population, elapsed, rng)

        # Three trials per target, strategy after strategy; the best of them replaces its target unless it is worse.
        trials = yield self._trials(population.x, task, rng)
        picked = best_of(rule, trials, 3)
        offspring = trials.take(picked)
        accepted = accepts(rule, offspring, population)
        after = choose(accepted, offspring, population)
        return State(
            population=after,
            generation=state.generation + 1,
            wins=state.wins + xp.sum((picked // n == xp.arange(3)[:, None]) & accepted, axis=1),
            handling=state.handling.after(after, elapsed),
        )

    def answer(self, state: State, best_member: Population) -> Population:
        """The best point of the last population."""
        return state.population.take(state.population.best()[None])

    def watch(self, state: State) -> dict[str, Array]:
        return {
            "wins_rand_1": state.wins[RAND_1],
            "wins_rand_2": state.wins[RAND_2],
            "wins_current_to_rand": state.wins[CURRENT_TO_RAND],
        }

    def _trials(self, x: Array, task: Task, rng: Stream) -> Array:
        """Three blocks of n trials (3 n, d), a block per strategy."""
        xp = namespace(x)
        n, d = x.shape
        m = 3 * n
        i, strategy = xp.arange(m) % n, xp.arange(m) // n
        u_pair, u_K, u_certain = rng.uniform(3, m)
        u_parents = rng.uniform(5, m)
        F, CR = any_pair(F_AND_CR, u_pair)
        r1, r2, r3, r4, r5 = distinct(u_parents, n, i)
        a1, a2, a3 = place(u_parents[:3], n)  # any, alike or not

        # 1 rand/1             x_r1 + F (x_r2 - x_r3)
        # 2 rand/2             x_r1 + K (x_r2 - x_r3) + F (x_r4 - x_r5)
        # 3 current-to-rand/1  x_i + K (x_a1 - x_i) + F (x_a2 - x_a3), not crossed
        rand_2, to_rand = strategy == RAND_2, strategy == CURRENT_TO_RAND
        roles = Roles(
            base=xp.where(to_rand, i, r1),
            guide=xp.where(to_rand, a1, r1),
            plus=xp.where(to_rand, a2, r2),
            minus=xp.where(to_rand, a3, r3),
            second_plus=r4,
            second_minus=r5,
        )
        first_F, second_F = xp.where(rand_2, u_K, F), xp.where(rand_2, F, 0.0)
        mutants = two_differences(x, roles, u_K[:, None], first_F[:, None], second_F[:, None])
        mutants = mirrored(mutants, task.lower, task.upper)
        crossed = xp.where(to_rand, 1.0, CR)
        return binomial(mutants, gather(x, i), crossed, rng.uniform(m, d), place(u_certain, d))
