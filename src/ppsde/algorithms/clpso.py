"""CLPSO: a particle swarm in which every variable of a particle may learn from another particle.

Liang, Qin, Suganthan, Baskar, "Comprehensive Learning Particle Swarm Optimizer for Global Optimization of Multimodal
Functions", IEEE Transactions on Evolutionary Computation 10 (2006), pp. 281-295.

Each variable of a particle follows the best point of one particle, its exemplar: its own, or with probability Pc the
better of two others. Pc grows from particle to particle. A particle that has not improved for some generations gets new
exemplars. A particle that leaves the box is not evaluated; it comes back, since all exemplars are inside.

Deviations (the publication says / we do / because)
  no constraints            the smaller f is better / `rule` decides, and the ranks by it; "pareto" by default, since by
                            "feasibility" particles never move along an equality / constraints
  inertia                   falls with the generations / with the evaluations / a generation may have fewer than n
  number of particles       10, or 40 for 30 variables / 40 / one default
The text was not in reach: the steps are read from a copy of the authors' program (CLPSO_new_func), the numbers from
publications that quote the text. The program has others: Pc from 0 to 0.5, a gap of 5, an inertia that falls to 0.2.
Checked against: a literal version (tests/reference/clpso.py) fed the same draws.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import expm1

from ..algorithm import Ask, Coroutine, Task
from ..arrays import HUGE, Array, namespace, one_of_each
from ..checks import check_count, check_range
from ..parts.handling import Handling, RuleOrName, check_rule, first_handling
from ..parts.indices import place, uniform_index
from ..parts.sizing import elapsed_share, first_points
from ..population import Population, better, choose
from ..streams import Stream


@dataclass(frozen=True)
class State:
    population: Population  # the best point of each particle
    generation: Array  # how many were made
    x: Array  # (n, d), where the particles are, perhaps outside the box
    velocity: Array  # (n, d)
    exemplar: Array  # (n, d), the particle that each variable learns from
    idle: Array  # (n,), generations without improvement since the exemplars were drawn
    evaluations: Array
    handling: Handling


@dataclass(frozen=True)
class CLPSO:
    """Settings of CLPSO.

    Parameters
    ----------
    population_size
        Number of particles.
    c
        Acceleration towards the exemplars.
    first_inertia
        w at the start; it falls linearly along the run.
    last_inertia
        w at the end.
    least_Pc
        Pc of the first particle, the probability that a variable learns from another particle.
    largest_Pc
        Pc of the last particle.
    gap
        m, number of generations without improvement after which a particle gets new exemplars.
    largest_step
        Largest velocity of a variable, as a share of its range.
    rule
        Constraint-handling technique, a name or your own; see docs/rules.md.
    """

    population_size: int = 40
    c: float = 1.49445
    first_inertia: float = 0.9
    last_inertia: float = 0.4
    least_Pc: float = 0.05
    largest_Pc: float = 0.5
    gap: int = 7
    largest_step: float = 0.2
    rule: RuleOrName = "pareto"

    def __post_init__(self) -> None:
        check_count(self, 2, "population_size")
        check_count(self, 1, "gap")
        check_range(self, 0.0, 10.0, "c")
        check_range(self, 0.0, 1.0, "first_inertia", "last_inertia", "least_Pc", "largest_Pc", "largest_step")
        check_rule(self)

    def start(self, task: Task, rng: Stream) -> Coroutine:
        n, d = self.population_size, task.dimension
        points = yield first_points(task, n, rng)
        xp = namespace(points.f)
        return State(
            population=points,
            generation=xp.asarray(0),
            x=points.x,
            velocity=(2.0 * rng.uniform(n, d) - 1.0) * self._fastest(task),
            exemplar=xp.broadcast_to(xp.arange(n)[:, None], (n, d)),
            idle=xp.full(n, self.gap),  # so that the first generation draws exemplars
            evaluations=xp.asarray(n),
            handling=first_handling(self.rule, points, task),
        )

    def _fastest(self, task: Task) -> Array:
        """The largest velocities (d,)."""
        return self.largest_step * (task.upper - task.lower)

    def generation(self, state: State, task: Task, rng: Stream) -> Coroutine:
        population = state.population
        xp = namespace(population.f)
        n, d = population.x.shape
        elapsed = elapsed_share(state.evaluations, task)
        rule = state.handling.rule(population, elapsed, rng)

        # New exemplars for particles that have been idle for long.
        rank = xp.argsort(state.handling.rank(rule, population, rng))
        stale = state.idle >= self.gap
        exemplar = xp.where(stale[:, None], self._exemplars(rank, d, rng), state.exemplar)

        # Velocities and moves.
        w = self.first_inertia + (self.last_inertia - self.first_inertia) * elapsed
        best = population.x[exemplar, xp.arange(d)]
        pulled = w * state.velocity + self.c * rng.uniform(n, d) * (best - state.x)
        velocity = xp.clip(pulled, -self._fastest(task), self._fastest(task))
        x = xp.clip(state.x + velocity, -HUGE, HUGE)

        # Particles inside the box are evaluated; one that is better than its best point so far replaces it.
        inside = ((x >= task.lower) & (x <= task.upper)).all(axis=1)
        trials = yield Ask(xp.clip(x, task.lower, task.upper), inside)
        improved = better(rule.keys(trials), rule.keys(population))
        after = choose(improved, trials, population)
        idle = xp.where(stale, 0, state.idle)
        return State(
            population=after,
            generation=state.generation + 1,
            x=x,
            velocity=velocity,
            exemplar=exemplar,
            idle=xp.where(improved, 0, idle + inside),
            evaluations=state.evaluations + inside.sum(),
            handling=state.handling.after(after, elapsed),
        )

    def _exemplars(self, rank: Array, d: int, rng: Stream) -> Array:
        """Exemplars (n, d) by chance: the better of two other particles, or the particle itself; but one is another."""
        xp = namespace(rank)
        n = rank.shape[0]
        itself = xp.broadcast_to(xp.arange(n)[:, None], (n, d))
        first, second = (uniform_index(u.ravel(), n, itself.ravel()).reshape(n, d) for u in rng.uniform(2, n, d))
        other = xp.where(rank[first] < rank[second], first, second)
        grown = xp.expm1(10.0 * xp.arange(n) / (n - 1)) / expm1(10.0)
        Pc = self.least_Pc + (self.largest_Pc - self.least_Pc) * grown
        learns = rng.uniform(n, d) < Pc[:, None]
        none = ~learns.any(axis=1, keepdims=True)
        return xp.where(learns | (none & one_of_each(place(rng.uniform(n), d), d)), other, itself)

    def answer(self, state: State, best_member: Population) -> Population:
        return best_member

    def watch(self, state: State) -> dict[str, Array]:
        return {"mean_idle": state.idle.mean()}
