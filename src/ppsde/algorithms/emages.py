"""eMAg-ES: a matrix adaptation evolution strategy with an epsilon level and gradient-based repair.

Hellwig and Beyer, "A Matrix Adaptation Evolution Strategy for Constrained Real-Parameter Optimization", IEEE Congress
on Evolutionary Computation, CEC 2018, doi 10.1109/CEC.2018.8477950; also known as epsilon-MAg-ES.

Offspring are drawn from one normal law, whose matrix and step size learn from the best third of them; parents do not
survive. They are ranked by an epsilon that falls to zero in the first thousand generations. In every D-th
generation a fifth of the offspring may be moved by Newton-like steps towards the feasible set. The law learns from
moved points as if it had drawn them (back-calculation).

Deviations (the publication and its program say / we do / because)
  violation                 the competition's mean measure / the sum with the tolerance taken off / one for all methods
  ties of epsilon's order   a bubble sort with an order that is not transitive / violations up to epsilon count as none
  probes of the Jacobian    may leave the box / step backwards at its upper side / no point outside is ever asked for
  a repair without values   not considered / is dropped; none is made from probes without values / nothing to learn
  back-calculation          by the pseudo-inverse of the matrix / by its inverse; one without is reset / speed
  singular values, repair   below 1e-12 count as 0 / also those below max(m, d) eps of the largest / they are rounding:
                            of diag(1e8, 1, 1e-9) the last counts as 0, which the program would invert to 1e9
  matrix reset              at two bad entries / at one / a single NaN would stay
  sigma                     no lower limit / at least 1e-200 / it is divided by
  offspring without values  not considered / the weights of the others are scaled to 1 / nothing to learn from them
  incumbent                 replaced by a better one / also by an equal one / one rule of acceptance for all methods
  epsilon's horizon         1000 generations / `horizon` 1000, but at most half of all / small budgets
  sigma_max                 100; later half the largest range / `largest_sigma` 100 / the published tables
  last generation           overshoots the budget / is cut / fairness
The variants of their later analysis (ACM Transactions on Evolutionary Learning and Optimization) are settings: without
repair `repair_probability` 0, without epsilon `epsilon` False, without back-calculation `back_calculation` False,
without limit `largest_sigma` 1e300, without matrix `adapt_matrix` False.
Steps are numbered as in the literal version.
Checked against: a literal version (tests/reference/emages.py) fed the same draws.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ..algorithm import Ask, Coroutine, Task
from ..arrays import Array, namespace
from ..checks import check_count, check_flag, check_range
from ..parts.epsilon import Level, mean_of_best, slow_power
from ..parts.matrix_adaptation import Mutation, recombination
from ..parts.repairs import fold
from ..parts.rules import Epsilon, Feasibility, accepts, ranking
from ..parts.sizing import first_points
from ..parts.slopes import jacobian, probes, residual, shortest_solutions
from ..population import Population, choose
from ..streams import Stream


@dataclass(frozen=True)
class State:
    population: Population  # the last offspring, best first by epsilon
    generation: Array  # how many were made
    mutation: Mutation
    level: Level
    incumbent: Population  # one row: the best of the points that came first in their generation


@dataclass(frozen=True)
class EMAgES:
    """Settings of eMAg-ES.

    Parameters
    ----------
    population_size
        lambda, the number of offspring per generation; 4 D if None.
    sigma
        The first step size, in units of the variables.
    largest_sigma
        sigma_max, the largest step size.
    epsilon
        Whether there is an epsilon level; else offspring are ranked by feasibility.
    horizon
        T, the number of generations until epsilon is 0.
    share
        theta_t, the share of first points, the best, whose mean violation epsilon starts from.
    least_power
        gamma_min, the least power by which epsilon closes.
    repair_probability
        theta_p, the probability that an offspring may be repaired, in every D-th generation.
    repair_steps
        theta_r, the largest number of steps of a repair.
    difference
        eta, the distance between a point and the probes of its Jacobian.
    back_calculation
        Whether the law learns from moved points as if it had drawn them.
    adapt_matrix
        Whether the matrix is adapted.
    """

    needs_constraint_values: ClassVar[bool] = True  # of each constraint, for the repair

    population_size: int | None = None
    sigma: float = 1.0
    largest_sigma: float = 100.0
    epsilon: bool = True
    horizon: int = 1000
    share: float = 0.9
    least_power: float = 3.0
    repair_probability: float = 0.2
    repair_steps: int = 3
    difference: float = 1e-4
    back_calculation: bool = True
    adapt_matrix: bool = True

    def __post_init__(self) -> None:
        check_count(self, 3, "population_size")
        check_count(self, 1, "horizon")
        check_count(self, 0, "repair_steps")
        check_range(self, 1e-100, 1e300, "sigma", "largest_sigma")
        check_range(self, 1e-100, 1.0, "difference")
        check_range(self, 0.0, 1.0, "share", "repair_probability")
        check_range(self, 0.0, 100.0, "least_power")
        check_flag(self, "epsilon", "back_calculation", "adapt_matrix")

    def start(self, task: Task, rng: Stream) -> Coroutine:
        n = self.population_size or 4 * task.dimension
        points = (yield first_points(task, n, rng)).sorted()
        xp = namespace(points.f)
        level = self._first_level(points)
        population = points.take(ranking(Epsilon(level.epsilon), points))
        parents = population.take(slice(0, n // 3))
        counts = xp.where(parents.valid.any(), parents.valid, True)
        mean = (counts @ parents.x) / counts.sum()
        mean = xp.where(
            xp.isfinite(mean), mean, (counts / counts.sum()) @ parents.x
        )  # in a box so wide that sums overflow
        return State(
            population=population,
            generation=xp.asarray(0),
            mutation=Mutation.fresh(mean, self.sigma),
            level=level,
            incumbent=population.take(slice(0, 1)),
        )

    def _first_level(self, points: Population) -> Level:
        """Epsilon at the start, from points sorted best first; always 0 if the best of them are all feasible."""
        xp = namespace(points.f)
        start = mean_of_best(points, self.share)
        return Level(start * self.epsilon, slow_power(start, self.least_power), xp.asarray(0.0))

    def generation(self, state: State, task: Task, rng: Stream) -> Coroutine:
        n, d = state.population.x.shape
        law = state.mutation

        # Step 2 a-c: offspring, moved into the box; some of them repaired.
        z = rng.normal(n, d)
        directions = law.directions(z)
        drawn = law.points(directions)
        first = yield fold(drawn, task.lower, task.upper)
        chosen = (rng.uniform(n) <= self.repair_probability) & (state.generation % d == 0)
        offspring = yield from gradient_repair(first, chosen, task, steps=self.repair_steps, difference=self.difference)

        # Step 2 d, back-calculation: the z and directions that would have given the moved points.
        if self.back_calculation:
            moved = ((drawn < task.lower) | (drawn > task.upper) | (offspring.x != first.x)).any(axis=1)
            z, directions = law.traced_back(offspring.x, moved, z, directions)

        # Steps 3-7: rank by epsilon; the best offspring teach the law.
        rank = ranking(Epsilon(state.level.epsilon), offspring)
        population = offspring.take(rank)
        by = recombination(n // 3, d)
        mutation = law.learn(z[rank], directions[rank], population.valid, by, self.largest_sigma)
        if not self.adapt_matrix:
            mutation = replace(mutation, M=law.M)

        # Step 8: the first of the ranking against the incumbent, by feasibility.
        leader = population.take(slice(0, 1))
        return State(
            population=population,
            generation=state.generation + 1,
            mutation=mutation,
            level=self._next_level(state, task, n),  # step 9
            incumbent=choose(accepts(Feasibility(), leader, state.incumbent), leader, state.incumbent),
        )

    def _next_level(self, state: State, task: Task, n: int) -> Level:
        """Epsilon of the next generation: its start in generation 1, falling from 2 on, and 0 from horizon - 1 on."""
        xp = namespace(state.level.start)
        g = state.generation + 1
        horizon = min(self.horizon, max(task.max_evaluations // n // 2, 1))
        elapsed = xp.where(g > 1, g / horizon, 0.0)
        return replace(state.level, elapsed=xp.where(g + 1 >= horizon, 1.0, elapsed))

    def answer(self, state: State, best_member: Population) -> Population:
        return state.incumbent

    def watch(self, state: State) -> dict[str, Array]:
        return {"epsilon": state.level.epsilon, "sigma": state.mutation.sigma}


# Gradient-based repair: Chootinan and Chen, "Constraint handling in genetic algorithms using a gradient-based repair
# method", Computers & Operations Research 33 (2006), as Takahama and Sakai use it. Probes are evaluations like others.


def gradient_repair(
    points: Population, wanted: Array, task: Task, *, steps: int, difference: float
) -> Generator[Ask, Population, Population]:
    """The points, those `wanted` (n,) that violate constraints moved by up to `steps` Newton-like steps.

    A sub-coroutine: `points = yield from gradient_repair(..)`. Each step of a point costs d + 1 evaluations. A step to
    more violation counts, one to a point without values does not.
    """
    xp = namespace(wanted)
    n, d = points.x.shape
    for _ in range(steps if points.g.shape[1] + points.h.shape[1] else 0):
        needy = wanted & points.valid & ~points.feasible
        if xp is np and not needy.any():
            break  # NumPy can see that all is done; JAX never can, and asks for no rows
        x = probes(points.x, task, difference)
        measured = yield Ask(x.reshape(n * d, d), xp.repeat(needy, d))
        known = needy & measured.valid.reshape(n, d).all(axis=1)
        left = xp.where(known[:, None], residual(points), 0.0)
        step = -shortest_solutions(jacobian(points, measured, known), left, known.any())
        step = xp.nan_to_num(step)  # of numbers so large that their products are not
        moved = yield Ask(fold(points.x + step, task.lower, task.upper), known)
        points = choose(moved.valid & known, moved, points)
    return points
