"""FADE: differential evolution whose F and CR are set by fuzzy rules.

Liu, Lampinen, "A Fuzzy Adaptive Differential Evolution Algorithm", Soft Computing 9 (2005), pp. 448-462.

Every member makes one trial by DE/rand/1/bin; F and CR are the same for all. After each generation two numbers say how
much the population has changed, PC in its points and FC in its objectives. Nine fuzzy rules make F of them, nine others
CR: large changes ask for large values.

Deviations (the publication says / we do / because)
  no constraints            the smaller f is better / `rule` decides / constraints
  FC                        of all members / of those whose f is a finite number before and after / failures
  population                one per problem in its tables / 10 D / the usual advice of its time
  F and CR at the start     not known / 0.9 and 0.9 / the values that it compares with
  the integral of the       not known / a sum over 101 points, F from 0 to 2 and CR from 0 to 1 / as a program after it,
  centroid                  which has 100 points
  components out of bounds  not given / `repair` resample / as that program
The text was not in reach: the sets, rules and formulas are read from a program that others wrote after it
(Beprados/Fuzzy-Logic-Project), and agree with what surveys tell.
Checked against: a literal version (tests/reference/fade.py) fed the same draws.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from ..algorithm import Coroutine, Task
from ..arrays import Array, namespace
from ..checks import check_choices, check_count, check_range
from ..parts.handling import Handling, RuleOrName, check_rule, first_handling
from ..parts.indices import place
from ..parts.repairs import REPAIRS
from ..parts.rules import accepts
from ..parts.sizing import elapsed_share, first_points, size_or_default
from ..parts.variation import binomial, distinct, rand_1
from ..population import Population, choose
from ..streams import Stream


class Sets(NamedTuple):
    """Three fuzzy sets, small, medium and big: Gaussians of one width."""

    width: float
    centres: tuple[float, float, float]

    def memberships(self, value: Array) -> Array:
        """How far values (k,) belong to each set, (3, k)."""
        xp = namespace(value)
        return xp.exp(-(((value - xp.asarray(self.centres)[:, None]) / self.width) ** 2) / 2)


class Controller(NamedTuple):
    """Fuzzy rules that make a number of two others; the rules themselves are those of `CONCLUSIONS`."""

    factor: float  # of both inputs
    first: Sets  # of PC
    second: Sets  # of FC
    output: Sets
    largest: float  # the output is from 0 to this

    def infer(self, PC: Array, FC: Array) -> Array:
        """The output: Mamdani's minimum and maximum, then the centroid."""
        xp = namespace(PC)
        by_PC = self.first.memberships(self.factor * depth(PC))[:, None]  # (3, 1, 1)
        by_FC = self.second.memberships(self.factor * depth(FC))  # (3, 1)
        values = xp.linspace(0.0, self.largest, 101)
        concluded = self.output.memberships(values)[xp.asarray(CONCLUSIONS)]  # (3, 3, 101)
        share = xp.minimum(xp.minimum(by_PC, by_FC), concluded).max(axis=(0, 1))
        return (values * share).sum() / share.sum()


def depth(change: Array) -> Array:
    """1 - (1 + c) exp(-c), from 0 for no change to 1 for a large one."""
    change = namespace(change).clip(change, 0.0, 700.0)
    return 1.0 - (1.0 + change) * namespace(change).exp(-change)


# The set of the output for small, medium and big PC (rows) and FC (columns).
CONCLUSIONS = ((0, 1, 2), (1, 1, 2), (2, 2, 2))
FOR_F = Controller(1.0, Sets(0.25, (0.05, 0.5, 0.9)), Sets(0.35, (0.01, 0.5, 0.9)), Sets(0.5, (0.3, 0.6, 0.9)), 2.0)
FOR_CR = Controller(2.0, Sets(0.5, (0.1, 0.8, 1.5)), Sets(0.5, (0.1, 0.8, 1.5)), Sets(0.35, (0.4, 0.7, 1.0)), 1.0)


@dataclass(frozen=True)
class State:
    population: Population
    generation: Array  # how many were made
    F: Array
    CR: Array
    handling: Handling


@dataclass(frozen=True)
class FADE:
    """Settings of FADE.

    Parameters
    ----------
    population_size
        NP, the number of members; 10 D if None.
    F
        F of the first generation.
    CR
        CR of the first generation.
    repair
        How components out of bounds are brought back into the box.
    rule
        Constraint-handling technique, a name or your own; see docs/rules.md.
    """

    population_size: int | None = None
    F: float = 0.9
    CR: float = 0.9
    repair: Literal["reflect", "clamp", "midpoint", "resample"] = "resample"
    rule: RuleOrName = "feasibility"

    def __post_init__(self) -> None:
        check_choices(self)
        check_count(self, 4, "population_size")
        check_range(self, 0.0, 2.0, "F")
        check_range(self, 0.0, 1.0, "CR")
        check_rule(self)

    def start(self, task: Task, rng: Stream) -> Coroutine:
        points = yield first_points(task, size_or_default(self.population_size, task, per_variable=10, least=10), rng)
        xp = namespace(points.f)
        return State(
            population=points,
            generation=xp.asarray(0),
            F=xp.asarray(float(self.F)),
            CR=xp.asarray(float(self.CR)),
            handling=first_handling(self.rule, points, task),
        )

    def generation(self, state: State, task: Task, rng: Stream) -> Coroutine:
        population = state.population
        xp = namespace(population.f)
        n, d = population.x.shape
        elapsed = elapsed_share((state.generation + 1) * n, task)
        rule = state.handling.rule(population, elapsed, rng)

        # DE/rand/1/bin.
        r1, r2, r3 = distinct(rng.uniform(3, n), n, xp.arange(n))
        F, CR = xp.broadcast_to(state.F, (n,)), xp.broadcast_to(state.CR, (n,))
        certain = place(rng.uniform(n), d)
        u = rng.uniform(n, d)
        crossed = binomial(rand_1(population.x, r1, r2, r3, F), population.x, CR, u, certain)
        spare = rng.uniform(n, d) if self.repair == "resample" else u
        trials = yield REPAIRS[self.repair](crossed, task.lower, task.upper, population.x, spare)
        after = choose(accepts(rule, trials, population), trials, population)

        # The change of the population, and F and CR that follow from it.
        PC = change(after.x, population.x)
        FC = change(after.f[:, None], population.f[:, None])
        return State(
            population=after,
            generation=state.generation + 1,
            F=FOR_F.infer(PC, FC),
            CR=FOR_CR.infer(PC, FC),
            handling=state.handling.after(after, elapsed),
        )

    def answer(self, state: State, best_member: Population) -> Population:
        return best_member

    def watch(self, state: State) -> dict[str, Array]:
        return {"F": state.F, "CR": state.CR}


def change(new: Array, old: Array) -> Array:
    """The root of the mean square of the distances between rows (1,); components that are not finite do not count."""
    xp = namespace(new)
    known = xp.isfinite(new) & xp.isfinite(old)
    apart = xp.where(known, new, 0.0) - xp.where(known, old, 0.0)
    return xp.sqrt((apart**2).sum() / np.float64(new.shape[0]))[None]
