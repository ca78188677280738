"""SaDE: differential evolution that learns which of four strategies to use, and with which CR.

Qin, Huang, Suganthan, "Differential Evolution Algorithm With Strategy Adaptation for Global Numerical Optimization",
IEEE Transactions on Evolutionary Computation 13 (2009), pp. 398-417.

Each member makes one trial. The strategies are used in proportion to the share of their trials that survived in the
last generations; CR is normal around the median of those with which a strategy succeeded then; F is normal.

Deviations (the publication says / we do / because)
  no constraints            the smaller f is better / `rule` decides / constraints
  rand-to-best/2            from a random member / from the member itself / so is the authors' program
  the best member           the best so far / the best of the population by the rule / the program never renews it
  K of current-to-rand      one for all in the program / one for each member / the publication
  no success in the window  not considered / CR around a uniform number / the authors' program
  window                    not exact in the program / exactly the last `window` generations / the publication
  CR in [0, 1]              drawn again and again / drawn by inverse distribution / the same law, no loop
Checked against: a literal version (tests/reference/sade.py) fed the same draws.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..algorithm import Coroutine, Task
from ..arrays import Array, namespace
from ..checks import check_count, check_range
from ..parts.handling import Handling, RuleOrName, check_rule, first_handling
from ..parts.indices import place
from ..parts.memory import truncated_normal
from ..parts.repairs import resample
from ..parts.rules import accepts
from ..parts.sizing import elapsed_share, first_points
from ..parts.strategies import by_success_rate, strategy_by_rate
from ..parts.variation import Roles, binomial, distinct, two_differences
from ..population import Population, choose
from ..streams import Stream

STRATEGIES = 4
RAND_1, CURRENT_TO_BEST_2, RAND_2, CURRENT_TO_RAND_1 = range(STRATEGIES)


@dataclass(frozen=True)
class State:
    population: Population
    generation: Array  # how many were made
    history: History
    handling: Handling


@dataclass(frozen=True)
class SaDE:
    """Settings of SaDE.

    Parameters
    ----------
    population_size
        NP, the number of members.
    window
        LP, the learning period: the number of generations to learn from.
    least_share
        Number added to the success rate of every strategy, so that none dies out.
    F_mean
        Mean of the normal law of F.
    F_deviation
        Standard deviation of the normal law of F.
    CR_deviation
        Standard deviation of CR around the median of the successful ones.
    rule
        Constraint-handling technique, a name or your own; see docs/rules.md.
    """

    population_size: int = 50
    window: int = 50
    least_share: float = 0.01
    F_mean: float = 0.5
    F_deviation: float = 0.3
    CR_deviation: float = 0.1
    rule: RuleOrName = "feasibility"

    def __post_init__(self) -> None:
        check_count(self, 6, "population_size")
        check_count(self, 1, "window")
        check_range(self, 1e-9, 1.0, "least_share")
        check_range(self, 0.0, 2.0, "F_mean", "F_deviation")
        check_range(self, 1e-3, 1.0, "CR_deviation")
        check_rule(self)

    def start(self, task: Task, rng: Stream) -> Coroutine:
        n = self.population_size
        points = yield first_points(task, n, rng)
        xp = namespace(points.f)
        return State(
            population=points,
            generation=xp.asarray(0),
            history=History.fresh(self.window, n, xp),
            handling=first_handling(self.rule, points, task),
        )

    def generation(self, state: State, task: Task, rng: Stream) -> Coroutine:
        population, history = state.population, state.history
        xp = namespace(population.f)
        n, d = population.x.shape
        elapsed = elapsed_share((state.generation + 1) * n, task)
        rule = state.handling.rule(population, elapsed, rng)

        # Strategies by stochastic universal sampling, in random order; CR around their medians, F around one half.
        u_order, u_CR, u_K, u_certain = rng.uniform(4, n)
        pointers = (rng.uniform(1) + xp.arange(n)) / n
        strategy = strategy_by_rate(pointers, history.rates(state.generation, self.least_share))[xp.argsort(u_order)]
        medians = history.medians(state.generation, rng.uniform(STRATEGIES))
        CR = truncated_normal(medians[strategy], u_CR, self.CR_deviation)
        F = (self.F_mean + self.F_deviation * rng.normal(n))[:, None]

        # rand/1             x_r1 + F (x_r2 - x_r3)
        # current-to-best/2  x_i + F (x_best - x_i) + F (x_r2 - x_r3) + F (x_r4 - x_r5)
        # rand/2             x_r1 + F (x_r2 - x_r3) + F (x_r4 - x_r5)
        # current-to-rand/1  x_i + K (x_r1 - x_i) + F (x_r2 - x_r3), not crossed
        best = xp.broadcast_to(state.handling.rank(rule, population, rng)[0], (n,))
        r1, r2, r3, r4, r5 = distinct(rng.uniform(5, n), n, xp.arange(n))
        from_itself = (strategy == CURRENT_TO_BEST_2) | (strategy == CURRENT_TO_RAND_1)
        guide = xp.where(strategy == CURRENT_TO_BEST_2, best, r1)
        roles = Roles(xp.where(from_itself, xp.arange(n), r1), guide, r2, r3, r4, r5)
        two = (strategy == CURRENT_TO_BEST_2) | (strategy == RAND_2)
        K = xp.where(strategy == CURRENT_TO_RAND_1, u_K, F[:, 0])[:, None]
        mutants = two_differences(population.x, roles, K, F, F * two[:, None])
        crossed = xp.where(strategy == CURRENT_TO_RAND_1, 1.0, CR)
        x = binomial(mutants, population.x, crossed, rng.uniform(n, d), place(u_certain, d))
        trials = yield resample(x, task.lower, task.upper, population.x, rng.uniform(n, d))

        # A trial that is not worse replaces its parent and is a success of its strategy.
        accepted = accepts(rule, trials, population)
        after = choose(accepted, trials, population)
        return State(
            population=after,
            generation=state.generation + 1,
            history=history.record(state.generation, strategy, CR, accepted),
            handling=state.handling.after(after, elapsed),
        )

    def answer(self, state: State, best_member: Population) -> Population:
        return best_member

    def watch(self, state: State) -> dict[str, Array]:
        rates = state.history.rates(state.generation, self.least_share)
        return {
            "rate_rand_1": rates[RAND_1],
            "rate_current_to_best_2": rates[CURRENT_TO_BEST_2],
            "rate_rand_2": rates[RAND_2],
            "rate_current_to_rand_1": rates[CURRENT_TO_RAND_1],
        }


@dataclass(frozen=True)
class History:
    """The trials of the learning period, in a ring buffer: strategy, CR, and whether they survived."""

    strategy: Array  # (window, n), -1 before there were any
    CR: Array  # (window, n)
    success: Array  # (window, n)

    @classmethod
    def fresh(cls, window: int, n: int, xp: Any = np) -> History:
        shape = (window, n)
        return cls(xp.full(shape, -1), xp.zeros(shape), xp.zeros(shape, dtype=bool))

    def record(self, generation: Array, strategy: Array, CR: Array, success: Array) -> History:
        """The history with this generation in place of the oldest."""
        xp = namespace(self.CR)
        window = self.CR.shape[0]
        here = (xp.arange(window) == generation % window)[:, None]
        return History(
            xp.where(here, strategy, self.strategy), xp.where(here, CR, self.CR), xp.where(here, success, self.success)
        )

    def rates(self, generation: Array, least: float) -> Array:
        """The probability of each strategy, by the success rate of its trials; equal until the window is full."""
        xp = namespace(self.CR)
        used = self._by_strategy(self.strategy >= 0).sum(axis=1)
        succeeded = self._by_strategy(self.success).sum(axis=1)
        full = generation >= self.CR.shape[0]
        return xp.where(full, by_success_rate(succeeded, used, least), 1.0 / STRATEGIES)

    def medians(self, generation: Array, otherwise: Array) -> Array:
        """The median CR of each strategy's successes (strategies,), or `otherwise`; 0.5 until the window is full."""
        xp = namespace(self.CR)
        count = self._by_strategy(self.success).sum(axis=1)
        first = 2 * xp.arange(STRATEGIES)  # each strategy's rates in a range of their own, so that one sort serves all
        ordered = xp.sort(xp.where(self.success, 2 * self.strategy + self.CR, np.inf).reshape(-1))
        begins = xp.minimum(xp.cumsum(count) - count, ordered.shape[0] - 1)  # of none: anywhere
        low, high = ordered[begins + xp.maximum(count - 1, 0) // 2], ordered[begins + count // 2]
        median = xp.where(count > 0, (low - first + high - first) / 2, otherwise)
        return xp.where(generation >= self.CR.shape[0], median, 0.5)

    def _by_strategy(self, trials: Array) -> Array:
        """Whether each trial is of each strategy and one of `trials`; (strategies, window n)."""
        xp = namespace(self.CR)
        return (self.strategy.reshape(-1) == xp.arange(STRATEGIES)[:, None]) & trials.reshape(-1)
