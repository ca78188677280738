"""SASS: self-adaptive spherical search, the winner of the CEC 2020 competition on real-world constrained problems.

Kumar, Das, Zelinka, "A self-adaptive spherical search algorithm for real-world constrained optimization problems",
GECCO 2020 companion, and the authors' program.

The program makes its "random orthogonal matrix" with the angle 0, so that it only exchanges coordinates: the spherical
step is then DE/current-to-pbest/1/bin with an archive. SASS is SHADE with an epsilon for each single constraint, with
damped least-squares steps (Levenberg and Marquardt) that repair some infeasible trials, and with a new random
population when the old one has lost its spread.

This is the black-box variant: slopes are measured by differences, and every evaluation counts. The entry had the slopes
of each problem as formulas and counted a value with all its slopes as one evaluation, so its published results on
problems with many equalities are out of reach.

Deviations (the program does / we do / because)
  slopes                   formulas, one evaluation / differences, D evaluations / a black box
  steps of a repair        4, or 3000 if D >= 20 and there are equalities / `repair_steps` 4 / they cost D + 1 each
  clock of the repairs     every D-th generation, from 0 or 1 not known / from 0: the first trials too / small budgets
  repair of the best       up to 5000 steps, if D >= 20, every D generations / as many as of a trial / likewise
  bounds in the repair     slack variables / sqrt of the distances of each point, then clamped / the same first step
  slack of an inequality   a variable of its own / sqrt(-g) of each point / the same first step
  last value of a repair   not counted / counted / fairness
  violation                a mean over the constraints, |h| beyond the tolerance / the sum, |h| less the tolerance, over
                           the number of constraints where a single constraint is meant / one measure for all methods
  epsilon's horizon        500 generations / `horizon` 500, but at most half of all / small budgets
  restart                  after a generation / is one of its own, whose trials are not made / the same evaluations
  terminal value of CR     -1 / minus infinity, which stays 0 after any draw / no special case
  incumbent                reads an index of another order once / the best / a slip
  redrawing                F until it fits / by inverse distribution / the same law
  budget                   overshot / met exactly / fairness
Steps are numbered as in the literal version.
Checked against: a literal version (tests/reference/sass.py) fed the same draws.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from ..algorithm import Ask, Coroutine, Task
from ..arrays import Array, each_matrix, if_needed, namespace, when
from ..checks import check_count, check_range
from ..parts.archive import Archive, pbest_trials
from ..parts.epsilon import Level, mean_of_best, slow_power
from ..parts.indices import place
from ..parts.memory import Memory, clipped_normal, positive_cauchy
from ..parts.rules import accepts
from ..parts.sizing import first_points, inside, rounded
from ..parts.slopes import jacobian, probes, residual
from ..population import Keys, Population, best_of_two, choose, join
from ..streams import Stream

ROUNDING = 8 * float(np.finfo(float).eps)
LEAST_DAMPING = 1e-100  # so that nothing is divided by 0
MANY_VARIABLES = 20  # from which on the best point is repaired too, if there are equalities


@dataclass(frozen=True)
class Relaxed:
    """A rule: the violations of the single constraints beyond epsilon, then the objective."""

    epsilon: Array
    tolerance: Array | float

    def keys(self, points: Any) -> Keys:  # a Population: it needs g and h
        xp = namespace(points.f)
        over = xp.maximum(points.g - self.epsilon, 0.0).sum(axis=1)
        missed = xp.maximum(xp.abs(points.h) - self.epsilon - self.tolerance, 0.0).sum(axis=1)
        return xp.where(points.valid, over + missed, np.inf), points.f


@dataclass(frozen=True)
class State:
    population: Population  # sorted by the feasibility rule: the index is the rank
    generation: Array  # how many were made, restarts included
    memory: Memory
    archive: Archive
    level: Level
    incumbent: Population  # one row: the best member so far


@dataclass(frozen=True)
class SASS:
    """Settings of SASS.

    Parameters
    ----------
    population_size
        N, the number of members.
    memory_size
        H, the number of cells in the memories of the step c and of the crossover rate.
    pbest
        p: pbest is one of this share of best members, at least two.
    archive_rate
        Largest size of the archive, in population sizes.
    horizon
        T, the number of generations until epsilon is 0.
    share
        Share of first points, the best, whose mean violation epsilon starts from.
    least_power
        Least power by which epsilon closes.
    repair_probability
        Probability that an infeasible trial is repaired, in every D-th generation.
    repair_steps
        Largest number of steps of a repair.
    damping
        First damping of the least-squares steps.
    difference
        Distance between a point and the probes of its slopes, as a share of the box.
    least_spread
        A population whose objectives, or violations if none is feasible, deviate less is replaced by a random one.
    """

    needs_constraint_values: ClassVar[bool] = True

    population_size: int = 60
    memory_size: int = 6
    pbest: float = 0.1
    archive_rate: float = 2.6
    horizon: int = 500
    share: float = 0.9
    least_power: float = 3.0
    repair_probability: float = 0.2
    repair_steps: int = 4
    damping: float = 0.01
    difference: float = 1e-7
    least_spread: float = 1e-8

    def __post_init__(self) -> None:
        check_count(self, 4, "population_size")
        check_count(self, 1, "memory_size", "horizon")
        check_count(self, 0, "repair_steps")
        check_range(self, 0.0, 1.0, "pbest", "share", "repair_probability", "least_spread")
        check_range(self, 0.0, 100.0, "archive_rate")
        check_range(self, 0.01, 100.0, "least_power")
        check_range(self, 1e-100, 1e100, "damping")
        check_range(self, 1e-100, 1.0, "difference")

    def start(self, task: Task, rng: Stream) -> Coroutine:
        n = self.population_size
        points = (yield first_points(task, n, rng)).sorted()
        xp = namespace(points.f)
        epsilon = mean_of_best(points, self.share) / _constraints(points, task)
        return State(
            population=points,
            generation=xp.asarray(0),
            memory=Memory.fresh(1, self.memory_size, xp),
            archive=Archive.fresh(int(rounded(self.archive_rate * n)), task.dimension, xp),
            level=Level(epsilon, slow_power(epsilon, self.least_power), xp.asarray(1.0)),  # 0 in the first generation
            incumbent=points.take(slice(0, 1)),
        )

    def generation(self, state: State, task: Task, rng: Stream) -> Coroutine:
        population = state.population
        xp = namespace(population.f)
        n, d = population.x.shape

        # Step 1: epsilon. Step 8, restart: random points in place of trials if the population has lost its spread.
        rule = Relaxed(state.level.epsilon, task.tolerance)
        restart = self._has_collapsed(population)

        # Steps 2 and 3: crossover rates and steps around cells of the memory; DE/current-to-pbest/1/bin with archive.
        u_cell, u_F, u_low, u_high, u_repair, u_archive = rng.uniform(6, n)
        cell = place(u_cell, self.memory_size)
        bell = np.sqrt(np.pi) * (xp.arcsin(u_high) - xp.arcsin(u_low))
        CR = clipped_normal(state.memory.CR[0][cell], bell)
        F = positive_cauchy(state.memory.F[0][cell], u_F)
        best = max(2, int(rounded(self.pbest * n)))
        x = pbest_trials(population.x, state.archive, F, CR, best, n, task, rng)
        anywhere = inside(task, rng.uniform(n, d))
        trials = yield when(restart, lambda: anywhere, x)

        # Step 4: in every D-th generation some trials are repaired, and with them the best point if there are many
        # variables and equalities.
        now = (state.generation % d == 0) & ~restart
        mild = trials.violation / _constraints(trials, task) < 100.0
        chosen = now & (u_repair < self.repair_probability) & mild
        incumbent = state.incumbent
        if d >= MANY_VARIABLES and trials.h.shape[1]:
            both = join(trials, incumbent)
            equalities = task.real(trials)[trials.g.shape[1] :].any()
            repaired = yield from self._repaired(both, xp.concatenate([chosen, (now & equalities)[None]]), task)
            trials, last = repaired.take(slice(0, n)), repaired.take(slice(n, n + 1))
            incumbent = best_of_two(incumbent, last)
        else:
            trials = yield from self._repaired(trials, chosen, task)

        # Step 5: a smaller objective is a success, whatever the violations. Step 6: selection by the relaxed rule.
        fell = trials.valid & population.valid & (trials.f < population.f) & ~restart
        amount = xp.where(fell, population.f - trials.f, 0.0)
        gains = xp.where(amount < np.inf, amount, 0.0)
        accepted = accepts(rule, trials, population) | restart
        after = choose(accepted, trials, population).sorted()  # step 7
        limit = int(rounded(self.archive_rate * n))
        return State(
            population=after,
            generation=state.generation + 1,
            memory=state.memory.learn(xp.zeros(n, dtype=int), F, CR, gains, lehmer_CR=True, closing=True),
            archive=state.archive.put(population.x, gains > 0, limit, u_archive),
            level=self._next_level(state, task),
            incumbent=best_of_two(incumbent, after),
        )

    def answer(self, state: State, best_member: Population) -> Population:
        return state.incumbent

    def watch(self, state: State) -> dict[str, Array]:
        return {"epsilon": state.level.epsilon, "archived": state.archive.size}

    def _next_level(self, state: State, task: Task) -> Level:
        """Epsilon of the generation after the next one, 0 from the horizon on."""
        xp = namespace(state.generation)
        it = state.generation + 2
        horizon = min(self.horizon, max(task.max_evaluations // self.population_size // 2, 1))
        return replace(state.level, elapsed=xp.where(it < horizon, it / horizon, 1.0))

    def _has_collapsed(self, population: Population) -> Array:
        """Whether the objectives have no spread, or no member is feasible and the violations have none."""
        xp = namespace(population.f)
        known = population.valid.all() & (population.f < np.inf).all()
        f, violation = (xp.where(known, values, 0.0) for values in (population.f, population.violation))
        alike = (xp.std(violation) < self.least_spread) & ~population.feasible.any()
        return known & (alike | (xp.std(f) < self.least_spread))

    def _probes(self, points: Population, task: Task) -> Array:
        """The probes of the slopes at each point (n d, d)."""
        n, d = points.x.shape
        return probes(points.x, task, self.difference * (task.upper - task.lower)).reshape(n * d, d)

    def _repaired(self, points: Population, wanted: Array, task: Task) -> Generator[Ask, Population, Population]:
        """The points, those `wanted` (n,) that violate constraints moved by damped least-squares steps.

        Unknowns are x and slacks s for each inequality and each bound; the equations are g + s^2 = 0, h = 0,
        x - s^2 = lower and x + s^2 = upper. A step minimises |J step + r|^2 + damping |step|^2. It counts if it reduces
        |r|; the slopes are measured again only after such a step.
        """
        xp = namespace(points.f)
        (n, d), p, m = points.x.shape, points.g.shape[1], points.g.shape[1] + points.h.shape[1]
        damping = xp.full(n, self.damping)
        failed = xp.zeros(n, dtype=bool)
        J, measured = xp.zeros((n, m, d)), xp.zeros(n, dtype=bool)
        for _ in range(self.repair_steps if m else 0):
            needy = wanted & points.valid & ~points.feasible
            if xp is np and not needy.any():
                break  # NumPy can see that all is done; JAX never can, and asks for no rows
            blind = needy & ~measured
            x = if_needed(blind.any(), partial(self._probes, points, task), xp.zeros((n * d, d)))
            values = yield Ask(x, xp.repeat(blind, d))
            known = blind & values.valid.reshape(n, d).all(axis=1)
            J = if_needed(known.any(), partial(_measured_again, J, points, values, known), J)
            measured = measured | known
            going = needy & measured
            r = xp.where(going[:, None], residual(points), 0.0)
            free = freedom(points.x, task, damping)
            slopes = xp.where(going[:, None, None], J, 0.0) * free[:, None, :]
            slack = xp.concatenate([4.0 * xp.maximum(-points.g, 0.0), xp.zeros((n, m - p))], axis=1)
            steps = partial(damped_steps, slopes, damping[:, None] + slack, r)
            step = free * xp.nan_to_num(-if_needed(going.any(), steps, xp.zeros((n, d))))
            tried = yield Ask(xp.clip(points.x + step, task.lower, task.upper), going)
            smaller = going & tried.valid & ((residual(tried) ** 2).sum(axis=1) < (r**2).sum(axis=1))
            damping = xp.where(smaller, xp.where(failed, damping, damping / 10), damping * 10)
            failed = going & ~smaller
            measured = measured & ~smaller
            points = choose(smaller, tried, points)
        return points


def _measured_again(J: Array, points: Population, values: Population, known: Array) -> Array:
    """The slopes (n, m, d), where `known` (n,) those by the values of probes."""
    return namespace(J).where(known[:, None, None], jacobian(points, values, known), J)


def freedom(x: Array, task: Task, damping: Array) -> Array:
    """How freely each variable (n, d) moves in a damped step whose unknowns are slacks of its bounds too; 1 is wholly.

    Eliminated, the two equations x - s^2 = lower and x + s^2 = upper make a variable near a bound stiff, since there s
    must change much for a small move. In variables step / freedom a step is damped as if there were no bounds.

    Examples
    --------
    >>> task = Task(np.zeros(2), np.full(2, 100.0), 1000)
    >>> freedom(np.array([[50.0, 0.0]]), task, np.array([0.01])).round(2)
    array([[1. , 0.1]])
    """
    xp = namespace(x)
    least = xp.maximum(damping, LEAST_DAMPING)[:, None]
    stiffness = [1.0 / (least + 4.0 * distance) for distance in (x - task.lower, task.upper - x)]
    return 1.0 / xp.sqrt(1.0 + stiffness[0] + stiffness[1])


def damped_steps(J: Array, weights: Array, r: Array) -> Array:
    """For each J (n, m, d) and r (n, m) the step (n, d) that is J' y, where (J J' + diag(weights)) y = r.

    It is the step of the shortest solution of J step + S s + sqrt(damping) e = r, where S are the slopes of the slacks
    and the weights are the squares of S plus the damping: m equations in place of d + 2 m unknowns.

    Examples
    --------
    >>> damped_steps(np.array([[[3.0, 4.0]]]), np.array([[25.0]]), np.array([[50.0]])).round(9)
    array([[3., 4.]])
    """
    xp = namespace(J)
    m = J.shape[1]
    scale = xp.abs(J).max(axis=(1, 2))
    scale = xp.where(scale > 0, scale, 1.0)[:, None]  # so that no square can overflow
    rows = J / scale[:, :, None]
    least = ROUNDING * m * J.shape[2]  # so that no matrix is singular by rounding
    added = xp.where(xp.eye(m, dtype=bool), (weights / scale / scale + least)[:, :, None], 0.0)
    y = each_matrix(xp.linalg.solve, rows @ xp.swapaxes(rows, 1, 2) + added, r[:, :, None])
    return (xp.swapaxes(y, 1, 2) @ rows)[:, 0] / scale


def _constraints(points: Population, task: Task) -> Array:
    """The number of constraints, at least 1."""
    return namespace(points.f).maximum(task.real(points).sum(), 1)
