"""Local steps: a few trials around the best member, of which the best takes its place."""

from __future__ import annotations

from ..algorithm import Task
from ..arrays import Array, namespace
from ..population import Population, choose
from ..streams import Stream
from .indices import place, uniform_index
from .mirror import mirrored
from .rules import Rule, accepts, ranking
from .variation import binomial, rand_1


def around_the_best(x: Array, count: int, task: Task, rng: Stream) -> Array:
    """x_best + F (x_r1 - x_r2), crossed with the best, F and CR uniform: points (count, d) of x (n, d), best first."""
    xp = namespace(x)
    n, d = x.shape
    F, CR, u1, u2, u_kept = rng.uniform(5, count)
    best = xp.zeros(count, dtype=int)
    r1 = uniform_index(u1, n, best)
    r2 = uniform_index(u2, n, best, r1)
    mutants = mirrored(rand_1(x, best, r1, r2, F), task.lower, task.upper)
    return binomial(mutants, xp.broadcast_to(x[0], (count, d)), CR, rng.uniform(count, d), place(u_kept, d))


def with_the_best_of(rule: Rule, steps: Population, population: Population) -> Population:
    """The population, best first, with its best member replaced by the best of the steps unless that is worse."""
    xp = namespace(population.f)
    step = steps.take(ranking(rule, steps)[:1])
    better = accepts(rule, step, population.take(slice(0, 1)))
    first = xp.arange(population.size) == 0
    return choose(first & better, step, population)
