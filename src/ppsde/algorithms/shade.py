"""SHADE: success-history based parameter adaptation for differential evolution.

Tanabe, Fukunaga, "Success-History Based Parameter Adaptation for Differential Evolution", IEEE Congress on Evolutionary
Computation 2013, pp. 71-78.

Every member makes one trial by DE/current-to-pbest/1/bin with an archive of replaced parents. F and CR are drawn around
a cell of a memory, which stores the means of what did well lately, weighted by how well it did.

Deviations (the publication says / we do / because)
  no constraints            the smaller f is better / `rule` decides, and the gain is what it measures / constraints
  pbest of a share p_i      of p_i NP / the nearest integer, at least 2 / p_i starts from 2 / NP
Checked against: a literal version (tests/reference/shade.py) fed the same draws.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..algorithm import Coroutine, Task
from ..arrays import Array, namespace
from ..checks import check_count, check_range
from ..parts.archive import Archive, pbest_trials
from ..parts.handling import Handling, RuleOrName, check_rule, first_ranked, handling_of
from ..parts.memory import Memory
from ..parts.rules import accepts, gain
from ..parts.sizing import elapsed_share, first_points, rounded
from ..population import Population, choose
from ..streams import Stream


@dataclass(frozen=True)
class State:
    population: Population  # best first: the index is the rank
    generation: Array  # how many were made
    memory: Memory
    archive: Archive
    handling: Handling


@dataclass(frozen=True)
class SHADE:
    """Settings of SHADE.

    Parameters
    ----------
    population_size
        NP, the number of members.
    memory_size
        H, the number of cells in the memories of F and CR.
    largest_pbest
        p_i, the share of best members that pbest is one of, is uniform from 2 / NP to this.
    archive_rate
        Largest size of the archive, in population sizes.
    rule
        Constraint-handling technique, a name or your own; see docs/rules.md.
    """

    population_size: int = 100
    memory_size: int = 100
    largest_pbest: float = 0.2
    archive_rate: float = 1.0
    rule: RuleOrName = "feasibility"

    def __post_init__(self) -> None:
        check_count(self, 4, "population_size")
        check_count(self, 1, "memory_size")
        check_range(self, 0.0, 1.0, "largest_pbest")
        check_range(self, 0.0, 100.0, "archive_rate")
        check_rule(self)

    def start(self, task: Task, rng: Stream) -> Coroutine:
        n = self.population_size
        points = yield first_points(task, n, rng)
        xp = namespace(points.f)
        population, handling = first_ranked(handling_of(self.rule, xp, task), points, rng)
        return State(
            population=population,
            generation=xp.asarray(0),
            memory=Memory.fresh(1, self.memory_size, xp),
            archive=Archive.fresh(int(rounded(self.archive_rate * n)), task.dimension, xp),
            handling=handling,
        )

    def generation(self, state: State, task: Task, rng: Stream) -> Coroutine:
        population = state.population
        xp = namespace(population.f)
        n = population.size
        elapsed = elapsed_share((state.generation + 1) * n, task)
        rule = state.handling.rule(population, elapsed, rng)

        # F and CR around a cell of the memory, pbest among a share of the best, both drawn for every member.
        strategy = xp.zeros(n, dtype=int)
        u_cell, u_F, u_share, u_archive = rng.uniform(4, n)
        F, CR = state.memory.draw(strategy, u_cell, u_F, rng.normal(n))
        least = 2 / n
        share = least + u_share * (max(self.largest_pbest, least) - least)
        best = xp.maximum(rounded(share * n), 2)
        trials = yield pbest_trials(population.x, state.archive, F, CR, best, n, task, rng)

        # A trial that is not worse replaces its parent; a better one sends it to the archive and teaches the memory.
        accepted = accepts(rule, trials, population)
        gains = gain(rule, trials, population)
        after = choose(accepted, trials, population)
        return State(
            population=after.take(state.handling.rank(rule, after, rng)),
            generation=state.generation + 1,
            memory=state.memory.learn(strategy, F, CR, gains),
            archive=state.archive.put(population.x, gains > 0, state.archive.x.shape[0], u_archive),
            handling=state.handling.after(after, elapsed),
        )

    def answer(self, state: State, best_member: Population) -> Population:
        return best_member

    def watch(self, state: State) -> dict[str, Array]:
        return {
            "mean_F": state.memory.F.mean(),
            "mean_CR": state.memory.CR.mean(),
            "archived": state.archive.size,
        }
