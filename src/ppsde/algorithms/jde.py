"""jDE: differential evolution whose members carry their own F and CR.

Brest, Greiner, Boskovic, Mernik, Zumer, "Self-Adapting Control Parameters in Differential Evolution: A Comparative
Study on Numerical Benchmark Problems", IEEE Transactions on Evolutionary Computation 10 (2006), pp. 646-657.

Each member makes one trial by DE/rand/1/bin. Before that its F and its CR are redrawn with a small probability; the new
values stay only if the trial does.

Deviations (the publication says / we do / because)
  no constraints            the smaller f is better / `rule` decides / constraints
  components out of bounds  not given / `repair` reflect / a program that others compared with
Checked against: a literal version (tests/reference/jde.py) fed the same draws.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..algorithm import Coroutine, Task
from ..arrays import Array, namespace
from ..checks import check_choices, check_count, check_range
from ..parts.handling import Handling, RuleOrName, check_rule, first_handling
from ..parts.indices import place
from ..parts.repairs import REPAIRS
from ..parts.rules import accepts
from ..parts.sizing import elapsed_share, first_points
from ..parts.variation import binomial, distinct, rand_1
from ..population import Population, choose
from ..streams import Stream


@dataclass(frozen=True)
class State:
    population: Population
    generation: Array  # how many were made
    F: Array  # (n,), of each member
    CR: Array  # (n,)
    handling: Handling


@dataclass(frozen=True)
class JDE:
    """Settings of jDE.

    Parameters
    ----------
    population_size
        NP, the number of members.
    F
        F of every member at the start.
    CR
        CR of every member at the start.
    tau_F
        Probability that a member gets a new F before its trial is made.
    tau_CR
        Probability that a member gets a new CR before its trial is made.
    least_F
        New F are uniform from `least_F` to `largest_F`.
    largest_F
        See `least_F`.
    repair
        How components out of bounds are brought back into the box.
    rule
        Constraint-handling technique, a name or your own; see docs/rules.md.
    """

    population_size: int = 100
    F: float = 0.5
    CR: float = 0.9
    tau_F: float = 0.1
    tau_CR: float = 0.1
    least_F: float = 0.1
    largest_F: float = 1.0
    repair: Literal["reflect", "clamp", "midpoint", "resample"] = "reflect"
    rule: RuleOrName = "feasibility"

    def __post_init__(self) -> None:
        check_choices(self)
        check_count(self, 4, "population_size")
        check_range(self, 0.0, 2.0, "F", "least_F", "largest_F")
        check_range(self, 0.0, 1.0, "CR", "tau_F", "tau_CR")
        if self.least_F > self.largest_F:
            raise ValueError(f"largest_F must be least_F ({self.least_F!r}) or more; got {self.largest_F!r}")
        check_rule(self)

    def start(self, task: Task, rng: Stream) -> Coroutine:
        n = self.population_size
        points = yield first_points(task, n, rng)
        xp = namespace(points.f)
        return State(
            population=points,
            generation=xp.asarray(0),
            F=xp.full(n, float(self.F)),
            CR=xp.full(n, float(self.CR)),
            handling=first_handling(self.rule, points, task),
        )

    def generation(self, state: State, task: Task, rng: Stream) -> Coroutine:
        population = state.population
        xp = namespace(population.f)
        n, d = population.x.shape
        elapsed = elapsed_share((state.generation + 1) * n, task)
        rule = state.handling.rule(population, elapsed, rng)

        # Before a trial is made, F and CR may be redrawn.
        u_new_F, u_F, u_new_CR, u_CR, u_certain = rng.uniform(5, n)
        F = xp.where(u_new_F < self.tau_F, self.least_F + (self.largest_F - self.least_F) * u_F, state.F)
        CR = xp.where(u_new_CR < self.tau_CR, u_CR, state.CR)

        # DE/rand/1/bin.
        r1, r2, r3 = distinct(rng.uniform(3, n), n, xp.arange(n))
        u = rng.uniform(n, d)
        crossed = binomial(rand_1(population.x, r1, r2, r3, F), population.x, CR, u, place(u_certain, d))
        spare = rng.uniform(n, d) if self.repair == "resample" else u
        trials = yield REPAIRS[self.repair](crossed, task.lower, task.upper, population.x, spare)

        # A trial that is not worse replaces its parent, and its F and CR stay with it.
        accepted = accepts(rule, trials, population)
        after = choose(accepted, trials, population)
        return State(
            population=after,
            generation=state.generation + 1,
            F=xp.where(accepted, F, state.F),
            CR=xp.where(accepted, CR, state.CR),
            handling=state.handling.after(after, elapsed),
        )

    def answer(self, state: State, best_member: Population) -> Population:
        return best_member

    def watch(self, state: State) -> dict[str, Array]:
        return {"mean_F": state.F.mean(), "mean_CR": state.CR.mean()}
