"""UDE-III: unified differential evolution, the winner of the CEC 2024 competition on constrained problems.

Trivedi, Chauhan, UDE-III, arXiv 2410.03992.

It is IUDE with a smaller top part, with strategy rates from wins and losses of the whole population, and with a cure
for stagnation: trials that were rejected are stored, and when many members have not moved for long, one of them is
replaced by a stored trial.

No program of UDE-III itself could be read, only that of its successor UDE-IV, whose report says what changed. UDE-IV
draws its parents uniformly and has a fourth strategy; both are left out here.

Deviations (known of it / we do / because)
  top part               a design parameter / `top_size` 25 of `population_size` 100 / the successor's program at D = 30
  losing trials          the two that lose among three score losses in the text, not in the program / not / the program
  stagnation             not tuned, 50 % in an example / `stagnation_share` 0.5 after 25 generations / the text
  spread                 the successor replaces only while the members lie, on average, more than 1 from their
                         centroid / `least_spread` 1, in the units of the variables / without it a population that has
                         converged would lose its best member again and again
  ranked parents         a modified pool / ranked as in IUDE among the first `top_size` / IUDE
  crossover              one component surely from the mutant / not / the successor's program overwrites it, see IUDE
  clock of epsilon       begins at generation 2 / at 1 / as in IUDE
  violation              a mean over the constraints / their sum / one measure for all methods
  epsilon that starts    below exp(-6): grows to it / stays / an epsilon that grows makes no sense
  budget                 overshot by less than a generation / met exactly / fairness
So figures of this file are those of a reconstruction. Printed means at D = 30 to compare with: C04 6.5, C12 3.99, C20
1.85, C21 9.28, C25 0.25. Steps are numbered as in the literal version.
Checked against: a literal version (tests/reference/ude_iii.py) fed the same draws.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..algorithm import Coroutine, Task
from ..arrays import Array, namespace, order
from ..checks import check_count, check_range
from ..parts.epsilon import ClosingEpsilon
from ..parts.indices import place
from ..parts.memory import Memory
from ..parts.rules import Epsilon, Feasibility, best_of, gain
from ..parts.sizing import first_points
from ..parts.strategies import (
    CURRENT_TO_PBEST,
    CURRENT_TO_RAND,
    RAND,
    Competition,
    ThreeStrategies,
    by_success_rate,
    strategy_by_rate,
)
from ..population import Population, better, choose, forgotten, join
from ..streams import Stream


@dataclass(frozen=True)
class State:
    population: Population  # sorted by the feasibility rule: the index is the rank
    generation: Array  # how many were made
    closing: ClosingEpsilon
    wins: Competition
    losses: Competition
    memory: Memory
    idle: Array  # (n,), the generations since each member was replaced
    rejected: Population  # the best trials that were rejected, best first; rows without values are empty


@dataclass(frozen=True)
class UDEIII:
    """Settings of UDE-III.

    Parameters
    ----------
    population_size
        NP, the number of members.
    top_size
        T, the number of members that make three trials, and that ranked parents come from.
    memory_size
        H, the number of cells in the memories of F and CR, for each strategy.
    pbest_least
        Least p: pbest is one of the p best members, p being drawn for each trial.
    pbest_most
        Largest p; see `pbest_least`.
    strategy_window
        Lp, the number of generations whose wins and losses decide the strategies of the bottom part.
    least_share
        Number added to the success rate of every strategy, so that none dies out.
    closes
        pc, the share of the generations after which epsilon is 0.
    most_power
        Largest power of the polynomial by which epsilon falls.
    stagnation_generations
        SG: a member that was not replaced for more generations is stagnated.
    stagnation_share
        SProp: when more than this share of the members is stagnated, one is replaced by a rejected trial.
    least_spread
        No member is replaced so while the mean distance from the centroid is at most this.
    """

    population_size: int = 100
    top_size: int = 25
    memory_size: int = 100
    pbest_least: int = 5
    pbest_most: int = 20
    strategy_window: int = 25
    least_share: float = 0.01
    closes: float = 0.5
    most_power: float = 33.0
    stagnation_generations: int = 25
    stagnation_share: float = 0.5
    least_spread: float = 1.0

    def __post_init__(self) -> None:
        check_count(self, 8, "population_size")
        check_count(self, 4, "top_size")
        if self.top_size > self.population_size:
            raise ValueError(f"top_size must be at most population_size, {self.population_size}; got {self.top_size}")
        check_count(self, 1, "memory_size", "strategy_window")
        check_count(self, 0, "stagnation_generations")
        check_count(self, 2, "pbest_least")
        check_count(self, self.pbest_least, "pbest_most")
        check_range(self, 1e-9, 1.0, "least_share")
        check_range(self, 0.01, 0.99, "closes")
        check_range(self, 0.0, 1000.0, "most_power")
        check_range(self, 0.0, 1.0, "stagnation_share")
        check_range(self, 0.0, 1e300, "least_spread")

    def start(self, task: Task, rng: Stream) -> Coroutine:
        n = self.population_size
        points = yield first_points(task, n, rng)
        xp = namespace(points.f)
        return State(
            population=points.sorted(),
            generation=xp.asarray(0),
            closing=ClosingEpsilon.of(points),
            wins=Competition.fresh(self.strategy_window, 3, xp),
            losses=Competition.fresh(self.strategy_window, 3, xp),
            memory=Memory.fresh(3, self.memory_size, xp),
            idle=xp.zeros(n, dtype=int),
            rejected=forgotten(points),
        )

    def generation(self, state: State, task: Task, rng: Stream) -> Coroutine:
        population = state.population
        xp = namespace(population.f)
        n, top = population.size, self.top_size
        G = state.generation + 1

        # Step 1: epsilon.
        closing = state.closing.at(G / max(task.max_evaluations // (n + 2 * top), 1))

        # Step 2, top part: three trials per target, strategy after strategy; the best by feasibility goes on.
        targets = xp.arange(3 * top) % top
        strategy = xp.arange(3 * top) // top
        u = rng.uniform(3 * top, task.dimension)
        make = ThreeStrategies(
            parents="ranked-top",
            pbest=(self.pbest_least, self.pbest_most),
            repair="clamp",
            certain_component=False,
            top=top,
        )
        x, F, CR = make.trials(population.x, targets, strategy, u, state.memory, task, rng)
        trials = yield x
        picked = best_of(Feasibility(), trials, 3)

        # Step 3, bottom part: one trial per target, by a strategy that succeeded in the generations before this one.
        bottom_strategy = strategy_by_rate(rng.uniform(n - top), self._rates(state))
        u = rng.uniform(n - top, task.dimension)
        x, _, _ = make.trials(population.x, xp.arange(top, n), bottom_strategy, u, state.memory, task, rng)
        bottom_trials = yield x

        # Step 4: replacement by epsilon, if strictly better. Step 5: successes by feasibility, of the top part alone.
        offspring = join(trials.take(picked), bottom_trials)
        rule = Epsilon(closing.epsilon(self.closes, self.most_power))
        accepted = better(rule.keys(offspring), rule.keys(population))
        gains = gain(Feasibility(), trials, population.scores(targets))

        # Step 6: wins of the best of three and of those that replace their target; losses of those that do not.
        used = xp.concatenate([strategy[picked], bottom_strategy]) == xp.arange(3)[:, None]
        in_top = xp.arange(n) < top
        won = (used & accepted).sum(axis=1) + (used & in_top & offspring.valid).sum(axis=1)
        lost = (used & ~accepted).sum(axis=1)

        # Steps 7 and 8: members and their idle generations in order; a stored trial in place of a stagnated member.
        after = choose(accepted, offspring, population)
        idle = xp.where(accepted, 0, state.idle + 1)
        both = join(state.rejected, choose(accepted, forgotten(offspring), offspring))
        rejected = both.sorted().take(slice(0, n))
        after, idle = self._revived(after, idle, rejected, rng.uniform(1))
        return State(
            population=after,
            generation=G,
            closing=closing,
            wins=state.wins.record(G, won),
            losses=state.losses.record(G, lost),
            memory=state.memory.learn(strategy, F, CR, gains),
            idle=idle,
            rejected=rejected,
        )

    def answer(self, state: State, best_member: Population) -> Population:
        """The best point that ever was in a population, which the program stores separately."""
        return best_member

    def watch(self, state: State) -> dict[str, Array]:
        rates = self._rates(state)
        return {
            "epsilon": state.closing.epsilon(self.closes, self.most_power),
            "rate_rand": rates[RAND],
            "rate_current_to_rand": rates[CURRENT_TO_RAND],
            "rate_current_to_pbest": rates[CURRENT_TO_PBEST],
        }

    def _rates(self, state: State) -> Array:
        """The probability of each strategy (3,) in the bottom part of the next generation."""
        won, lost = state.wins.wins.sum(axis=0), state.losses.wins.sum(axis=0)
        rates = by_success_rate(won, won + lost, self.least_share)
        return namespace(rates).where(state.generation >= self.strategy_window, rates, 1 / 3)

    def _revived(self, points: Population, idle: Array, rejected: Population, u: Array) -> tuple[Population, Array]:
        """The members in order, and their idle generations, the best stagnated one replaced if many are; u (1,)."""
        xp = namespace(idle)
        rows = order(points.violation, points.f)
        points, idle = points.take(rows), idle[rows]
        stagnated = idle > self.stagnation_generations
        stored = rejected.valid.sum()
        distance = xp.sqrt(((points.x - points.x.mean(axis=0)) ** 2).sum(axis=1)).mean()
        many = (stagnated.sum() > self.stagnation_share * points.size) & (distance > self.least_spread) & (stored > 0)
        replaced = many & (xp.arange(points.size) == stagnated.argmax())
        chosen = rejected.take(place(xp.broadcast_to(u, idle.shape), stored))
        points = choose(replaced, chosen, points)
        rows = order(points.violation, points.f)
        return points.take(rows), xp.where(replaced, 0, idle)[rows]
