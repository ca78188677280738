"""LSHADE-IEpsilon: LSHADE44 with an improved epsilon, an entry of the CEC 2018 competition on constrained problems.

Fan, Fang, Li, Yuan, Wang, Bian, "LSHADE44 with an Improved epsilon Constraint-Handling Method for Solving Constrained
Single-Objective Optimization Problems", CEC 2018, and a copy of the authors' program.

Every member makes one trial by one of four strategies: current-to-pbest/1 or randrl/1, with binomial or exponential
crossover; the more successes a strategy has had, the more often it is used, and each has its own memory for F and CR.
Epsilon shrinks while few members are feasible and opens again, beyond the largest violation seen, when many are.

Deviations (the publication or the copy of its program says / we do / because)
  population size          100 in the copy, which was made for other problems / `population_size` 18 D / LSHADE44
  epsilon shrinks          by a constant factor / by (1 - t / Tc)^cp, applied again in every generation / the program
  randrl/1                 the best of three is the base; the program's exchange does not exchange / the former / a slip
                           that makes two of the four strategies current/1
  binomial crossover       of randrl/1 with the base / with the target / the same slip
  exponential crossover    goes on with probability CR^k at the k-th component / with CR / a slip
  ranks                    partly by the wrong column / by feasibility / a slip
  budget                   overshot by less than a generation / met exactly / fairness
Steps are numbered as in the literal version.
Checked against: a literal version (tests/reference/lshade_iepsilon.py) fed the same draws.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..algorithm import Ask, Coroutine, Task
from ..arrays import HUGE, Array, namespace
from ..checks import check_count, check_range
from ..parts.epsilon import closing
from ..parts.indices import best_to_worst, place, uniform_index
from ..parts.memory import Memory, truncated_cauchy, truncated_normal
from ..parts.repairs import clamp
from ..parts.rules import Epsilon, gain
from ..parts.sizing import alive, elapsed_share, first_points, linear_size, shrunk, size_or_default
from ..parts.strategies import STRATEGIES, SuccessCounts, strategy_by_rate
from ..parts.variation import binomial_or_one, exponential, guided
from ..population import Population, better, choose
from ..streams import Stream


@dataclass(frozen=True)
class IEpsilon:
    """The improved epsilon, and the largest violation seen so far."""

    epsilon: Array  # inf while nothing has been seen to violate
    largest: Array

    def next(self, population: Population, t: Array, alpha: float, closes: float, cp: float) -> IEpsilon:
        """Epsilon for the next trials of a population, when a share t of the budget is used."""
        xp = namespace(self.epsilon)
        largest = xp.maximum(self.largest, population.largest_violation)
        share = population.feasible_share
        known = self.epsilon < np.inf
        shrinks = closing(xp.where(known, self.epsilon, 0.0), t / closes, cp)
        open_wide = xp.where(share < 1, largest, np.inf)
        epsilon = xp.where(known, xp.where(share < alpha, shrinks, 1.1 * largest), open_wide)
        return IEpsilon(xp.where(t < closes, epsilon, 0.0), largest)


@dataclass(frozen=True)
class State:
    population: Population  # sorted by the feasibility rule: the index is the rank; the first `size` rows are alive
    generation: Array  # how many were made
    evaluations: Array
    size: Array
    counts: Array  # (4,), the successes of each strategy, from a prior on
    memory: Memory
    filled: Array  # (4,), the cells of each strategy's memory that were written
    level: IEpsilon


@dataclass(frozen=True)
class LSHADEIEpsilon:
    """Settings of LSHADE-IEpsilon.

    Parameters
    ----------
    population_size
        N_init, the number of members at the start; 18 D if None.
    final_size
        N_min, the number of members at the end of the budget.
    memory_size
        H, the number of cells in the memories of F and CR, for each strategy; they are empty at first.
    most_pbest
        Largest p: pbest is one of a share p of best members, p being drawn for each trial.
    prior
        n0, the number of successes that every strategy begins with.
    least_share
        delta: when a strategy has a smaller share of the successes, all counts go back to the prior.
    theta
        Share of the first population that violates more than epsilon at the start.
    alpha
        Share of feasible members from which on epsilon opens.
    cp
        Power by which epsilon shrinks.
    closes
        Tc, the share of the budget after which epsilon is 0.
    """

    population_size: int | None = None
    final_size: int = 5
    memory_size: int = 10
    most_pbest: float = 0.2
    prior: int = 2
    least_share: float = 0.05
    theta: float = 0.2
    alpha: float = 0.8
    cp: float = 2.0
    closes: float = 0.8

    def __post_init__(self) -> None:
        check_count(self, 4, "final_size")
        check_count(self, self.final_size, "population_size")
        check_count(self, 1, "memory_size", "prior")
        check_range(self, 0.0, 1.0, "most_pbest", "theta", "alpha")
        check_range(self, 0.0, 0.25, "least_share")
        check_range(self, 0.01, 100.0, "cp")
        check_range(self, 0.01, 1.0, "closes")

    def start(self, task: Task, rng: Stream) -> Coroutine:
        n = size_or_default(self.population_size, task, per_variable=18, least=self.final_size)
        points = yield first_points(task, n, rng)
        xp = namespace(points.f)
        return State(
            population=points.sorted(),
            generation=xp.asarray(0),
            evaluations=xp.asarray(n),
            size=xp.asarray(n),
            counts=SuccessCounts.fresh(STRATEGIES, self.prior, xp).counts,
            memory=Memory.fresh(STRATEGIES, self.memory_size, xp),
            filled=xp.zeros(STRATEGIES, dtype=int),
            level=self._first_level(points),
        )

    def generation(self, state: State, task: Task, rng: Stream) -> Coroutine:
        population, size = state.population, state.size
        n, d = population.x.shape
        xp = namespace(population.f)

        # Step 1: epsilon. Step 2: a strategy for each member; counts that became too unequal begin again.
        level = state.level.next(population, elapsed_share(state.evaluations, task), self.alpha, self.closes, self.cp)
        rule = Epsilon(xp.minimum(level.epsilon, HUGE))
        u_strategy, u_cell, u_F, u_CR, u_p, u_start, u_length = rng.uniform(7, n)
        counts = SuccessCounts(state.counts).renewed(self.least_share, self.prior)
        strategy = strategy_by_rate(u_strategy, counts.rates)

        # Step 3: F and CR around a cell that was written, or 0.5.
        cell = strategy, place(u_cell, xp.maximum(state.filled, 1)[strategy])
        F = truncated_cauchy(state.memory.F[cell], u_F)
        CR = truncated_normal(state.memory.CR[cell], u_CR, 0.1)

        # Step 4: current-to-pbest/1, or randrl/1, whose base is its guide; crossover; step 5, clamped to the box.
        i, u = xp.arange(n), rng.uniform(3, n)
        p = 1 / size + u_p * xp.maximum(self.most_pbest - 1 / size, 0.0)
        pbest = place(u[2], xp.maximum((p * size).astype(int), 1))
        r1 = uniform_index(u[0], size, i)
        r2 = uniform_index(u[1], size, i, r1)
        base, plus, minus = best_to_worst(r1, r2, uniform_index(u[2], size, i, r1, r2))
        local = strategy >= 2
        mutants = guided(
            population.x,
            xp.where(local, base, i),
            xp.where(local, base, pbest),
            xp.where(local, plus, r1),
            xp.where(local, minus, r2),
            F,
            F,
        )
        first = place(u_start, d)
        x = xp.where(
            (strategy % 2 == 1)[:, None],
            exponential(mutants, population.x, CR, u_length, first),
            binomial_or_one(mutants, population.x, CR, rng.uniform(n, d), first),
        )
        trials = yield Ask(clamp(x, task.lower, task.upper, population.x, x), alive(n, size))

        # Step 6: a strictly better trial replaces its parent, counts for its strategy and teaches its memory.
        accepted = better(rule.keys(trials), rule.keys(population))
        success = accepted & population.valid
        gains = gain(rule, trials, population)
        memory = state.memory.learn(strategy, F, CR, xp.where(success, gains, 0.0))
        taught = ((strategy == xp.arange(STRATEGIES)[:, None]) & success & (gains > 0)).any(axis=1)

        # Step 7: in order by feasibility; the worst members leave.
        evaluations = state.evaluations + size
        fewer = linear_size(n, self.final_size, elapsed_share(evaluations, task))
        return State(
            population=shrunk(choose(accepted, trials, population).sorted(), fewer),
            generation=state.generation + 1,
            evaluations=evaluations,
            size=fewer,
            counts=counts.record(strategy, success).counts,
            memory=memory,
            filled=xp.minimum(state.filled + taught, self.memory_size),
            level=level,
        )

    def answer(self, state: State, best_member: Population) -> Population:
        return best_member

    def watch(self, state: State) -> dict[str, Array]:
        rates = SuccessCounts(state.counts).rates
        return {
            "size": state.size,
            "epsilon": state.level.epsilon,
            "rate_pbest_bin": rates[0],
            "rate_pbest_exp": rates[1],
            "rate_randrl_bin": rates[2],
            "rate_randrl_exp": rates[3],
        }

    def _first_level(self, points: Population) -> IEpsilon:
        """Epsilon at the start: the violation that a share theta of the points reaches; inf if that is 0."""
        xp = namespace(points.f)
        count = points.valid.sum()
        rising = xp.sort(points.violation)
        place_from_end = xp.clip((self.theta * count).astype(int), 1, xp.maximum(count, 1))
        reached = rising[xp.maximum(count - place_from_end, 0)]
        return IEpsilon(xp.where((reached > 0) & (count > 0), reached, np.inf), points.largest_violation)
