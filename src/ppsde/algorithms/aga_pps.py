"""AGA-PPS: push and pull search with recombination operators that compete. A reconstruction.

Fan, Wang, Fang, Li, Yuan, Bian, "Adaptive Recombination Operator Selection in Push and Pull Search for Solving
Constrained Single-Objective Optimization Problems", BIC-TA 2018, Communications in Computer and Information Science
951, Springer.

Each member makes one trial, by an operator of differential evolution, by polynomial mutation, or by one after the
other; operators are used in proportion to their successes. While the lowest objective value falls, constraints are
ignored (push); when it stagnates, a shrinking epsilon leads back to feasibility (pull).

Neither the full text nor a program is public. Known are the idea, the two families of operators, push and pull, and the
printed results; all else is read from the same group's other work, and is a setting where readings differ.

Deviations (what is not known / we do / because)
  operators                 `operators` "four": DE/current-to-pbest/1/bin, DE/rand/1/bin, the first of them followed by
                            polynomial mutation, polynomial mutation alone / the families are known, the members not
  how they are chosen       by success counts from `prior` on, begun again when one is rare / LSHADE44, which they used
  success                   a trial strictly better than its parent by the rule of the stage / SHADE's practice
  F and CR                  success-history memories of `memory_size` 6 for each operator / LSHADE44
  polynomial mutation       of `index` 20 with probability 1/D per component; alone, of one at least / MOEA/D-DE
  population                `population_size` 5 D but at least 40 / 100 fits the printed C07, C08, C10 and C14 less well
  components out of bounds  `repair` clamp / their programs; reflection fits the printed C07 and C20 less well
  tau, alpha, cp, Tc        `tau` 0.1, `alpha` 0.95, `cp` 2, `closes` 0.9 / the push and pull papers, as in PPS-DE
Checked against: a literal version (tests/reference/aga_pps.py) fed the same draws.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..algorithm import Coroutine, Task
from ..arrays import Array, mended, namespace
from ..checks import check_choices, check_count, check_range
from ..parts.indices import best_index, place, trio
from ..parts.memory import Memory
from ..parts.push_pull import Improved, Polynomial, PushPull, Stage
from ..parts.repairs import REPAIRS
from ..parts.rules import accepts, gain
from ..parts.sizing import first_points, rounded, size_or_default
from ..parts.strategies import SuccessCounts, strategy_by_rate
from ..parts.variation import binomial, guided
from ..population import Population, choose
from ..streams import Stream

PBEST, RAND, PBEST_MOVED, MOVED = range(4)  # "moved" by polynomial mutation
OPERATORS = {
    "four": (PBEST, RAND, PBEST_MOVED, MOVED),
    "three": (PBEST, RAND, PBEST_MOVED),
    "two": (PBEST, RAND),
}


@dataclass(frozen=True)
class State:
    population: Population  # sorted by the feasibility rule: the index is the rank
    generation: Array  # how many were made
    stage: Stage
    successes: SuccessCounts
    memory: Memory  # of the three operators that use F and CR


@dataclass(frozen=True)
class AGAPPS:
    """Settings of AGA-PPS.

    Parameters
    ----------
    population_size
        Number of members; 5 D but at least 40 if None.
    operators
        How many of the operators compete: current-to-pbest/1, rand/1, the first then polynomial mutation, that alone.
    prior
        Number of successes that every operator begins with.
    least_share
        When an operator is used less than this share of an equal share, all counts go back to the prior.
    memory_size
        Number of cells in the memories of F and CR, for each operator that uses them.
    largest_pbest
        pbest is one of the best, whose share of the population is uniform from 1 / NP to this.
    index
        Index of polynomial mutation; the larger, the smaller its changes.
    switch_window
        Number of generations over which the minimum of f must fall, or the push ends.
    switch_threshold
        Relative fall over that window that counts as stagnation.
    switch_guard
        The least absolute objective that the fall is relative to.
    schedule
        How epsilon falls in the pull.
    tau
        Share by which epsilon shrinks per generation (schedule "improved").
    alpha
        Feasible share from which epsilon follows the polynomial instead (schedule "improved").
    cp
        Power by which epsilon closes.
    closes
        Tc, the share of the generations after which epsilon is 0.
    repair
        How components out of bounds are brought back into the box.
    """

    population_size: int | None = None
    operators: Literal["four", "three", "two"] = "four"
    prior: int = 2
    least_share: float = 0.2
    memory_size: int = 6
    largest_pbest: float = 0.2
    index: float = 20.0
    switch_window: int = 25
    switch_threshold: float = 1e-3
    switch_guard: float = 1e-6
    schedule: Literal["improved", "polynomial"] = "improved"
    tau: float = 0.1
    alpha: float = 0.95
    cp: float = 2.0
    closes: float = 0.9
    repair: Literal["clamp", "reflect", "midpoint", "resample"] = "clamp"

    def __post_init__(self) -> None:
        check_choices(self)
        check_count(self, 4, "population_size")
        check_count(self, 1, "prior", "memory_size", "switch_window")
        check_range(self, 0.0, 1.0, "least_share", "largest_pbest", "switch_threshold", "switch_guard")
        check_range(self, 0.0, 1.0, "tau", "alpha", "closes")
        check_range(self, 0.0, 100.0, "cp")
        check_range(self, 0.0, 1000.0, "index")

    def start(self, task: Task, rng: Stream) -> Coroutine:
        points = yield first_points(task, size_or_default(self.population_size, task), rng)
        xp = namespace(points.f)
        return State(
            population=points.sorted(),
            generation=xp.asarray(0),
            stage=Stage.fresh(self.switch_window, xp),
            successes=SuccessCounts.fresh(len(OPERATORS[self.operators]), self.prior, xp),
            memory=Memory.fresh(3, self.memory_size, xp),
        )

    def generation(self, state: State, task: Task, rng: Stream) -> Coroutine:
        population = state.population
        xp = namespace(population.f)
        n = population.size

        # Push or pull?
        total = xp.asarray(task.max_evaluations // n)
        stage = state.stage.advance(state.generation + 1, total, total, population, self._push_pull())

        # Every member makes a trial, by an operator drawn by its success rate, with F and CR from that one's memory.
        known = len(OPERATORS[self.operators])
        successes = state.successes.renewed(self.least_share / known, self.prior)
        operator = strategy_by_rate(rng.uniform(n), successes.rates)  # numbered alike in every set
        u_cell, u_F = rng.uniform(2, n)
        F, CR = state.memory.draw(xp.minimum(operator, PBEST_MOVED), u_cell, u_F, rng.normal(n))
        x = self._recombined(population.x, operator, F, CR, task, rng)
        trials = yield self._moved(x, population.x, operator, task, rng)

        # Replacement by the rule of the stage; the strictly better trials teach counts and memories.
        accepted = accepts(stage.rule, trials, population)
        gains = gain(stage.rule, trials, population)
        return State(
            population=choose(accepted, trials, population).sorted(),
            generation=state.generation + 1,
            stage=stage,
            successes=successes.record(operator, gains > 0),
            memory=state.memory.learn(operator, F, CR, gains),
        )

    def _push_pull(self) -> PushPull:
        improved = self.schedule == "improved"
        return PushPull(
            schedule=Improved(self.tau, self.alpha, self.cp) if improved else Polynomial(self.cp),
            switch_threshold=self.switch_threshold,
            switch_guard=self.switch_guard,
            closes=self.closes,
        )

    def _recombined(self, x: Array, operator: Array, F: Array, CR: Array, task: Task, rng: Stream) -> Array:
        """Trials (n, d) of the population x (n, d), best first, by DE/current-to-pbest/1/bin or DE/rand/1/bin."""
        xp = namespace(x)
        n, d = x.shape
        i, is_rand = xp.arange(n), operator == RAND
        u_share, u_best, u_certain = rng.uniform(3, n)
        best = xp.maximum(rounded(1.0 + u_share * (self.largest_pbest * n - 1.0)), 1)
        pbest = best_index(u_best, best, i)
        r1, r2, r3 = trio("uniform", rng.uniform(3, n), i, is_rand, ~is_rand, pbest, n)
        mutants = guided(x, xp.where(is_rand, r1, i), r1, r2, r3, F, F)
        crossed = binomial(mutants, x, CR, rng.uniform(n, d), place(u_certain, d))
        spare = rng.uniform(n, d) if self.repair == "resample" else crossed
        outside = (crossed < task.lower) | (crossed > task.upper)
        return mended(outside, lambda: REPAIRS[self.repair](crossed, task.lower, task.upper, x, spare), crossed)

    def _moved(self, trials: Array, x: Array, operator: Array, task: Task, rng: Stream) -> Array:
        """The trials (n, d), those of PBEST_MOVED mutated, and those of MOVED made by mutation of x (n, d)."""
        xp = namespace(x)
        n, d = x.shape
        alone = (operator == MOVED)[:, None]
        one = xp.arange(d) == place(rng.uniform(n), d)[:, None]
        chosen = ((rng.uniform(n, d) < 1.0 / d) | (alone & one)) & (operator >= PBEST_MOVED)[:, None]
        start = xp.where(alone, x, trials)
        return polynomial_mutation(start, task.lower, task.upper, self.index, rng.uniform(n, d), chosen)

    def answer(self, state: State, best_member: Population) -> Population:
        return best_member

    def watch(self, state: State) -> dict[str, Array]:
        rates = state.successes.rates
        return {
            "stage": state.stage.pull,  # 0 push, 1 pull
            "epsilon": state.stage.epsilon,
            "rate_current_to_pbest": rates[PBEST],
            "rate_rand": rates[RAND],
        }


def polynomial_mutation(x: Array, lower: Array, upper: Array, index: float, u: Array, chosen: Array) -> Array:
    """The points x (n, d) of the box with their `chosen` (n, d) components changed, by uniform numbers u (n, d).

    Deb and Agrawal, "A niched-penalty approach for constraint handling in genetic algorithms" (1999), in the form that
    never leaves the box. The change is a share of the box's width with density (1 - share)^index.
    """
    xp = namespace(x)
    width = upper - lower
    safe = xp.where(width > 0, width, 1.0)
    down = u < 0.5
    tail = xp.where(down, 2.0 * u, 2.0 * (1.0 - u))  # 1 for no move, 0 for a move to the bound
    room = xp.where(down, x - lower, upper - x) / safe
    share = 1.0 - (tail + (1.0 - tail) * (1.0 - room) ** (index + 1.0)) ** (1.0 / (index + 1.0))
    moved = xp.clip(xp.where(down, x - share * width, x + share * width), lower, upper)
    return xp.where(chosen, moved, x)
