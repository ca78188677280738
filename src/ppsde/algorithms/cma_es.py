"""CMA-ES: an evolution strategy that adapts the covariance matrix of its offspring.

Hansen, Ostermeier, "Completely Derandomized Self-Adaptation in Evolution Strategies", Evolutionary Computation 9
(2001), pp. 159-195, with the update of rank mu of Hansen, Muller, Koumoutsakos, Evolutionary Computation 11 (2003).
Formulas and constants: Hansen, "The CMA Evolution Strategy: A Tutorial", arXiv 1604.00772.

Offspring are drawn from one normal law. Its mean moves to the best half of them; the step size follows the length of a
path of such moves, the covariance matrix the path and the moves themselves.

Deviations (the publications say / we do / because)
  no constraints            the smaller f is better / `rule` ranks the offspring / constraints
  variables                 as they are / in units of the box / one first step size for all
  the first mean            a point given, or any / the weighted mean of the best half of a first population, uniform in
                            the box / points given are points of that population
  offspring out of bounds   penalties, or drawn again / folded back; the law learns from where they are / evaluations
  offspring without values  not considered / the weights of the others are scaled to 1 / nothing to learn from them
  the root of the matrix    every few generations / in every one / clear; its time is small beside most functions'
  eigenvalues, step size    a run ends when they degenerate / at least 1e-14 of the largest; from 1e-200 to 10 / a run
                            ends with its budget
Negative weights are not used. The formulas are those of the tutorial; the two publications were not compared.
Checked against: a literal version (tests/reference/cma_es.py) fed the same draws.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

from ..algorithm import Coroutine, Task
from ..arrays import Array, namespace, when
from ..checks import check_count, check_range
from ..parts.handling import Handling, RuleOrName, check_rule, first_ranked, handling_of
from ..parts.matrix_adaptation import Recombination, recombination
from ..parts.repairs import fold
from ..parts.sizing import elapsed_share, first_points, inside
from ..population import Population
from ..streams import Stream

LEAST_SIGMA, LARGEST_SIGMA = 1e-200, 10.0
LEAST_EIGENVALUE = 1e-14  # of the largest


@dataclass(frozen=True)
class State:
    population: Population  # the last offspring, best first
    generation: Array  # how many were made
    law: Law
    handling: Handling


@dataclass(frozen=True)
class CMAES:
    """Settings of CMA-ES.

    Parameters
    ----------
    population_size
        lambda, the number of offspring; 4 + 3 ln D, rounded down, if None.
    sigma
        The first step size, in units of the box.
    rule
        Constraint-handling technique, a name or your own; see docs/rules.md.
    """

    population_size: int | None = None
    sigma: float = 0.3
    rule: RuleOrName = "feasibility"

    def __post_init__(self) -> None:
        check_count(self, 4, "population_size")
        check_range(self, 1e-100, LARGEST_SIGMA, "sigma")
        check_rule(self)

    def start(self, task: Task, rng: Stream) -> Coroutine:
        d = task.dimension
        n = self.population_size or 4 + int(3 * np.log(d))
        points = yield first_points(task, n, rng)
        xp = namespace(points.f)
        population, handling = first_ranked(handling_of(self.rule, xp, task), points, rng)
        by = best_half(n, d)
        weights = weights_of(population, by)
        spread = task.upper - task.lower
        u = (population.x[: by.mu] - task.lower) / xp.where(spread > 0, spread, 1.0)
        mean = when(weights.sum() > 0, lambda: weights @ u, u.sum(axis=0) / by.mu)
        return State(population, xp.asarray(0), Law.fresh(mean, self.sigma), handling)

    def generation(self, state: State, task: Task, rng: Stream) -> Coroutine:
        n, d = state.population.x.shape
        elapsed = elapsed_share((state.generation + 1) * n, task)

        # Offspring in units of the box.
        root, inverse = roots(state.law.C)
        drawn = state.law.mean + state.law.sigma * (rng.normal(n, d) @ root)
        u = fold(drawn, namespace(drawn).zeros(d), namespace(drawn).ones(d))
        offspring = yield inside(task, u)

        # The best half of them teach the law.
        technique = state.handling
        rule = technique.rule(offspring, elapsed, rng)
        rank = technique.rank(rule, offspring, rng)
        population = offspring.take(rank)
        by = best_half(n, d)
        weights = weights_of(population, by)
        best = u[rank][: by.mu]
        law = when(
            weights.sum() > 0, lambda: state.law.learn(best, weights, inverse, by, state.generation + 1), state.law
        )
        return State(population, state.generation + 1, law, technique.after(offspring, elapsed))

    def answer(self, state: State, best_member: Population) -> Population:
        return best_member

    def watch(self, state: State) -> dict[str, Array]:
        return {"sigma": state.law.sigma}


def best_half(n: int, d: int) -> Recombination:
    """Weights proportional to ln((n + 1) / 2) - ln i, and learning rates; the middle one of an odd n has weight 0."""
    return recombination(n / 2, d)


def weights_of(population: Population, by: Recombination) -> Array:
    """The weights (mu,) of the first offspring, 0 for those without values, their sum 1; all 0 if none has any."""
    xp = namespace(population.f)
    w = xp.where(population.valid[: by.mu], by.weights, 0.0)
    total = w.sum()
    return w / xp.where(total > 0, total, 1.0)


def roots(C: Array) -> tuple[Array, Array]:
    """The symmetric square root of a covariance matrix, and the inverse of that; small eigenvalues are raised."""
    xp = namespace(C)
    values, vectors = xp.linalg.eigh(C)
    deviations = xp.sqrt(xp.maximum(values, LEAST_EIGENVALUE * values[-1]))
    return (vectors * deviations) @ vectors.T, (vectors / deviations) @ vectors.T


@dataclass(frozen=True)
class Law:
    """The normal law of offspring, with mean m and covariance matrix sigma^2 C."""

    mean: Array  # (d,)
    sigma: Array
    C: Array  # (d, d)
    path: Array  # (d,), p_c, of the moves of the mean
    even_path: Array  # (d,), p_sigma, the same as if C were the identity

    @classmethod
    def fresh(cls, mean: Array, sigma: float) -> Law:
        xp: Any = namespace(mean)
        d = mean.shape[0]
        return cls(mean, xp.asarray(float(sigma)), xp.eye(d), xp.zeros(d), xp.zeros(d))

    def learn(self, best: Array, weights: Array, inverse: Array, by: Recombination, generation: Array) -> Law:
        """The law after the first mu offspring (mu, d) of generation 1, 2, ..; `inverse` is that of the root of C."""
        xp = namespace(best)
        d = self.mean.shape[0]
        mu_w, c_sigma, c_1, c_mu = by.mu_w, by.c_sigma, by.c_1, by.c_mu
        c_c = (4 + mu_w / d) / (d + 4 + 2 * mu_w / d)
        damping = 1 + 2 * max(0.0, sqrt((mu_w - 1) / (d + 1)) - 1) + c_sigma
        usual = sqrt(d) * (1 - 1 / (4 * d) + 1 / (21 * d**2))  # the mean length of a standard normal vector

        y = (best - self.mean) / self.sigma
        move = weights @ y
        even_path = (1 - c_sigma) * self.even_path + sqrt(c_sigma * (2 - c_sigma) * mu_w) * (inverse @ move)
        length = xp.sqrt(even_path @ even_path)
        short = length / xp.sqrt(1 - (1 - c_sigma) ** (2 * generation)) < (1.4 + 2 / (d + 1)) * usual  # h_sigma
        path = (1 - c_c) * self.path + short * sqrt(c_c * (2 - c_c) * mu_w) * move
        lost = (1 - short) * c_c * (2 - c_c)  # by the path that waits
        C = (1 - c_1 - c_mu + c_1 * lost) * self.C
        C = C + c_1 * xp.outer(path, path) + c_mu * (weights[:, None] * y).T @ y
        sigma = self.sigma * xp.exp(xp.minimum(c_sigma / damping * (length / usual - 1), 1.0))
        sound = xp.isfinite(C).all() & xp.isfinite(length)
        return Law(
            mean=weights @ best,
            sigma=xp.where(sound, xp.clip(sigma, LEAST_SIGMA, LARGEST_SIGMA), self.sigma),
            C=xp.where(sound, C / 2 + C.T / 2, xp.eye(d)),
            path=xp.where(sound, path, 0.0),
            even_path=xp.where(sound, even_path, 0.0),
        )
