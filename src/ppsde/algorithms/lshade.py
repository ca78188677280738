"""L-SHADE: success-history adaptation with a population that shrinks linearly.

Tanabe, Fukunaga, "Improving the Search Performance of SHADE Using Linear Population Size Reduction", IEEE Congress on
Evolutionary Computation 2014, pp. 1658-1665.

SHADE with a fixed share for pbest, a memory of CR that can close for good at 0, Lehmer means for F and CR, and a
population that falls along a line from 18 D to 4 members, the archive with it.

Deviations (the publication says / we do / because)
  no constraints            the smaller f is better / `rule` decides, and the gain is what it measures / constraints
  terminal value of CR      a sign of its own / minus infinity, which stays 0 after any draw / no special case
  budget                    overshot by less than a generation / met exactly / fairness
Checked against: a literal version (tests/reference/lshade.py) fed the same draws.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..algorithm import Ask, Coroutine, Task
from ..arrays import Array, namespace
from ..checks import check_count, check_range
from ..parts.archive import Archive, pbest_trials
from ..parts.handling import Handling, RuleOrName, check_rule, first_ranked, handling_of
from ..parts.memory import Memory
from ..parts.rules import accepts, gain
from ..parts.sizing import alive, elapsed_share, first_points, linear_size, rounded, shrunk, size_or_default
from ..population import Population, choose
from ..streams import Stream


@dataclass(frozen=True)
class State:
    population: Population  # best first: the index is the rank; the first `size` rows are alive
    generation: Array  # how many were made
    evaluations: Array
    size: Array
    memory: Memory
    archive: Archive
    handling: Handling


@dataclass(frozen=True)
class LSHADE:
    """Settings of L-SHADE.

    Parameters
    ----------
    population_size
        N_init, the number of members at the start; 18 D if None.
    final_size
        N_min, the number of members at the end of the budget.
    memory_size
        H, the number of cells in the memories of F and CR.
    pbest
        p: pbest is one of this share of best members, at least two.
    archive_rate
        Largest size of the archive, in population sizes.
    rule
        Constraint-handling technique, a name or your own; see docs/rules.md.
    """

    population_size: int | None = None
    final_size: int = 4
    memory_size: int = 6
    pbest: float = 0.11
    archive_rate: float = 2.6
    rule: RuleOrName = "feasibility"

    def __post_init__(self) -> None:
        check_count(self, 4, "final_size")
        check_count(self, self.final_size, "population_size")
        check_count(self, 1, "memory_size")
        check_range(self, 0.0, 1.0, "pbest")
        check_range(self, 0.0, 100.0, "archive_rate")
        check_rule(self)

    def start(self, task: Task, rng: Stream) -> Coroutine:
        n = size_or_default(self.population_size, task, per_variable=18, least=self.final_size)
        points = yield first_points(task, n, rng)
        xp = namespace(points.f)
        population, handling = first_ranked(handling_of(self.rule, xp, task), points, rng)
        return State(
            population=population,
            generation=xp.asarray(0),
            evaluations=xp.asarray(n),
            size=xp.asarray(n),
            memory=Memory.fresh(1, self.memory_size, xp),
            archive=Archive.fresh(int(rounded(self.archive_rate * n)), task.dimension, xp),
            handling=handling,
        )

    def generation(self, state: State, task: Task, rng: Stream) -> Coroutine:
        population, size = state.population, state.size
        xp = namespace(population.f)
        n = population.size
        elapsed = elapsed_share(state.evaluations, task)
        rule = state.handling.rule(population, elapsed, rng)

        # One trial per living member.
        strategy = xp.zeros(n, dtype=int)
        u_cell, u_F, u_archive = rng.uniform(3, n)
        F, CR = state.memory.draw(strategy, u_cell, u_F, rng.normal(n))
        best = xp.maximum(rounded(self.pbest * size), 2)
        x = pbest_trials(population.x, state.archive, F, CR, best, size, task, rng)
        trials = yield Ask(x, alive(n, size))

        # A trial that is not worse replaces its parent; a better one sends it to the archive and teaches the memory.
        accepted = accepts(rule, trials, population)
        gains = gain(rule, trials, population)
        offspring = choose(accepted, trials, population)
        archive = state.archive.put(population.x, gains > 0, rounded(self.archive_rate * size), u_archive)

        # Linear population size reduction: the worst are removed, and random points of the archive.
        evaluations = state.evaluations + size
        fewer = linear_size(n, self.final_size, elapsed_share(evaluations, task))
        after = shrunk(offspring.take(state.handling.rank(rule, offspring, rng)), fewer)
        return State(
            population=after,
            generation=state.generation + 1,
            evaluations=evaluations,
            size=fewer,
            memory=state.memory.learn(strategy, F, CR, gains, lehmer_CR=True, closing=True),
            archive=archive.cut(rounded(self.archive_rate * fewer), rng.uniform(archive.x.shape[0])),
            handling=state.handling.after(after, elapsed),
        )

    def answer(self, state: State, best_member: Population) -> Population:
        return best_member

    def watch(self, state: State) -> dict[str, Array]:
        xp = namespace(state.memory.CR)
        return {
            "size": state.size,
            "mean_F": state.memory.F.mean(),
            "mean_CR": xp.maximum(state.memory.CR, 0.0).mean(),
            "archived": state.archive.size,
        }
